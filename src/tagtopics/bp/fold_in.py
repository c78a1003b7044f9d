"""Inference for new documents: topics are fixed, and each document is iterated until it converges."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tagtopics._typing import Float32
from tagtopics.bp.constants import FOLD_RELAXATION
from tagtopics.bp.edges import overlap, tokens_of
from tagtopics.bp.graph import FactorGraph, build_graph
from tagtopics.jit.compiling import inner, kernel
from tagtopics.jit.threads import run_ranges

MAX_ITER, TOLERANCE = 100, 2e-2  # of a document: most iterations, share of its tokens that may still move
_BATCH_EDGES = 1 << 22  # edges of a batch; large enough to keep all threads busy


def infer_topics(counts: Any, phi: Float32, alpha: Float32, own_counts: Any | None = None) -> Float32:
    """Return theta (D, K) of counts (D, W), under phi (W, K) and the prior alpha (K,).

    Pseudo-counts of each document, (D, K), are added to alpha.
    """
    theta = np.empty((counts.shape[0], len(alpha)), dtype=np.float32)
    for first, last in document_ranges(np.diff(counts.indptr), _BATCH_EDGES):
        prior = np.broadcast_to(alpha, (last - first, len(alpha)))
        if own_counts is not None:
            prior = prior + own_counts[first:last]
        prior = np.ascontiguousarray(prior, dtype=np.float32)
        batch = fold_in(build_graph(counts[first:last]), phi, prior, MAX_ITER, TOLERANCE) + prior
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


def fold_in(graph: FactorGraph, phi: Float32, prior: Float32, max_iter: int, tol: float) -> Float32:
    """Return the sums (D, K) of new documents under fixed topics; see `bp_reference.fold_in` in the tests."""
    sums = np.empty((graph.n_docs, phi.shape[1]), dtype=np.float32)
    work = 8 * phi.shape[1] * max_iter
    run_ranges(_fold_in, graph.doc_edges, work, graph, phi, prior, max_iter, tol, sums)
    return sums


@kernel
def _fold_in(first, last, graph, phi, prior, max_iter, tol, sums):
    """Infer the sums of new documents first to last, each until it converges."""
    K = phi.shape[1]
    relaxation = np.float32(FOLD_RELAXATION)
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
                theta[k] = max(fresh + relaxation * (fresh - theta[k]), prior[d, k])


@inner
def _gather_gains(d, graph, phi, theta, floor, part, gain):
    """Set `gain` to the sum of a document's messages over theta; a token keeps at least `floor` of theta.

    A message is c theta (1 - phi / t) phi, normalised, with t = sum_k theta phi: theta phi / t is the part of
    theta that comes from one token. Nothing is stored per edge: two sums, then one pass that adds. `part` is
    scratch.
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
