"""Variational Bayes for LDA written like its equations: the slow reference of `vb_loops`."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import digamma as psi

from tagtopics.bp.graph import FactorGraph, normalise


def update_documents(
    first: int,
    last: int,
    graph: FactorGraph,
    alpha: Any,
    word_factors: Any,
    passes: int,
    tol: float,
    messages: Any,
    doc_sums: Any,
    change: Any,
) -> None:
    """Infer documents first to last from uniform sums; `change` is set to how far their sums moved."""
    K = messages.shape[1]
    for d in range(first, last):
        edges = slice(graph.doc_edges[d], graph.doc_edges[d + 1])
        tokens = graph.edge_count[edges].sum(dtype=np.float64)
        before = doc_sums[d].copy()
        doc_sums[d] = tokens / K
        for _ in range(passes):
            theta = np.exp(psi(doc_sums[d] + alpha))
            for e in range(edges.start, edges.stop):
                messages[e] = graph.edge_count[e] * normalise(theta * word_factors[graph.edge_word[e]])
            sums = messages[edges].sum(0, dtype=np.float64)
            moved = np.abs(sums - doc_sums[d]).sum()
            doc_sums[d] = sums
            if moved < tol * tokens:
                break
        change[d] = np.abs(doc_sums[d] - before).sum()


def digamma(x: float) -> float:
    """Return psi(x)."""
    return float(psi(x))
