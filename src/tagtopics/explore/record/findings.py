"""Findings: the strongest differences between groups of documents, for the first screen of the explorer.

A document is *about* a topic if at least a fifth of it is that topic, as in the filter of the pages. Every
finding compares how many documents of two groups are about a topic: those before and after a date, those
with and without a tag, those with two tags and with one of them; or how many are about no topic. It is shown
if Fisher's exact test rejects equal shares at 5 %, divided by the number of all comparisons of the
collection. Decision 257.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import ndtri

from tagtopics._typing import Bool, Float64, Int64
from tagtopics.explore.record.topic_data import Finding, TopicData
from tagtopics.explore.report.timeline import later_half, missing_periods, periods_of, year_of

ABOUT = 0.2  # share of a document from which it is about a topic; `explorer/filter.js` has the same
_LEVEL = 0.05  # probability of any finding in a collection whose tags and dates are random
_SHOWN = 5
_LEAST_DOCS, _LEAST_BOTH = 20, 15  # documents of a group; of two tags together, and of each without the other
_MOST_TAGS = 1000  # the most frequent ones are compared
_TRENDS = ("rising", "falling")
_KINDS = (*_TRENDS, "together", "apart", "unclear")


class _Groups(NamedTuple):
    """How many documents are about each of N topics, in two groups; arrays (N,)."""

    found: Int64
    of: Int64
    other: Int64  # in the group that is compared
    of_other: Int64

    def at(self, i: int) -> tuple[int, int, int, int]:
        return int(self.found[i]), int(self.of[i]), int(self.other[i]), int(self.of_other[i])


@dataclass(frozen=True, eq=False)
class _Comparisons:
    """N comparisons of one kind; each must hold for all `groups`."""

    kind: str
    topic: Int64  # (N,)
    tags: Int64  # (N, number of tags)
    groups: tuple[_Groups, ...]


def findings_of(data: TopicData) -> tuple[Finding, ...]:
    """Return the findings of a collection, at most five."""
    about = (data.documents.topics >= ABOUT) & ~data.background
    found = sp.csr_array(np.column_stack([about, ~about.any(1)]), dtype=np.int64)  # (D, K + 1)
    tags = _frequent_tags(data)
    compared = [*_trends(data, about), *_pairs(data, found, tags), *_tags(data, found, tags)]
    n_tests = sum(len(one.topic) for one in compared)
    ranked = {one.kind: list(_rank(data, one, n_tests)) for one in compared}
    return _mix_kinds([ranked.get(kind, []) for kind in _KINDS])


def difference_interval(groups: _Groups, z: float) -> tuple[Float64, Float64]:
    """Return the interval of the difference of two shares, from two Wilson intervals (Newcombe, 1998)."""

    def wilson(x: Int64, n: Int64) -> tuple[Float64, Float64, Float64]:
        middle, spread = x + z * z / 2, z * np.sqrt(x * (n - x) / n + z * z / 4)
        return x / n, (middle - spread) / (n + z * z), (middle + spread) / (n + z * z)

    p, p_low, p_high = wilson(groups.found, groups.of)
    q, q_low, q_high = wilson(groups.other, groups.of_other)
    return p - q - np.hypot(p - p_low, q_high - q), p - q + np.hypot(p_high - p, q - q_low)


def _frequent_tags(data: TopicData) -> Int64:
    """Return the tags to compare: frequent ones, but no years."""
    n_docs = np.bincount(data.documents.tag_index, minlength=len(data.tags.names))
    best = np.argsort(-n_docs, kind="stable")[:_MOST_TAGS]
    kept = (n_docs[best] >= _LEAST_DOCS) & (n_docs[best] <= len(data.documents.ids) - _LEAST_DOCS)
    named = (t for t in sorted(best[kept].tolist()) if not year_of(data.tags.names[t]))
    return np.fromiter(named, dtype=np.int64)


def _trends(data: TopicData, about: Bool) -> Iterator[_Comparisons]:
    """Compare the documents of the later half with those of the earlier one, topic by topic."""
    found = periods_of(data)
    if found is None:
        return
    period = found[1]
    late = later_half(np.bincount(period[period >= 0]))
    uneven = np.array(sorted(missing_periods(data)), dtype=np.int64)
    even = np.asarray(data.tag_matrix[:, uneven].sum(1)).ravel() == 0
    halves = [(period >= 0) & (period < late), period >= late]
    topics = np.flatnonzero(~data.background)
    own, K = about[:, topics], len(topics)
    for kind, (before, since) in zip(("falling", "rising"), (halves, halves[::-1]), strict=True):
        pairs = [(before, since), (before & even, since & even)] if len(uneven) else [(before, since)]
        if min(rows.sum() for pair in pairs for rows in pair) < _LEAST_DOCS:
            continue
        groups = tuple(
            _Groups(own[one].sum(0), np.full(K, one.sum()), own[other].sum(0), np.full(K, other.sum()))
            for one, other in pairs
        )
        yield _Comparisons(kind, topics, np.tile(uneven, (len(topics), 1)), groups)


def _tags(data: TopicData, found: sp.csr_array, tags: Int64) -> Iterator[_Comparisons]:
    """Compare the documents with a tag with all others: those about each topic, and those about none."""
    inside = np.asarray((data.tag_matrix[:, tags].T @ found).todense())  # (tags, K + 1)
    n_docs, all_found = np.bincount(data.documents.tag_index, minlength=1)[tags], found.sum(0)
    K, D = data.n_topics, len(data.documents.ids)
    for kind, topics in (("apart", np.flatnonzero(~data.background)), ("unclear", np.array([K]))):
        tag, topic = (part.ravel() for part in np.meshgrid(np.arange(len(tags)), topics, indexing="ij"))
        counts, of = inside[tag, topic], n_docs[tag]
        groups = _Groups(counts, of, all_found[topic] - counts, D - of)
        yield _Comparisons(kind, topic, tags[tag][:, np.newaxis], (groups,))


def _pairs(data: TopicData, found: sp.csr_array, tags: Int64) -> Iterator[_Comparisons]:
    """Compare the documents with two tags with those that have only one of them, for each of the two."""
    rows = sp.csr_array(data.tag_matrix[:, tags])
    common = (rows.T @ rows).toarray()
    n_docs = common.diagonal()
    alone = np.minimum(n_docs[:, np.newaxis], n_docs) - common
    one, other = np.nonzero(np.triu((common >= _LEAST_BOTH) & (alone >= _LEAST_BOTH), 1))
    both, of_tags = common[one, other], (found.T @ rows).toarray()
    topics = np.flatnonzero(~data.background)
    counts = np.zeros((len(one), len(topics)), dtype=np.int64)
    about = sp.csc_array(found)
    for i, k in enumerate(topics.tolist() if len(one) else []):
        own = rows[about.indices[slice(*about.indptr[k : k + 2])]]
        counts[:, i] = (own.T @ own).toarray()[one, other]
    pair, topic = (part.ravel() for part in np.meshgrid(np.arange(len(one)), topics, indexing="ij"))
    together = counts.ravel()
    groups = tuple(
        _Groups(together, both[pair], of_tags[topic, tag] - together, n_docs[tag] - both[pair])
        for tag in (one[pair], other[pair])
    )
    yield _Comparisons("together", topic, tags[np.stack([one[pair], other[pair]], axis=1)], groups)


def _rank(data: TopicData, compared: _Comparisons, n_tests: int) -> Iterator[Finding]:
    """Yield the significant comparisons, ordered by lower bound times root of the size of the group."""
    from scipy.stats import hypergeom

    if not len(compared.topic):
        return
    z = float(-ndtri(_LEVEL / (2 * n_tests)))
    intervals = [difference_interval(groups, z) for groups in compared.groups]
    trend = compared.kind in _TRENDS  # without uneven tags it must point the same way
    lows = np.stack([low for low, _ in intervals])
    least = lows[0] if trend else lows.min(0)
    order = np.argsort(-least * np.sqrt(compared.groups[0].of), kind="stable")
    for i in order[least[order] > 0][: 4 * _SHOWN].tolist():
        groups = [one.at(i) for one in compared.groups]
        tested = groups[:1] if trend else groups
        p = max(hypergeom.sf(x - 1, n + m, x + y, n) for x, n, y, m in tested)
        if p > _LEVEL / n_tests or any(x * m <= y * n for x, n, y, m in groups):
            continue
        g = 0 if trend else int(np.argmin(lows[:, i]))
        topic = int(compared.topic[i])
        yield Finding(
            kind=compared.kind,
            topic=topic if topic < data.n_topics else None,
            tags=tuple(compared.tags[i].tolist()),
            counts=tuple(groups),
            low=float(intervals[g][0][i]),
            high=float(intervals[g][1][i]),
            tests=n_tests,
        )


def _mix_kinds(ranked: list[list[Finding]]) -> tuple[Finding, ...]:
    """Return the best finding of each kind, then the second ones, ...; none has a topic or tag of another."""
    chosen: list[Finding] = []
    used: set[tuple[str, int | None]] = set()
    for one in (finding for row in zip_longest(*ranked) for finding in row if finding):
        own = () if one.kind in _TRENDS else one.tags
        parts = {("topic", one.topic), *(("tag", t) for t in own)}
        if len(chosen) < _SHOWN and not parts & used:
            chosen.append(one)
            used |= parts
    return tuple(sorted(chosen, key=lambda one: _KINDS.index(one.kind)))
