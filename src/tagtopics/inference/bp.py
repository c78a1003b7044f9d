"""Loopy belief propagation for LDA and the tag-topic models: one algorithm, the tags are optional."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import ClassVar, NamedTuple

import numpy as np

from tagtopics.graph import FactorGraph, Priors, TopicState
from tagtopics.inference.learned import Learned, proportions
from tagtopics.kernels.bp import compiled
from tagtopics.kernels.bp.anchors import anchored_topics

NOISE = np.float32(1e-3)
"""Added to each p(topic | word) of the start, so that no topic is ruled out."""

_FADING = 0.95
"""What is left of the stride after each sweep: a long fit ends with plain sweeps, and rests."""


def faded(priors: Priors) -> Priors:
    """Return priors for the sweep after one."""
    return priors._replace(stride=_FADING * priors.stride)


class Belief(NamedTuple):
    """All that changes during a fit."""

    topics: TopicState
    priors: Priors


@dataclass(frozen=True)
class BeliefPropagation:
    """Sweeps over all messages of a factor graph.

    Attributes:
        graph: the corpus.
        priors: where the priors and weights start.
        seed: of the random start.
        n_threads: any number gives the same bits.
        anchored: start from topics around anchor words; else from noise.
        lean: recall messages in each sweep instead of storing them; see `kernels.reference.recall`.
        kernels: `kernels.compiled`, or `kernels.reference` to check it.
    """

    graph: FactorGraph
    priors: Priors
    seed: int
    n_threads: int = 1
    anchored: bool = True
    lean: bool = False
    kernels: ModuleType = compiled
    settles: ClassVar[bool] = True

    def init(self) -> Belief:
        """Return the first messages and the sums that follow."""
        K = len(self.priors.doc_topic)
        if self.anchored:
            word_topics = anchored_topics(self.graph, K, self.seed, self.n_threads)
        else:
            word_topics = np.ones((self.graph.n_words, K), dtype=np.float32)
        begin = self.kernels.lean_initial_state if self.lean else self.kernels.initial_state
        topics = begin(self.graph, word_topics + NOISE, self.seed, self.n_threads)
        return Belief(topics, self.priors)

    def step(self, belief: Belief) -> tuple[Belief, float]:
        """Return the belief after one sweep, and the mean change of a token's message."""
        sweep = self.kernels.lean_sweep if self.lean else self.kernels.sweep
        topics, moved = sweep(self.graph, belief.topics, belief.priors, self.n_threads)
        return Belief(topics, faded(belief.priors)), moved / max(self.graph.whole.n_tokens, 1e-300)

    def learned(self, belief: Belief) -> Learned:
        """Return topics, proportions and the profiles of the tags."""
        topics, priors = belief
        theta = proportions(topics.doc_sums, priors.doc_topic)
        more = {"tag_sums_": topics.tag_sums, "tag_squares_": topics.tag_squares}
        return Learned(topics.word_sums, theta, priors.doc_topic, more)
