"""Topics and tags over time: shares by period with intervals, what rises and falls, drifting tags."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.stats import false_discovery_control, norm
from sklearn.utils.validation import check_is_fitted

from tagtopics._blas import single_thread
from tagtopics._typing import CSR, Float64, Int64
from tagtopics.analysis.effects.effects import solve_ridge
from tagtopics.analysis.effects.measure import Measured, Sampling, Statistic, TopicMean, measure
from tagtopics.analysis.effects.regressors import (
    DATES,
    Values,
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

_PERMUTATIONS = 999
_FALSE_SHARE = 0.1  # expected share of false ones among the tags that are reported to drift


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


@dataclass(frozen=True)
class TagDrift(Record):
    """How the topics of the documents with a tag change over time, beyond the changes of all documents."""

    tag: str
    n_docs: int
    change: float  # share of the tokens that changed topics from the first period to the last
    score: float  # standard deviations above what is expected if time does not matter
    p_value: float
    drifts: bool
    gained: tuple[int, ...]  # topics that gained most
    lost: tuple[int, ...]


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
    drifts: tuple[TagDrift, ...]  # largest score first

    def __repr__(self) -> str:
        lines = [f"{len(self.periods)} periods, {self.periods[0]} to {self.periods[-1]}"]
        lines += [
            f"topic {row.topic:>3} {100 * row.slope:+.2f} [{100 * row.low:+.2f}, {100 * row.high:+.2f}] "
            f"{self.unit}  {row.direction:<8}{' ' if row.agrees else '?'}{row.name}"
            for row in self.topics
        ]
        lines += [f"{row.tag} drifts: score {row.score:.1f}" for row in self.drifts if row.drifts]
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
        seed: of the samples and permutations.
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
    known = numbers(corpus, time, values)
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
        drifts=tag_drifts(found.shares, tags, tag_names, times, seed),
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


def tag_drifts(
    shares: Float64, tags: CSR, names: tuple[str, ...], times: Float64, seed: int
) -> tuple[TagDrift, ...]:
    """Return how much the topics of each tag drift, tested by permuting the times of its documents.

    The trend of all documents and the mean profiles of all tags are removed first; a document is the mean of
    its tags. The statistic is the sum over topics of the squared slopes of the square roots of the shares,
    whose variance depends little on their size. Decision 275. Shares are (D, K), tags CSR (D, N), times (D,).
    """
    parts = sp.csc_array(sp.diags_array(1 / np.maximum(np.asarray(tags.sum(1)).ravel(), 1)) @ tags)
    roots, rest = (_own_part(values, parts, times) for values in (np.sqrt(np.maximum(shares, 0)), shares))
    rows = []
    for t, name in enumerate(names):
        span = slice(parts.indptr[t], parts.indptr[t + 1])
        docs, part = parts.indices[span], parts.data[span]
        if np.ptp(times[docs]) > 0:
            rng = np.random.default_rng([seed, t])
            rows.append(_drift(name, roots[docs], rest[docs], times[docs], part, rng))
    adjusted = false_discovery_control([row.p_value for row in rows]) if rows else ()
    marked = [
        replace(row, drifts=bool(p <= _FALSE_SHARE + 1e-12)) for row, p in zip(rows, adjusted, strict=True)
    ]
    return tuple(sorted(marked, key=lambda row: (-row.score, row.tag)))


def _own_part(values: Float64, parts: Any, times: Float64) -> Float64:
    """Return values of documents, (D, K), without the trend of all documents and the profiles of tags.

    Profiles are a ridge regression on the part of each tag in each document, CSC (D, N).
    """
    rest = values - values.mean(0) - np.outer(times - times.mean(), _slopes(times, values))
    back = sp.csr_array(parts.T)
    return np.asarray(rest - parts @ solve_ridge(back, back @ rest, 1e-6))


def _drift(
    name: str, roots: Float64, rest: Float64, times: Float64, part: Float64, rng: np.random.Generator
) -> TagDrift:
    """Return the drift of a tag: regression on time times the part of the tag, (n,).

    Roots of shares (n, K) tell whether there is one, the shares themselves (n, K) how large it is.
    """
    centred = times - times.mean()
    permuted = rng.permuted(np.tile(centred, (_PERMUTATIONS, 1)), axis=1)
    with single_thread():
        slopes, of_roots = (
            (centred * part) @ values / ((centred * part) @ (centred * part)) for values in (rest, roots)
        )
        scales = (permuted**2) @ (part**2)
        chance = (((permuted * part) @ roots / scales[:, np.newaxis]) ** 2).sum(1)
    statistic = float((of_roots**2).sum())
    score = (statistic - float(chance.mean())) / max(float(chance.std()), 1e-300)
    order = np.argsort(-slopes, kind="stable")
    return TagDrift(
        tag=name,
        n_docs=len(times),
        change=float(0.5 * np.abs(slopes).sum() * np.ptp(times)),
        score=score,
        p_value=float((1 + (chance >= statistic).sum()) / (1 + _PERMUTATIONS)),
        drifts=False,
        gained=tuple(order[:2].tolist()),
        lost=tuple(order[::-1][:2].tolist()),
    )
