"""Relations between documents by their vectors: near documents have similar topics.

In each sweep the prior of a document is alpha plus some tokens, spread over topics as the mean of its nearest
documents was in the sweep before. Topics start from more topics, which start from the words of clusters of
the vectors and are merged where their documents are related (decision 209).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from tagtopics._blas import single_thread
from tagtopics._typing import CSR, Float32, Int64
from tagtopics.errors import InputError, MissingExtraError
from tagtopics.jit.threads import run_lanes
from tagtopics.jit.top import largest_in_rows

NEAREST = 10  # documents that a document is related to
RELATED_SWEEPS = 5  # after topics are merged; with more of them, topics become more equal in size
_PAIRS = 2**23  # pairs of documents that are compared at a time
# Up to this number of documents, all pairs are compared; beyond, a graph of so many neighbours is searched.
_MOST_EXACT, _WIDTH = 2**16, 30
# When topics are merged: the resolution, and the share of a mean topic below which one is small.
_RESOLUTION, _SMALL = 0.85, 0.2


@dataclass(frozen=True, eq=False)
class Relations:
    """The nearest documents of each document, and how much their topics are worth."""

    near: CSR  # (D, D') rows add up to one, or to zero where a document has no relations
    strength: float  # tokens

    def counts(self, doc_sums: Float32) -> Float32:
        """Return (D, K): what the topics of near documents, sums or proportions (D', K), add to the prior."""
        theta = doc_sums / np.maximum(doc_sums.sum(1, keepdims=True), np.float32(1e-9))
        return np.ascontiguousarray(self.strength * (self.near @ theta), dtype=np.float32)


def unit_vectors(vectors: Any, n_docs: int, own: Float32 | None = None) -> Float32:
    """Return vectors (D, n) scaled to length one; zeros stay. They must be finite, one for each document.

    Those of new documents must have the columns of a model's `own` vectors.
    """
    try:
        found = np.array(vectors, dtype=np.float32)
    except (TypeError, ValueError):
        raise InputError("vectors: must be a matrix of numbers, one row for each document") from None
    if found.ndim != 2 or len(found) != n_docs:
        raise InputError(f"vectors: {found.shape} is not one row for each of {n_docs:,} documents")
    if own is not None and found.shape[1] != own.shape[1]:
        raise InputError(f"vectors: {found.shape[1]} columns, but those of the fit have {own.shape[1]}")
    if not np.isfinite(found).all():
        row = int(np.flatnonzero(~np.isfinite(found).all(1))[0])
        raise InputError(f"vectors: row {row} has a number that is not finite; give finite numbers")
    length = np.sqrt(np.square(found, dtype=np.float64).sum(1, keepdims=True))
    return np.asarray(found / np.where(length > 0, length, 1), dtype=np.float32)


def nearest(vectors: Float32, others: Float32, *, same: bool = False) -> CSR:
    """Return CSR (D, D'): equal weights of the nearest documents by cosine, which add up to one.

    Args:
        vectors: (D, n) of length one, or zero: a document without a vector has no relations.
        others: (D', n) of the documents to choose from; those of zero are not chosen.
        same: whether both are the same documents; no document is then its own neighbour.
    """
    chosen = np.flatnonzero(others.any(1))
    n = min(NEAREST, max(len(chosen) - same, 0))
    found, rows = np.empty((len(vectors), n), dtype=np.int64), np.arange(len(vectors) if n else 0)
    if same and len(chosen) > _MOST_EXACT:
        found[chosen] = np.sort(chosen[_nearly_nearest(others[chosen])], axis=1)
        rows = np.setdiff1d(rows, chosen)
    step, table = max(1, _PAIRS // max(len(chosen), 1)), others[chosen].T

    def lane(waiting: Iterator[int]) -> None:
        for i in waiting:
            some = rows[i : i + step]
            cosines = vectors[some] @ table
            if same:
                cosines[some[:, np.newaxis] == chosen] = -2
            found[some] = np.sort(chosen[largest_in_rows(cosines, n)], axis=1)

    with single_thread():  # each product; their blocks do not depend on the number of threads
        run_lanes(lane, range(0, len(rows), step))
    weights = np.repeat(np.where(vectors.any(1), np.float32(1 / max(n, 1)), np.float32(0)), n)
    ends = np.arange(0, found.size + 1, n) if n else np.zeros(len(vectors) + 1, dtype=np.int64)
    shape = (len(vectors), len(others))
    return sp.csr_array((weights, found.ravel(), ends), shape=shape)


def _nearly_nearest(vectors: Float32) -> Int64:
    """Return (D, 10): nearly all nearest documents of each of many, by descent of a graph on one thread."""
    try:
        from pynndescent import NNDescent
    except ImportError:
        raise MissingExtraError(f"vectors of more than {_MOST_EXACT:,} documents", "neighbours") from None
    with single_thread():
        graph = NNDescent(vectors, metric="dot", n_neighbors=_WIDTH, random_state=0, n_jobs=1).neighbor_graph
    own = graph[0] == np.arange(len(vectors))[:, np.newaxis]  # none, if there are many equal vectors
    return np.take_along_axis(graph[0], np.argsort(own, axis=1, kind="stable")[:, :NEAREST], axis=1)


def cluster_words(vectors: Float32, counts: CSR, n_topics: int, seed: int) -> Float32:
    """Return (W, K): how often each word occurs in each cluster of the vectors, by k-means on one thread."""
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    n = min(n_topics, len(vectors))
    with single_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct vectors than topics
        labels = KMeans(n, n_init=3, random_state=seed).fit(vectors).labels_
    cluster = (np.ones(len(labels)), (labels, np.arange(len(labels))))
    members = sp.csr_array(cluster, shape=(n_topics, len(labels)))
    return np.asarray((members @ counts).todense().T, dtype=np.float32, order="C")


def merge_topics(doc_topic: Float32, near: CSR, n_topics: int) -> Int64:
    """Return (M,): which of K merged topics each of M topics belongs to.

    Again and again the two topics are merged that gain most modularity: their relations, sums over documents
    of theta (D, M) times the mean theta of near ones, less the resolution times as many as topics of their
    sizes have by chance. The smallest topic comes first while it is below a fifth of the mean of K topics.
    """
    theta = doc_topic.astype(np.float64)
    with single_thread():
        related = theta.T @ (near @ theta)
    sizes = theta.sum(0)
    gain = (related + related.T) / 2 - _RESOLUTION * np.outer(sizes, sizes) / sizes.sum()
    group, left = np.arange(len(sizes)), list(range(len(sizes)))
    while len(left) > n_topics:
        some, merged = sizes[left], gain[np.ix_(left, left)]
        np.fill_diagonal(merged, -np.inf)
        i, j = np.unravel_index(merged.argmax(), merged.shape)
        if some.min() < _SMALL * sizes.sum() / n_topics:
            i, j = some.argmin(), merged[some.argmin()].argmax()
        one, other = left[min(i, j)], left[max(i, j)]
        for sums in (sizes, gain, gain.T):
            sums[one] += sums[other]
        sizes[other] = 0.0
        group[group == other] = one
        left.remove(other)
    return np.unique(group, return_inverse=True)[1].astype(np.int64)
