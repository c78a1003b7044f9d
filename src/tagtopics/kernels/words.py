"""What words say during a sweep: their sums, driven a little further, and how much each of them counts.

    used_w(k)  = sums_w(k) + stride (sums_w(k) - used before), at least a fifth of sums_w(k)   `relaxed_sums`
    share_w(k) = phi_w(k) ^ (weight - 1) / (topic_sums(k) + W beta)                             `narrow_words`

Sums move on in the direction they came from, so fewer sweeps lead to the same fixed points. An edge
multiplies its word's sum, own part taken out, by the share: the word's message to the power of the weight.
Words of real documents are not independent of each other; a weight below one keeps them from making topics
too sharp (decision 012).
"""

from __future__ import annotations

import numpy as np

from tagtopics._typing import Float32, Float64
from tagtopics.kernels.compiling import kernel
from tagtopics.kernels.threads import run_ranges

LEAST = 0.2
"""No relaxed sum goes below this part of the sum."""

ROOTS = 4
"""Weights are rounded to 1 / 2^ROOTS: then square roots suffice, which are fast and the same everywhere."""


def relaxed_sums(sums: Float64, past: Float64, stride: float, n_threads: int) -> Float64:
    """Return the word sums (W, K) that a sweep goes by.

    Args:
        sums: (W, K) of the messages as they are.
        past: (W, K) those that the messages were computed from; (0, K) if from none.
        stride: how much further the sums go, in units of their last move.
        n_threads: any number gives the same bits.
    """
    if len(past) == 0:
        return sums
    used = np.empty_like(sums)
    run_ranges(_relax, np.arange(len(sums) + 1), sums.shape[1], n_threads, sums, past, stride, used)
    return used


def narrow_words(used: Float64, beta: float, word_weight: float, n_threads: int) -> tuple[Float32, Float32]:
    """Return the sums (W, K) that a sweep goes by, in single precision, and the shares (W, K) of the words.

    Args:
        used: the sums that the sweep goes by.
        beta: the pseudo-count of each word in each topic.
        word_weight: power of a word's message, from 0 to 1.
        n_threads: any number gives the same bits.
    """
    sums, shares = (np.empty(used.shape, dtype=np.float32) for _ in range(2))
    weights = (1.0 / (used.sum(0) + len(used) * beta)).astype(np.float32)
    parts = round((1.0 - word_weight) * 2**ROOTS)
    arguments = (used, weights, np.float32(beta), parts, sums, shares)
    run_ranges(_narrow, np.arange(len(used) + 1), 4 * used.shape[1], n_threads, *arguments)
    return sums, shares


@kernel
def _relax(first, last, sums, past, stride, used):
    for w in range(first, last):
        for k in range(sums.shape[1]):
            further = sums[w, k] + stride * (sums[w, k] - past[w, k])
            used[w, k] = max(further, LEAST * sums[w, k])


@kernel
def _narrow(first, last, used, weights, beta, parts, sums, shares):
    """Narrow the sums; divide the weights by phi to the power of parts / 2^ROOTS: a root for each bit."""
    K = used.shape[1]
    root = np.empty(K, dtype=np.float32)
    power = np.empty(K, dtype=np.float32)
    for w in range(first, last):
        for k in range(K):
            sums[w, k] = used[w, k]
        for k in range(K):
            root[k] = max((sums[w, k] + beta) * weights[k], np.float32(1e-30))
        power[:] = 1
        for j in range(ROOTS + 1):
            if parts >> (ROOTS - j) & 1:
                for k in range(K):
                    power[k] *= root[k]
            for k in range(K):
                root[k] = np.sqrt(root[k])
        for k in range(K):
            shares[w, k] = weights[k] / power[k]
