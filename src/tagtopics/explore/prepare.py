"""A `TopicData` as the explorer reads it: the index, and the bodies of documents, decoded on demand."""

from __future__ import annotations

import re
from collections import Counter
from itertools import combinations, pairwise
from typing import Any

import numpy as np

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


def index_of(data: TopicData, docs: Int64) -> dict[str, Any]:
    """Return the index of a model, ready for JSON; `docs` are listed in the order of their bodies."""
    chosen, number = known_words(data)
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
        "topics": _topics(data, chosen),
        "words": _words(data, chosen, docs, number),
        "tags": _tags(data, number),
        "documents": _documents(data, docs),
        "groups": suggested_groups(data),
        "years": years_of(data),
        "pictures": len(data.pictures),
    }


def relevance(topic_word: Float32, word_share: Float64, weight: float) -> Float64:
    """Return (K, W): weight log p(w | k) + (1 - weight) log p(w | k) / p(w), as of Sievert and Shirley."""
    log_phi = np.log(np.maximum(topic_word, 1e-12))
    return np.asarray(log_phi - (1 - weight) * np.log(np.maximum(word_share, 1e-12)))


def _topics(data: TopicData, chosen: Int64) -> dict[str, Any]:
    share = data.word_tokens / max(data.word_tokens.sum(), 1e-300)
    phi, known = data.topic_word[:, chosen], share[chosen]
    frequent = known * data.word_tokens.sum() >= min(2.0, data.word_tokens.max())
    found: list[set[int]] = [set() for _ in range(data.n_topics)]
    for weight in _WEIGHTS:
        scores = np.where(frequent, relevance(phi, known, float(weight)), -np.inf)
        for k, row in enumerate(np.argsort(-scores, axis=1, kind="stable")[:, :TOPIC_WORDS]):
            found[k].update(row.tolist())
    words = [sorted(row, key=lambda w: -phi[k, w]) for k, row in enumerate(found)]
    places, radii = topic_map(data.topic_word, data.topic_share)
    return {
        "share": rounded(data.topic_share),
        "coherence": rounded(data.coherence),
        "words": words,
        "phi": [rounded(phi[k, row]) for k, row in enumerate(words)],
        "x": rounded(places[:, 0]),
        "y": rounded(places[:, 1]),
        "r": rounded(radii),
    }


def _words(data: TopicData, chosen: Int64, docs: Int64, number: Int64) -> dict[str, Any]:
    posterior = data.topic_word[:, chosen].T * data.topic_share
    posterior /= np.maximum(posterior.sum(1, keepdims=True), 1e-300)
    n = min(_WORD_TOPICS, data.n_topics)
    best = np.argsort(-posterior, axis=1, kind="stable")[:, :n]
    return {
        "names": [data.words[w] for w in chosen],
        "weight": rounded(data.word_tokens[chosen], 3),
        "perTopic": n,
        "topics": best.ravel().tolist(),
        "shares": root_bytes(np.take_along_axis(posterior, best, 1), 8),
        "documents": _postings(data, docs, number, len(chosen)),
    }


def _postings(data: TopicData, docs: Int64, number: Int64, n_words: int) -> list[list[int]]:
    """Return for each word the documents in which its share is largest, as positions in the list."""
    table = data.documents
    place = np.full(len(table.ids), -1, dtype=np.int64)
    place[docs] = np.arange(len(docs))
    doc = np.repeat(place, np.diff(table.word_offsets))
    share = table.word_count / (np.repeat(_lengths(data), np.diff(table.word_offsets)) + 20.0)
    word = number[table.word_index]
    kept = np.flatnonzero((doc >= 0) & (word >= 0))
    order = kept[np.lexsort((doc[kept], -share[kept], word[kept]))]
    first = np.searchsorted(word[order], np.arange(n_words + 1))
    return [doc[order[a : min(a + _WORD_DOCS, b)]].tolist() for a, b in pairwise(first)]


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
    and each topic is suggested at most twice.
    """
    names, n_docs, profiles = data.tags.names, data.tags.n_docs, data.tags.profiles.astype(np.float64)
    scored = []
    for (s, t), together in _pairs(data).items():
        of_one_kind = _kind(names[s]) == _kind(names[t]) != ""
        if of_one_kind or not 3 <= together <= 0.7 * min(n_docs[s], n_docs[t]):
            continue
        joint = data.tags.joint([s, t])
        k = int(np.argmax(joint))
        gain = float(joint[k] - max(profiles[s, k], profiles[t, k]))
        scored.append((gain * float(np.log1p(together)), s, t, together, k))
    scored.sort(key=lambda row: (-row[0], row[1], row[2]))
    chosen: list[dict[str, Any]] = []
    used: Counter[tuple[str, int]] = Counter()
    for score, s, t, together, k in scored:
        parts = (("tag", s), ("tag", t), ("topic", k))
        if score > 0 and all(used[part] < 2 for part in parts):
            used.update(parts)
            chosen.append({"tags": [s, t], "documents": together, "topic": k})
    return chosen[:n]


def _pairs(data: TopicData) -> Counter[tuple[int, int]]:
    """Return the number of documents with each pair of tags; only a document's first twelve tags count."""
    table = data.documents
    counts: Counter[tuple[int, int]] = Counter()
    for a, b in pairwise(table.tag_offsets):
        counts.update(combinations(sorted(table.tag_index[a:b].tolist())[:12], 2))
    return counts


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
    posterior = data.topic_word[:, words[known]].T * table.topics[doc]
    n_tags = int(np.diff(table.tag_offsets[doc : doc + 2])[0])
    body: dict[str, Any] = {
        "w": number[words[known]].tolist(),
        "n": [round(float(count), 2) for count in table.word_count[entries][known]],
        "k": posterior.argmax(1).tolist(),
    }
    if len(table.credit) and n_tags:
        shares = table.credit[slice(*table.credit_offsets[doc : doc + 2])].reshape(-1, n_tags)[known]
        body["c"] = np.rint(shares * 255).astype(int).ravel().tolist()
    if table.texts is not None:
        body |= _text(data, doc, {int(w): i for i, w in enumerate(words[known])})
    if picture := data.picture_of.get(doc):
        body["p"] = {"j": picture.jpeg, "r": picture.rows, "c": picture.columns, "h": picture.heat}
    return body


def _text(data: TopicData, doc: int, place: dict[int, int]) -> dict[str, Any]:
    table = data.documents
    text = (table.texts or ())[doc][:MOST_TEXT]
    cut = len((table.texts or ())[doc]) > MOST_TEXT
    units = _utf16(text)
    spans: list[int] = []
    before = 0
    for i in range(*table.span_offsets[doc : doc + 2]):
        start, stop = int(table.span_start[i]), int(table.span_stop[i])
        word = place.get(int(table.span_word[i]))
        if word is None or stop > len(text):
            continue
        spans += (int(units[start]) - before, int(units[stop] - units[start]), word)
        before = int(units[stop])
    return {"t": text, "s": spans} | ({"cut": 1} if cut else {})


def _utf16(text: str) -> Int64:
    """Return (n + 1,): the offset in UTF-16 units, as JavaScript counts, of every code point of a text."""
    if not text or max(text) <= "\uffff":
        return np.arange(len(text) + 1)
    wide = np.fromiter((ord(character) > 0xFFFF for character in text), dtype=np.int64, count=len(text))
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(1 + wide)])
