"""Priors learned on documents set aside.

Within a fit, expected counts are too smooth to learn from, and words left out one at a time have already
influenced their neighbours (decisions 204 and 221). So some documents are set aside, topics are learned from
the others for a few sweeps, and held-out tokens of those set aside are predicted. Then the fit starts on all
documents.

**Alpha** (`learn_alpha`). With n_k the counts of a document's seen tokens, n their sum, and e a held-out
token of word w:

    p(e) = tot_e / (n + K alpha),      tot_e = sum_k (n_k + alpha) phi_k(w)
    alpha <- alpha  mean_k sum_e phi_k(w) / tot_e  /  sum_e 1 / (n + K alpha)

is the fixed point of the derivative of the held-out likelihood.

**Exponent of the words and alpha** (`choose_priors`). No exponent and no alpha suit all collections, so short
fits to some of the documents are compared by the likelihood of held-out tokens: with smaller alpha, as long
as that is better, then with smaller exponents, and with one of these again with smaller alpha (decision 206).
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass

import numpy as np

from tagtopics._typing import CSR, Float32, Float64
from tagtopics.bp.executor import MemoryExecutor, Take
from tagtopics.bp.fold_in import FoldIn
from tagtopics.bp.graph import Belief, Priors, build_graph
from tagtopics.bp.holdout import Holdout, log_likelihoods, set_aside
from tagtopics.bp.loop import run
from tagtopics.bp.pilot import choose_held_out
from tagtopics.bp.propagation import BeliefPropagation
from tagtopics.corpus.splits import completion

MIN_DOCS = 200  # corpora with fewer documents keep the priors they were given
_ALPHA_SHARE, _ALPHA_DOCS = 10, 500  # for alpha, one document in 10 is set aside, at most 500
# Topics are learned for 20 sweeps; alpha is improved from sweep 4 on, in every second sweep.
_ALPHA_SWEEPS, _FIRST, _EVERY = 20, 4, 2
_ALPHA, _BETA = 0.1, 0.05  # of preset "paper" (the paper states none), and of models with few topics
# Most that the scaled priors add up to: tokens of a document, and a share of the tokens of a mean topic.
_DOC_TOKENS, _TOPIC_SHARE = 5.0, 0.125
_MIN_ALPHA, _MAX_ALPHA = 1e-3, 10.0  # bounds of a learned alpha
_CHOICE_DOCS, _CHOICE_SWEEPS, _CHOICE_MIN_DOCS = 2_000, 20, 500  # of the fits that are compared
_SHARED_SWEEPS = 10  # the first ones, with the priors as given; each fit continues them with its own
_ERRORS = 2.0  # standard errors by which a step must be better
_ALPHA_FACTORS = (0.5, 0.25, 0.125)
_EXPONENTS = (0.9375, 0.875, 0.8125, 0.75)  # below 3/4 topics share most of their words
# Below 1 words of a topic are less coherent, so it has to pay: in log likelihood per token, about 2 %.
_LEAST_GAIN = 0.02
_RELAXATION = 1.0  # largest relaxation while priors are learned; with more, so few sweeps end in mid-swing


def default_alpha(n_topics: int, scaled: bool) -> float:
    """Return the pseudo-count of a topic in a document; less for many topics if it is scaled."""
    return min(_ALPHA, _DOC_TOKENS / n_topics) if scaled else _ALPHA


def default_beta(n_topics: int, n_tokens: float, n_words: int, scaled: bool) -> float:
    """Return the pseudo-count of a word in a topic; less if topics have few tokens, if it is scaled."""
    most = _TOPIC_SHARE * n_tokens / (n_topics * max(n_words, 1))
    return max(min(_BETA, most), 1e-4) if scaled else _BETA


def learn_alpha(counts: CSR, tags: CSR, priors: Priors, seed: int, anchored: bool) -> Priors:
    """Return priors with a symmetric alpha that suits held-out tokens of counts (D, W).

    Those of small corpora, and of counts that are no whole numbers, stay as given.
    """
    n_docs = counts.shape[0]
    if n_docs < MIN_DOCS or not np.array_equal(counts.data, np.rint(counts.data)):
        return priors
    n = min(n_docs // _ALPHA_SHARE, _ALPHA_DOCS)
    chosen = np.random.default_rng(seed).choice(n_docs, n, replace=False)
    holdout = set_aside(counts, tags, chosen, seed)
    executor = MemoryExecutor(holdout.graph)
    calm = priors._replace(relaxation=min(priors.relaxation, _RELAXATION))
    algorithm = _AlphaLearning(BeliefPropagation(executor, calm, seed, anchored), holdout)
    learned = run(algorithm, max_iter=_ALPHA_SWEEPS).state.priors
    return priors._replace(doc_topic=learned.doc_topic)


def choose_priors(
    n_docs: int, take: Take, priors: Priors, seed: int, *, anchored: bool, fixed_alpha: bool
) -> Priors:
    """Return priors with the exponent of the words, and alpha unless it is fixed, that suit held-out tokens.

    Those of small corpora, and of counts that are no whole numbers, stay as given.
    """
    if n_docs < _CHOICE_MIN_DOCS:
        return priors
    rest, held_out = choose_held_out(n_docs, seed)
    counts, tags = take(rest[:: 1 + len(rest) // _CHOICE_DOCS])
    others = take(held_out)[0]
    if not all(np.array_equal(part.data, np.rint(part.data)) for part in (counts, others)):
        return priors
    executor, (seen, hidden) = MemoryExecutor(build_graph(counts, tags[:, :0])), completion(others, seed)
    calm = min(priors.relaxation, _RELAXATION)
    first = BeliefPropagation(executor, priors._replace(relaxation=calm), seed, anchored)
    shared = run(first, max_iter=_SHARED_SWEEPS)

    def score(tried: Priors) -> Float64:
        """Return (D,): what the held-out tokens of each document add to their mean log likelihood."""
        algorithm = BeliefPropagation(executor, tried._replace(relaxation=calm), seed, anchored)
        belief = deepcopy(shared.state)
        relaxation = belief.priors.relaxation
        begun = belief._replace(priors=tried._replace(relaxation=relaxation)), shared.history
        raised = run(algorithm, max_iter=_CHOICE_SWEEPS, start=begun).state.sums.words + tried.topic_word
        phi = (raised / raised.sum(0)).astype(np.float32)
        theta = FoldIn(phi, tried.doc_topic).doc_topic(seen)
        return log_likelihoods(hidden, theta, phi) / max(float(hidden.sum()), 1.0)

    def climb(found: Priors, best: Float64, others: Sequence[Priors], goal: float) -> tuple[Priors, Float64]:
        """Return the last of `others`, and its score, before the first that is not clearly better.

        It also ends where further steps as large as the last one would not lead above the goal.
        """
        for left, tried in zip(reversed(range(len(others))), others, strict=True):
            step = (reached := score(tried)) - best
            if step.sum() <= _ERRORS * np.sqrt(len(step)) * step.std():
                break
            found, best = tried, reached
            if best.sum() + left * step.sum() <= goal:
                break
        return found, best

    def lower_alpha(found: Priors, best: Float64) -> tuple[Priors, Float64]:
        alphas = [] if fixed_alpha else [priors.doc_topic * np.float32(factor) for factor in _ALPHA_FACTORS]
        smaller = [found._replace(doc_topic=alpha) for alpha in alphas if alpha[0] < found.doc_topic[0]]
        return climb(found, best, smaller, -np.inf)

    found, best = lower_alpha(priors, score(priors))
    goal, exponents = best.sum() + _LEAST_GAIN, [found._replace(word_exponent=e) for e in _EXPONENTS]
    below, reached = climb(found, best, exponents, goal)
    return lower_alpha(below, reached)[0] if reached.sum() > goal else found


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
            alpha = _improved_alpha(belief, self.holdout)
            belief = belief._replace(priors=belief.priors._replace(doc_topic=alpha))
        return belief, change


def _improved_alpha(belief: Belief, holdout: Holdout) -> Float32:
    """Return alpha (K,) after a few steps of the fixed point, with topics and seen counts as they are."""
    priors, raised = belief.priors, belief.sums.words + belief.priors.topic_word
    phi = raised / raised.sum(0)
    fold_in = FoldIn(phi.astype(np.float32), priors.doc_topic, max_iter=20)
    alpha, K = float(priors.doc_topic.mean()), len(priors.doc_topic)
    theta = fold_in.doc_topic(holdout.seen).astype(np.float64)
    doc_sums = np.maximum(theta * (holdout.seen.sum(1)[:, np.newaxis] + K * alpha) - alpha, 0.0)
    for _ in range(3):
        alpha = alpha_step(alpha, phi, doc_sums, holdout.hidden)
    return np.full_like(priors.doc_topic, alpha)


def alpha_step(alpha: float, phi: Float64, doc_sums: Float64, hidden: CSR) -> float:
    """Return alpha after one step of the equation above, with the sums (D, K) of the seen tokens."""
    docs = np.repeat(np.arange(hidden.shape[0]), np.diff(hidden.indptr))
    raised = doc_sums[docs] + alpha  # (E, K)
    words = phi[hidden.indices]
    up = (hidden.data * words.mean(1) / (raised * words).sum(1)).sum()
    down = (hidden.data / raised.sum(1)).sum()
    return float(min(max(alpha * up / down, _MIN_ALPHA), _MAX_ALPHA)) if down > 0 else alpha
