"""A `TopicData` as the explorer reads it: the index of topics, words, tags, pairs of tags and documents."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from tagtopics._typing import Float64, Int64
from tagtopics.corpus.recipe import recipe_to_json
from tagtopics.corpus.tags import MOST_KINDS, bare_name, kind_of, tags_together
from tagtopics.corpus.text import DEBRIS
from tagtopics.explore.record.topic_data import TopicData
from tagtopics.explore.report.page import numerals, root_planes, round_numbers, short_floats
from tagtopics.explore.report.timeline import periods_of, time_of, year_of
from tagtopics.jit.top import largest_of_rows

MOST_WORDS = 40_000  # in the index; the rarest beyond that are left out
TOPIC_WORDS = 60  # in the index; a topic page shows the first 30
TOPIC_TAGS = 10  # of a topic page
WORD_DOCS = 6  # of a word page
WORD_TOPICS = 8  # of a word page; the others are shown as their sum
NEAR_TOPICS = 4  # similar topics of a topic page
LEAST_SHARE = 0.01  # shares are exact from here on; pages show no smaller ones
_SNIPPET = 110  # characters


def known_words(data: TopicData) -> tuple[Int64, Int64]:
    """Return the words in the index, and (W,) the number of every word there, or -1."""
    chosen = np.sort(np.argsort(-data.word_tokens, kind="stable")[:MOST_WORDS])
    number = np.full(len(data.words), -1, dtype=np.int64)
    number[chosen] = np.arange(len(chosen))
    return chosen, number


def fixed_index(data: TopicData) -> dict[str, Any]:
    """Return the parts of the index that do not depend on the documents listed."""
    chosen, number = known_words(data)
    return {
        "version": data.version,
        "title": data.title,
        "model": data.model,
        "parameters": data.parameters,
        "facts": {name: float(f"{value:.6g}") for name, value in data.facts.items()},
        "topics": _topics(data, number),
        "words": _words(data, chosen),
        "tags": _tags(data, number),
        "groups": suggested_groups(data),
        "findings": [asdict(one) for one in data.findings],
        "time": time_of(data),
        "recipe": None if data.recipe is None else recipe_to_json(data.recipe),
        "fitted": data.fitted,
        "about": data.about,
        "pictures": data.visual or bool(data.pictures),
        "corpus": data.documents.has_words,
    }


def listed_index(data: TopicData, docs: Int64) -> dict[str, Any]:
    """Return the part of the index about the documents listed, in the order of their bodies."""
    return {"posted": pack_rows(*documents_by_word(data, docs)), "documents": documents_of(data, docs)}


def counts_of(data: TopicData, docs: Int64, counted: Int64) -> dict[str, Any]:
    """Return the end of the index: sizes, and the tags of documents that are not listed, but counted."""
    sizes = {
        "documents": len(data.documents.ids),
        "words": len(data.words),
        "tags": len(data.tags.names),
        "topics": data.n_topics,
        "listed": len(docs),
        "counted": len(docs) + len(counted),
    }
    return {"sizes": sizes, "counted": tag_rows(data, counted)}


def index_of(data: TopicData, docs: Int64, counted: Int64 | None = None) -> dict[str, Any]:
    """Return the whole index of a model, ready for JSON."""
    counted = docs[:0] if counted is None else counted
    return fixed_index(data) | listed_index(data, docs) | counts_of(data, docs, counted)


def _topics(data: TopicData, number: Int64) -> dict[str, Any]:
    readable = number >= 0
    readable[[w for w, word in enumerate(data.words) if word in DEBRIS]] = False
    words = [row[readable[row]] for row in data.listed_words(TOPIC_WORDS)]
    near, alike = near_topics(data)
    tags = data.typical_tags(TOPIC_TAGS)
    share = np.maximum(data.topic_share, 1e-12)
    return {
        "share": round_numbers(data.topic_share),
        "coherence": round_numbers(data.coherence),
        "names": list(data.names),
        "background": data.background.tolist(),
        "words": [number[row].tolist() for row in words],
        "phi": [round_numbers(data.topic_word[k, row], 7) for k, row in enumerate(words)],
        "tags": tags,
        "lifts": [round_numbers(data.tags.profiles[own, k] / share[k]) for k, own in enumerate(tags)],
        "near": near.tolist(),
        "alike": [round_numbers(row) for row in alike],
    }


def near_topics(data: TopicData) -> tuple[Int64, Float64]:
    """Return (K, n): the topics whose words are most similar to those of each, and by how much.

    The similarity is the Bhattacharyya coefficient, scaled so that two topics have 0 in the mean and equal
    ones 1; less than the mean is 0.
    """
    roots = np.sqrt(data.topic_word.astype(np.float64))
    chance = mean_overlap(roots)
    alike = np.clip((roots @ roots.T - chance) / max(1.0 - chance, 1e-9), 0.0, 1.0)
    np.fill_diagonal(alike, -1.0)
    near = np.argsort(-alike, axis=1, kind="stable")[:, : min(NEAR_TOPICS, data.n_topics - 1)]
    return near, np.take_along_axis(alike, near, 1)


def mean_overlap(roots: Float64) -> float:
    """Return the mean Bhattacharyya coefficient of two different rows, which are roots of distributions."""
    n = len(roots)
    square = (roots**2).sum()
    return float(((roots.sum(0) ** 2).sum() - square) / max(n * (n - 1), 1)) if n > 1 else 0.0


def chances(data: TopicData) -> dict[str, float]:
    """Return the mean Bhattacharyya coefficient of the topics of two tags of each kind; of all tags as ""."""
    roots = np.sqrt(data.tags.profiles.astype(np.float64))
    kinds = np.array([kind_of(name) for name in data.tags.names], dtype=object)
    each = {kind: mean_overlap(roots[kinds == kind]) for kind in dict.fromkeys(kinds)}
    return {"": mean_overlap(roots)} | (each if len(each) <= MOST_KINDS else {})


def kinds_of_tags(data: TopicData) -> dict[str, Any]:
    """Return the kinds of tags, which of them each tag has, and the tags that are homonyms without it."""
    names, labels = data.tags.names, data.tags.labels or [None] * len(data.tags.names)
    own = [kind_of(name) for name in names]
    kinds = list(dict.fromkeys(own))
    if len(kinds) > MOST_KINDS:
        own, kinds = [""] * len(own), [""]
    place = {kind: i for i, kind in enumerate(kinds)}
    short = [
        label or (bare_name(name).lstrip(":") if kind else name)
        for name, label, kind in zip(names, labels, own, strict=True)
    ]
    counts = Counter(short)
    return {
        "names": kinds,
        "of": numerals([place[kind] for kind in own]),
        "homonyms": [t for t, name in enumerate(short) if counts[name] > 1],
    }


def word_topics(data: TopicData, words: Int64) -> Float64:
    """Return (n, K): p(topic | word), the topics that the occurrences of words have."""
    posterior = data.word_topic[words] * data.topic_share
    return np.asarray(posterior / np.maximum(posterior.sum(1, keepdims=True), 1e-300))


def _words(data: TopicData, chosen: Int64) -> dict[str, Any]:
    posterior = word_topics(data, chosen)
    n = min(WORD_TOPICS, data.n_topics)
    best = np.argsort(-posterior, axis=1, kind="stable")[:, :n]
    return {
        "names": [data.words[w] for w in chosen],
        "weight": round_numbers(data.word_tokens[chosen], 9 if data.documents.has_words else 3),
        "inDocuments": word_docs(data)[chosen].tolist(),
        "total": float(f"{data.word_tokens.sum():.9g}"),
        "perTopic": n,
        "topics": best.ravel().tolist(),
        "shares": root_planes(np.take_along_axis(posterior, best, 1), LEAST_SHARE),
    }


def word_docs(data: TopicData) -> Int64:
    """Return (W,): the number of documents that have each word."""
    return np.bincount(data.documents.word_index, minlength=len(data.words)).astype(np.int64)


def documents_by_word(data: TopicData, docs: Int64) -> tuple[Int64, Int64]:
    """Return the documents in which the share of each word is largest, word by word, and how many each has.

    Documents are given as positions in the list.
    """
    (chosen, _), listed = known_words(data), data.word_counts[docs]
    tokens = np.asarray(listed.sum(1), dtype=np.float64).ravel()
    listed.data /= np.repeat(tokens + 20.0, np.diff(listed.indptr))
    by_word = sp.csc_array(listed if len(chosen) == listed.shape[1] else listed[:, chosen])
    offsets = by_word.indptr.astype(np.int64)
    best = largest_of_rows(offsets, by_word.data, WORD_DOCS)
    return by_word.indices[best[best >= 0]], np.minimum(np.diff(offsets), WORD_DOCS)


def shown_words(data: TopicData) -> tuple[Int64, Int64]:
    """Return where the words on the pages of tags are in the record, and how many each tag has.

    A tag of few documents has few words: 8 for one document, 4 more for each other one, all of the record's
    from nine documents on.
    """
    tags = data.tags
    inside = known_words(data)[1][tags.word_index] >= 0
    before, sizes = np.concatenate([[0], np.cumsum(inside)]), np.diff(tags.word_offsets)
    rank = before[:-1] - np.repeat(before[tags.word_offsets[:-1]], sizes)
    kept = np.flatnonzero(inside & (rank < np.repeat(4 + 4 * tags.n_docs, sizes)))
    return kept, np.diff(np.searchsorted(kept, tags.word_offsets))


def _tags(data: TopicData, number: Int64) -> dict[str, Any]:
    tags, (kept, sizes) = data.tags, shown_words(data)
    return {
        "names": list(tags.names),
        "tokens": short_floats(tags.tokens),
        "chance": chances(data),
        "kinds": kinds_of_tags(data),
        "labels": None if tags.labels is None else list(tags.labels),
        "documents": tags.n_docs.tolist(),
        "profiles": root_planes(tags.profiles, LEAST_SHARE),
        "words": pack_rows(number[tags.word_index[kept]], sizes),
        "credits": short_floats(tags.word_credit[kept]),
    }


def documents_of(data: TopicData, docs: Int64) -> dict[str, Any]:
    """Return the list of documents."""
    table, texts = data.documents, data.documents.texts
    period = periods_of(data)
    return {
        "rows": docs.tolist(),
        "ids": [table.ids[d] for d in docs],
        "tags": tag_rows(data, docs),
        "topics": root_planes(table.topics[docs], LEAST_SHARE),
        "titles": _of(table.titles, docs),
        "dates": _of(table.dates, docs),
        "urls": _of(table.urls, docs),
        "snippets": None
        if texts is None or table.titles is not None
        else [" ".join(texts[d][: 2 * _SNIPPET].split())[:_SNIPPET] for d in docs],
        "tokens": np.rint(lengths(data)[docs]).astype(np.int64).tolist(),
        "period": None if period is None else period[1][docs].tolist(),
    }


def _of(values: tuple[str | None, ...] | None, docs: Int64) -> list[str | None] | None:
    return None if values is None else [values[d] for d in docs.tolist()]


def tag_rows(data: TopicData, docs: Int64) -> dict[str, str]:
    """Return the tags of each of some documents, ready for JSON."""
    table = data.documents
    entries, sizes = entries_of(table.tag_offsets, docs)
    return pack_rows(table.tag_index[entries], sizes)


def pack_rows(values: Any, sizes: Int64) -> dict[str, str]:
    """Return rows of whole numbers, ready for JSON; `values` has them row after row."""
    return {"sizes": numerals(sizes), "values": numerals(values)}


def entries_of(offsets: Int64, rows: Int64) -> tuple[Int64, Int64]:
    """Return the places of some rows of a ragged array, row after row, and how many each row has."""
    sizes = offsets[rows + 1] - offsets[rows]
    return np.arange(sizes.sum()) + np.repeat(offsets[rows] - np.cumsum(sizes) + sizes, sizes), sizes


def divide(values: Any, sizes: Int64) -> list[Any]:
    """Return a list or text as a piece for each row; `sizes` are how long the pieces are."""
    return [values[a:b] for a, b in pairwise([0, *np.cumsum(sizes).tolist()])]


def lengths(data: TopicData) -> Float64:
    """Return (D,): the number of tokens of each document."""
    return np.asarray(data.word_counts @ np.ones(len(data.words)), dtype=np.float64)


_LEAST_TOGETHER = 15  # fewest documents with both tags; 1 % of the collection if that is fewer, but 3 or more
_MOST_TOGETHER = 0.7  # largest share of the documents of the rarer tag that have both


def suggested_groups(data: TopicData, n: int = 12) -> list[dict[str, Any]]:
    """Return pairs of tags that mean something new together, the most surprising first.

    The surprise is the divergence of the joint profile from the tag that is nearer to it, times the log of
    the number of documents with both. Background topics do not count. Tags that nearly always occur together,
    and years, are left out. Each tag and each topic is suggested at most twice, and each pair of kinds at
    most n / 2 times if there are others.
    """
    n_docs = data.tags.n_docs
    least = max(3, min(_LEAST_TOGETHER, len(data.documents.ids) // 100))
    one, other, together = sp.find(sp.triu(tags_together(data.tag_matrix), 1))
    year = np.array([year_of(name) > 0 for name in data.tags.names], dtype=bool)
    kept = ~(year[one] | year[other]) & (together >= least)
    kept &= together <= _MOST_TOGETHER * np.minimum(n_docs[one], n_docs[other])
    one, other, together = one[kept], other[kept], together[kept]
    topic, divergence = _surprises(data, one, other)
    score = divergence * np.log(together)
    order = np.lexsort((other, one, -score))
    return _mix_pairs(data, order[score[order] > 0], (one, other, together, topic), n)


def _surprises(data: TopicData, one: Int64, other: Int64) -> tuple[Int64, Float64]:
    """Return the main topic of each pair of tags, and KL(joint profile, profile of the nearer tag)."""
    telling = np.flatnonzero(~data.background)
    profiles = data.tags.profiles[:, telling].astype(np.float64) + 1e-12
    profiles /= profiles.sum(1, keepdims=True)
    topic, divergence = np.zeros(len(one), dtype=np.int64), np.zeros(len(one))
    for start in range(0, len(one) if len(telling) else 0, 20_000):
        part = slice(start, start + 20_000)
        joint = profiles[one[part]] * profiles[other[part]]
        joint /= joint.sum(1, keepdims=True)
        topic[part] = telling[joint.argmax(1)]
        apart = [(joint * np.log(joint / profiles[tags[part]])).sum(1) for tags in (one, other)]
        divergence[part] = np.minimum(*apart)
    return topic, divergence


def _mix_pairs(
    data: TopicData, order: Int64, pairs: tuple[Int64, Int64, Int64, Int64], n: int
) -> list[dict[str, Any]]:
    """Return the first n pairs, in an order, that repeat no tag, topic or pair of kinds too often."""
    chosen: list[dict[str, Any]] = []
    later: list[dict[str, Any]] = []
    used: Counter[tuple[str, Any]] = Counter()
    for s, t, n_both, k in zip(*(part[order].tolist() for part in pairs), strict=True):
        parts = (("tag", s), ("tag", t), ("topic", k))
        if any(used[part] >= 2 for part in parts):
            continue
        used.update(parts)
        kinds = ("kinds", frozenset((kind_of(data.tags.names[s]), kind_of(data.tags.names[t]))))
        used[kinds] += 1
        row = {"tags": [s, t], "documents": n_both, "topic": k}
        (chosen if used[kinds] <= n // 2 else later).append(row)
        if len(chosen) == n:
            break
    return (chosen + later)[:n]
