"""The compiled loop for new documents: topics stand still, each document is read until it rests."""

from __future__ import annotations

import numpy as np

from tagtopics.kernels.bp.edges import overlap, tokens_of
from tagtopics.kernels.compiling import inner, kernel

FOLD_STRIDE = 0.7
"""How much further than its messages say a new document's theta goes; half to one measured alike."""


@kernel
def fold_in(first, last, graph, phi, prior, max_iter, tol, sums):
    """Infer the sums of new documents first to last, each until it rests; see `reference.fold_in`."""
    K = phi.shape[1]
    stride = np.float32(FOLD_STRIDE)
    theta = np.empty(K, dtype=np.float32)
    gain = np.empty(K, dtype=np.float32)
    floor = np.empty(K, dtype=np.float32)
    part = np.empty(K, dtype=np.float32)
    for d in range(first, last):
        tokens = tokens_of(d, graph)
        for k in range(K):
            theta[k] = prior[d, k]
        floor[:] = 1
        _gather_gains(d, graph, phi, theta, floor, part, gain)
        for k in range(K):
            sums[d, k] = theta[k] * gain[k]
            theta[k] = sums[d, k] + prior[d, k]
        for _ in range(max_iter):
            for k in range(K):
                floor[k] = prior[d, k] / theta[k]
            _gather_gains(d, graph, phi, theta, floor, part, gain)
            for k in range(K):
                sums[d, k] = theta[k] * gain[k]
            moved = np.float32(0)
            for k in range(K):
                moved += abs(sums[d, k] + prior[d, k] - theta[k])
            if moved < tol * tokens:
                break
            for k in range(K):
                fresh = sums[d, k] + prior[d, k]
                theta[k] = max(fresh + stride * (fresh - theta[k]), prior[d, k])


@inner
def _gather_gains(d, graph, phi, theta, floor, part, gain):
    """Put the sum of a document's messages by theta into `gain`; a token keeps `floor` of theta at least.

    A message is c theta (1 - phi / t) phi, normalised, with t = sum_k theta phi: theta phi / t is what one
    token has put into theta. Nothing of an edge is kept: two sums, then one pass that adds; `part` is room.
    """
    K = phi.shape[1]
    one = np.float32(1)
    gain[:] = 0
    for e in range(graph.doc_edges[d], graph.doc_edges[d + 1]):
        w = graph.edge_word[e]
        own = overlap(w, phi, theta)
        if own > 0:
            own = one / own
            total = np.float32(0)
            for k in range(K):
                part[k] = phi[w, k] * max(one - own * phi[w, k], floor[k])
                total += theta[k] * part[k]
            scale = graph.edge_count[e] / total
            for k in range(K):
                gain[k] += scale * part[k]
        else:
            for k in range(K):
                gain[k] += graph.edge_count[e] / (np.float32(K) * theta[k])
