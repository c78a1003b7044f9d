"""The choice of anchor words in NumPy and double precision: what `bp.anchors` computes."""

from __future__ import annotations

from typing import Any

import numpy as np
from bp_reference import hash_bits, mix_bits

from tagtopics._typing import Float64, Int64
from tagtopics.bp.constants import SIGN_STREAM
from tagtopics.bp.graph import FactorGraph


def cooccurrence_profiles(graph: FactorGraph, n_dims: int, seed: int) -> Float64:
    """Return (W, n_dims): row-normalised co-occurrence counts, projected by random signs.

    Each document gives each ordered pair of its tokens the same weight, and all pairs together weight one.
    """
    cooccurrence = np.zeros((graph.n_words, graph.n_words))
    for d in range(graph.n_docs):
        edges = slice(graph.doc_edges[d], graph.doc_edges[d + 1])
        x = np.bincount(graph.edge_word[edges], graph.edge_count[edges], graph.n_words)
        n = x.sum()
        if n > 1:
            cooccurrence += (np.outer(x, x) - np.diag(x)) / (n * (n - 1))
    mass = cooccurrence.sum(1, keepdims=True)
    profiles = np.divide(cooccurrence, mass, out=np.zeros_like(cooccurrence), where=mass > 0)
    bits = hash_bits(seed, SIGN_STREAM + np.arange(graph.n_words))
    signs = np.where(mix_bits(bits, n_dims) > 0.5, 1.0, -1.0) / np.sqrt(n_dims)
    return np.asarray(profiles @ signs)


def farthest_rows(rows: Any, n: int) -> Int64:
    """Return up to n rows: first the longest, then each the farthest from the affine span of those before."""
    rows = np.asarray(rows, dtype=np.float64)
    chosen = [int(np.argmax((rows**2).sum(1)))]
    for _ in range(min(n, len(rows)) - 1):
        relative = rows - rows[chosen[0]]
        span = relative[chosen[1:]].T
        remainder = relative - relative @ span @ np.linalg.pinv(span) if span.size else relative
        chosen.append(int(np.argmax((remainder**2).sum(1))))
    return np.array(chosen, dtype=np.int64)


def mixture_weights(profiles: Any, corners: Any, step_size: float, n_steps: int) -> Float64:
    """Return (W, n) after some steps of exponentiated gradient on |profile - weights @ corners|^2."""
    profiles, corners = np.asarray(profiles, dtype=np.float64), np.asarray(corners, dtype=np.float64)
    gram = corners @ corners.T
    weights = np.full((len(profiles), len(corners)), 1.0 / len(corners))
    for _ in range(n_steps):
        slope = weights @ gram - profiles @ corners.T
        above = slope - slope.min(1, keepdims=True)
        weights *= decay(np.minimum(step_size / np.abs(gram).max() * above, 50.0))
        weights /= weights.sum(1, keepdims=True)
    return weights


def decay(x: Any) -> Any:
    """Return exp(-x) by its series at x / 64: to four digits up to 10, to a third at 50."""
    y = -x / 64
    return (1 + y + y**2 / 2 + y**3 / 6 + y**4 / 24) ** 64
