"""Inference for new documents under fixed topics, all words of a document at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from tagtopics._typing import Float32
from tagtopics.bp.fold import fold_in
from tagtopics.bp.graph import build_graph

_BATCH_EDGES = 1 << 22  # edges of a batch; large enough to keep all threads busy


class FoldIn(NamedTuple):
    """The topics and settings for inferring new documents."""

    phi: Float32  # (W, K) p(word | topic)
    doc_topic_prior: Float32  # (K,) alpha
    max_iter: int = 100
    tol: float = 2e-2

    def doc_topic(self, counts: Any, tag_counts: Any | None = None) -> Float32:
        """Return theta (D, K) of counts (D, W); pseudo-counts of known tags (D, K) are added to the prior."""
        theta = np.empty((counts.shape[0], len(self.doc_topic_prior)), dtype=np.float32)
        for first, last in document_ranges(np.diff(counts.indptr), _BATCH_EDGES):
            graph = build_graph(counts[first:last])
            prior = np.broadcast_to(self.doc_topic_prior, (last - first, len(self.doc_topic_prior)))
            if tag_counts is not None:
                prior = prior + tag_counts[first:last]
            prior = np.ascontiguousarray(prior, dtype=np.float32)
            batch = fold_in(graph, self.phi, prior, self.max_iter, self.tol) + prior
            theta[first:last] = batch / batch.sum(1, keepdims=True, dtype=np.float64)
        return theta


def document_ranges(sizes: Any, most: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of documents whose sizes (D,) add up to `most` or less, at least one document each."""
    ends = np.cumsum(sizes, dtype=np.int64)
    first = 0
    while first < len(ends):
        before = ends[first - 1] if first else 0
        last = max(int(np.searchsorted(ends, before + most, side="right")), first + 1)
        yield first, last
        first = last
