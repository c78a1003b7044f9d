"""Inference for new documents under fixed topics, all words of a document at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from tagtopics._typing import Float32
from tagtopics.graph import build_graph
from tagtopics.kernels.fold import fold_in

_BATCH_EDGES = 1 << 22
"""Edges of a batch; large enough to keep all threads busy."""


class FoldIn(NamedTuple):
    """The topics and settings for inferring new documents."""

    phi: Float32  # (W, K) p(word | topic)
    doc_topic_prior: Float32  # (K,) alpha
    max_iter: int = 100
    tol: float = 2e-2
    n_threads: int = 1

    def doc_topic(self, counts: Any, tag_counts: Any | None = None) -> Float32:
        """Return theta (D, K) of documents, computed in batches.

        Args:
            counts: the documents, CSR (D, W).
            tag_counts: (D, K) pseudo-counts of known tags, added to the prior, or None.
        """
        theta = np.empty((counts.shape[0], len(self.doc_topic_prior)), dtype=np.float32)
        for first, last in _cut(counts.indptr):
            graph = build_graph(counts[first:last])
            prior = np.broadcast_to(self.doc_topic_prior, (last - first, len(self.doc_topic_prior)))
            if tag_counts is not None:
                prior = prior + tag_counts[first:last]
            prior = np.ascontiguousarray(prior, dtype=np.float32)
            arguments = (self.max_iter, self.tol, self.n_threads)
            batch = fold_in(graph, self.phi, prior, *arguments) + prior
            theta[first:last] = batch / batch.sum(1, keepdims=True, dtype=np.float64)
        return theta


def _cut(indptr: Any) -> Iterator[tuple[int, int]]:
    """Yield ranges of documents of about `_BATCH_EDGES` edges, at least one document each."""
    first, D = 0, len(indptr) - 1
    while first < D:
        last = int(np.searchsorted(indptr, indptr[first] + _BATCH_EDGES, side="right")) - 1
        last = min(max(last, first + 1), D)
        yield first, last
        first = last
