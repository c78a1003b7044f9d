"""The wiring of the factor graph: which word, document and tag each number belongs to.

Built once from two sparse matrices and read only ever after. Everything is a flat index array inside a
named tuple, so that the same value goes to NumPy and to compiled kernels.

    edges   the non-zeros (d, w) of the counts, document by document     variable z_{w,d} of the paper
    slots   the non-zeros (d, t) of the tags, document by document       where document d meets factor gamma_t
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from tagtopics._typing import Float32, Int32, Int64

_ENOUGH_BLOCKS, _MOST_BLOCKS = 8, 128
_FEWEST_EDGES = 4096
"""Bounds of `cut_blocks`: more blocks than most machines have cores, none too small for a thread."""


class Groups(NamedTuple):
    """Items in groups: group g holds `members[offsets[g]:offsets[g + 1]]`, ascending."""

    offsets: Int64  # (G + 1,)
    members: Int64  # (N,)


class Whole(NamedTuple):
    """The corpus that a graph is, or is a part of: where the part begins, and what only all parts know."""

    first_edge: int  # number of the part's first edge in the whole
    first_slot: int
    n_docs: int
    n_tokens: float
    word_docs: Int64  # (W,) how many documents have each word
    tag_docs: Int64  # (T,) how many documents with words carry each tag, n_t

    @property
    def token_grid(self) -> float:
        """Where sums of tokens are rounded to, so that parts can be added in any order."""
        return grid_of(self.n_tokens)

    @property
    def doc_grid(self) -> float:
        """Where sums over documents are rounded to."""
        return grid_of(4.0 * self.n_docs)


class FactorGraph(NamedTuple):
    """The edges and slots of a corpus, or of a part of one; see the module's head."""

    doc_edges: Int64  # (D + 1,) edges of document d: doc_edges[d] to doc_edges[d + 1]
    edge_word: Int32  # (E,)
    edge_count: Float32  # (E,) how often the word occurs in the document; may be a weight
    doc_slots: Int64  # (D + 1,) slots of document d
    slot_tag: Int32  # (S,)
    tag_slots: Groups  # T groups of slots, those of documents without words left out
    doc_blocks: Int64  # (B + 1,) documents in blocks: sums over documents are rounded block by block
    whole: Whole

    @property
    def n_docs(self) -> int:
        """The number of documents, D."""
        return len(self.doc_edges) - 1

    @property
    def n_words(self) -> int:
        """The size of the vocabulary, W."""
        return len(self.whole.word_docs)

    @property
    def n_tags(self) -> int:
        """The number of tags, T."""
        return len(self.whole.tag_docs)

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

    Numbers rounded to it can be added in any order, and in any groups, to the same bits.
    """
    return float(2.0 ** (math.ceil(math.log2(bound + 1.0)) - 51))


def build_graph(counts: Any, tags: Any | None = None) -> FactorGraph:
    """Wire the factor graph of CSR counts (D, W) and CSR tags (D, T); no tags make it plain LDA's."""
    D, W = counts.shape
    tags = sp.csr_array((D, 0), dtype=np.int8) if tags is None else tags
    n_tokens = float(counts.data.sum(dtype=np.float64))
    word_docs = np.bincount(counts.indices, minlength=W).astype(np.int64)
    has_words = np.repeat(np.diff(counts.indptr) > 0, np.diff(tags.indptr))
    tag_docs = np.bincount(tags.indices[has_words], minlength=tags.shape[1]).astype(np.int64)
    return build_part(counts, tags, Whole(0, 0, D, n_tokens, word_docs, tag_docs))


def build_part(counts: Any, tags: Any, whole: Whole) -> FactorGraph:
    """Wire the graph of some of the documents of a corpus that is known as a whole."""
    doc_edges = counts.indptr.astype(np.int64)
    doc_slots = tags.indptr.astype(np.int64)
    slot_has_words = np.repeat(np.diff(doc_edges) > 0, np.diff(doc_slots))
    return FactorGraph(
        doc_edges=doc_edges,
        edge_word=counts.indices.astype(np.int32),
        edge_count=counts.data.astype(np.float32),
        doc_slots=doc_slots,
        slot_tag=tags.indices.astype(np.int32),
        tag_slots=group_by(tags.indices, tags.shape[1], keep=slot_has_words),
        doc_blocks=cut_blocks(doc_edges, counts.shape[1]),
        whole=whole,
    )


def cut_blocks(doc_edges: Int64, n_words: int) -> Int64:
    """Cut documents into blocks of about as many edges, by the sizes of the corpus alone.

    A block is what one thread, or one machine, works on before its sums join the others'. Adding up a block
    costs as much as a sweep over n_words edges or more. So blocks have at least twelve times as many, half of
    that if there would be but one, and more where that still leaves enough of them; but there are many in a
    large corpus, so that a single-precision sum within one stays short. Two, four or a multiple of four share
    out evenly.
    """
    n_edges = int(doc_edges[-1])
    small = n_edges // max(12 * n_words, _FEWEST_EDGES)
    two = min(2, n_edges // max(6 * n_words, _FEWEST_EDGES))
    n_blocks = max(1, two, min(_MOST_BLOCKS, max(min(small, _ENOUGH_BLOCKS), small // 2)))
    n_blocks -= n_blocks % (4 if n_blocks > 4 else 2 if n_blocks > 1 else 1)
    goals = np.linspace(0, n_edges, n_blocks + 1)[1:-1]
    inner = np.searchsorted(doc_edges, goals)
    return np.unique(np.concatenate([[0], inner, [len(doc_edges) - 1]])).astype(np.int64)


def group_by(keys: npt.NDArray[Any], n_groups: int, keep: npt.NDArray[np.bool_] | None = None) -> Groups:
    """Group the positions of `keys` by key, ascending within a group; `keep` leaves positions out."""
    chosen = None if keep is None else np.flatnonzero(keep)
    keys = keys if chosen is None else keys[chosen]
    offsets = np.zeros(n_groups + 1, dtype=np.int64)
    np.cumsum(np.bincount(keys, minlength=n_groups), out=offsets[1:])
    order = np.argsort(keys, kind="stable")
    members = order if chosen is None else chosen[order]
    return Groups(offsets, members.astype(np.int64, copy=False))
