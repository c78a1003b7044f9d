"""The wiring of the factor graph: which word, document and tag each number belongs to.

Built once from two sparse matrices and read only ever after. Everything is a flat index array inside a
named tuple, so that the same value goes to NumPy and to compiled kernels.

    edges   the non-zeros (d, w) of the counts, document by document     variable z_{w,d} of the paper
    slots   the non-zeros (d, t) of the tags, document by document       where document d meets factor gamma_t
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from tagtopics._typing import Float32, Int32, Int64

_MOST_BLOCKS = 128
_FEWEST_EDGES = 4096
"""Bounds of `cut_blocks`: more blocks than most machines have cores, none too small for a thread."""


class Groups(NamedTuple):
    """Items in groups: group g holds `members[offsets[g]:offsets[g + 1]]`, ascending."""

    offsets: Int64  # (G + 1,)
    members: Int64  # (N,)


class FactorGraph(NamedTuple):
    """The edges and slots of a corpus; see the module's head."""

    doc_edges: Int64  # (D + 1,) edges of document d: doc_edges[d] to doc_edges[d + 1]
    edge_word: Int32  # (E,)
    edge_count: Float32  # (E,) how often the word occurs in the document; may be a weight
    word_edges: Groups  # W groups of edges
    doc_slots: Int64  # (D + 1,) slots of document d
    slot_tag: Int32  # (S,)
    tag_slots: Groups  # T groups of slots, those of documents without words left out
    doc_blocks: Int64  # (B + 1,) documents in blocks: word sums are added up block by block, in this order

    @property
    def n_docs(self) -> int:
        """The number of documents, D."""
        return len(self.doc_edges) - 1

    @property
    def n_words(self) -> int:
        """The size of the vocabulary, W."""
        return len(self.word_edges.offsets) - 1

    @property
    def n_tags(self) -> int:
        """The number of tags, T."""
        return len(self.tag_slots.offsets) - 1

    @property
    def n_edges(self) -> int:
        """The number of distinct words summed over documents, E."""
        return len(self.edge_word)

    @property
    def n_slots(self) -> int:
        """The number of tags summed over documents, S."""
        return len(self.slot_tag)

    @property
    def tag_docs(self) -> Int64:
        """Shape (T,): how many documents with words carry each tag, n_t."""
        return np.diff(self.tag_slots.offsets)


def build_graph(counts: Any, tags: Any | None = None) -> FactorGraph:
    """Wire the factor graph of CSR counts (D, W) and CSR tags (D, T); no tags make it plain LDA's."""
    D, W = counts.shape
    tags = sp.csr_array((D, 0), dtype=np.int8) if tags is None else tags
    doc_edges = counts.indptr.astype(np.int64)
    doc_slots = tags.indptr.astype(np.int64)
    slot_has_words = np.repeat(np.diff(doc_edges) > 0, np.diff(doc_slots))
    return FactorGraph(
        doc_edges=doc_edges,
        edge_word=counts.indices.astype(np.int32),
        edge_count=counts.data.astype(np.float32),
        word_edges=group_by(counts.indices, W),
        doc_slots=doc_slots,
        slot_tag=tags.indices.astype(np.int32),
        tag_slots=group_by(tags.indices, tags.shape[1], keep=slot_has_words),
        doc_blocks=cut_blocks(doc_edges, W),
    )


def cut_blocks(doc_edges: Int64, n_words: int) -> Int64:
    """Cut documents into blocks of about as many edges, by the sizes of the corpus alone.

    A block is what one thread, or one machine, works on before its sums join the others'. Adding up a block
    costs as much as a sweep over n_words edges or less, so blocks have at least four times as many; but there
    are many blocks in a large corpus, so that a single-precision sum within one stays short.
    """
    n_edges = int(doc_edges[-1])
    n_blocks = max(1, min(_MOST_BLOCKS, n_edges // max(4 * n_words, _FEWEST_EDGES)))
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
