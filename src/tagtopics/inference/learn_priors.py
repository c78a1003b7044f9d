"""Priors and tag weights learned on documents set aside.

Within a fit, expected counts are too smooth to learn from, and words left out one at a time have already
influenced their neighbours (decisions 007 and 010). So some documents are set aside, topics are learned from
the others for a few sweeps, and held-out tokens of those set aside are predicted. Then the fit starts on all
documents.

**Alpha** (`learn_alpha`). With n_k the counts of a document's seen tokens, n their sum, and e a held-out
token of word w:

    p(e) = tot_e / (n + K alpha),      tot_e = sum_k (n_k + alpha) phi_k(w)
    alpha <- alpha  mean_k sum_e phi_k(w) / tot_e  /  sum_e 1 / (n + K alpha)

is the fixed point of the derivative of the held-out likelihood.

**Tag weights** (`learn_weights`). Topics are learned a few times, from the same start, with the weights
scaled down step by step. We keep the *largest* weight that costs next to nothing when the tags of the
documents set aside are hidden: tags shape the topics for other uses than the prediction of words. Then these
tags are shown, as pseudo-counts of several sizes, and again the largest that costs next to nothing is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from tagtopics._typing import Float32, Float64
from tagtopics.graph import Belief, Priors
from tagtopics.inference.bp import BeliefPropagation
from tagtopics.inference.executor import MemoryExecutor
from tagtopics.inference.fold_in import FoldIn
from tagtopics.inference.holdout import Holdout, log_likelihood, perplexity, set_aside
from tagtopics.inference.loop import run

MIN_DOCS = 200
"""Corpora with fewer documents keep the priors they were given."""

_ALPHA_SHARE, _ALPHA_DOCS = 10, 500
"""For alpha, one document in 10 is set aside, at most 500."""

_ALPHA_SWEEPS, _FIRST, _EVERY = 20, 4, 2
"""Topics are learned for 20 sweeps; alpha is improved from sweep 4 on, in every second sweep."""

_ALPHA = 0.1
_MIN_ALPHA, _MAX_ALPHA = 1e-3, 10.0
"""Alpha starts at 0.1 and stays between these bounds."""

SHARES = (1.0, 0.5, 0.25, 0.125, 0.0)
"""Shares of the given tag weights that are tried, the largest first."""

COUNTS = (0.0, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
"""Pseudo-counts of the tags of a new document that are tried, in tokens."""

TOLERANCE = 0.002
"""How much a larger weight or count may cost, as a share of the best perplexity."""

_WEIGHT_SHARE, _WEIGHT_DOCS, _DRAWS, _WEIGHT_SWEEPS = 5, 1000, 3, 40
"""For weights, one document in 5 is set aside, at most 1000; tokens are hidden 3 times; 40 sweeps."""


def initial_alpha(prior: float | str) -> float:
    """Return the number a prior is, or the start of learning it."""
    return _ALPHA if isinstance(prior, str) else float(prior)


def can_learn(counts: Any) -> bool:
    """Return whether there are enough documents (CSR (D, W)), and whole counts that can be split."""
    return counts.shape[0] >= MIN_DOCS and bool(np.array_equal(counts.data, np.rint(counts.data)))


def learn_alpha(counts: Any, tags: Any, priors: Priors, seed: int, n_threads: int, anchored: bool) -> Priors:
    """Return priors with a symmetric alpha that suits held-out tokens; as given for small corpora.

    Args:
        counts: training documents, CSR (D, W).
        tags: their tags, CSR (D, T).
        priors: where to start.
        seed: of the choice of documents and tokens, and of the start.
        n_threads: any number gives the same bits.
        anchored: whether the fit starts from anchor words.
    """
    if not can_learn(counts):
        return priors
    n_docs = counts.shape[0]
    n = min(n_docs // _ALPHA_SHARE, _ALPHA_DOCS)
    chosen = np.random.default_rng(seed).choice(n_docs, n, replace=False)
    holdout = set_aside(counts, tags, chosen, seed)
    executor = MemoryExecutor(holdout.graph, n_threads=n_threads)
    algorithm = _AlphaLearning(BeliefPropagation(executor, priors, seed, anchored), holdout)
    return run(algorithm, max_iter=_ALPHA_SWEEPS).state.priors


@dataclass(frozen=True)
class _AlphaLearning:
    """Belief propagation that improves alpha after some of its sweeps."""

    propagation: BeliefPropagation
    holdout: Holdout

    def init(self) -> Belief:
        """Return the first belief."""
        return self.propagation.init()

    def step(self, belief: Belief) -> tuple[Belief, float]:
        """Return the belief after one sweep, with a better alpha."""
        belief, change = self.propagation.step(belief)
        if belief.sweep >= _FIRST and belief.sweep % _EVERY == 0:
            alpha = _improved_alpha(belief, self.holdout, self.propagation.executor.n_threads)
            belief = belief._replace(priors=belief.priors._replace(doc_topic=alpha))
        return belief, change


def _improved_alpha(belief: Belief, holdout: Holdout, n_threads: int) -> Float32:
    """Return alpha (K,) after a few steps of the fixed point, with topics and seen counts as they are."""
    priors = belief.priors
    phi = _word_probabilities(belief, priors)
    fold_in = FoldIn(phi.astype(np.float32), priors.doc_topic, max_iter=20, n_threads=n_threads)
    alpha, K = float(priors.doc_topic.mean()), len(priors.doc_topic)
    theta = fold_in.doc_topic(holdout.seen).astype(np.float64)
    doc_sums = np.maximum(theta * (holdout.seen.sum(1)[:, np.newaxis] + K * alpha) - alpha, 0.0)
    for _ in range(3):
        alpha = alpha_step(alpha, phi, doc_sums, holdout.hidden)
    return np.full_like(priors.doc_topic, alpha)


def alpha_step(alpha: float, phi: Float64, doc_sums: Float64, hidden: Any) -> float:
    """Return alpha after one step of the equation in the module docstring.

    Args:
        alpha: where to start.
        phi: (W, K) p(word | topic).
        doc_sums: (D, K) counts of the seen tokens.
        hidden: the tokens to predict, CSR (D, W).
    """
    docs = np.repeat(np.arange(hidden.shape[0]), np.diff(hidden.indptr))
    raised = doc_sums[docs] + alpha  # (E, K)
    words = phi[hidden.indices]
    up = (hidden.data * words.mean(1) / (raised * words).sum(1)).sum()
    down = (hidden.data / raised.sum(1)).sum()
    return float(min(max(alpha * up / down, _MIN_ALPHA), _MAX_ALPHA)) if down > 0 else alpha


class LearnedWeights(NamedTuple):
    """Priors with learned tag weights, and what the tags of a new document are worth in tokens."""

    priors: Priors
    tag_pseudo_count: float


class _Trial(NamedTuple):
    """Topics learned with a share of the weights, and how well they predict the documents set aside."""

    share: float
    perplexity: float
    phi: Float32  # (W, K)
    tag_profiles: Float32  # (D, K) the mean profile of the tags of each document set aside


def can_learn_weights(counts: Any, tags: Any) -> bool:
    """Return whether weights can be learned from documents, CSR (D, W), and tags, CSR (D, T)."""
    return can_learn(counts) and tags.nnz > 0


def weights_holdout(counts: Any, tags: Any, seed: int) -> Holdout:
    """Set documents aside to learn weights on."""
    n_docs = counts.shape[0]
    order = np.random.default_rng(seed).permutation(n_docs)
    return set_aside(counts, tags, order[: min(n_docs // _WEIGHT_SHARE, _WEIGHT_DOCS)], seed, _DRAWS)


def learn_weights(
    holdout: Holdout, algorithm: BeliefPropagation, shares: Sequence[float] = SHARES
) -> LearnedWeights:
    """Return the largest weights and tag pseudo-count that cost next to nothing on documents set aside.

    Args:
        holdout: what to learn from and what to predict, from `weights_holdout`.
        algorithm: belief propagation on `holdout.graph`, with the largest weights to try.
        shares: the parts of these weights to try.
    """
    trials = [_try_weights(holdout, algorithm, share) for share in shares]
    best = largest_within([(trial.share, trial.perplexity) for trial in trials])
    trial = next(trial for trial in trials if trial.share == best)
    costs = [
        (count, _predicted(holdout, algorithm, trial.phi, count * trial.tag_profiles)) for count in COUNTS
    ]
    return LearnedWeights(_scaled(algorithm.priors, best), largest_within(costs))


def largest_within(costs: Sequence[tuple[float, float]], tolerance: float = TOLERANCE) -> float:
    """Return the largest value whose cost is within a share of `tolerance` of the lowest.

    Args:
        costs: values, each with its cost.
        tolerance: how much more a larger value may cost, as a share of the lowest cost.
    """
    most = (1 + tolerance) * min(cost for _, cost in costs)
    return max(value for value, cost in costs if cost <= most)


def _try_weights(holdout: Holdout, algorithm: BeliefPropagation, share: float) -> _Trial:
    """Learn topics with a share of the weights and predict the hidden tokens without the tags."""
    trial = replace(algorithm, priors=_scaled(algorithm.priors, share))
    belief = run(trial, max_iter=_WEIGHT_SWEEPS).state
    phi = _word_probabilities(belief, algorithm.priors).astype(np.float32)
    profiles = _tag_profiles(holdout, belief.sums.tags)
    return _Trial(share, _predicted(holdout, algorithm, phi, None), phi, profiles)


def _word_probabilities(belief: Belief, priors: Priors) -> Float64:
    raised = belief.sums.words + priors.topic_word
    return np.asarray(raised / raised.sum(0))


def _scaled(priors: Priors, share: float) -> Priors:
    pairwise, higher_order = share * priors.pairwise_weight, share * priors.higher_order_weight
    return priors._replace(pairwise_weight=pairwise, higher_order_weight=higher_order)


def _tag_profiles(holdout: Holdout, tag_sums: Float64) -> Float32:
    n_docs = holdout.graph.totals.tag_docs
    means = tag_sums / np.maximum(n_docs, 1)[:, np.newaxis]
    known = np.asarray(holdout.tags @ (n_docs > 0).astype(np.float64))
    return np.asarray((holdout.tags @ means) / np.maximum(known, 1)[:, np.newaxis], dtype=np.float32)


def _predicted(
    holdout: Holdout, algorithm: BeliefPropagation, phi: Float32, tag_counts: Float32 | None
) -> float:
    """Return the perplexity of the hidden tokens, given the seen ones and pseudo-counts of the tags."""
    if not holdout.hidden.nnz:
        return 1.0  # documents of one word each: any weight predicts as well as any other
    fold_in = FoldIn(phi, algorithm.priors.doc_topic, n_threads=algorithm.executor.n_threads)
    theta = fold_in.doc_topic(holdout.seen, tag_counts)
    total = log_likelihood(holdout.hidden, theta, phi)
    return perplexity(total, float(holdout.hidden.sum(dtype=np.float64)))
