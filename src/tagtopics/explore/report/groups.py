"""Pairs of tags that are worth a look."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import scipy.sparse as sp

from tagtopics._typing import Float64, Int64
from tagtopics.corpus.cooccurrence import tags_together
from tagtopics.corpus.tags import kind_of
from tagtopics.explore.record.topic_data import TopicData
from tagtopics.explore.report.timeline import year_of

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
    return _varied(data, order[score[order] > 0], (one, other, together, topic), n)


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


def _varied(
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
