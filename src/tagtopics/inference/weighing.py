"""How much tags should count, learned on documents kept out of the sweeps.

Within a fit every message is a prediction that leaves its own token out, but the other tokens of the document
have heard from it before: proportions look better than they are, and the weights of the tags run to zero
(decision 010). So a fifth of the documents is set aside. Topics are learned from the others a few times, from
the same start, with the weights scaled down step by step, and tokens of the documents set aside are
predicted, their tags hidden. Taken is the *largest* weight that costs next to nothing: tags shape the topics
for other uses than the prediction of words, so they get what influence the words can spare.

Then the tags of the documents set aside are shown, and tried as so many tokens, or so many more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tagtopics._typing import Float32, Float64
from tagtopics.corpus.splits import completion
from tagtopics.graph import FactorGraph, Priors, build_graph
from tagtopics.inference import holdout as heldout
from tagtopics.inference.bp import BeliefPropagation
from tagtopics.inference.fold_in import FoldIn
from tagtopics.inference.tuning import FEWEST_DOCS, HeldOut

SHARES = (1.0, 0.5, 0.25, 0.125, 0.0)
"""What part of the given weights is tried, the largest first."""

COUNTS = (0.0, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
"""What the tags of a new document may be worth in tokens."""

TOLERANCE = 0.002
"""How much a larger weight, or count, may cost, as a share of the best perplexity."""

_SET_ASIDE = 5
"""One document in so many is set aside, and no more than `_MOST_DOCS`."""

_MOST_DOCS = 1000
_DRAWS = 3
"""So often are the tokens of a document split into seen and hidden."""

_SWEEPS = 40


class SetAside(NamedTuple):
    """Documents to learn from and documents to predict."""

    graph: FactorGraph
    held_out: HeldOut
    tags: Any  # CSR (D, T) of the documents to predict


class Trial(NamedTuple):
    """What was learned with a share of the weights, and how well it predicts the documents set aside."""

    share: float
    perplexity: float
    phi: Float32  # (W, K) p(word | topic)
    tag_profiles: Float32  # (D, K) mean profile of the learned tags of each document to predict


class Weighed(NamedTuple):
    """What tags should count: weights for the fit, and tokens for new documents whose tags are known."""

    priors: Priors
    tag_pseudo_count: float


def can_weigh(counts: Any, tags: Any) -> bool:
    """Tell whether there are enough documents, with tags, and counts that can be split."""
    whole = bool(np.array_equal(counts.data, np.rint(counts.data)))
    return counts.shape[0] >= FEWEST_DOCS and tags.nnz > 0 and whole


def weigh(data: SetAside, algorithm: BeliefPropagation, shares: Sequence[float] = SHARES) -> Weighed:
    """Return the largest weights and tag pseudo-count that cost next to nothing on documents set aside.

    Args:
        data: what to learn from and what to predict.
        algorithm: belief propagation on `data.graph`; its weights are the most that is tried.
        shares: the parts of these weights to try.
    """
    trials = [try_weights(data, algorithm, share) for share in shares]
    best = largest_within([(trial.share, trial.perplexity) for trial in trials])
    trial = next(trial for trial in trials if trial.share == best)
    costs = [(count, _predicted(data, algorithm, trial.phi, count * trial.tag_profiles)) for count in COUNTS]
    return Weighed(_scaled(algorithm.priors, best), largest_within(costs))


def divide(counts: Any, tags: Any, seed: int) -> SetAside:
    """Set documents aside, and hide a fifth of the tokens of each, several times.

    Args:
        counts: training documents, CSR (D, W).
        tags: their tags, CSR (D, T).
        seed: of the choice of documents and of tokens.
    """
    n_docs = counts.shape[0]
    order = np.random.default_rng(seed).permutation(n_docs)
    n = min(n_docs // _SET_ASIDE, _MOST_DOCS)
    aside, others = np.sort(order[:n]), np.sort(order[n:])
    draws = [completion(counts[aside], seed + i) for i in range(_DRAWS)]
    seen, hidden = (sp.csr_array(sp.vstack(part, format="csr")) for part in zip(*draws, strict=True))
    repeated = sp.csr_array(sp.vstack([tags[aside]] * _DRAWS, format="csr"))
    return SetAside(build_graph(counts[others], tags[others]), HeldOut(seen, hidden), repeated)


def try_weights(data: SetAside, algorithm: BeliefPropagation, share: float) -> Trial:
    """Learn topics with a share of the weights and predict the hidden tokens, tags unseen."""
    trial = replace(algorithm, priors=_scaled(algorithm.priors, share))
    belief = trial.init()
    for _ in range(_SWEEPS):
        belief, _ = trial.step(belief)
    raised = belief.topics.word_sums + algorithm.priors.topic_word
    phi = (raised / raised.sum(0)).astype(np.float32)
    profiles = _tag_profiles(data, belief.topics.tag_sums)
    return Trial(share, _predicted(data, algorithm, phi, None), phi, profiles)


def largest_within(costs: Sequence[tuple[float, float]], tolerance: float = TOLERANCE) -> float:
    """Return the largest value whose cost is within a share of `tolerance` of the lowest.

    Args:
        costs: values, each with its cost.
        tolerance: what a larger value may cost more, as a share of the lowest cost.
    """
    most = (1 + tolerance) * min(cost for _, cost in costs)
    return max(value for value, cost in costs if cost <= most)


def _scaled(priors: Priors, share: float) -> Priors:
    pairwise, higher_order = share * priors.pairwise_weight, share * priors.higher_order_weight
    return priors._replace(pairwise_weight=pairwise, higher_order_weight=higher_order)


def _tag_profiles(data: SetAside, tag_sums: Float64) -> Float32:
    n_docs = data.graph.whole.tag_docs
    means = tag_sums / np.maximum(n_docs, 1)[:, np.newaxis]
    known = np.asarray(data.tags @ (n_docs > 0).astype(np.float64))
    return np.asarray((data.tags @ means) / np.maximum(known, 1)[:, np.newaxis], dtype=np.float32)


def _predicted(
    data: SetAside, algorithm: BeliefPropagation, phi: Float32, tag_counts: Float32 | None
) -> float:
    """Return the perplexity of the hidden tokens, from the seen ones and what tags add to them."""
    fold_in = FoldIn(phi, algorithm.priors.doc_topic, n_threads=algorithm.n_threads)
    theta = fold_in.doc_topic(data.held_out.seen, tag_counts)
    total = heldout.log_likelihood(data.held_out.hidden, theta, phi)
    return heldout.perplexity(total, float(data.held_out.hidden.sum(dtype=np.float64)))
