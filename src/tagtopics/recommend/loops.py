"""Compiled loops of the recommender.

The similarity of two documents adds up a chi-squared kernel of the shares of their words, sum_w 2 x_w y_w /
(x_w + y_w), and the product of the square roots of their topic proportions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tagtopics._typing import Float32, Int32, Int64
from tagtopics.jit.compiling import inner, kernel


class KernelDocuments(NamedTuple):
    """N documents as the kernel needs them, by document and by word."""

    doc_offsets: Int64  # (N + 1,)
    doc_words: Int32  # (E,)
    doc_shares: Float32  # (E,) share of each word in the document
    word_offsets: Int64  # (W + 1,)
    word_docs: Int32  # (E,)
    word_shares: Float32  # (E,)
    topics: Float32  # (N, K) square roots of the proportions


@kernel
def compare(first, last, new, index, topic_weight, alike):
    """Set `alike` (D, N) to the similarities of new documents first to last with those of the index."""
    n_docs = index.topics.shape[0]
    row, parts = np.empty(n_docs, dtype=np.float32), np.empty(n_docs, dtype=np.float32)
    for d in range(first, last):
        _compare(d, new, index, topic_weight, parts, row)
        for i in range(len(row)):
            alike[d, i] = row[i]


@inner
def _compare(d, new, index, topic_weight, parts, alike):
    """Set `alike` (N,) to the similarity of new document d with all documents of the index.

    `parts` (N,) is scratch; longer lists of a word's documents, which have some twice, take several rounds.
    Slices tell the compiler that no index is negative, so that divisions vectorise.
    """
    one, two = np.float32(1), np.float32(2)
    alike[:] = 0
    for e in range(new.doc_offsets[d], new.doc_offsets[d + 1]):
        w, x = new.doc_words[e], new.doc_shares[e]
        for first in range(index.word_offsets[w], index.word_offsets[w + 1], len(parts)):
            last = min(first + len(parts), index.word_offsets[w + 1])
            shares, docs = index.word_shares[first:last], index.word_docs[first:last]
            for p in range(len(shares)):
                parts[p] = two * x * shares[p] / (x + shares[p])
            for p in range(len(docs)):
                alike[docs[p]] += parts[p]
    for i in range(index.topics.shape[0]):
        total = np.float32(0)
        for k in range(index.topics.shape[1]):
            total += new.topics[d, k] * index.topics[i, k]
        alike[i] = (one - topic_weight) * alike[i] + topic_weight * total
