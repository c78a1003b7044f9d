"""Topics and tags over time: shares by period with intervals, what rises and falls."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from scipy.stats import norm
from sklearn.utils.validation import check_is_fitted

from tagtopics._typing import CSR, Float64, Int64
from tagtopics.analysis.effects.measure import Measured, Sampling, Statistic, TopicMean, measure
from tagtopics.analysis.effects.regressors import (
    DATES,
    Values,
    add_values,
    complete_rows,
    is_date,
    numbers,
    pick_tags,
)
from tagtopics.analysis.records import OnProgress, Record
from tagtopics.corpus.core import Corpus
from tagtopics.corpus.tags import kind_of
from tagtopics.errors import InputError
from tagtopics.models.base import TopicModel


@dataclass(frozen=True)
class Trend(Record):
    """A share over time."""

    slope: float  # per unit of time, such as a year
    low: float
    high: float
    shares: tuple[float, ...]  # of each period

    @property
    def direction(self) -> str:
        """Rising, falling, or unclear if the interval of the slope contains zero."""
        return "rising" if self.low > 0 else "falling" if self.high < 0 else "unclear"


@dataclass(frozen=True)
class TopicTrend(Trend, TopicMean):
    """A topic over time, in shares of the tokens of documents."""

    lows: tuple[float, ...]  # of each period
    highs: tuple[float, ...]


@dataclass(frozen=True)
class TagTrend(Trend):
    """A tag over time, in shares of the documents."""

    tag: str
    n_docs: int


@dataclass(frozen=True, eq=False)
class Trends(Record):
    """Topics and tags over time; `held` as in `Effects`."""

    unit: str  # of slopes times 100
    periods: tuple[str, ...]  # ascending: the distinct times, or equal spans of them
    docs: tuple[int, ...]  # documents of each period
    left_out: int  # documents without a time
    refits: int
    level: float  # of the intervals
    held: bool
    topics: tuple[TopicTrend, ...]  # steepest rise first
    tags: tuple[TagTrend, ...]  # steepest rise first

    def __repr__(self) -> str:
        lines = [f"{len(self.periods)} periods, {self.periods[0]} to {self.periods[-1]}"]
        lines += [
            f"topic {row.topic:>3} {100 * row.slope:+.2f} [{100 * row.low:+.2f}, {100 * row.high:+.2f}] "
            f"{self.unit}  {row.direction:<8}{' ' if row.agrees else '?'}{row.name}"
            for row in self.topics
        ]
        return "\n".join(lines)


def trends(
    model: TopicModel,
    corpus: Corpus,
    *,
    time: str = "year",
    values: Values | None = None,
    n_periods: int = 12,
    refits: int = 100,
    seed: int = 0,
    level: float = 0.9,
    min_docs: int = 20,
    n_words: int = 6,
    n_jobs: int | None = None,
    on_progress: OnProgress | None = None,
) -> Trends:
    """Return how topics and tags change over time, with intervals.

    Edited topics are held in refits, as in `effects`.

    Args:
        model: a fitted `LDA` or `TTM`; its topics keep their numbers.
        corpus: documents with words of the model, usually those it was fitted to.
        time: "year" or "date" from the dates of the corpus, a kind of tags whose names are numbers, or a name
            in `values`.
        values: numbers of documents by name, (D,), NaN where unknown.
        n_periods: most periods; with more distinct times, they are equal spans.
        refits: number of bootstrap samples for the intervals of topics.
        seed: of the samples.
        level: of the intervals.
        min_docs: tags on fewer dated documents are left out.
        n_words: words that name a topic.
        n_jobs: threads; None or -1 for all cores.
        on_progress: called with the share of the work that is done.
    """
    check_is_fitted(model)
    if n_periods < 2:
        raise InputError(f"trends: n_periods must be 2 or more, not {n_periods}")
    corpus = corpus if corpus.columns else replace(corpus, columns=model.columns_)
    given = {time: values[time]} if values and time in values else None
    known = numbers(corpus, time, add_values(corpus, given)[1])
    rows = complete_rows([known], corpus.n_docs, time)
    part, times = corpus.select(rows), known[rows]
    if np.ptp(times) == 0:
        raise InputError(f"trends: {time} is {times[0]:g} for all documents; two or more are needed")
    names, period = periods_of(times, n_periods)
    statistic = _statistic(times, period, len(names))
    sampling = Sampling(refits, seed, level, n_jobs, on_progress)
    found = measure(model, corpus, rows, statistic, sampling, n_words)
    columns = [t for t, tag in enumerate(corpus.tag_names) if kind_of(tag) not in {time, *DATES}]
    tags, tag_names = pick_tags(part, columns, min_docs)
    return Trends(
        unit=f"points per {'year' if is_date(corpus, time) else f'unit of {time}'}",
        periods=names,
        docs=tuple(np.bincount(period, minlength=len(names)).tolist()),
        left_out=corpus.n_docs - len(rows),
        refits=refits,
        level=level,
        held=found.held,
        topics=_topic_trends(found),
        tags=_tag_trends(tags, tag_names, times, period, level),
    )


def periods_of(times: Float64, most: int) -> tuple[tuple[str, ...], Int64]:
    """Return the names of the periods, and the period of each document: its time, or one of equal spans."""
    distinct, place = np.unique(times, return_inverse=True)
    if len(distinct) <= most:
        return tuple(f"{value:g}" for value in distinct), place.astype(np.int64)
    edges = np.linspace(distinct[0], distinct[-1], most + 1)
    place = np.clip(np.searchsorted(edges, times, side="right") - 1, 0, most - 1)
    used, place = np.unique(place, return_inverse=True)
    return tuple(f"{edges[i]:.6g} to {edges[i + 1]:.6g}" for i in used), place.astype(np.int64)


def _statistic(times: Float64, period: Int64, n_periods: int) -> Statistic:
    """Return a function of a sample: slope of each topic, then its mean in each period; (1 + P, K)."""

    def statistic(rows: Int64, shares: Float64) -> Float64:
        members = sp.csr_array(
            (np.ones(len(rows)), (period[rows], np.arange(len(rows)))), shape=(n_periods, len(rows))
        )
        docs = np.asarray(members.sum(1), dtype=np.float64).ravel()
        means = (members @ shares) / np.maximum(docs, 1)[:, np.newaxis]
        means[docs == 0] = shares.mean(0)  # nothing is known of a period without documents in the sample
        return np.vstack([_slopes(times[rows], shares), means])

    return statistic


def _slopes(times: Float64, values: Float64) -> Float64:
    """Return the slope of each column of values, (D, N), over time; zeros if all times are equal."""
    centred = times - times.mean()
    return np.asarray(np.einsum("d,dn->n", centred, values) / max(float(centred @ centred), 1e-300))


def _topic_trends(found: Measured) -> tuple[TopicTrend, ...]:
    low, high = np.clip(found.low[1:], 0, 1), np.clip(found.high[1:], 0, 1)
    return tuple(
        TopicTrend(
            **vars(found.topics[k]),
            slope=float(found.estimate[0, k]),
            low=float(found.low[0, k]),
            high=float(found.high[0, k]),
            shares=tuple(found.estimate[1:, k].tolist()),
            lows=tuple(low[:, k].tolist()),
            highs=tuple(high[:, k].tolist()),
        )
        for k in np.argsort(-found.estimate[0], kind="stable")
    )


def _tag_trends(
    tags: CSR, names: tuple[str, ...], times: Float64, period: Int64, level: float
) -> tuple[TagTrend, ...]:
    """Return the share of documents with each tag; intervals of slopes are robust to unequal variances."""
    docs = np.bincount(period)
    centred = (times - times.mean()) / float((times - times.mean()) @ (times - times.mean()))
    rows, quantile, by_tag = [], float(norm.ppf((1 + level) / 2)), sp.csc_array(tags)
    for t, name in enumerate(names):
        has = by_tag[:, [t]].toarray().ravel()
        slope = float(centred @ has)
        rest = has - has.mean() - slope * (times - times.mean())
        reach = quantile * float(np.sqrt((centred**2) @ (rest**2)))
        shares = np.bincount(period, has, minlength=len(docs)) / docs
        trend = slope, slope - reach, slope + reach, tuple(shares.tolist())
        rows.append(TagTrend(*trend, tag=name, n_docs=int(has.sum())))
    return tuple(sorted(rows, key=lambda row: (-row.slope, row.tag)))
