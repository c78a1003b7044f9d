"""Kernel ridge regression, on all training documents or on the nearest ones of each document."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import lapack

from tagtopics._typing import Float32, Float64, Int32, Int64
from tagtopics.jit.threads import run_ranges
from tagtopics.recommend import loops

TOPIC_WEIGHT = np.float32(0.1)
"""Share of the topics in the similarity of two documents; the other share is that of the words."""

RIDGE = np.float32(0.1)
"""Added to the diagonal of the kernel. Good from photographs to news: decision 230."""

PART = 8000
"""Documents whose kernel is factorised at a time; the answers of several parts are averaged."""

NEIGHBOURS = 200
"""Training documents that a document is regressed on: decision 230."""

LEAST = np.finfo(np.float32).tiny
"""Smallest weight or share of a word that counts. One over a smaller one may be infinite, and the mean of two
shares that round to zero is not a number."""


class Documents(NamedTuple):
    """N documents, by document and by word."""

    doc_offsets: Int64  # (N + 1,)
    doc_words: Int32  # (E,)
    doc_shares: Float32  # (E,) share of each word in the document
    word_offsets: Int64  # (W + 1,)
    word_docs: Int32  # (E,)
    word_shares: Float32  # (E,)
    topics: Float32  # (N, K) square roots of the proportions


class Neighbours(NamedTuple):
    """The nearest training documents of documents, and what each contributes to a score."""

    rows: Int64  # (D, n)
    weights: Float32  # (D, n) the score of a tag is the sum of the weights of the neighbours that carry it


class Votes(NamedTuple):
    """Scores of D documents and T tags as a sparse table, and what every score has in addition."""

    table: Any  # CSR (D, T)
    rest: Float64  # (D,) times the share of all documents that carry the tag


def documents_of(counts: Any, doc_topic: Float32) -> Documents:
    """Return documents of counts (CSR, N x W) and topic proportions (N, K) as the kernel needs them."""
    lengths = np.diff(counts.indptr)
    tokens = np.asarray(counts.sum(1, dtype=np.float64)).ravel()
    shares = sp.csr_array(
        ((counts.data / np.repeat(tokens, lengths)).astype(np.float32), counts.indices, counts.indptr),
        shape=counts.shape,
    )
    shares = at_least(shares, LEAST)
    columns = sp.csc_array(shares)
    return Documents(
        shares.indptr.astype(np.int64), shares.indices.astype(np.int32), shares.data,
        columns.indptr.astype(np.int64), columns.indices.astype(np.int32), columns.data,
        np.ascontiguousarray(np.sqrt(doc_topic), dtype=np.float32),
    )  # fmt: skip


def at_least(matrix: Any, least: np.float32) -> Any:
    """Return a CSR array without entries below `least`: the array itself if it has none, else a copy."""
    small = matrix.data < least
    if not small.any():
        return matrix
    kept = matrix.copy()
    kept.data[small] = 0
    kept.eliminate_zeros()
    return kept


def neighbours(
    new: Documents,
    index: Documents,
    bandwidth: float,
    n_threads: int,
    own: Int64 | None = None,
    most: int = NEIGHBOURS,
) -> Neighbours:
    """Return the neighbours of new documents with their weights (K + ridge I)^-1 k; see `reference.weigh`.

    Args:
        new: D documents.
        index: N training documents.
        bandwidth: of the kernel exp(-bandwidth (1 - similarity)).
        n_threads: the bits of the result do not depend on it.
        own: (D,) rows of the index, one for each document that it must not use; None to use all rows.
        most: how many neighbours, if there are so many documents.
    """
    D, N = len(new.topics), len(index.topics)
    n = min(most, N if own is None else N - 1)
    rows, weights = np.zeros((D, n), dtype=np.int64), np.zeros((D, n), dtype=np.float32)
    banned = np.full(D, -1, dtype=np.int64) if own is None else np.asarray(own, dtype=np.int64)
    if D and n:
        settings = (TOPIC_WEIGHT, np.float32(bandwidth), RIDGE)
        run_ranges(
            loops.weigh, np.arange(D + 1), n * n * n, n_threads, new, banned, index, settings, rows, weights
        )
    return Neighbours(rows, weights)


def votes_of(found: Neighbours, tags: Any) -> Votes:
    """Return what neighbours say about the T tags that they carry, CSR (N, T)."""
    rows, weights = found
    offsets = np.arange(len(rows) + 1) * rows.shape[1]
    shape = (len(rows), tags.shape[0])
    table = sp.csr_array((weights.ravel(), rows.ravel(), offsets), shape=shape) @ tags
    return Votes(table, 1 - weights.sum(1, dtype=np.float64))


def kernel_of(new: Documents, index: Documents, bandwidth: float, n_threads: int) -> Float32:
    """Return (D, N): exp(-bandwidth (1 - similarity)) of new documents and those of the index."""
    D, N = len(new.topics), len(index.topics)
    alike = np.empty((D, N), dtype=np.float32)
    if D:
        run_ranges(loops.compare, np.arange(D + 1), N, n_threads, new, index, TOPIC_WEIGHT, alike)
    alike -= 1
    alike *= np.float32(bandwidth)
    return np.exp(alike, out=alike)


def solve_part(kernel: Float32, targets: Float32) -> tuple[Float32, Float32]:
    """Return A (N, T) with (K + ridge I) A = Y, and (N,) what each document adds to its own answer.

    With C the inverse of K + ridge I, the answer to document i without itself is
    f_i - a_i (1 - ridge C_ii) / C_ii = y_i - a_i / C_ii.

    Args:
        kernel: (N, N) symmetric; it is overwritten.
        targets: (N, T) Y.
    """
    kernel[np.diag_indices_from(kernel)] += RIDGE
    factor, failed = lapack.spotrf(kernel.T, lower=1, overwrite_a=1)
    if failed:
        raise np.linalg.LinAlgError("the kernel is not positive definite")
    coefficients, _ = lapack.spotrs(factor, targets, lower=1)
    inverse, _ = lapack.spotri(factor, lower=1, overwrite_c=1)
    diagonal = np.maximum(np.diag(inverse), 1e-6)
    return np.ascontiguousarray(coefficients), np.asarray(1 / diagonal - RIDGE, dtype=np.float32)


def bandwidth_of(counts: Any, theta: Float32, some: Int64) -> float:
    """Return one over the mean distance of some documents, each pair compared as the kernel does."""
    x = sp.csr_array(counts[some])
    words = np.zeros((len(some), len(some)))
    shares = sp.csc_array(at_least(sp.csr_array(x / x.sum(1)[:, np.newaxis]), LEAST))
    for w in np.flatnonzero(np.diff(shares.indptr)):
        docs = shares.indices[shares.indptr[w] : shares.indptr[w + 1]]
        y = shares.data[shares.indptr[w] : shares.indptr[w + 1]]
        words[np.ix_(docs, docs)] += 2 * np.outer(y, y) / np.add.outer(y, y)
    root = np.sqrt(theta[some]).astype(np.float64)
    topics = np.einsum("ik,jk->ij", root, root)
    alike = (1 - TOPIC_WEIGHT) * words + TOPIC_WEIGHT * topics
    return 1.0 / max(float((1 - alike).mean()), 1e-3)
