"""Compiled belief propagation: the functions of `reference` with the same signatures, in closed form.

Pairs and tuples are never enumerated: with S_t and Q_t the sum and the sum of squares of a tag's slot means,
every factor has a closed form (elementary symmetric polynomials), so a sweep is linear in edges, slots,
topics and order. The inner loops are in `edges` and `tags`.

A sweep reads over-relaxed sums of the words, and a share for each of them:

    used_w(k)  = sums_w(k) + relaxation (sums_w(k) - previous_w(k)), at least a fifth of sums_w(k)
    share_w(k) = phi_w(k) ^ (exponent - 1) / (topic_sums(k) + W beta)

Over-relaxation moves sums further in the direction they moved last, so fewer sweeps lead to the same fixed
points. An edge multiplies its word's sum, own part excluded, by the share: the word's message to the power of
the exponent. Words of real documents are not independent of each other; an exponent below one keeps topics
from becoming too sharp (decision 206).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tagtopics._typing import Float32, Float64, Int64
from tagtopics.bp import edges
from tagtopics.bp.constants import LEAST, ROOTS
from tagtopics.bp.graph import CorpusSums, DocState, FactorGraph, Priors, SweepInput, WordInput
from tagtopics.bp.start import start
from tagtopics.bp.sums import add_in_blocks, add_tags
from tagtopics.bp.tags import narrow_tags
from tagtopics.jit.compiling import kernel
from tagtopics.jit.threads import run_ranges

__all__ = ["start", "sweep", "sweep_input"]

# Words that are added up before they are added to the totals; independent of the number of threads.
_ROWS = 256


def sweep_input(
    sums: CorpusSums, tag_docs: Int64 | Float64, previous: Float32, priors: Priors, lean: bool
) -> SweepInput:
    """Return what a sweep over a corpus, or over its parts, reads about words and tags.

    `previous` (W, K) are the word sums that the messages were computed from; (0, K) if from none. A lean
    sweep recomputes messages and reads them, too.
    """
    used = relaxed_sums(sums.words, previous, priors.relaxation)
    narrow, factors = (np.empty(sums.tags.shape, dtype=np.float32) for _ in range(2))
    arguments = (sums.tags, sums.tag_squares, tag_docs.astype(np.float64), narrow, factors)
    run_ranges(narrow_tags, np.arange(len(tag_docs) + 1), 2 * sums.tags.shape[1], *arguments)
    nothing = np.empty((0, used.shape[1]), dtype=np.float32)
    before = _word_input(previous, priors) if lean else WordInput(nothing, nothing)
    words = _word_input(used, priors)
    return SweepInput(words, before, narrow, tag_docs.astype(np.float32), factors)


def sweep(
    graph: FactorGraph,
    docs: DocState,
    given: SweepInput,
    priors: Priors,
    sums: CorpusSums,
    own_counts: Float32 | None = None,
) -> float:
    """Update every message of a corpus, or of a part of one, once; return how far they moved, in tokens.

    `docs` is changed in place; messages that it does not have are recomputed. The sums of its documents are
    added to `sums`; parts may come in any order. If `given` has no sums of tags, slot means stay as they are,
    and nothing is added to the sums of the tags. Rows of `own_counts` (D, K) are added to alpha.
    """
    f, alpha = np.float32, priors.doc_topic
    scalars = _Scalars(
        alpha=alpha,
        alpha_total=f(alpha.sum()),
        beta=f(priors.topic_word),
        w1=f(priors.pairwise_weight),
        w2=f(priors.higher_order_weight),
        order=priors.order,
        own_tokens=f(priors.own_tokens),
        own_counts=np.empty((0, len(alpha)), dtype=f) if own_counts is None else own_counts,
    )
    change, grid = np.zeros(graph.n_docs), graph.totals.token_grid
    arguments = (given, scalars, *docs, change)
    add_in_blocks(edges.update_documents, graph, grid, sums.words, *arguments)
    if len(given.tag_sums):
        add_tags(graph, docs.slot_means, sums)
    return float((np.rint(change / grid) * grid).sum())


def _word_input(used: Float32, priors: Priors) -> WordInput:
    return WordInput(used, word_shares(used, priors.topic_word, priors.word_exponent))


class _Scalars(NamedTuple):
    """`Priors` with machine types, for the kernels."""

    alpha: Float32  # (K,)
    alpha_total: np.float32
    beta: np.float32
    w1: np.float32
    w2: np.float32
    order: int
    own_tokens: np.float32
    own_counts: Float32  # (D, K), or (0, K) for none


def relaxed_sums(sums: Float64, previous: Float32, relaxation: float) -> Float32:
    """Return the word sums (W, K) that a sweep uses, in single precision.

    They move further by `relaxation`, in units of their last move from `previous`, which may have no rows.
    """
    if len(previous) == 0:
        return sums.astype(np.float32)
    used = np.empty(sums.shape, dtype=np.float32)
    arguments = (sums, previous, relaxation, used)
    run_ranges(_relax, np.arange(len(sums) + 1), sums.shape[1], *arguments)
    return used


def word_shares(used: Float32, beta: float, exponent: float) -> Float32:
    """Return the shares (W, K) of the words, from the sums that the sweep uses and the exponent."""
    parts = np.zeros((-(-len(used) // _ROWS), used.shape[1]))
    run_ranges(_add_rows, np.arange(len(parts) + 1), _ROWS * used.shape[1], used, parts)
    totals: Float64 = parts.sum(0)
    weights = (1.0 / (totals + len(used) * beta)).astype(np.float32)
    shares = np.empty(used.shape, dtype=np.float32)
    arguments = (used, weights, np.float32(beta), round((1.0 - exponent) * 2**ROOTS), shares)
    run_ranges(_share, np.arange(len(used) + 1), 4 * used.shape[1], *arguments)
    return shares


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
