"""Inference for new documents: topics frozen, the same updates, batches that fit in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from tagtopics._typing import Float32
from tagtopics.graph import FactorGraph, build_graph
from tagtopics.kernels import compiled

_BATCH_BYTES = 64 << 20
"""Messages held at a time; large enough to keep all threads busy."""


class FoldedBatch(NamedTuple):
    """Documents first to last of those asked for, with what was inferred for them."""

    first: int
    last: int
    graph: FactorGraph
    messages: Float32  # (E, K) count times message, of the batch's own graph
    doc_topic: Float32  # (D, K) theta: rows add up to one


class FoldIn(NamedTuple):
    """How new documents are inferred."""

    phi: Float32  # (W, K) p(word | topic)
    doc_topic_prior: Float32  # (K,) alpha
    max_iter: int = 100
    tol: float = 2e-2
    n_threads: int = 1

    def batches(self, counts: Any, tag_counts: Any | None = None) -> Iterator[FoldedBatch]:
        """Infer documents (CSR, D x W), batch by batch.

        Args:
            counts: the documents.
            tag_counts: (D, K) pseudo-counts that known tags add to the prior, or None.
        """
        for first, last in _cut(counts.indptr, len(self.doc_topic_prior)):
            graph = build_graph(counts[first:last])
            prior = np.broadcast_to(self.doc_topic_prior, (last - first, len(self.doc_topic_prior)))
            if tag_counts is not None:
                prior = prior + tag_counts[first:last]
            prior = np.ascontiguousarray(prior, dtype=np.float32)
            arguments = (self.max_iter, self.tol, self.n_threads)
            messages, sums = compiled.fold_in(graph, self.phi, prior, *arguments)
            theta = sums + prior
            theta /= theta.sum(1, keepdims=True, dtype=np.float64)
            yield FoldedBatch(first, last, graph, messages, theta)

    def doc_topic(self, counts: Any, tag_counts: Any | None = None) -> Float32:
        """Return theta (D, K) of documents (CSR, D x W)."""
        theta = np.empty((counts.shape[0], len(self.doc_topic_prior)), dtype=np.float32)
        for batch in self.batches(counts, tag_counts):
            theta[batch.first : batch.last] = batch.doc_topic
        return theta


def _cut(indptr: Any, n_topics: int) -> Iterator[tuple[int, int]]:
    """Cut documents into runs whose messages fit in a batch; a run has at least one document."""
    most = max(1, _BATCH_BYTES // (4 * n_topics))
    first, D = 0, len(indptr) - 1
    while first < D:
        last = int(np.searchsorted(indptr, indptr[first] + most, side="right")) - 1
        last = min(max(last, first + 1), D)
        yield first, last
        first = last
