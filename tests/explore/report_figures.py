"""Every number that the pages of a report show, by the address of the page, for the tests of the pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote

import numpy as np

from tagtopics._blas import single_thread
from tagtopics._typing import Float32, Int64
from tagtopics.bp.graph import joint_profile
from tagtopics.corpus.tags import MOST_KINDS, kind_of
from tagtopics.corpus.text import DEBRIS
from tagtopics.explore.record.topic_data import TopicData
from tagtopics.explore.report.page import round_numbers, significant
from tagtopics.explore.report.prepare import (
    LEAST_SHARE,
    TOPIC_TAGS,
    WORD_TOPICS,
    chances,
    divide,
    documents_by_word,
    known_words,
    lengths,
    near_topics,
    shown_words,
    suggested_groups,
    word_docs,
    word_topics,
)
from tagtopics.explore.report.timeline import time_of
from tagtopics.jit.top import largest, largest_in_rows

_TOPIC_WORDS = 30
_TAG_TOPICS = 10
_DOC_TOPICS = 6
_NEIGHBOURS = 8
_TOPIC_DOCS = 200
_ROWS = 512


def pages(data: TopicData, docs: Int64, n_bodies: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the address and the numbers of every page; of tags together, the suggested ones."""
    yield "#/", _overview(data)
    yield "#/about", {"facts": data.facts, "parameters": data.parameters, "fitted": data.fitted}
    time = time_of(data)
    if time is not None:
        yield "#/time", time
    yield from _topic_pages(data, docs, time)
    yield from _word_pages(data, docs)
    yield from _tag_pages(data)
    for group in suggested_groups(data):
        yield _group_page(data, group["tags"])
    names = data.tags.names
    yield "#/network", {"pairs": [[names[a], names[b], n] for a, b, n in tag_network(data)]}
    yield from _document_pages(data, docs, n_bodies)


def address(kind: str, *names: str) -> str:
    """Return the address of a page: of a topic, word, document, tag, or tags together."""
    return f"#/{kind}/" + "+".join(quote(name, safe="!'()*-._~", errors="replace") for name in names)


def _overview(data: TopicData) -> dict[str, Any]:
    groups = [
        {**group, "tags": [data.tags.names[t] for t in group["tags"]]} for group in suggested_groups(data)
    ]
    return {
        "sizes": {
            "documents": len(data.documents.ids),
            "words": len(data.words),
            "tags": len(data.tags.names),
            "topics": data.n_topics,
        },
        "facts": data.facts,
        "shares": data.topic_share.tolist(),
        "coherence": data.coherence.tolist(),
        "groups": groups,
        "tags": dict(zip(data.tags.names, data.tags.n_docs.tolist(), strict=True)),
    }


def _topic_pages(
    data: TopicData, docs: Int64, time: dict[str, Any] | None
) -> Iterator[tuple[str, dict[str, Any]]]:
    near, alike = near_topics(data)
    typical = data.typical_tags(TOPIC_TAGS)
    rank = np.argsort(np.argsort(-data.topic_share, kind="stable"), kind="stable") + 1
    ids = data.documents.ids
    for k in range(data.n_topics):
        share = data.documents.topics[docs, k].astype(np.float64)
        best = largest(share, _TOPIC_DOCS)
        yield (
            address("topic", topic_key(data, k)),
            {
                "topic": k,
                "share": float(data.topic_share[k]),
                "rank": int(rank[k]),
                "coherence": float(data.coherence[k]) if len(data.coherence) else None,
                "words": topic_words(data, k),
                "tags": [
                    [data.tags.names[t], p := float(data.tags.profiles[t, k]), p / float(data.topic_share[k])]
                    for t in typical[k]
                ],
                "documents": [[ids[docs[i]], float(share[i])] for i in best if share[i] >= 0.05],
                "near": [[int(j), float(p)] for j, p in zip(near[k], alike[k], strict=True)],
                "time": None if time is None else [row[k] for row in time["shares"]],
            },
        )


def topic_key(data: TopicData, k: int) -> str:
    """Return the name of a topic in addresses."""
    return data.names[k]


def topic_words(data: TopicData, k: int) -> list[list[Any]]:
    """Return the words of a topic: word, p(word | topic), lift over the whole collection."""
    share = data.word_tokens / max(data.word_tokens.sum(), 1e-300)
    listed = data.listed_words(2 * _TOPIC_WORDS)[k].tolist()
    best = [w for w in listed if data.words[w] not in DEBRIS][:_TOPIC_WORDS]
    phi = data.topic_word[k].astype(np.float64)
    return [[data.words[w], float(phi[w]), float(phi[w] / max(share[w], 1e-12))] for w in best]


def _word_pages(data: TopicData, docs: Int64) -> Iterator[tuple[str, dict[str, Any]]]:
    chosen, number = known_words(data)
    found, sizes = documents_by_word(data, docs)
    best_docs, in_docs = divide(found.tolist(), sizes), word_docs(data)
    tags: list[list[list[Any]]] = [[] for _ in chosen]
    for name, (words, tokens) in zip(data.tags.names, tag_words(data), strict=True):
        for w, n in zip(number[words].tolist(), tokens, strict=True):
            tags[w].append([name, n])
    topics = word_topics(data, chosen)
    for i, w in enumerate(chosen.tolist()):
        posterior = topics[i]
        shown = [k for k in largest(posterior, WORD_TOPICS) if posterior[k] >= LEAST_SHARE]
        yield (
            address("word", data.words[w]),
            {
                "tokens": float(data.word_tokens[w]),
                "documents": int(in_docs[w]),
                "topics": [[int(k), float(posterior[k])] for k in shown],
                "rest": float(1 - posterior[shown].sum()),
                "tags": sorted(tags[i], key=lambda row: -row[1])[:12],
                "best": [data.documents.ids[docs[d]] for d in best_docs[i]],
            },
        )


def tag_words(data: TopicData) -> list[tuple[list[int], list[float]]]:
    """Return for each tag the words on its page, and the tokens of each that are credited to it, rounded."""
    kept, sizes = shown_words(data)
    words, tokens = data.tags.word_index[kept].tolist(), round_numbers(data.tags.word_credit[kept], 3)
    return list(zip(divide(words, sizes), divide(tokens, sizes), strict=True))


def kind_numbers(tags: Sequence[str]) -> Int64:
    """Return (T,): equal numbers for tags that the pages show as of the same kind."""
    kinds = [kind_of(tag) for tag in tags]
    number = {kind: i for i, kind in enumerate(dict.fromkeys(kinds))}
    if len(number) > MOST_KINDS:
        return np.zeros(len(kinds), dtype=np.int64)
    return np.array([number[kind] for kind in kinds], dtype=np.int64)


def _tag_pages(data: TopicData) -> Iterator[tuple[str, dict[str, Any]]]:
    tags, rows = data.tags, tag_words(data)
    matrix = data.tag_matrix
    by_tag = matrix.T.tocsr()
    roots = np.sqrt(tags.profiles)
    kinds, by_kind = kind_numbers(tags.names), chances(data)
    for start in range(0, len(tags.names), _ROWS):
        stop = min(start + _ROWS, len(tags.names))
        best, scores = _most_alike(roots, start, stop, kinds)
        both = (by_tag[start:stop] @ matrix).tocsr()
        for t in range(start, stop):
            chance = by_kind.get(kind_of(tags.names[t]), by_kind[""])
            alike = (scores[t - start].astype(np.float64) - chance) / (1 - chance)
            near = zip(best[t - start].tolist(), alike.tolist(), strict=True)
            words, tokens = rows[t]
            yield (
                address("tag", tags.names[t]),
                {
                    "documents": int(tags.n_docs[t]),
                    "topics": _shares(tags.profiles[t], _TAG_TOPICS, LEAST_SHARE),
                    "words": [[data.words[w], n] for w, n in zip(words, tokens, strict=True)][:24],
                    "alike": [[tags.names[u], score] for u, score in near if score > 0],
                    "often": _often(data, both, t, t - start, kinds),
                },
            )


def _often(data: TopicData, both: Any, tag: int, row: int, kinds: Int64) -> list[list[Any]]:
    """Return the tags that most documents have together with one: first those of its kind, then others."""
    part = slice(*both.indptr[row : row + 2])
    others, counts = both.indices[part], both.data[part]
    order = np.lexsort((others, -counts))
    order = order[others[order] != tag]
    same = kinds[others[order]] == kinds[tag]
    shown = [*order[same][:_NEIGHBOURS], *order[~same][:_NEIGHBOURS]]
    return [[data.tags.names[others[i]], int(counts[i])] for i in shown]


def _group_page(data: TopicData, group: list[int]) -> tuple[str, dict[str, Any]]:
    joint = joint_profile(data.tags.profiles[list(group)])
    alone = data.tags.profiles[group].astype(np.float64)
    matrix = data.tag_matrix[:, group]
    shown = [int(k) for k in largest(joint, 5)]
    return address("tags", *(data.tags.names[t] for t in group)), {
        "documents": int((np.asarray(matrix.sum(1)).ravel() == len(group)).sum()),
        "topics": [[k, float(joint[k]), alone[:, k].tolist()] for k in shown],
    }


def _document_pages(data: TopicData, docs: Int64, n_bodies: int) -> Iterator[tuple[str, dict[str, Any]]]:
    table, n_tokens = data.documents, lengths(data)
    _, number = known_words(data)
    roots = np.sqrt(table.topics[docs])
    for start in range(0, len(docs), _ROWS):
        best, scores = _most_alike(roots, start, min(start + _ROWS, len(docs)))
        for i, d in enumerate(docs[start : start + _ROWS].tolist(), start):
            near = zip(docs[best[i - start]].tolist(), scores[i - start].tolist(), strict=True)
            page: dict[str, Any] = {
                "row": d,
                "tokens": float(n_tokens[d]),
                "topics": _shares(table.topics[d], _DOC_TOPICS, 0.02),
                "related": [[table.ids[e], score] for e, score in near],
            }
            if i < n_bodies:
                page |= _body_figures(data, d, number)
            yield address("document", table.ids[d]), page


def _body_figures(data: TopicData, doc: int, number: Int64) -> dict[str, Any]:
    """Return the share of each tag in a document, and of every word its count, topic and credits."""
    table = data.documents
    entries = slice(*table.word_offsets[doc : doc + 2])
    words, counts = table.word_index[entries], table.word_count[entries]
    names = [data.tags.names[t] for t in table.tag_index[slice(*table.tag_offsets[doc : doc + 2])]]
    topics = (data.word_topic[words] * table.topics[doc]).argmax(1)
    credit = None
    if len(table.credit) and names:
        credit = table.credit[slice(*table.credit_offsets[doc : doc + 2])].reshape(-1, len(names))
    parts = [] if credit is None else round_numbers(parts_of_document(credit, counts))
    shares = [[]] * len(words) if credit is None else significant(credit).tolist()
    return {
        "tags": [[name, part] for name, part in zip(names, parts, strict=False)]
        or [[n, None] for n in names],
        "words": [
            [data.words[w], float(n), int(k), row]
            for w, n, k, row in zip(words, counts, topics, shares, strict=True)
            if number[w] >= 0
        ],
    }


def parts_of_document(credit: Any, counts: Any) -> Any:
    """Return the share of a document's tokens that is credited to each of its tags."""
    tokens = credit.astype(np.float64) * np.asarray(counts, dtype=np.float64)[:, None]
    return tokens.sum(0) / max(float(counts.sum()), 1e-300)


def _shares(profile: Any, n: int, least: float) -> list[list[Any]]:
    return [[int(k), float(profile[k])] for k in largest(profile, n) if profile[k] >= least]


def _most_alike(roots: Float32, start: int, stop: int, kinds: Int64 | None = None) -> tuple[Int64, Float32]:
    """Return the rows (of the same kind) that some rows overlap most with, and how much; -1 with no other."""
    with single_thread():
        alike = roots[start:stop] @ roots.T
    alike[np.arange(stop - start), np.arange(start, stop)] = -1
    if kinds is not None:
        alike[kinds[start:stop, np.newaxis] != kinds] = -1
    best = largest_in_rows(alike, _NEIGHBOURS)
    return best, np.take_along_axis(alike, best, axis=1)


def tag_network(data: TopicData) -> list[tuple[int, int, int]]:
    """Return pairs of frequent tags with their number of common documents, strongest first.

    The strength of a pair is its number of common documents over the root of the product of the numbers of
    documents of both tags. A pair is kept while one of its tags has fewer than three.
    """
    n_docs = np.asarray(data.tags.n_docs, dtype=np.float64)
    tags = np.sort([t for t in largest(n_docs, 60) if n_docs[t] > 1]).astype(np.int64)
    if not len(tags):
        return []
    chosen = data.tag_matrix.tocsc()[:, tags].astype(np.int64)
    common = (chosen.T @ chosen).toarray()
    a, b = np.nonzero(np.triu(common, 1) > 1)
    strength = common[a, b] / np.sqrt(n_docs[tags[a]] * n_docs[tags[b]])
    kept: list[tuple[int, int, int]] = []
    degree: Counter[int] = Counter()
    for i in np.lexsort((b, a, -strength)):
        pair = (int(tags[a[i]]), int(tags[b[i]]))
        if min(degree[t] for t in pair) < 3:
            degree.update(pair)
            kept.append((*pair, int(common[a[i], b[i]])))
    return kept
