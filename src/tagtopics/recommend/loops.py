"""Compiled loops of the recommender; `recommend.reference` is their readable twin."""

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


@kernel
def weigh(first, last, new, own, index, settings, rows, weights):
    """Set `rows` and `weights` (D, n) of new documents first to last: their neighbours and what each adds.

    `own` (D,) is the row of the index that each document must not use, or -1; `settings` are the
    weight of topics, the bandwidth and the ridge.
    """
    topic_weight, bandwidth, ridge = settings
    n_docs, n = index.topics.shape[0], rows.shape[1]
    alike, parts = np.empty(n_docs, dtype=np.float32), np.empty(n_docs, dtype=np.float32)
    gram = np.empty((n, n), dtype=np.float32)
    ends = np.empty(len(index.word_offsets), dtype=np.int64)
    for d in range(first, last):
        _compare(d, new, index, topic_weight, parts, alike)
        if own[d] >= 0:
            alike[own[d]] = -1
        _take(d, alike, np.partition(alike, n_docs - n)[n_docs - n], rows)
        n_entries = 0
        for a in range(n):
            n_entries += index.doc_offsets[rows[d, a] + 1] - index.doc_offsets[rows[d, a]]
        who, shares = np.empty(n_entries, dtype=np.int32), np.empty(n_entries, dtype=np.float32)
        _compare_neighbours(d, index, topic_weight, rows, ends, who, shares, gram)
        for a in range(n):
            weights[d, a] = np.exp(bandwidth * (alike[rows[d, a]] - np.float32(1)))
            for b in range(a):
                gram[a, b] = np.exp(bandwidth * (gram[a, b] - np.float32(1)))
            gram[a, a] = np.float32(1) + ridge
        _solve(d, gram, ridge, weights)


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


@inner
def _take(d, alike, least, rows):
    """Set `rows` of document d to the n documents that are most alike, in order of rows; earlier ones win."""
    n, above = rows.shape[1], 0
    for i in range(len(alike)):
        above += alike[i] > least
    ties, place = n - above, 0
    for i in range(len(alike)):
        if alike[i] > least or (alike[i] == least and ties > 0):
            ties -= alike[i] == least
            rows[d, place] = i
            place += 1


@inner
def _compare_neighbours(d, index, topic_weight, rows, ends, who, shares, gram):
    """Set the lower half of `gram` (n, n) to the similarities of the neighbours of document d.

    The rest is scratch: the neighbours `who` have each word and its `shares`, (E,) each, word by word; `ends`
    (W + 1,) is where the neighbours of the words before each one end.
    """
    scale = np.float32(2) * (np.float32(1) - topic_weight)
    n = rows.shape[1]
    ends[:] = 0
    for a in range(n):
        for b in range(a):
            total = np.float32(0)
            for k in range(index.topics.shape[1]):
                total += index.topics[rows[d, a], k] * index.topics[rows[d, b], k]
            gram[a, b] = topic_weight * total
        for e in range(index.doc_offsets[rows[d, a]], index.doc_offsets[rows[d, a] + 1]):
            ends[index.doc_words[e] + 1] += 1
    for w in range(len(ends) - 1):
        ends[w + 1] += ends[w]
    for a in range(n):
        for e in range(index.doc_offsets[rows[d, a]], index.doc_offsets[rows[d, a] + 1]):
            place = ends[index.doc_words[e]]  # moves to the end of the word
            who[place], shares[place] = a, index.doc_shares[e]
            ends[index.doc_words[e]] += 1
    start = 0
    for w in range(len(ends) - 1):
        for i in range(start, ends[w]):
            x, a = shares[i], who[i]
            for j in range(start, i):
                gram[a, who[j]] += scale * x * shares[j] / (x + shares[j])
        start = ends[w]


@inner
def _solve(d, gram, ridge, weights):
    """Replace the kernel values of document d by x with gram @ x = values; `gram` is given by its lower half.

    No eigenvalue of `gram` is below the ridge, so pivots below half of it are rounding errors.
    """
    n = gram.shape[0]
    for a in range(n):
        for b in range(a + 1):
            total = np.float32(0)
            for c in range(b):
                total += gram[a, c] * gram[b, c]
            if b < a:
                gram[a, b] = (gram[a, b] - total) / gram[b, b]
            else:
                gram[a, a] = np.sqrt(max(gram[a, a] - total, ridge / 2))
        total = np.float32(0)
        for c in range(a):
            total += gram[a, c] * weights[d, c]
        weights[d, a] = (weights[d, a] - total) / gram[a, a]
    for a in range(n - 1, -1, -1):
        weights[d, a] /= gram[a, a]
        for c in range(a):
            weights[d, c] -= gram[a, c] * weights[d, a]
