"""Belief propagation that goes on: documents come in mini-batches, those before are known by their sums.

A mini-batch is swept until it rests, its words and tags listening to the sums of all documents before and to
each other's. Then its sums join the others': sums <- f sums + sums of the batch. With f = 1 every document
counts the same, whenever it came, and the step of batch t is about 1 / t; f < 1 forgets. Decision 080.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tagtopics._typing import Float64
from tagtopics.graph import FactorGraph, PastSums, Priors
from tagtopics.inference.bp import Belief
from tagtopics.inference.learned import Learned, proportions
from tagtopics.kernels.bp import compiled


@dataclass(frozen=True)
class OnlineBeliefPropagation:
    """Sweeps over the messages of a mini-batch.

    Attributes:
        graph: the documents of the batch, in the columns of the past.
        past: the sums of the documents before.
        priors: priors and weights, which stay as they are.
        seed: of the noise in the start.
        n_threads: any number gives the same bits.
    """

    graph: FactorGraph
    past: PastSums
    priors: Priors
    seed: int
    n_threads: int = 1
    settles: ClassVar[bool] = True

    def init(self) -> Belief:
        """Return messages around p(topic | word) of the past; new words start anywhere.

        The noise is what lets new words that come together choose one topic together: without it, topics of
        the same size would share them for ever.
        """
        word_topics = (self.past.word_sums + self.priors.topic_word).astype(np.float32)
        return Belief(compiled.initial_state(self.graph, word_topics, self.seed, self.n_threads), self.priors)

    def step(self, belief: Belief) -> tuple[Belief, float]:
        """Return the belief after one sweep of the batch, and the mean change of a token's message."""
        arguments = (belief.topics, self.past, belief.priors, self.n_threads)
        topics, moved = compiled.sweep_beside(self.graph, *arguments)
        return Belief(topics, belief.priors), moved / max(self.graph.whole.n_tokens, 1e-300)

    def learned(self, belief: Belief) -> Learned:
        """Return topics and tags of all documents, and the proportions of the batch's."""
        topics, priors = belief
        more = {
            "tag_sums_": self.past.tag_sums + topics.tag_sums,
            "tag_squares_": self.past.tag_squares + topics.tag_squares,
        }
        theta = proportions(topics.doc_sums, priors.doc_topic)
        return Learned(self.past.word_sums + topics.word_sums, theta, priors.doc_topic, more)


def past_sums(word_sums: Float64, tag_sums: Float64, tag_squares: Float64, share: float = 1.0) -> PastSums:
    """Return the past, each of its documents counting for a share of a new one.

    A document's slot means add up to one for each tag, so the sums of a tag say how many documents they are
    worth. Squares stand for pairs of a document with itself, so they lose the share twice.
    """
    return PastSums(word_sums * share, tag_sums * share, tag_squares * share**2, tag_sums.sum(1) * share)


def remembered(n_docs: int, half_life: float | None) -> float:
    """Return what is left of a document's weight once n_docs more have come; None forgets nothing."""
    return 1.0 if half_life is None else float(0.5 ** (n_docs / half_life))


def with_rows(sums: Float64, n_rows: int) -> Float64:
    """Return sums (N, K) with rows of zeros added, for words or tags that are new."""
    return np.vstack([sums, np.zeros((n_rows - len(sums), sums.shape[1]))]) if n_rows > len(sums) else sums
