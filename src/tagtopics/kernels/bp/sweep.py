"""Compiled belief propagation: the functions of `reference` with the same signatures, in closed form.

Pairs and tuples are never enumerated: with S_t and Q_t the sum and the sum of squares of a tag's slot means,
every factor has a closed form (elementary symmetric polynomials), so a sweep is linear in edges, slots,
topics and order. The inner loops are in `edges` and `tags`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tagtopics._typing import Float32, Float64, Int64
from tagtopics.graph import CorpusSums, DocState, FactorGraph, Priors, SweepInput, WordInput
from tagtopics.kernels.bp import edges
from tagtopics.kernels.bp.start import start
from tagtopics.kernels.bp.sums import add_in_blocks, add_tags
from tagtopics.kernels.bp.tags import narrow_tags
from tagtopics.kernels.bp.words import relaxed_sums, word_shares
from tagtopics.kernels.threads import run_ranges

__all__ = ["start", "sweep", "sweep_input"]


def sweep_input(
    sums: CorpusSums,
    tag_docs: Int64 | Float64,
    previous: Float32,
    priors: Priors,
    lean: bool,
    n_threads: int,
) -> SweepInput:
    """Return what a sweep over a corpus, or over its parts, reads about words and tags.

    Args:
        sums: of the whole corpus.
        tag_docs: (T,) n_t.
        previous: (W, K) word sums that the messages were computed from; (0, K) if from none.
        priors: beta, word exponent and relaxation.
        lean: whether the sweep recomputes messages and needs the words of the previous sweep, too.
        n_threads: any number gives the same bits.
    """
    used = relaxed_sums(sums.words, previous, priors.relaxation, n_threads)
    narrow, factors = (np.empty(sums.tags.shape, dtype=np.float32) for _ in range(2))
    arguments = (sums.tags, sums.tag_squares, tag_docs.astype(np.float64), narrow, factors)
    run_ranges(narrow_tags, np.arange(len(tag_docs) + 1), 2 * sums.tags.shape[1], n_threads, *arguments)
    nothing = np.empty((0, used.shape[1]), dtype=np.float32)
    before = _word_input(previous, priors, n_threads) if lean else WordInput(nothing, nothing)
    words = _word_input(used, priors, n_threads)
    return SweepInput(words, before, narrow, tag_docs.astype(np.float32), factors)


def sweep(
    graph: FactorGraph,
    docs: DocState,
    given: SweepInput,
    priors: Priors,
    lean: bool,
    n_threads: int,
    sums: CorpusSums,
) -> float:
    """Update every message of a corpus, or of a part of one, once; return how far they moved, in tokens.

    `docs` is changed in place. The sums of its documents are added to `sums`; parts may come in any order.
    """
    change = np.zeros(graph.n_docs)
    loop = edges.update_documents_lean if lean else edges.update_documents
    arrays = (*(docs[1:] if lean else docs), change)
    grid = graph.totals.token_grid
    add_in_blocks(loop, graph, grid, n_threads, sums.words, given, _scalars(priors), *arrays)
    add_tags(graph, docs.slot_means, n_threads, sums)
    return float((np.rint(change / grid) * grid).sum())


def _word_input(used: Float32, priors: Priors, n_threads: int) -> WordInput:
    return WordInput(used, word_shares(used, priors.topic_word, priors.word_exponent, n_threads))


class _Scalars(NamedTuple):
    """`Priors` with machine types, for the kernels."""

    alpha: Float32  # (K,)
    alpha_total: np.float32
    beta: np.float32
    w1: np.float32
    w2: np.float32
    order: int


def _scalars(priors: Priors) -> _Scalars:
    f = np.float32
    alpha = priors.doc_topic
    w1, w2 = f(priors.pairwise_weight), f(priors.higher_order_weight)
    return _Scalars(alpha, f(alpha.sum()), f(priors.topic_word), w1, w2, priors.order)
