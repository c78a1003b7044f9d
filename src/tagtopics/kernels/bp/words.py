"""What words say during a sweep: their sums, driven a little further, and how much each of them counts.

    used_w(k)  = sums_w(k) + stride (sums_w(k) - used before), at least a fifth of sums_w(k)   `relaxed_sums`
    share_w(k) = phi_w(k) ^ (weight - 1) / (topic_sums(k) + W beta)                             `word_shares`

Sums move on in the direction they came from, so fewer sweeps lead to the same fixed points. An edge
multiplies its word's sum, own part taken out, by the share: the word's message to the power of the weight.
Words of real documents are not independent of each other; a weight below one keeps them from making topics
too sharp (decision 012).
"""

from __future__ import annotations

import numpy as np

from tagtopics._typing import Float32, Float64, Int64
from tagtopics.kernels.compiling import kernel
from tagtopics.kernels.threads import run_ranges

LEAST = 0.2
"""No relaxed sum goes below this part of the sum."""

ROOTS = 4
"""Weights are rounded to 1 / 2^ROOTS: then square roots suffice, which are fast and the same everywhere."""

_ROWS = 256
"""Words whose sums are added up before they join the topics' totals: the same at any number of threads."""


def relaxed_sums(sums: Float64, past: Float32, stride: float, n_threads: int) -> Float32:
    """Return the word sums (W, K) that a sweep goes by, in single precision.

    Args:
        sums: (W, K) of the messages as they are.
        past: (W, K) those that the messages were computed from; (0, K) if from none.
        stride: how much further the sums go, in units of their last move.
        n_threads: any number gives the same bits.
    """
    if len(past) == 0:
        return sums.astype(np.float32)
    used = np.empty(sums.shape, dtype=np.float32)
    run_ranges(_relax, np.arange(len(sums) + 1), sums.shape[1], n_threads, sums, past, stride, used)
    return used


def word_shares(used: Float32, beta: float, word_weight: float, n_threads: int) -> Float32:
    """Return the shares (W, K) of the words.

    Args:
        used: the sums that the sweep goes by.
        beta: the pseudo-count of each word in each topic.
        word_weight: power of a word's message, from 0 to 1.
        n_threads: any number gives the same bits.
    """
    totals = topic_totals(used, n_threads)
    weights = (1.0 / (totals + len(used) * beta)).astype(np.float32)
    parts = round((1.0 - word_weight) * 2**ROOTS)
    shares = np.empty(used.shape, dtype=np.float32)
    arguments = (used, weights, np.float32(beta), parts, shares)
    run_ranges(_share, np.arange(len(used) + 1), 4 * used.shape[1], n_threads, *arguments)
    return shares


def word_likelihoods(word_topics: Float32, word_docs: Int64) -> Float32:
    """Return p(word | topic) from p(topic | word), (W, K), both up to a factor of each word."""
    shares = word_topics / word_topics.sum(1, keepdims=True)
    sizes = (word_docs.astype(np.float32)[:, np.newaxis] * shares).sum(0)  # a product would depend on BLAS
    likelihoods: Float32 = shares / np.maximum(sizes, np.float32(1e-30))
    return likelihoods


def topic_totals(used: Float32, n_threads: int) -> Float64:
    """Return (K,): the sums over all words, in double precision."""
    parts = np.zeros((-(-len(used) // _ROWS), used.shape[1]))
    run_ranges(_add_rows, np.arange(len(parts) + 1), _ROWS * used.shape[1], n_threads, used, parts)
    totals: Float64 = parts.sum(0)
    return totals


@kernel
def _relax(first, last, sums, past, stride, used):
    for w in range(first, last):
        for k in range(sums.shape[1]):
            further = sums[w, k] + stride * (sums[w, k] - past[w, k])
            used[w, k] = max(further, LEAST * sums[w, k])


@kernel
def _add_rows(first, last, rows, parts):
    """Put the sum of each _ROWS rows into a row of `parts`, which is zero."""
    for i in range(first, last):
        for w in range(i * _ROWS, min((i + 1) * _ROWS, rows.shape[0])):
            for k in range(rows.shape[1]):
                parts[i, k] += rows[w, k]


@kernel
def _share(first, last, used, weights, beta, parts, shares):
    """Divide the weights by phi to the power of parts / 2^ROOTS: a root for each bit, to the last one."""
    K = used.shape[1]
    root = np.empty(K, dtype=np.float32)
    power = np.empty(K, dtype=np.float32)
    for w in range(first, last):
        for k in range(K):
            root[k] = max((used[w, k] + beta) * weights[k], np.float32(1e-30))
        power[:] = 1
        left, bit = parts, 1 << ROOTS
        while left > 0:
            if left & bit:
                left -= bit
                for k in range(K):
                    power[k] *= root[k]
            bit >>= 1
            for k in range(K):
                root[k] = np.sqrt(root[k])
        for k in range(K):
            shares[w, k] = weights[k] / power[k]
