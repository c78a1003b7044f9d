"""The numbers on the factor graph: messages, the sums that follow from them, and priors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tagtopics._typing import Float32, Float64
from tagtopics.graph.structure import FactorGraph


class Priors(NamedTuple):
    """The Dirichlet priors and the weights of a sweep."""

    doc_topic: Float32  # (K,) alpha
    topic_word: float  # beta
    pairwise_weight: float = 0.0  # omega_1
    higher_order_weight: float = 0.0  # omega_2
    order: int = 3  # largest number of tags that a hyperedge connects
    word_exponent: float = 1.0  # exponent of a word's message; see `kernels.bp.sweep`
    relaxation: float = 0.0  # over-relaxation factor of the word sums


class DocState(NamedTuple):
    """The state of the documents of a graph. A sweep changes the arrays in place."""

    messages: Float32  # (E, K) count times mu(z_wd): rows add up to the edge's count; (0, K) in lean mode
    doc_sums: Float32  # (D, K) sums of the documents' messages
    slot_means: Float32  # (S, K) mu-bar_dt: rows add up to one, or to zero where a document has no words


class CorpusSums(NamedTuple):
    """Sums over all documents. The sums of parts of a corpus add up exactly, in any order."""

    words: Float64  # (W, K) sums of the words' messages
    tags: Float64  # (T, K) S_t, the sums of the tags' slot means
    tag_squares: Float64  # (T, K) Q_t, the sums of their squares
    tag_docs: Float64 | None = None  # (T,) n_t, given only where the documents are gone: see `earlier_sums`

    @classmethod
    def zeros(cls, n_words: int, n_tags: int, n_topics: int) -> CorpusSums:
        """Return the sums of no documents."""
        return cls(*(np.zeros((n, n_topics)) for n in (n_words, n_tags, n_tags)))

    def clear(self) -> None:
        """Set all sums to zero, to reuse the buffers."""
        for array in self[:3]:
            array.fill(0)

    def add(self, other: CorpusSums) -> None:
        """Add the sums of other documents to these, in place."""
        for mine, theirs in zip(self[:3], other[:3], strict=True):
            mine += theirs


class Belief(NamedTuple):
    """All that changes during a fit. A sweep reuses the arrays of the belief it starts from."""

    sweep: int  # number of sweeps done
    sums: CorpusSums  # rebuilt in double precision by each sweep, so they cannot drift
    previous: Float32  # (W, K) word sums that the messages were computed from; (0, K) if from none
    priors: Priors
    docs: DocState | None  # None where the executor keeps the documents' state on disk


class WordInput(NamedTuple):
    """What a sweep reads about words; see `kernels.bp.sweep`."""

    sums: Float32  # (W, K)
    shares: Float32  # (W, K)


class SweepInput(NamedTuple):
    """What a sweep reads about words and tags; compiled kernels take single precision."""

    words: WordInput
    previous: WordInput  # of the sweep before, to recompute messages; (0, K) where messages are stored
    tag_sums: Float32  # (T, K) S_t
    tag_docs: Float32  # (T,) n_t
    tag_factors: Float32  # (T, K) f_gamma_t


def normalised(vector: Any) -> Float64:
    """Return a non-negative vector scaled to add up to one; a vector of zeros becomes uniform."""
    vector = np.asarray(vector, dtype=np.float64)
    total = vector.sum()
    return vector / total if total > 0 else np.full(len(vector), 1.0 / len(vector))


def invariant_error(graph: FactorGraph, sums: CorpusSums, docs: DocState) -> float:
    """Return the largest relative error of what must hold in any state; zero up to rounding.

    Each edge's messages add up to its count; documents, words and all topics conserve the tokens; slot
    means are distributions. NaN anywhere makes the result infinite.
    """
    counts = graph.edge_count.astype(np.float64)
    edge_doc = np.repeat(np.arange(graph.n_docs), np.diff(graph.doc_edges))
    doc_tokens = np.bincount(edge_doc, counts, graph.n_docs)
    word_tokens = np.bincount(graph.edge_word, counts, graph.n_words)
    pairs = [
        (docs.messages.sum(1, dtype=np.float64), counts[: len(docs.messages)]),
        (docs.doc_sums.sum(1, dtype=np.float64), doc_tokens),
        (sums.words.sum(1), word_tokens),
        (sums.words.sum(keepdims=True).ravel(), counts.sum(keepdims=True)),
        (docs.slot_means[graph.tag_slots.members].sum(1, dtype=np.float64), np.ones(1)),
        (sums.tags.sum(1), graph.totals.tag_docs.astype(np.float64)),
    ]
    worst = 0.0
    for found, expected in pairs:
        error = np.abs(found - expected) / np.maximum(expected, 1.0)
        worst = max(worst, float(np.max(np.where(np.isnan(error), np.inf, error), initial=0.0)))
    return worst
