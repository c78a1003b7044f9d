"""The numbers that flow through the graph: messages, and the sums that follow from them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tagtopics._typing import Float32, Float64
from tagtopics.graph.structure import FactorGraph


class Priors(NamedTuple):
    """What a sweep is given: the Dirichlet priors, the weights of tags and words, and how far it strides."""

    doc_topic: Float32  # (K,) alpha
    topic_word: float  # beta
    pairwise_weight: float = 0.0  # omega_1
    higher_order_weight: float = 0.0  # omega_2
    order: int = 3  # tags that a hyperedge joins at the most
    word_weight: float = 1.0  # power of a word's message; see `kernels.words`
    stride: float = 0.0  # how much further word sums go than messages took them


class Own(NamedTuple):
    """What belongs to the documents of a graph alone: the state proper, of a corpus or a part of one."""

    messages: Float32  # (E, K), or (0, K) in the lean engine
    doc_sums: Float32  # (D, K)
    slot_means: Float32  # (S, K)


class Sums(NamedTuple):
    """What all documents share; those of parts of a corpus add up, exactly and in any order."""

    words: Float64  # (W, K)
    tags: Float64  # (T, K) S_t
    tag_squares: Float64  # (T, K) Q_t

    @classmethod
    def zeros(cls, n_words: int, n_tags: int, n_topics: int) -> Sums:
        """Return the sums of no documents, to add to."""
        return cls(*(np.zeros((n, n_topics)) for n in (n_words, n_tags, n_tags)))

    def cleared(self) -> Sums:
        """Return these arrays as the sums of no documents: memory that is at hand costs less than new."""
        for array in self:
            array.fill(0)
        return self

    def add(self, other: Sums) -> None:
        """Add the sums of other documents to these, in place."""
        for mine, theirs in zip(self, other, strict=True):
            mine += theirs


class TopicState(NamedTuple):
    """One point of the iteration. A sweep consumes a state, reusing its large arrays, and returns the next.

    `messages` and `slot_means` are the state proper; the sums are functions of them, rebuilt in double
    precision after each sweep, so they cannot drift.
    """

    messages: (
        Float32  # (E, K) count times mu(z_wd): rows add up to the edge's count; (0, K) in the lean engine
    )
    doc_sums: Float32  # (D, K) sum of the document's messages
    word_sums: Float64  # (W, K) sum of the word's messages
    slot_means: Float32  # (S, K) mu-bar_dt: rows add up to one, or to zero where a document has no words
    tag_sums: Float64  # (T, K) S_t, the sum of the tag's slot means
    tag_squares: Float64  # (T, K) Q_t, the sum of their squares
    past_word_sums: Float32  # (W, K) what the messages were computed from; (0, K) before the first sweep

    @property
    def own(self) -> Own:
        """The part that is not sums."""
        return Own(self.messages, self.doc_sums, self.slot_means)

    @property
    def sums(self) -> Sums:
        """The sums over documents."""
        return Sums(self.word_sums, self.tag_sums, self.tag_squares)

    @property
    def n_topics(self) -> int:
        """The number of topics, K."""
        return int(self.word_sums.shape[1])


class PastSums(NamedTuple):
    """Documents that are no longer at hand, as the sums they left behind; old ones may count for less."""

    word_sums: Float64  # (W, K)
    tag_sums: Float64  # (T, K)
    tag_squares: Float64  # (T, K)
    tag_docs: Float64  # (T,) n_t: how many documents the sums of each tag are worth


def invariant_error(graph: FactorGraph, state: TopicState) -> float:
    """Return the largest relative error of what must hold in any state; zero up to rounding.

    Each edge's messages add up to its count; documents, words and all topics conserve the tokens; slot
    means are distributions. NaN anywhere makes the answer infinite.
    """
    counts = graph.edge_count.astype(np.float64)
    edge_doc = np.repeat(np.arange(graph.n_docs), np.diff(graph.doc_edges))
    doc_tokens = np.bincount(edge_doc, counts, graph.n_docs)
    word_tokens = np.bincount(graph.edge_word, counts, graph.n_words)
    pairs = [
        (state.messages.sum(1, dtype=np.float64), counts[: len(state.messages)]),
        (state.doc_sums.sum(1, dtype=np.float64), doc_tokens),
        (state.word_sums.sum(1), word_tokens),
        (state.word_sums.sum(keepdims=True).ravel(), counts.sum(keepdims=True)),
        (state.slot_means[graph.tag_slots.members].sum(1, dtype=np.float64), np.ones(1)),
        (state.tag_sums.sum(1), graph.whole.tag_docs.astype(np.float64)),
    ]
    worst = 0.0
    for found, expected in pairs:
        error = np.abs(found - expected) / np.maximum(expected, 1.0)
        worst = max(worst, float(np.max(np.where(np.isnan(error), np.inf, error), initial=0.0)))
    return worst
