"""How many topics: a grid of fits, scored on held-out documents and compared with each other.

The rule, decision 272: the fits with the best held-out score have some topics that other restarts find again,
and others that are parts or mixtures of them. The expected number of topics found again is the estimate, and
the recommendation is the number tried that is nearest to it. The next larger number of topics is asked, too:
at the right number itself, some restarts merge two topics and split a third. If the score is best at an end
of the grid, the grid is extended. If it still rises at the limit, there is no recommendation. And if half of
the documents give a much smaller estimate, so will all of them compared with more: there is no upper end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import isqrt
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from tagtopics._typing import CSR, Float32, Float64
from tagtopics.analysis.choose.compare import found_again
from tagtopics.analysis.records import OnProgress, Record
from tagtopics.corpus.core import Corpus
from tagtopics.corpus.splits import completion, train_test
from tagtopics.errors import InputError
from tagtopics.jit.threads import current_threads, results_of, thread_limit
from tagtopics.models.base import TopicModel
from tagtopics.models.lda import LDA

GRID = (10, 20, 50, 100)  # the default numbers of topics
SWEEPS = 60  # most sweeps of a fit of the grid; more change scores by less than their errors
_MOST_BYTES = 2**30  # messages of the fits that run at the same time; larger fits use all threads each
_SAMPLES = 1000
_LIMIT = 4  # the grid is extended to this multiple of its largest number
_THIN = 0.75  # the share of the estimate that half of the documents must give
_TEST_RATIO = 0.25  # test per training documents: part of the variance of repeated splits (Nadeau and Bengio)


@dataclass(frozen=True)
class ChoiceRow(Record):
    """One number of topics.

    `score` is the mean log probability of a held-out token, over all restarts, and `error` its standard error
    without the part that all numbers of topics share because they are tested on the same documents.
    `stability` is the share of the topics of one restart that another restart finds again.
    """

    n_topics: int
    score: float
    error: float
    stability: float


@dataclass(frozen=True, eq=False)
class TopicChoice(Record):
    """The recommended number of topics, and what it is based on."""

    recommended: int | None  # the number tried that is nearest to the estimate; None if the score still rises
    interval: tuple[int, int | None]  # 90 %, over restarts; None: no upper end
    estimate: float  # the number of topics found again at the best held-out score
    half_estimate: float  # the same, learned from half of the documents
    best_score: int  # the number of topics with the best held-out score
    restarts: int  # fits for each number of topics
    seed: int  # that all splits and fits were derived from
    rows: tuple[ChoiceRow, ...]  # one for each number that was tried
    notes: tuple[str, ...]  # what to consider, in sentences

    @property
    def summary(self) -> str:
        """The answer in one line."""
        low, high = self.interval
        if self.recommended is None:
            return f"no recommendation: the score still rises at {low} topics (interval: {low} or more)"
        interval = f"{low} or more" if high is None else f"{low} to {high}"
        return f"recommended: {self.recommended} topics (90 % interval {interval})"

    def __repr__(self) -> str:
        lines = [self.summary]
        lines += [
            f"{row.n_topics:>6} topics  score {row.score:.4f} ± {row.error:.4f}  "
            f"{row.stability:.0%} found again"
            for row in self.rows
        ]
        return "\n".join(lines)


def choose_topics(
    corpus: Corpus,
    topics: Sequence[int] = GRID,
    *,
    restarts: int = 10,
    seed: int = 0,
    model: TopicModel | None = None,
    n_jobs: int | None = None,
    on_progress: OnProgress | None = None,
) -> TopicChoice:
    """Recommend a number of topics.

    For each number of topics, every restart learns from another random 80 % of the documents with another
    seed, and predicts held-out words of the others. If the score is best at the smallest or largest number,
    smaller or larger ones are tried, too, up to four times the largest. Equal arguments give equal results at
    any number of threads.

    Args:
        corpus: the documents; an official split is ignored.
        topics: numbers of topics to try, at least two.
        restarts: fits for each number, at least two; ten or more for useful intervals.
        seed: of all splits and fits.
        model: an estimator whose other parameters are used; `LDA()` by default, whose topics are those of
            `TTM` with default weights, too.
        n_jobs: threads; None or -1 for all cores.
        on_progress: called with the share of the work that is done; again from 0 for further numbers.
    """
    grid = _check(corpus, topics, restarts, seed)
    of_grid = LDA(max_iter=SWEEPS) if model is None else model
    made = make_restarts(corpus, restarts, seed)
    fit = partial(fit_grid, model=of_grid, n_jobs=n_jobs, on_progress=on_progress)
    fitted = _extend(grid, partial(fit, made))
    tried = [row.n_topics for row in fitted]
    near = tried[: tried.index(_best(fitted)) + 2]
    return recommend(fitted, fit([_halve(restart) for restart in made], near), seed)


def _extend(grid: list[int], fit: Callable[[list[int]], list[GridRow]]) -> list[GridRow]:
    """Return the fits, ascending, with those of more numbers until the best score is not at an end."""
    fitted, limit = fit(grid), _LIMIT * grid[-1]
    while True:
        numbers = [row.n_topics for row in fitted]
        best, last = _best(fitted), numbers[-1]
        larger = min(max(last * last // numbers[-2], 3 * last // 2), 2 * last, limit)
        if best == last < larger:
            fitted = [*fitted, *fit([larger])]
        elif best == numbers[0] > 2:
            fitted = [*fit([max(numbers[0] // 2, 2)]), *fitted]
        else:
            return fitted


def _best(fitted: Sequence[GridRow]) -> int:
    return max(fitted, key=lambda row: (float(row.scores.mean()), -row.n_topics)).n_topics


def _check(corpus: Corpus, topics: Sequence[int], restarts: int, seed: int) -> list[int]:
    """Return the numbers of topics, ascending."""
    grid = sorted({int(n) for n in topics})
    if len(grid) < 2 or grid[0] < 2:
        raise InputError("choose: topics must be two or more different numbers from 2 on, such as 10,20,50")
    if restarts < 2:
        raise InputError(f"choose: restarts must be 2 or more, not {restarts}; fits are compared")
    if not 0 <= seed < 2**32:
        raise InputError(f"choose: seed must be a whole number from 0 to 4294967295, not {seed}")
    if corpus.n_docs < 10:
        raise InputError(f"choose: {corpus.n_docs} documents are too few to hold some out; give 10 or more")
    return grid


# ---------------------------------------------------------------------------------------------------- fits


class GridRow(NamedTuple):
    """The fits of one number of topics, R restarts."""

    n_topics: int
    scores: Float64  # (R,) mean log probability of a held-out token
    found: Float64  # (R, R) share of the topics of restart i that are found in restart j; 1 if i is j
    topics: list[Float32]  # (K, W) p(word | topic) of each restart


class Restart(NamedTuple):
    """The documents of one restart; the same for all numbers of topics."""

    train: Corpus
    seen: CSR  # (D, W): tokens of the test documents that are given
    hidden: CSR  # (D, W): tokens to predict
    seed: int


def lanes_for(n_edges: int, n_topics: int) -> int:
    """Return how many fits run side by side; each of them has messages for all of its edges."""
    threads = current_threads()
    return threads if 4 * n_topics * n_edges * threads <= _MOST_BYTES else 1


def make_restarts(corpus: Corpus, restarts: int, seed: int) -> list[Restart]:
    """Split a corpus at random for each restart: 80 % of the documents to learn from, others to predict.

    The first restarts do not depend on how many there are.
    """
    bare = replace(corpus, split=None, texts=None, links=None, labels=None)
    made = []
    for r in range(restarts):
        own = int(np.random.SeedSequence([seed, r]).generate_state(1)[0])
        train, test = train_test(bare, own)
        seen, hidden = completion(bare.counts[test], own)
        if not hidden.nnz:
            raise InputError("choose: nothing to predict; the documents need two words or more each")
        made.append(Restart(bare.select(train), seen, hidden, own))
    return made


def _halve(restart: Restart) -> Restart:
    """Return the restart with a random half of the documents to learn from."""
    n = restart.train.n_docs
    kept = np.random.default_rng(restart.seed).permutation(n)[: (n + 1) // 2]
    return restart._replace(train=restart.train.select(np.sort(kept)))


def fit_grid(
    restarts: Sequence[Restart],
    topics: Sequence[int],
    model: TopicModel,
    n_jobs: int | None = None,
    on_progress: OnProgress | None = None,
) -> list[GridRow]:
    """Return the fits of each number of topics, with the other parameters of a model.

    Fits run side by side, or one after another if their messages take much memory. Neither changes a bit.
    """
    work, done = sum(topics) * len(restarts), 0
    edges = max(restart.train.counts.nnz for restart in restarts)

    def fit_row(n_topics: int) -> GridRow:
        def fit(restart: Restart) -> tuple[float, Float32]:
            nonlocal done
            fitted = _fit(restart, n_topics, model)
            done += n_topics
            if on_progress is not None:
                on_progress(done / work)
            return fitted

        with thread_limit(n_jobs):
            fits = results_of(fit, restarts, lanes_for(edges, n_topics))
        scores, components = zip(*fits, strict=True)
        found = np.eye(len(restarts))
        for i in range(len(restarts)):
            for j in range(i):
                found[i, j] = found[j, i] = found_again(components[i], components[j]).mean()
        return GridRow(n_topics, np.array(scores), found, list(components))

    return [fit_row(n_topics) for n_topics in topics]


def _fit(restart: Restart, n_topics: int, model: TopicModel) -> tuple[float, Float32]:
    """Return the score of one fit and its topics."""
    own = clone(model).set_params(n_topics=n_topics, random_state=restart.seed, n_jobs=None)
    own.fit_topics(restart.train)
    total = own.log_likelihood(restart.seen, restart.hidden).sum()
    return float(total / restart.hidden.sum(dtype=np.float64)), own.components_


# ---------------------------------------------------------------------------------------------------- rule


def recommend(fitted: Sequence[GridRow], half: Sequence[GridRow], seed: int) -> TopicChoice:
    """Apply the rule to a grid of fits, and to fits to half of the documents.

    The interval is the 5th to 95th percentile of resampled restarts. Numbers between those of the grid were
    not tried: the lower end is rounded down to one of them, and the upper end rounded up, then moved half of
    the way, by ratio, to the next. Thin documents, or restarts that prefer the largest number, leave it open.
    """
    R = len(fitted[0].scores)
    best, _, estimate = _estimate(fitted, np.ones(R))
    grid, of_half = [row.n_topics for row in fitted], _estimate(half, np.ones(R))[2]
    found = partial(
        TopicChoice,
        estimate=estimate,
        half_estimate=of_half,
        best_score=best,
        seed=seed,
        restarts=R,
        rows=choice_rows(fitted),
    )
    few = [f"{R} restarts give a rough interval; use 10 or more"] if R < 5 else []
    if best == grid[-1]:
        purpose = "choose by purpose: fewer topics to read, more to predict; or try larger numbers"
        return found(recommended=None, interval=(best, None), notes=(purpose, *few))
    recommended = min(grid, key=lambda n: abs(np.log(n) - np.log(max(estimate, 1e-9))))
    draws = np.random.default_rng([seed, R]).multinomial(R, np.full(R, 1 / R), size=_SAMPLES)
    sampled = [_estimate(fitted, weights) for weights in draws if (weights > 0).sum() > 1]
    _, lows, highs = np.array(sampled or [(best, estimate, estimate)]).T
    low, high = np.percentile(lows, 5), np.percentile(highs, 95)
    least = max((n for n in grid if n <= low + 1e-9), default=max(int(low), 1))
    above = next(g for g, n in enumerate(grid) if n >= high - 1e-9)
    most, notes = None, few
    if of_half < _THIN * estimate:
        thin = (
            f"the documents are too few or too short to tell how many topics there are: half of them give "
            f"{of_half:.0f} topics, all {estimate:.0f}, more documents probably more"
        )
        notes = [thin, *few]
    elif above + 1 == len(grid):
        notes = ["in some restarts the score is best at the largest number; try larger numbers, too", *few]
    else:
        most = isqrt(grid[above] * grid[above + 1])
    return found(recommended=recommended, interval=(min(least, recommended), most), notes=tuple(notes))


def _estimate(fitted: Sequence[GridRow], weights: Any) -> tuple[int, float, float]:
    """Return the number of topics of the best mean score, how many of them are found again, and the estimate.

    Weights, (R,), are how often each restart counts.
    """
    means = [float(row.scores @ weights) for row in fitted]
    best = int(np.argmax(means))
    again = [row.n_topics * _stability(row.found, weights) for row in fitted[best : best + 2]]
    return fitted[best].n_topics, again[0], min(max(again), float(fitted[best].n_topics))


def _stability(found: Float64, weights: Any) -> float:
    """Return the mean share of topics found again, over pairs of different restarts."""
    pairs = np.outer(weights, weights) * (1 - np.eye(len(found)))
    return float((pairs * found).sum() / pairs.sum())


def choice_rows(fitted: Sequence[GridRow]) -> tuple[ChoiceRow, ...]:
    """Return the table of a grid of fits."""
    scores = np.array([row.scores for row in fitted])
    R = scores.shape[1]
    own = scores - scores.mean(0)
    errors = own.std(axis=1, ddof=1) * np.sqrt(1 / R + _TEST_RATIO)
    return tuple(
        ChoiceRow(row.n_topics, float(row.scores.mean()), float(error), _stability(row.found, np.ones(R)))
        for row, error in zip(fitted, errors, strict=True)
    )
