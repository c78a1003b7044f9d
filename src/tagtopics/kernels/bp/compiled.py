"""The same functions as `reference`, in closed form and compiled for the user's own processor.

Pairs and tuples are never enumerated: with S_t and Q_t the sum and the sum of squares of a tag's slot means,
every factor has a closed form (elementary symmetric polynomials), so a sweep is linear in edges, slots,
topics and order. The inner loops are in `loops` and `tagging` (a sweep), `starting`,
`folding` and `adding`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from tagtopics._typing import Float32, Float64, Int64
from tagtopics.graph import FactorGraph, Own, PastSums, Priors, Sums, TopicState
from tagtopics.kernels.bp import edges as loops
from tagtopics.kernels.bp import fold as folding
from tagtopics.kernels.bp import start as starting
from tagtopics.kernels.bp import sums as adding
from tagtopics.kernels.bp import tags as tagging
from tagtopics.kernels.bp.words import relaxed_sums, word_likelihoods, word_shares
from tagtopics.kernels.threads import run_lanes, run_ranges


class Field(NamedTuple):
    """What words and tags say during a sweep, narrowed for the inner loops; see `words`."""

    word_sums: Float32  # (W, K)
    word_shares: Float32  # (W, K)
    tag_sums: Float32  # (T, K) S_t
    tag_docs: Float32  # (T,) n_t
    factors: Float32  # (T, K) f_gamma_t


class Words(NamedTuple):
    """What words say, in this sweep or the one before; see `words`."""

    word_sums: Float32  # (W, K)
    word_shares: Float32  # (W, K)


def field_of(sums: Sums, tag_docs: Int64 | Float64, words: Words, n_threads: int) -> Field:
    """Narrow the sums of a whole corpus for a sweep over it, or over its parts."""
    tag_sums, factors = (np.empty(sums.tags.shape, dtype=np.float32) for _ in range(2))
    arguments = (sums.tags, sums.tag_squares, tag_docs.astype(np.float64), tag_sums, factors)
    run_ranges(
        tagging.narrow_tags, np.arange(len(tag_docs) + 1), 2 * sums.tags.shape[1], n_threads, *arguments
    )
    return Field(*words, tag_sums, tag_docs.astype(np.float32), factors)


def words_of(used: Float32, priors: Priors, n_threads: int) -> Words:
    """Weigh the sums of words that a sweep goes by."""
    return Words(used, word_shares(used, priors.topic_word, priors.word_weight, n_threads))


def sweep(graph: FactorGraph, state: TopicState, priors: Priors, n_threads: int) -> tuple[TopicState, float]:
    """Update every message once, in place; return the next state and how far messages moved, in tokens."""
    used = relaxed_sums(state.word_sums, state.past_word_sums, priors.stride, n_threads)
    field = field_of(state.sums, graph.whole.tag_docs, words_of(used, priors, n_threads), n_threads)
    sums = state.sums.cleared()
    moved = sweep_part(graph, state.own, field, priors, n_threads, sums)
    return _state(state.own, sums, used), moved


def sweep_beside(
    graph: FactorGraph, state: TopicState, past: PastSums, priors: Priors, n_threads: int
) -> tuple[TopicState, float]:
    """Do what `sweep` does while documents outside the graph, known by their sums alone, speak as well.

    Its specification is `reference.sweep` of all documents together: those of the graph end the same.
    """
    others = Sums(past.word_sums, past.tag_sums, past.tag_squares)
    joint = Sums(*(mine + theirs for mine, theirs in zip(state.sums, others, strict=True)))
    words, sums = words_of(joint.words.astype(np.float32), priors, n_threads), _no_sums(graph, state.n_topics)
    field = field_of(joint, graph.whole.tag_docs + past.tag_docs, words, n_threads)
    moved = sweep_part(graph, state.own, field, priors, n_threads, sums)
    return _state(state.own, sums, state.past_word_sums), moved


def lean_sweep(
    graph: FactorGraph, state: TopicState, priors: Priors, n_threads: int
) -> tuple[TopicState, float]:
    """Do what `sweep` does without stored messages: each document's are recalled, updated and forgotten."""
    used = relaxed_sums(state.word_sums, state.past_word_sums, priors.stride, n_threads)
    field = field_of(state.sums, graph.whole.tag_docs, words_of(used, priors, n_threads), n_threads)
    past, sums = words_of(state.past_word_sums, priors, n_threads), state.sums.cleared()
    moved = lean_sweep_part(graph, state.own, field, past, priors, n_threads, sums)
    return _state(state.own, sums, used), moved


def sweep_part(
    graph: FactorGraph, own: Own, field: Field, priors: Priors, n_threads: int, sums: Sums
) -> float:
    """Update the messages of a part of a corpus, in place; return how far they moved, in tokens.

    What its documents add up to is added to `sums`: parts may come in any order.
    """
    change = np.zeros(graph.n_docs)
    arguments = (field, _scalars(priors), *own, change)
    _add_words(loops.update_documents, graph, n_threads, sums, *arguments)
    _add_tags(graph, own, n_threads, sums)
    return _moved(graph, change)


def lean_sweep_part(
    graph: FactorGraph, own: Own, field: Field, past: Words, priors: Priors, n_threads: int, sums: Sums
) -> float:
    """Do the same without stored messages."""
    change = np.zeros(graph.n_docs)
    arguments = (field, past, _scalars(priors), own.doc_sums, own.slot_means, change)
    _add_words(loops.update_documents_lean, graph, n_threads, sums, *arguments)
    _add_tags(graph, own, n_threads, sums)
    return _moved(graph, change)


def _no_sums(graph: FactorGraph, n_topics: int) -> Sums:
    return Sums.zeros(graph.n_words, graph.n_tags, n_topics)


def _state(own: Own, sums: Sums, past_word_sums: Float32) -> TopicState:
    return TopicState(
        own.messages, own.doc_sums, sums.words, own.slot_means, sums.tags, sums.tag_squares, past_word_sums
    )


def _moved(graph: FactorGraph, change: Float64) -> float:
    grid = graph.whole.token_grid
    return float((np.rint(change / grid) * grid).sum())


def add_in_blocks(
    loop: Any, graph: FactorGraph, grid: float, n_threads: int, sums: Float64, *arguments: Any
) -> None:
    """Run `loop(first, last, graph, *arguments, partial)` on each block; add the partials to `sums` (W, n).

    Each thread takes the next block that nobody has, adds it up in single precision, from zeros, and lets it
    join the sums. It is rounded to a grid on which adding in double is exact: any order, the same bits.
    """
    joining = Lock()

    def take(blocks: Iterator[tuple[int, int]]) -> None:
        partial = np.zeros(sums.shape, dtype=np.float32)
        for first, last in blocks:
            loop(first, last, graph, *arguments, partial)
            with joining:
                adding.add_partial(partial, grid, sums)

    run_lanes(take, pairwise(graph.doc_blocks.tolist()), n_threads)


def _add_words(loop: Any, graph: FactorGraph, n_threads: int, sums: Sums, *arguments: Any) -> None:
    add_in_blocks(loop, graph, graph.whole.token_grid, n_threads, sums.words, *arguments)


def _add_tags(graph: FactorGraph, own: Own, n_threads: int, sums: Sums) -> None:
    """Add what follows from the slot means to the sums of the tags."""
    blocks, grid = graph.doc_slots[graph.doc_blocks], graph.whole.doc_grid
    arguments = (graph.tag_slots, blocks, own.slot_means, grid, sums.tags, sums.tag_squares)
    width = own.slot_means.shape[1]
    run_ranges(adding.add_moments, graph.tag_slots.offsets, width, n_threads, *arguments)


def hyperedge_factor(tag_means: Any, order: int) -> Float64:
    """Return f_delta (K,) = e_m of the tags' mean slot means (T_d, K), m = min(order, T_d)."""
    means = np.asarray(tag_means, dtype=np.float64)
    factor: Float64 = tagging.symmetric(means, min(order, len(means)))
    return factor


def fold_in(
    graph: FactorGraph, phi: Float32, prior: Float32, max_iter: int, tol: float, n_threads: int
) -> Float32:
    """Return the sums (D, K) of new documents, topics frozen; see `reference.fold_in`."""
    sums = np.empty((graph.n_docs, phi.shape[1]), dtype=np.float32)
    work = 8 * phi.shape[1] * max_iter
    run_ranges(folding.fold_in, graph.doc_edges, work, n_threads, graph, phi, prior, max_iter, tol, sums)
    return sums


def initial_state(graph: FactorGraph, word_topics: Float32, seed: int, n_threads: int) -> TopicState:
    """Return a start around p(topic | word), the same at any number of threads; see `reference`."""
    sums = _no_sums(graph, word_topics.shape[1])
    own = initial_part(graph, word_topics, seed, n_threads, sums)
    return _state(own, sums, np.empty((0, word_topics.shape[1]), dtype=np.float32))


def lean_initial_state(graph: FactorGraph, word_topics: Float32, seed: int, n_threads: int) -> TopicState:
    """Return the same start without its messages."""
    sums = _no_sums(graph, word_topics.shape[1])
    own = lean_initial_part(graph, word_topics, seed, n_threads, sums)
    return _state(own, sums, sums.words.astype(np.float32))


def initial_part(graph: FactorGraph, word_topics: Float32, seed: int, n_threads: int, sums: Sums) -> Own:
    """Return the start of a part of a corpus, and add what its documents add up to to `sums`."""
    own = _nothing_yet(graph, graph.n_edges, word_topics.shape[1])
    arguments = (*_begin(graph, word_topics, seed), *own)
    _add_words(starting.initialise, graph, n_threads, sums, *arguments)
    _add_tags(graph, own, n_threads, sums)
    return own


def lean_initial_part(graph: FactorGraph, word_topics: Float32, seed: int, n_threads: int, sums: Sums) -> Own:
    """Do the same without its messages."""
    own = _nothing_yet(graph, 0, word_topics.shape[1])
    arguments = (*_begin(graph, word_topics, seed), own.doc_sums, own.slot_means)
    _add_words(starting.initialise_lean, graph, n_threads, sums, *arguments)
    _add_tags(graph, own, n_threads, sums)
    return own


def _begin(graph: FactorGraph, word_topics: Float32, seed: int) -> tuple[Float32, Float32, np.uint64]:
    """Return what messages are drawn around, and from."""
    noise = np.empty((starting.PATTERNS, word_topics.shape[1]), dtype=np.float32)
    starting.draw_noise(np.uint64(seed), noise)
    return word_likelihoods(word_topics, graph.whole.word_docs), noise, np.uint64(seed)


def _nothing_yet(graph: FactorGraph, n_messages: int, n_topics: int) -> Own:
    messages, doc_sums = (np.empty((n, n_topics), dtype=np.float32) for n in (n_messages, graph.n_docs))
    return Own(messages, doc_sums, np.zeros((graph.n_slots, n_topics), dtype=np.float32))


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
