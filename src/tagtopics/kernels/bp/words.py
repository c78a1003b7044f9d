"""What a sweep reads about words: their over-relaxed sums, and a factor for each of them.

    used_w(k)  = sums_w(k) + relaxation (sums_w(k) - previous_w(k)), at least a fifth of sums_w(k)
    share_w(k) = phi_w(k) ^ (exponent - 1) / (topic_sums(k) + W beta)

Over-relaxation moves sums further in the direction they moved last, so fewer sweeps lead to the same fixed
points. An edge multiplies its word's sum, own part excluded, by the share: the word's message to the power of
the exponent. Words of real documents are not independent of each other; an exponent below one keeps topics
from becoming too sharp (decision 012).
"""

from __future__ import annotations

import numpy as np

from tagtopics._typing import Float32, Float64
from tagtopics.kernels.compiling import kernel
from tagtopics.kernels.constants import LEAST, ROOTS
from tagtopics.kernels.threads import run_ranges

_ROWS = 256
"""Words that are added up before they are added to the totals; independent of the number of threads."""


def relaxed_sums(sums: Float64, previous: Float32, relaxation: float, n_threads: int) -> Float32:
    """Return the word sums (W, K) that a sweep uses, in single precision.

    Args:
        sums: (W, K) of the present messages.
        previous: (W, K) those that the messages were computed from; (0, K) if from none.
        relaxation: how much further the sums move, in units of their last move.
        n_threads: any number gives the same bits.
    """
    if len(previous) == 0:
        return sums.astype(np.float32)
    used = np.empty(sums.shape, dtype=np.float32)
    arguments = (sums, previous, relaxation, used)
    run_ranges(_relax, np.arange(len(sums) + 1), sums.shape[1], n_threads, *arguments)
    return used


def word_shares(used: Float32, beta: float, exponent: float, n_threads: int) -> Float32:
    """Return the shares (W, K) of the words.

    Args:
        used: (W, K) the sums that the sweep uses.
        beta: the pseudo-count of each word in each topic.
        exponent: of a word's message, from 0 to 1.
        n_threads: any number gives the same bits.
    """
    totals = topic_totals(used, n_threads)
    weights = (1.0 / (totals + len(used) * beta)).astype(np.float32)
    parts = round((1.0 - exponent) * 2**ROOTS)
    shares = np.empty(used.shape, dtype=np.float32)
    arguments = (used, weights, np.float32(beta), parts, shares)
    run_ranges(_share, np.arange(len(used) + 1), 4 * used.shape[1], n_threads, *arguments)
    return shares


def topic_totals(used: Float32, n_threads: int) -> Float64:
    """Return (K,): the sums over all words, in double precision."""
    parts = np.zeros((-(-len(used) // _ROWS), used.shape[1]))
    run_ranges(_add_rows, np.arange(len(parts) + 1), _ROWS * used.shape[1], n_threads, used, parts)
    totals: Float64 = parts.sum(0)
    return totals


@kernel
def _relax(first, last, sums, previous, relaxation, used):
    for w in range(first, last):
        for k in range(sums.shape[1]):
            further = sums[w, k] + relaxation * (sums[w, k] - previous[w, k])
            used[w, k] = max(further, LEAST * sums[w, k])


@kernel
def _add_rows(first, last, rows, parts):
    """Add each _ROWS rows to a row of `parts`, which is zero."""
    for i in range(first, last):
        for w in range(i * _ROWS, min((i + 1) * _ROWS, rows.shape[0])):
            for k in range(rows.shape[1]):
                parts[i, k] += rows[w, k]


@kernel
def _share(first, last, used, weights, beta, parts, shares):
    """Divide the weights by phi to the power of parts / 2^ROOTS: one root for each bit."""
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
