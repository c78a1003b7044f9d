"""The factor graph: its wiring, and the numbers on it (messages, their sums, priors).

The wiring is built once from two sparse matrices and never changed. Everything is a flat array in a named
tuple, so the same value can be passed to NumPy and to compiled kernels.

    edges   the non-zeros (d, w) of the counts, document by document     variable z_{w,d} of the paper
    slots   the non-zeros (d, t) of the tags, document by document       document d beside factor gamma_t
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tagtopics._typing import CSR, Bool, Float32, Float64, Int32, Int64

_ENOUGH_BLOCKS, _MAX_BLOCKS = 8, 128
# Bounds of `cut_blocks`: more blocks than most machines have cores, none too small for a thread.
_MIN_EDGES = 4096


class Groups(NamedTuple):
    """Items in groups: group g holds `members[offsets[g]:offsets[g + 1]]`, ascending."""

    offsets: Int64  # (G + 1,)
    members: Int64  # (N,)


class Totals(NamedTuple):
    """Statistics of a whole corpus, shared by the graphs of all its parts."""

    n_docs: int
    n_tokens: float
    word_docs: Int64  # (W,) number of documents that contain each word
    tag_docs: Int64  # (T,) number of documents with words that carry each tag, n_t

    @property
    def token_grid(self) -> float:
        """Spacing of the grid that sums of tokens are rounded to, so that parts add up in any order."""
        return grid_of(self.n_tokens)

    @property
    def doc_grid(self) -> float:
        """Spacing of the grid that sums over documents are rounded to."""
        return grid_of(4.0 * self.n_docs)


class FactorGraph(NamedTuple):
    """The edges and slots of a corpus, or of a part of one."""

    doc_edges: Int64  # (D + 1,) edges of document d: doc_edges[d] to doc_edges[d + 1]
    edge_word: Int32  # (E,)
    edge_count: Float32  # (E,) how often the word occurs in the document; may be a weight
    doc_slots: Int64  # (D + 1,) slots of document d
    slot_tag: Int32  # (S,)
    tag_slots: Groups  # T groups of slots, without those of documents that have no words
    doc_blocks: Int64  # (B + 1,) documents in blocks: sums over documents are rounded block by block
    totals: Totals  # of the whole corpus
    first_edge: int = 0  # number of the part's first edge in the whole corpus

    @property
    def n_docs(self) -> int:
        """The number of documents, D."""
        return len(self.doc_edges) - 1

    @property
    def n_words(self) -> int:
        """The size of the vocabulary, W."""
        return len(self.totals.word_docs)

    @property
    def n_tags(self) -> int:
        """The number of tags, T."""
        return len(self.totals.tag_docs)

    @property
    def n_edges(self) -> int:
        """The number of distinct words summed over documents, E."""
        return len(self.edge_word)

    @property
    def n_slots(self) -> int:
        """The number of tags summed over documents, S."""
        return len(self.slot_tag)


def grid_of(bound: float) -> float:
    """Return the spacing of a grid, a power of two, on which sums of up to `bound` are exact in double.

    Numbers rounded to it give the same bits in whatever order and groups they are added.
    """
    return float(2.0 ** (math.ceil(math.log2(bound + 1.0)) - 51))


def build_graph(counts: CSR, tags: CSR | None = None) -> FactorGraph:
    """Return the factor graph of a corpus: counts (D, W) and tags (D, T), or None for plain LDA."""
    D, W = counts.shape
    tags = sp.csr_array((D, 0), dtype=np.int8) if tags is None else tags
    n_tokens = float(counts.data.sum(dtype=np.float64))
    word_docs = np.bincount(counts.indices, minlength=W).astype(np.int64)
    has_words = np.repeat(np.diff(counts.indptr) > 0, np.diff(tags.indptr))
    tag_docs = np.bincount(tags.indices[has_words], minlength=tags.shape[1]).astype(np.int64)
    return wire(counts, tags, cut_blocks(counts.indptr, W), Totals(D, n_tokens, word_docs, tag_docs))


def query_graph(counts: CSR, tags: CSR) -> FactorGraph:
    """Return the edges and slots of new documents; groups and totals, which only fits use, are empty."""
    none = np.empty(0, dtype=np.int64)
    totals = Totals(counts.shape[0], 0.0, none, none)
    return FactorGraph(*_arrays(counts, tags), Groups(none, none), none, totals)


def _arrays(counts: CSR, tags: CSR) -> tuple[Int64, Int32, Float32, Int64, Int32]:
    """Return the edges of counts (D, W) and the slots of tags (D, T) as the kernels read them."""
    edges = (counts.indptr.astype(np.int64), counts.indices.astype(np.int32), counts.data.astype(np.float32))
    return *edges, tags.indptr.astype(np.int64), tags.indices.astype(np.int32)


def wire(counts: CSR, tags: CSR, doc_blocks: Int64, totals: Totals, first_edge: int = 0) -> FactorGraph:
    """Return the graph of a corpus, or of a part of one; see `FactorGraph`."""
    has_words = np.repeat(np.diff(counts.indptr) > 0, np.diff(tags.indptr))
    tag_slots = group_by(tags.indices, tags.shape[1], keep=has_words)
    return FactorGraph(*_arrays(counts, tags), tag_slots, doc_blocks, totals, first_edge)


def cut_blocks(doc_edges: Int64, n_words: int) -> Int64:
    """Return the boundaries (B + 1,) of blocks of documents with about equally many edges.

    They depend on the sizes of the corpus alone. A block is what one thread, or one machine, works on before
    its sums are added to the others'. Adding up a block costs as much as a sweep over n_words edges or more,
    so blocks have at least twelve times as many (half of that if there would be only one), and more where
    that still leaves enough of them. A large corpus has many blocks, so that single-precision sums within a
    block stay short. Their number is two, four or a multiple of four, which divides evenly among threads.
    """
    n_edges = int(doc_edges[-1])
    small = n_edges // max(12 * n_words, _MIN_EDGES)
    two = min(2, n_edges // max(6 * n_words, _MIN_EDGES))
    n_blocks = max(1, two, min(_MAX_BLOCKS, max(min(small, _ENOUGH_BLOCKS), small // 2)))
    n_blocks -= n_blocks % (4 if n_blocks > 4 else 2 if n_blocks > 1 else 1)
    goals = np.linspace(0, n_edges, n_blocks + 1)[1:-1]
    inner = np.searchsorted(doc_edges, goals)
    return np.unique(np.concatenate([[0], inner, [len(doc_edges) - 1]])).astype(np.int64)


def group_by(keys: Any, n_groups: int, keep: Bool | None = None) -> Groups:
    """Group the positions of keys (N,), from 0 to n_groups - 1, by key; `keep` (N,) leaves some out."""
    chosen = np.arange(len(keys)) if keep is None else np.flatnonzero(keep)
    offsets = np.zeros(n_groups + 1, dtype=np.int64)
    np.cumsum(np.bincount(keys[chosen], minlength=n_groups), out=offsets[1:])
    return Groups(offsets, chosen[np.argsort(keys[chosen], kind="stable")].astype(np.int64))


class Priors(NamedTuple):
    """The Dirichlet priors and the weights of a sweep."""

    doc_topic: Float32  # (K,) alpha
    topic_word: float  # beta
    pairwise_weight: float = 0.0  # omega_1
    higher_order_weight: float = 0.0  # omega_2
    order: int = 3  # largest number of tags that a hyperedge connects
    word_exponent: float = 1.0  # exponent of a word's message; see `bp.sweep`
    relaxation: float = 0.0  # over-relaxation factor of the word sums
    own_tokens: float = 1e6  # most tokens of an edge that its own message leaves out of the sums


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
    tag_docs: Float64 | None = None  # (T,) n_t, given only where the documents are gone: see `online`

    @classmethod
    def zeros(cls, n_words: int, n_tags: int, n_topics: int) -> CorpusSums:
        """Return the sums of no documents."""
        return cls(*(np.zeros((n, n_topics)) for n in (n_words, n_tags, n_tags)))

    def clear(self, *, tags: bool = True) -> None:
        """Set all sums to zero, or those of the words alone, to reuse the buffers."""
        for array in self[:3] if tags else self[:1]:
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
    """What a sweep reads about words; see `bp.sweep`."""

    sums: Float32  # (W, K)
    shares: Float32  # (W, K)


class SweepInput(NamedTuple):
    """What a sweep reads about words and tags; compiled kernels take single precision."""

    words: WordInput
    previous: WordInput  # of the sweep before, to recompute messages; (0, K) where messages are stored
    tag_sums: Float32  # (T, K) S_t; (0, K) in a sweep that leaves tags alone, as the next two
    tag_docs: Float32  # (T,) n_t
    tag_factors: Float32  # (T, K) f_gamma_t


def normalise(vector: Any) -> Float64:
    """Return a non-negative vector scaled to add up to one; a vector of zeros becomes uniform."""
    vector = np.asarray(vector, dtype=np.float64)
    total = vector.sum()
    return vector / total if total > 0 else np.full(len(vector), 1.0 / len(vector))


def joint_profile(profiles: Any) -> Float64:
    """Return (K,): the normalised product of profiles (n, K), the tags' hyperedge factor of full order.

    It is uniform if the profiles have no topic in common.
    """
    profiles = np.asarray(profiles, dtype=np.float64)
    product = np.prod(profiles, axis=0)
    if product.sum() < 1e-250:  # many factors: without logarithms the product would underflow
        with np.errstate(divide="ignore"):
            logs = np.log(profiles).sum(0)
        product = np.exp(logs - logs.max()) if np.isfinite(logs).any() else np.zeros(len(logs))
    return normalise(product)
