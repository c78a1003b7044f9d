"""Topics and tags over time: periods, shares of topics, documents of tags."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from tagtopics._typing import CSR, Float64, Int64
from tagtopics.corpus.tags import MOST_KINDS, kind_of
from tagtopics.explore.record.topic_data import DocumentTable, TagTable, TopicData
from tagtopics.explore.report.page import round_numbers

_DATE = re.compile(r"\s*([0-9]{4})(?:-([0-9]{2}))?")
_YEAR = re.compile("year:([1-9][0-9]{3})")
_LEAST_DOCS = 10  # fewest documents of a tag with a trend; `explorer/time.js` has the same
_FREQUENT, _MOST_OF = 0.005, 0.8  # of all documents: with a tag whose mix is held fixed; with any of them
_LARGE, _EXPECTED = 0.05, 5  # share of documents of a large tag; its documents in a period, by that share


def year_of(tag: str) -> int:
    """Return the year that a tag of the kind `year` names; 0 for other tags."""
    found = _YEAR.fullmatch(tag)
    return int(found.group(1)) if found else 0


def periods_of(data: TopicData) -> tuple[tuple[str, ...], Int64] | None:
    """Return the periods in order, and (D,) the period of each document, -1 if unknown; None without time.

    Periods are the years of the documents' dates, or months if all are of one year; without dates, they are
    the years of tags such as `year:1999`, the earliest if a document has several.
    """
    return _periods(data.documents, data.tags)


@lru_cache(maxsize=1)
def _periods(table: DocumentTable, tags: TagTable) -> tuple[tuple[str, ...], Int64] | None:
    if table.dates is None:
        return _number_periods([f"{year}" if year else "" for year in _years_of_tags(table, tags).tolist()])
    found = [_DATE.match(date or "") for date in table.dates]
    years = _number_periods([match.group(1) if match else "" for match in found])
    if years is not None:
        return years
    return _number_periods([f"{m.group(1)}-{m.group(2)}" if m and m.group(2) else "" for m in found])


def _number_periods(names: list[str]) -> tuple[tuple[str, ...], Int64] | None:
    known = sorted(set(names) - {""})
    if len(known) < 2:
        return None
    number = {name: i for i, name in enumerate(known)} | {"": -1}
    return tuple(known), np.array([number[name] for name in names], dtype=np.int64)


def _years_of_tags(table: DocumentTable, tags: TagTable) -> Int64:
    year = np.array([year_of(name) for name in tags.names], dtype=np.int64)
    first = np.full(len(table.ids), 10_000, dtype=np.int64)
    rows = np.repeat(np.arange(len(table.ids)), np.diff(table.tag_offsets))
    if len(year):
        years = year[table.tag_index]
        np.minimum.at(first, rows[years > 0], years[years > 0])
    return np.where(first < 10_000, first, 0)


def time_of(data: TopicData) -> dict[str, Any] | None:
    """Return documents and mean topic shares of every period, and tags by half; None without time.

    `margins` are half the 95 % intervals of the means, None for a single document. `late` is the first
    period of the later half, and `tags` has for tags of enough documents, other than years, the documents in
    both halves. The page finds trends in them. `held` has the same with the mix of tags held fixed.
    """
    found = periods_of(data)
    if found is None:
        return None
    names, period = found
    n_docs = np.bincount(period[period >= 0], minlength=len(names))
    late = later_half(n_docs)
    return {
        "periods": list(names),
        "documents": n_docs.tolist(),
        **_means(data, period),
        "late": late,
        "tags": _tags_by_half(data, period, late),
        "missing": [[t, gaps] for t, gaps in missing_periods(data).items()],
        "held": [one for own in _kinds(data) if (one := _hold_mix(data, period, own))],
    }


def _by_period(period: Int64) -> CSR:
    """Return CSR (P, D) of ones: which documents are of each period."""
    known = np.flatnonzero(period >= 0)
    shape = period.max() + 1, len(period)
    return sp.csr_array((np.ones(len(known)), (period[known], known)), shape=shape)


def _means(data: TopicData, period: Int64) -> dict[str, Any]:
    """Return the mean topic shares of every period and half their 95 % intervals; None for one document."""
    by_period, topics = _by_period(period), data.documents.topics.astype(np.float64)
    n_docs = by_period.sum(1)[:, np.newaxis]
    mean = (by_period @ topics) / n_docs
    variance = np.maximum((by_period @ topics**2) / n_docs - mean**2, 0) / np.maximum(n_docs - 1, 1)
    return _intervals(mean, variance, n_docs.ravel())


def _intervals(mean: Float64, variance: Float64, n_docs: Int64) -> dict[str, Any]:
    margin = 1.96 * np.sqrt(variance)
    return {
        "shares": [round_numbers(row) for row in mean],
        "margins": [round_numbers(row) if n > 1 else None for row, n in zip(margin, n_docs, strict=True)],
    }


def _kinds(data: TopicData) -> list[list[int]]:
    """Return the frequent tags of each kind, without years; none if there are too many kinds."""
    kinds: dict[str, list[int]] = {}
    least = _FREQUENT * len(data.documents.ids)
    for t, name in enumerate(data.tags.names):
        if data.tags.n_docs[t] >= least and not year_of(name):
            kinds.setdefault(kind_of(name), []).append(t)
    return list(kinds.values()) if len(kinds) <= MOST_KINDS else []


def _hold_mix(data: TopicData, period: Int64, tags: list[int]) -> dict[str, Any] | None:
    """Return the topic shares of every period with the mix of some tags held fixed, such as venues.

    The share of a topic in a document is taken as the sum of a part of its period and a part of its tag
    (least squares; a document with n of the tags has 1/n of each part). A period is then given all tags as
    often as all documents have them, also those that it lacks. Intervals are robust to unequal variances
    (HC1). None if fewer than four fifths of the documents have such tags, or periods have no tags in common.
    """
    has, n_periods = sp.csr_array(data.tag_matrix[:, tags], dtype=np.float64), period.max() + 1
    docs = np.flatnonzero((period >= 0) & (has.sum(1) > 0))
    if len(tags) < 2 or len(docs) < _MOST_OF * (period >= 0).sum():
        return None
    member = has[docs] / has[docs].sum(1)[:, np.newaxis]
    when = sp.csr_array(np.eye(n_periods)[period[docs]])
    design = sp.csr_array(sp.hstack([when, member]))
    products = (design.T @ design).toarray()
    if connected_components(products)[0] > 1:
        return None
    mix = np.tile(member.sum(0) / len(docs), (n_periods, 1))
    weights = design @ np.linalg.pinv(products, hermitian=True) @ np.hstack([np.eye(n_periods), mix]).T
    topics = data.documents.topics[docs].astype(np.float64)
    left = topics - design @ (np.linalg.pinv(products, hermitian=True) @ (design.T @ topics))
    n_free = len(docs) - design.shape[1] + 1
    variance = (weights**2).T @ left**2 * len(docs) / max(n_free, 1)
    n_docs = np.bincount(period[docs], minlength=n_periods)
    return {
        "kind": kind_of(data.tags.names[tags[0]]),
        "tags": tags,
        "documents": n_docs.tolist(),
        **_intervals(np.maximum(weights.T @ topics, 0), variance, n_docs),
    }


def later_half(n_docs: Int64) -> int:
    """Return the first period of the later half, so that the documents are divided most evenly."""
    return int(np.argmin(np.abs(np.cumsum(n_docs)[:-1] - n_docs.sum() / 2))) + 1


@lru_cache(maxsize=1)
def missing_periods(data: TopicData) -> dict[int, list[int]]:
    """Return the periods in which a large tag has no document, by tag: a venue that is held every other year.

    A tag is large if it has 5 % of the documents; a period counts if five of its documents would have the
    tag by that share. Years are left out.
    """
    found = periods_of(data)
    if found is None:
        return {}
    by_period = _by_period(found[1])
    n_docs, counts = by_period.sum(1)[:, np.newaxis], by_period @ data.tag_matrix
    share = counts.sum(0) / n_docs.sum()
    large = [t for t in np.flatnonzero(share >= _LARGE).tolist() if not year_of(data.tags.names[t])]
    missing = (counts[:, large].toarray() == 0) & (n_docs * share[large] >= _EXPECTED)
    return {t: np.flatnonzero(own).tolist() for t, own in zip(large, missing.T, strict=True) if own.any()}


def _tags_by_half(data: TopicData, period: Int64, late: int) -> list[list[int]]:
    """Return tag, documents in the earlier and in the later half; years and rare tags are left out."""
    counts = _by_period(period) @ data.tag_matrix
    early, after = counts[:late].sum(0), counts[late:].sum(0)
    return [
        [t, int(early[t]), int(after[t])]
        for t in np.flatnonzero(early + after >= _LEAST_DOCS).tolist()
        if not year_of(data.tags.names[t])
    ]
