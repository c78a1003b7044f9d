"""Credit attribution: learn the words of each tag, and credit the words of documents to their tags.

`credit.claims` has the model, `credit.reference` the same in NumPy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from tagtopics._typing import Float64, Int64
from tagtopics.credit import loops
from tagtopics.credit.claims import (
    EVEN_TOKENS,
    SWEEPS,
    TOPIC_TOKENS,
    Claims,
    claims_of,
    predicted_by_topics,
    produced,
)
from tagtopics.graph import group_by


def learn_tag_words(counts: Any, tags: Any, profiles: Any, phi: Any) -> sp.csr_array:
    """Return CSR (T, W), float32: the tokens of each word credited to each tag.

    Args:
        counts: CSR (D, W).
        tags: CSR (D, T).
        profiles: (T, K) p(topic | tag).
        phi: (W, K) p(word | topic).
    """
    T, W = tags.shape[1], counts.shape[1]
    doc_edges, edge_word = counts.indptr.astype(np.int64), counts.indices.astype(np.int64)
    doc_slots, slot_tag = tags.indptr.astype(np.int64), tags.indices.astype(np.int64)
    pair_offsets, pair_word = _pairs(counts, tags)
    pair_tag = np.repeat(np.arange(T), np.diff(pair_offsets))
    topics = predicted_by_topics(pair_tag, pair_word, profiles, phi)
    n_claims = int((np.diff(doc_edges) * np.diff(doc_slots)).sum())
    place, shares, tokens = np.empty(n_claims, dtype=np.int64), np.empty(n_claims), np.empty(len(pair_word))
    slot_doc = np.repeat(np.arange(counts.shape[0]), np.diff(doc_slots))
    tag_slots = tuple(group_by(slot_tag, T))
    loops.place_claims(doc_edges, edge_word, doc_slots, tag_slots, slot_doc, pair_offsets, pair_word, place)
    weights, settings = counts.data.astype(np.float64), (SWEEPS, TOPIC_TOKENS, EVEN_TOKENS, T)
    loops.learn(doc_edges, weights, doc_slots, slot_tag, place, pair_tag, topics, settings, shares, tokens)
    return sp.csr_array((tokens.astype(np.float32), pair_word, pair_offsets), shape=(T, W))


def credit_words(counts: Any, tags: Any, profiles: Any, phi: Any, tag_words: Any) -> tuple[Claims, Float64]:
    """Return the claims of documents, and p(tag | word, document) of each claim, (P,).

    Args:
        counts: CSR (D, W).
        tags: CSR (D, T).
        profiles: (T, K) p(topic | tag).
        phi: (W, K) p(word | topic).
        tag_words: CSR (T, W) tokens credited in training.
    """
    claims = claims_of(counts, tags)
    topics = predicted_by_topics(claims.tag, claims.word, profiles, phi)
    said, shares = produced(claims, tag_words, topics), np.empty(len(claims.edge))
    doc_edges, doc_slots = counts.indptr.astype(np.int64), tags.indptr.astype(np.int64)
    loops.credit(doc_edges, counts.data.astype(np.float64), doc_slots, said, (SWEEPS, EVEN_TOKENS), shares)
    return claims, shares


def _pairs(counts: Any, tags: Any) -> tuple[Int64, Int64]:
    """Return offsets (T + 1,) and words (U,) of the words that occur with each tag, ascending."""
    words = sp.csr_array((np.ones(counts.nnz, dtype=np.float32), counts.indices, counts.indptr), counts.shape)
    carried = sp.csr_array((np.ones(tags.nnz, dtype=np.float32), tags.indices, tags.indptr), tags.shape)
    pairs = sp.csr_array(carried.T @ words)
    pairs.sort_indices()
    return pairs.indptr.astype(np.int64), pairs.indices.astype(np.int64)


@dataclass(frozen=True)
class CreditTable:
    """p(tag | word, document): one row for each word of each document and each tag of that document.

    Attributes:
        doc: (N,) row number of the document among those asked for.
        word: (N,) the word.
        count: (N,) how often it occurs in the document.
        tag: (N,) the tag.
        credit: (N,) how much of the word the tag accounts for; adds up to one over a document's tags.
    """

    doc: Int64
    word: npt.NDArray[Any]
    count: Float64
    tag: npt.NDArray[Any]
    credit: Float64

    def __len__(self) -> int:
        return len(self.doc)

    def to_dict(self) -> dict[str, npt.NDArray[Any]]:
        """Return the columns; `pandas.DataFrame(table.to_dict())` makes a frame of them."""
        columns = ("doc", "word", "count", "tag", "credit")
        return {name: getattr(self, name) for name in columns}

    def best(self) -> CreditTable:
        """Return for each word of each document only the tag with the most credit."""
        new_word = np.ones(len(self), dtype=bool)
        new_word[1:] = (self.doc[1:] != self.doc[:-1]) | (self.word[1:] != self.word[:-1])
        group = np.cumsum(new_word) - 1
        order = np.lexsort((-self.credit, group))
        first = np.ones(len(order), dtype=bool)
        first[1:] = group[order][1:] != group[order][:-1]
        return self._rows(order[first])

    def of_document(self, doc: int) -> CreditTable:
        """Return the rows of one document."""
        return self._rows(np.flatnonzero(self.doc == doc))

    def _rows(self, rows: npt.NDArray[Any]) -> CreditTable:
        return CreditTable(
            self.doc[rows], self.word[rows], self.count[rows], self.tag[rows], self.credit[rows]
        )
