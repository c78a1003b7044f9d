"""Loopy belief propagation for LDA and the tag-topic models: one algorithm, the tags are optional."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import NamedTuple

from tagtopics.graph import FactorGraph, Priors, TopicState
from tagtopics.kernels import compiled


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
        kernels: `kernels.compiled`, or `kernels.reference` to check it.
    """

    graph: FactorGraph
    priors: Priors
    seed: int
    n_threads: int = 1
    kernels: ModuleType = compiled

    def init(self) -> Belief:
        """Return random messages and the sums that follow."""
        K = len(self.priors.doc_topic)
        return Belief(self.kernels.initial_state(self.graph, K, self.seed, self.n_threads), self.priors)

    def step(self, belief: Belief) -> tuple[Belief, float]:
        """Return the belief after one sweep, and the mean change of a token's message."""
        topics, change = self.kernels.sweep(self.graph, belief.topics, belief.priors, self.n_threads)
        return Belief(topics, belief.priors), change
