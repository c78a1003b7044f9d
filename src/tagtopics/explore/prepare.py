"""A `TopicData` as the explorer reads it: the index, and the bodies of documents, decoded on demand."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from tagtopics._typing import Float32, Float64, Int64
from tagtopics.explore.page import root_bytes, rounded
from tagtopics.views.topic_data import TopicData

MOST_WORDS = 40_000
"""Words in the index; the rarest beyond that are left out."""

TOPIC_WORDS = 30
"""Words of a topic page, for each of several relevance weights."""

_WEIGHTS = np.linspace(0, 1, 11)
_WORD_DOCS = 6
_WORD_TOPICS = 4
_SNIPPET = 110
_MAP_STEPS = 300
_MAP_GAP = 0.012
_YEAR = re.compile("year:[1-9][0-9]{3}")


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
        "topics": _topics(data, chosen),
        "words": _words(data, chosen),
        "tags": _tags(data, number),
        "groups": suggested_groups(data),
        "years": years_of(data),
    }


def index_of(data: TopicData, docs: Int64, fixed: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the index of a model, ready for JSON.

    Args:
        data: the record.
        docs: the documents to list, in the order of their bodies.
        fixed: from `fixed_index`, if the index is needed more than once.
    """
    fixed = fixed or fixed_index(data)
    return {
        "version": data.version,
        "title": data.title,
        "model": data.model,
        "parameters": data.parameters,
        "facts": {name: float(f"{value:.6g}") for name, value in data.facts.items()},
        "sizes": {
            "documents": len(data.documents.ids),
            "words": len(data.words),
            "tags": len(data.tags.names),
            "topics": data.n_topics,
            "listed": len(docs),
        },
        "topics": fixed["topics"],
        "words": fixed["words"] | {"documents": _postings(data, docs)},
        "tags": fixed["tags"],
        "documents": _documents(data, docs),
        "groups": fixed["groups"],
        "years": fixed["years"],
        "pictures": len(data.pictures),
    }


def largest(values: Any, n: int) -> Int64:
    """Return the places of the n largest values, largest first, the first of equals first."""
    n = min(n, len(values))
    least = np.partition(values, len(values) - n)[len(values) - n] if n else np.inf
    large = np.flatnonzero(values >= least)  # all that a full sort could put first
    return large[np.argsort(-values[large], kind="stable")[:n]]


def _topics(data: TopicData, chosen: Int64) -> dict[str, Any]:
    share = data.word_tokens / max(data.word_tokens.sum(), 1e-300)
    phi, known = data.topic_word[:, chosen], share[chosen]
    frequent = known * data.word_tokens.sum() >= min(2.0, data.word_tokens.max())
    found: list[set[int]] = [set() for _ in range(data.n_topics)]
    log_phi, log_share = np.log(np.maximum(phi, 1e-12)), np.log(np.maximum(known, 1e-12))
    for weight in _WEIGHTS:  # relevance, as of Sievert and Shirley
        scores = np.where(frequent, log_phi - (1 - float(weight)) * log_share, -np.inf)
        for k, row in enumerate(scores):
            found[k].update(largest(row, TOPIC_WORDS).tolist())
    words = [sorted(row, key=lambda w: -phi[k, w]) for k, row in enumerate(found)]
    places, radii = topic_map(data.topic_word, data.topic_share)
    return {
        "share": rounded(data.topic_share),
        "coherence": rounded(data.coherence),
        "names": list(data.names),
        "background": data.background.tolist(),
        "words": words,
        "phi": [rounded(phi[k, row]) for k, row in enumerate(words)],
        "x": rounded(places[:, 0]),
        "y": rounded(places[:, 1]),
        "r": rounded(radii),
    }


def _words(data: TopicData, chosen: Int64) -> dict[str, Any]:
    posterior = data.word_topic[chosen] * data.topic_share
    posterior /= np.maximum(posterior.sum(1, keepdims=True), 1e-300)
    n = min(_WORD_TOPICS, data.n_topics)
    best = np.argsort(-posterior, axis=1, kind="stable")[:, :n]
    return {
        "names": [data.words[w] for w in chosen],
        "weight": rounded(data.word_tokens[chosen], 3),
        "perTopic": n,
        "topics": best.ravel().tolist(),
        "shares": root_bytes(np.take_along_axis(posterior, best, 1), 8),
    }


def _postings(data: TopicData, docs: Int64) -> list[list[int]]:
    """Return for each word the documents in which its share is largest, as positions in the list."""
    table, (chosen, _) = data.documents, known_words(data)
    share = table.word_count / (np.repeat(_lengths(data), np.diff(table.word_offsets)) + 20.0)
    shape = (len(table.ids), len(data.words))
    listed = sp.csr_array((share, table.word_index, table.word_offsets), shape=shape)[docs]
    by_word = sp.csc_array(listed if len(chosen) == shape[1] else listed[:, chosen])
    share, word = by_word.data, np.repeat(np.arange(len(chosen)), np.diff(by_word.indptr))
    found = [(word[:0], by_word.indices[:0])]
    for _ in range(_WORD_DOCS):  # the best document of each word, then the second best, ...
        best = np.zeros(len(chosen))
        np.maximum.at(best, word, share)
        equal = np.flatnonzero((share == best[word]) & (share > 0))
        first = equal[np.diff(word[equal], prepend=-1) > 0]
        found.append((word[first], by_word.indices[first]))
        share[first] = 0
    words, places = (np.concatenate(part) for part in zip(*found, strict=True))
    order = np.argsort(words, kind="stable")
    ends = np.searchsorted(words[order], np.arange(1, len(chosen)))
    return [part.tolist() for part in np.split(places[order], ends)]


def _tags(data: TopicData, number: Int64) -> dict[str, Any]:
    tags = data.tags
    words, credits = [], []
    for a, b in pairwise(tags.word_offsets):
        kept = np.flatnonzero(number[tags.word_index[a:b]] >= 0) + a
        words.append(number[tags.word_index[kept]].tolist())
        credits.append(rounded(tags.word_credit[kept], 3))
    return {
        "names": list(tags.names),
        "documents": tags.n_docs.tolist(),
        "profiles": root_bytes(tags.profiles, 16),
        "words": words,
        "credits": credits,
    }


def _documents(data: TopicData, docs: Int64) -> dict[str, Any]:
    table = data.documents
    tags = [table.tag_index[table.tag_offsets[d] : table.tag_offsets[d + 1]].tolist() for d in docs]
    texts = table.texts
    return {
        "rows": docs.tolist(),
        "ids": [table.ids[d] for d in docs],
        "tags": tags,
        "topics": root_bytes(table.topics[docs], 8),
        "snippets": None
        if texts is None
        else [" ".join(texts[d][: 2 * _SNIPPET].split())[:_SNIPPET] for d in docs],
        "tokens": [round(float(n)) for n in _lengths(data)[docs]],
    }


def _lengths(data: TopicData) -> Float64:
    table = data.documents
    rows = np.repeat(np.arange(len(table.ids)), np.diff(table.word_offsets))
    return np.asarray(np.bincount(rows, table.word_count, len(table.ids)), dtype=np.float64)


def suggested_groups(data: TopicData, n: int = 12) -> list[dict[str, Any]]:
    """Return interesting pairs of tags: their joint profile has a topic that neither has alone.

    Pairs of one kind, and tags that nearly always occur together, are left out. The score is the gain of the
    largest joint topic over either tag alone, times the log of the number of documents with both. Each tag
    and each topic is suggested at most twice. Background topics do not count.
    """
    n_docs, profiles = data.tags.n_docs, data.tags.profiles.astype(np.float64)
    one, other, together = _pairs(data)
    kinds = np.array([_kind(name) for name in data.tags.names], dtype=str)
    of_one_kind = (kinds[one] == kinds[other]) & (kinds[one] != "")
    kept = ~of_one_kind & (together >= 3) & (together <= 0.7 * np.minimum(n_docs[one], n_docs[other]))
    scored = []
    for s, t, n_both in zip(one[kept].tolist(), other[kept].tolist(), together[kept].tolist(), strict=True):
        joint = np.where(data.background, 0.0, data.tags.joint([s, t]))
        k = int(np.argmax(joint))
        gain = float(joint[k] - max(profiles[s, k], profiles[t, k]))
        scored.append((gain * float(np.log1p(n_both)), s, t, n_both, k))
    scored.sort(key=lambda row: (-row[0], row[1], row[2]))
    chosen: list[dict[str, Any]] = []
    used: Counter[tuple[str, int]] = Counter()
    for score, s, t, n_both, k in scored:
        parts = (("tag", s), ("tag", t), ("topic", k))
        if score > 0 and all(used[part] < 2 for part in parts):
            used.update(parts)
            chosen.append({"tags": [s, t], "documents": n_both, "topic": k})
    return chosen[:n]


def _pairs(data: TopicData) -> tuple[Int64, Int64, Int64]:
    """Return pairs of tags, the first before the second, and the number of documents with both.

    Only a document's first twelve tags count.
    """
    table = data.documents
    place = np.arange(len(table.tag_index)) - np.repeat(table.tag_offsets[:-1], np.diff(table.tag_offsets))
    shape = (len(table.ids), len(data.tags.names))
    ones = np.ones(len(place), dtype=np.int64)
    tags = sp.csr_array((ones, table.tag_index, table.tag_offsets), shape=shape, copy=True)
    tags.sort_indices()
    tags.data[place >= 12] = 0
    tags.eliminate_zeros()
    both = sp.coo_array(sp.triu(tags.T @ tags, 1))
    return both.row.astype(np.int64), both.col.astype(np.int64), both.data


def years_of(data: TopicData) -> dict[str, Any] | None:
    """Return the share of every topic in every year, from tags `year:1999`; None if there are none."""
    years = {t: int(name[5:]) for t, name in enumerate(data.tags.names) if _YEAR.fullmatch(name)}
    table = data.documents
    rows = np.repeat(np.arange(len(table.ids)), np.diff(table.tag_offsets))
    year = np.array([years.get(t, 0) for t in table.tag_index.tolist()], dtype=np.int64)
    known = sorted(set(year[year != 0].tolist()))
    if len(known) < 2:
        return None
    shares = [table.topics[rows[year == one]].mean(0, dtype=np.float64) for one in known]
    return {
        "years": known,
        "documents": [int((year == one).sum()) for one in known],
        "shares": [rounded(s) for s in shares],
    }


def _kind(name: str) -> str:
    kind, colon, _ = name.partition(":")
    return kind if colon else ""


# ---------------------------------------------------------------------------------------- topic map


def topic_distances(topic_word: Float32) -> Float64:
    """Return (K, K): the Hellinger distance of topics, 0 for equal and 1 for no word in common."""
    roots = np.sqrt(topic_word.astype(np.float64))
    return np.asarray(np.sqrt(np.clip(1.0 - roots @ roots.T, 0.0, 1.0)))


def classical_scaling(distances: Float64) -> Float64:
    """Return (K, 2): principal coordinates, the plane that preserves the distances best."""
    K = len(distances)
    centre = np.eye(K) - 1.0 / K
    gram = -0.5 * centre @ (distances**2) @ centre
    values, vectors = np.linalg.eigh((gram + gram.T) / 2)
    plane = vectors[:, ::-1][:, :2] * np.sqrt(np.maximum(values[::-1][:2], 0))
    if plane.shape[1] < 2:
        plane = np.pad(plane, ((0, 0), (0, 2 - plane.shape[1])))
    signs = np.where(plane[np.argmax(np.abs(plane), axis=0), [0, 1]] < 0, -1.0, 1.0)
    return np.asarray(plane * signs)


def topic_map(topic_word: Float32, share: Float64) -> tuple[Float64, Float64]:
    """Return positions (K, 2) in the unit square and radii (K,), with areas proportional to topic shares."""
    K = len(topic_word)
    radii = np.clip(np.sqrt(share) * 0.30, 0.016, 0.14)
    if K == 1:
        return np.full((1, 2), 0.5), radii
    places = classical_scaling(topic_distances(topic_word))
    span = np.maximum(np.ptp(places, axis=0), 1e-9)
    places = 0.12 + 0.76 * (places - places.min(0)) / span
    return _apart(places, radii), radii


def _apart(places: Float64, radii: Float64) -> Float64:
    """Move overlapping circles apart, and keep all of them in the square."""
    turn = np.arange(len(places)) * 2.399963  # golden angle: no two circles start at the same point
    places = places + 1e-4 * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    least = radii[:, None] + radii[None, :] + _MAP_GAP
    for _ in range(_MAP_STEPS):
        offset = places[:, None, :] - places[None, :, :]
        distance = np.sqrt((offset**2).sum(2)) + np.eye(len(places))
        overlap = np.maximum(least - distance, 0)
        np.fill_diagonal(overlap, 0)
        if not overlap.any():
            break
        places = places + 0.5 * (offset / distance[:, :, None] * overlap[:, :, None]).sum(1)
        places = np.clip(places, radii[:, None] + 0.005, 1 - radii[:, None] - 0.005)
    return places


CHUNK = 40
"""Bodies compressed together: enough to compress well, few enough to decode quickly."""

MOST_TEXT = 40_000
"""Maximum code points of a text in a body; longer texts are cut, and the page says so."""


def body_of(data: TopicData, doc: int, number: Int64) -> dict[str, Any]:
    """Return the body of one document, ready for JSON; `number` is that of `known_words`.

    `w` words (numbers in the index), `n` their counts, `k` the topic of each, `c` credits in 255ths, words x
    tags; `p` the photo with its heat maps; `t` the text, `s` its spans: for each the gap before it, its
    length, and the position of its word in `w`.
    """
    table = data.documents
    entries = slice(*table.word_offsets[doc : doc + 2])
    words = table.word_index[entries]
    known = np.flatnonzero(number[words] >= 0)
    posterior = data.word_topic[words[known]] * table.topics[doc]
    n_tags = int(np.diff(table.tag_offsets[doc : doc + 2])[0])
    body: dict[str, Any] = {
        "w": number[words[known]].tolist(),
        "n": [round(count, 2) for count in table.word_count[entries][known].tolist()],
        "k": posterior.argmax(1).tolist(),
    }
    if len(table.credit) and n_tags:
        shares = table.credit[slice(*table.credit_offsets[doc : doc + 2])].reshape(-1, n_tags)[known]
        body["c"] = np.rint(shares * 255).astype(int).ravel().tolist()
    if table.texts is not None:
        place = np.full(len(number), -1)
        place[words[known]] = np.arange(len(known))
        body |= _text(data, doc, place)
    if picture := data.picture_of.get(doc):
        body["p"] = {"j": picture.jpeg, "r": picture.rows, "c": picture.columns, "h": picture.heat}
    return body


def _text(data: TopicData, doc: int, place: Int64) -> dict[str, Any]:
    """Return a text and the spans of its words, whose positions in the body are given by `place` (W,)."""
    whole = (data.documents.texts or ())[doc]
    text, cut = whole[:MOST_TEXT], len(whole) > MOST_TEXT
    found = [] if data.spans is None else data.spans.find(whole)
    start, stop, word = np.array(found, dtype=np.int64).reshape(-1, 3).T
    word = place[word]
    kept = (word >= 0) & (stop <= len(text))
    start, stop = (_utf16(text)[ends[kept]] for ends in (start, stop))
    gap = start - np.concatenate([[0], stop])[: len(start)]
    spans = np.stack([gap, stop - start, word[kept]], axis=1).ravel().tolist()
    return {"t": text, "s": spans} | ({"cut": 1} if cut else {})


def _utf16(text: str) -> Int64:
    """Return (n + 1,): the offset in UTF-16 units, as JavaScript counts, of every code point of a text."""
    if text.isascii() or max(text) <= "\uffff":
        return np.arange(len(text) + 1)
    wide = np.fromiter((ord(character) > 0xFFFF for character in text), dtype=np.int64, count=len(text))
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(1 + wide)])
