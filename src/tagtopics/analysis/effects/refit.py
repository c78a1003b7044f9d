"""Refits on bootstrap samples, started from the topics of a model so that topics keep their numbers.

Topic shares of documents are expected tokens divided by tokens, without the pseudo-counts of the prior, which
would pull effects towards zero. A prior that is too small for the documents does the opposite: documents look
purer than they are, and effects too large. So the concentration of the prior is learned first. Decision 273.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import digamma
from scipy.stats import t as student

from tagtopics._typing import Float64, Int64
from tagtopics.analysis.choose.grid import OnProgress, lanes_for
from tagtopics.bp import propagation
from tagtopics.bp.executor import MemoryExecutor
from tagtopics.bp.graph import Priors, build_graph
from tagtopics.bp.loop import run
from tagtopics.curation.guided import STRENGTH
from tagtopics.errors import InputError
from tagtopics.jit.threads import run_lanes, thread_limit
from tagtopics.models.online import OnlineModel

_ROUNDS, _ROUND_SWEEPS = 5, 10
"""Updates of the concentration, and sweeps before each."""

_SWEEPS, _TOLERANCE = 20, 2e-3
"""Most sweeps of a refit, and the change at which it ends."""

_CONCENTRATIONS = 1e-3, 100.0


class Refit(NamedTuple):
    """Topics of a sample of documents."""

    words: Float64  # (W, K) tokens
    shares: Float64  # (D, K) share of the tokens of each document in each topic; zero for one without words


class Start(NamedTuple):
    """Where refits start from."""

    words: Float64  # (W, K) tokens
    priors: Priors
    held: Float64 | None = None  # (W, K) pseudo-counts that hold the topics


class Bootstrap(NamedTuple):
    """An array of estimates with its intervals."""

    estimate: Float64
    error: Float64  # standard deviation over refits
    low: Float64
    high: Float64
    refit: Refit  # of all documents


Check = Callable[[Refit], None]
"""Takes the topics of all documents before the refits on samples; raises `InputError` to end it all."""

Statistic = Callable[[Int64, Float64], Float64]
"""Takes the rows of the sampled documents, (D,), and their topic shares, (D, K); returns an array."""


def bootstrap(
    model: Any,
    counts: Any,
    statistic: Statistic,
    *,
    refits: int,
    seed: int,
    level: float = 0.9,
    n_jobs: int | None = None,
    on_progress: OnProgress | None = None,
    held: bool = False,
    check: Check | None = None,
) -> Bootstrap:
    """Return a statistic of the topic shares of documents, with intervals that include learning the topics.

    Documents are drawn with replacement, topics are learned again from each sample, and the statistic is
    computed from it. The interval is the estimate plus and minus a quantile of Student's t times the standard
    deviation of the refits.

    Args:
        model: fitted, `LDA` or `TTM`.
        counts: CSR (D, W) in the columns of the model.
        statistic: what to compute.
        refits: number of bootstrap samples.
        seed: of the samples.
        level: of the intervals.
        n_jobs: threads; any number gives the same bits.
        on_progress: called with the share of the work that is done.
        held: whether the words of the model's topics are a prior of the refits. Topics then stay what they
            are, and the intervals include little of how uncertain they are.
        check: called with the topics of all documents.
    """
    if refits < 10:
        raise InputError(f"refits must be 10 or more, not {refits}; 100 or more for final results")
    if not 0 < level < 1:
        raise InputError(f"level must be between 0 and 1, not {level:g}")
    D, found = counts.shape[0], dict[int, Float64]()

    def lane(waiting: Iterator[int]) -> None:
        for b in waiting:
            rows = np.sort(np.random.default_rng([seed, b]).integers(0, D, D))
            found[b] = statistic(rows, refit(start, sp.csr_array(counts[rows])).shares)
            if on_progress is not None:
                on_progress(len(found) / refits)

    with thread_limit(n_jobs):
        start = settled(model, counts, held=held)
        whole = refit(start, counts)
        if check is not None:
            check(whole)
        estimate = statistic(np.arange(D), whole.shares)
        run_lanes(lane, range(refits), lanes_for(counts.nnz, start.words.shape[1]))
    error = np.std([found[b] for b in range(refits)], axis=0, ddof=1)
    reach = student.ppf((1 + level) / 2, refits - 1) * error
    return Bootstrap(estimate, error, estimate - reach, estimate + reach, whole)


def settled(model: Any, counts: Any, *, held: bool = False) -> Start:
    """Return the topics of a model after sweeps over all documents that learn the prior's concentration.

    Args:
        model: fitted, `LDA` or `TTM`.
        counts: CSR (D, W) in the columns of the model.
        held: whether the words of the topics are a prior, as strong as that of edits in `fit_curated`.
    """
    if not isinstance(model, OnlineModel):
        raise InputError(f"{type(model).__name__} cannot be refitted from its topics; LDA and TTM can")
    K = len(model.components_)
    alpha = float(np.asarray(model.doc_topic_prior_, dtype=np.float64).mean())
    priors = Priors(np.full(K, alpha, dtype=np.float32), model.topic_word_prior_)
    sums = model.word_sums()
    scale = STRENGTH * float(counts.sum()) / max(float(sums.sum()), 1e-300)
    start = Start(sums, priors, scale * sums if held else None)
    tokens = np.asarray(counts.sum(1), dtype=np.float64)
    for _ in range(_ROUNDS):
        found = refit(start, counts, _ROUND_SWEEPS, 0.0)
        alpha = _concentration(found.shares * tokens[:, np.newaxis], tokens, alpha)
        priors = priors._replace(doc_topic=np.full(K, alpha, dtype=np.float32))
        start = Start(found.words, priors, start.held)
    return start


def refit(start: Start, counts: Any, sweeps: int = _SWEEPS, tolerance: float = _TOLERANCE) -> Refit:
    """Return the topics of documents, CSR (D, W), learned from given ones on."""
    executor = MemoryExecutor(build_graph(counts))
    topics = (start.words + start.priors.topic_word).astype(np.float32)
    first = propagation.Start(topics, word_counts=start.held)
    algorithm = propagation.BeliefPropagation(executor, start.priors, 0, first=first)
    belief = run(algorithm, max_iter=sweeps, tol=tolerance).state
    assert belief.docs is not None
    sums = belief.docs.doc_sums.astype(np.float64)
    shares = sums / np.maximum(sums.sum(1, keepdims=True), 1e-300)
    return Refit(belief.sums.words.copy(), shares)


def _concentration(sums: Float64, tokens: Float64, alpha: float) -> float:
    """Return the pseudo-count of a topic under which tokens by topic, (D, K), are most probable (Minka)."""
    K, (least, most) = sums.shape[1], _CONCENTRATIONS
    for _ in range(_ROUND_SWEEPS):
        above = float((digamma(sums + alpha) - digamma(alpha)).sum())
        below = K * float((digamma(tokens + K * alpha) - digamma(K * alpha)).sum())
        alpha = float(np.clip(alpha * above / max(below, 1e-300), least, most))
    return alpha
