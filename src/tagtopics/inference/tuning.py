"""A prior learned on documents kept out of the sweeps, where a prediction is honest.

Expected counts are too smooth to learn from, and words left out one at a time have already spoken to their
neighbours (decision 007). So a tenth of the documents is set aside, topics are learned from the others for a
few sweeps, and alpha follows the held-out tokens of those set aside. With n_k the counts of a document's seen
tokens, n their sum, and e a held-out token of word w:

    p(e) = tot_e / (n + K alpha),      tot_e = sum_k (n_k + alpha) phi_k(w)
    alpha <- alpha  mean_k sum_e phi_k(w) / tot_e  /  sum_e 1 / (n + K alpha)

the fixed point of the derivative of the held-out likelihood. Then the fit begins anew on all documents.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tagtopics._typing import Float32, Float64
from tagtopics.corpus.splits import completion
from tagtopics.graph import Priors, TopicState, build_graph
from tagtopics.inference.bp import BeliefPropagation
from tagtopics.inference.fold_in import FoldIn

FEWEST_DOCS = 200
"""Corpora with fewer documents keep the priors they were given."""

_SET_ASIDE = 10
"""One document in so many is set aside, and no more than `_MOST_DOCS`."""

_MOST_DOCS = 500
_SWEEPS = 20
_FIRST = 4
_EVERY = 2
"""Topics are learned for so many sweeps; alpha is improved from sweep `_FIRST` on, every `_EVERY`."""

_START = 0.1
_LEAST, _MOST = 1e-3, 10.0
"""Alpha starts here and stays between these."""


class HeldOut(NamedTuple):
    """Documents set aside: the tokens that are seen, and those to predict. CSR (D, W)."""

    seen: Any
    hidden: Any


def learn_priors(counts: Any, tags: Any, priors: Priors, seed: int, n_threads: int, anchored: bool) -> Priors:
    """Return priors whose alpha, symmetric, suits held-out tokens; as given for small corpora.

    Args:
        counts: training documents, CSR (D, W).
        tags: their tags, CSR (D, T).
        priors: where to start.
        seed: of the choice of documents, of tokens, and of the start.
        n_threads: any number gives the same bits.
        anchored: whether the fit starts from anchor words.
    """
    if counts.shape[0] < FEWEST_DOCS or not np.array_equal(counts.data, np.rint(counts.data)):
        return priors
    aside = set_aside(counts.shape[0], seed)
    held_out = HeldOut(*completion(counts[np.flatnonzero(aside)], seed))
    graph = build_graph(counts[np.flatnonzero(~aside)], tags[np.flatnonzero(~aside)])
    algorithm = BeliefPropagation(graph, priors, seed, n_threads, anchored)
    belief = algorithm.init()
    for sweep in range(1, _SWEEPS + 1):
        belief, _ = algorithm.step(belief)
        if sweep >= _FIRST and sweep % _EVERY == 0:
            alpha = improved_alpha(belief.topics, belief.priors, held_out, n_threads)
            belief = belief._replace(priors=belief.priors._replace(doc_topic=alpha))
    return belief.priors


def starting_alpha(prior: float | str) -> float:
    """Return the number a prior is, or where learning it starts."""
    return _START if isinstance(prior, str) else float(prior)


def set_aside(n_docs: int, seed: int) -> Any:
    """Return a mask (D,) of the documents to set aside."""
    n = min(n_docs // _SET_ASIDE, _MOST_DOCS)
    mask = np.zeros(n_docs, dtype=bool)
    mask[np.random.default_rng(seed).choice(n_docs, n, replace=False)] = True
    return mask


def improved_alpha(topics: TopicState, priors: Priors, held_out: HeldOut, n_threads: int) -> Float32:
    """Return alpha (K,) after a few steps of the fixed point, topics and seen counts as they are."""
    raised = topics.word_sums + priors.topic_word
    phi = raised / raised.sum(0)
    fold_in = FoldIn(phi.astype(np.float32), priors.doc_topic, max_iter=20, n_threads=n_threads)
    alpha, K = float(priors.doc_topic.mean()), len(priors.doc_topic)
    theta = fold_in.doc_topic(held_out.seen).astype(np.float64)
    doc_sums = np.maximum(theta * (held_out.seen.sum(1)[:, np.newaxis] + K * alpha) - alpha, 0.0)
    for _ in range(3):
        alpha = alpha_step(alpha, phi, doc_sums, held_out.hidden)
    return np.full_like(priors.doc_topic, alpha)


def alpha_step(alpha: float, phi: Float64, doc_sums: Float64, hidden: Any) -> float:
    """Return alpha after one step of the equation at the head of the module.

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
    return float(min(max(alpha * up / down, _LEAST), _MOST)) if down > 0 else alpha
