"""The same functions as `reference`, in closed form and compiled for the user's own processor.

Pairs and tuples are never enumerated: with S_t and Q_t the sum and the sum of squares of a tag's slot means,
every factor has a closed form (elementary symmetric polynomials), so a sweep is linear in edges, slots,
topics and order. The inner loops are in `loops`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tagtopics._typing import Float32, Float64
from tagtopics.graph import FactorGraph, PastSums, Priors, TopicState
from tagtopics.kernels import loops
from tagtopics.kernels.threads import run_each, run_ranges


class _Field(NamedTuple):
    """What words and tags say during a sweep: the sums at its start, narrowed for the inner loops."""

    word_sums: Float32  # (W, K)
    topic_sums: Float32  # (K,)
    tag_sums: Float32  # (T, K) S_t
    tag_docs: Float32  # (T,) n_t
    factors: Float32  # (T, K) f_gamma_t


class _Words(NamedTuple):
    """What words said in the sweep before."""

    word_sums: Float32  # (W, K)
    topic_sums: Float32  # (K,)


def sweep(graph: FactorGraph, state: TopicState, priors: Priors, n_threads: int) -> tuple[TopicState, float]:
    """Update every message once, in place; return the next state and the mean change a token."""
    change = np.zeros(graph.n_docs)
    numbers = (state.messages, state.doc_sums, state.slot_means)
    arguments = (_field(graph, state), _scalars(priors), *numbers, change)
    word_sums = _in_blocks(loops.update_documents, graph, state.n_topics, n_threads, *arguments)
    after = _summed(graph, word_sums, *numbers, state.past_word_sums, n_threads)
    return after, _per_token(graph, change)


def sweep_beside(
    graph: FactorGraph, state: TopicState, past: PastSums, priors: Priors, n_threads: int
) -> tuple[TopicState, float]:
    """Do what `sweep` does while documents outside the graph, known by their sums alone, speak as well.

    Its specification is `reference.sweep` of all documents together: those of the graph end the same.
    """
    change = np.zeros(graph.n_docs)
    numbers = (state.messages, state.doc_sums, state.slot_means)
    arguments = (_joint_field(graph, state, past), _scalars(priors), *numbers, change)
    word_sums = _in_blocks(loops.update_documents, graph, state.n_topics, n_threads, *arguments)
    after = _summed(graph, word_sums, *numbers, state.past_word_sums, n_threads)
    return after, _per_token(graph, change)


def lean_sweep(
    graph: FactorGraph, state: TopicState, priors: Priors, n_threads: int
) -> tuple[TopicState, float]:
    """Do what `sweep` does without stored messages: each document's are recalled, updated and forgotten."""
    change = np.zeros(graph.n_docs)
    past_sums = state.past_word_sums
    past = _Words(past_sums.astype(np.float32), past_sums.sum(0).astype(np.float32))
    numbers = (state.doc_sums, state.slot_means)
    arguments = (_field(graph, state), past, _scalars(priors), *numbers, change)
    word_sums = _in_blocks(loops.update_documents_lean, graph, state.n_topics, n_threads, *arguments)
    after = _summed(graph, word_sums, state.messages, *numbers, state.word_sums, n_threads)
    return after, _per_token(graph, change)


def _field(graph: FactorGraph, state: TopicState) -> _Field:
    return _Field(
        word_sums=state.word_sums.astype(np.float32),
        topic_sums=state.word_sums.sum(0).astype(np.float32),
        tag_sums=state.tag_sums.astype(np.float32),
        tag_docs=graph.tag_docs.astype(np.float32),
        factors=pairwise_factors(state.tag_sums, state.tag_squares, graph.tag_docs).astype(np.float32),
    )


def _joint_field(graph: FactorGraph, state: TopicState, past: PastSums) -> _Field:
    """Return what words and tags say when the sums of the graph and of the documents outside are added."""
    word_sums, tag_sums = state.word_sums + past.word_sums, state.tag_sums + past.tag_sums
    tag_docs = graph.tag_docs + past.tag_docs
    factors = pairwise_factors(tag_sums, state.tag_squares + past.tag_squares, tag_docs)
    narrow = (x.astype(np.float32) for x in (word_sums, word_sums.sum(0), tag_sums, tag_docs, factors))
    return _Field(*narrow)


def _per_token(graph: FactorGraph, change: Float64) -> float:
    return float(change.sum()) / max(float(graph.edge_count.sum(dtype=np.float64)), 1e-300)


def _in_blocks(loop: Any, graph: FactorGraph, n_topics: int, n_threads: int, *arguments: Any) -> Float64:
    """Run `loop(first, last, graph, *arguments, partial)` on each block; return the sum of the partials.

    As many blocks at a time as there are threads, each with word sums (W, K) of its own in single precision.
    They are added up in double, always in the order of the blocks: any number of threads, the same bits.
    """
    blocks = list(zip(graph.doc_blocks[:-1].tolist(), graph.doc_blocks[1:].tolist(), strict=True))
    n_lanes = max(1, min(n_threads, len(blocks)))
    partials = np.empty((n_lanes, graph.n_words, n_topics), dtype=np.float32)
    word_sums = np.zeros((graph.n_words, n_topics))
    offsets = np.arange(graph.n_words + 1)
    for i in range(0, len(blocks), n_lanes):
        spans = blocks[i : i + n_lanes]
        calls = [(*span, graph, *arguments, partials[lane]) for lane, span in enumerate(spans)]
        run_each(loop, calls, n_threads)
        run_ranges(loops.add_partials, offsets, n_topics, n_threads, partials[: len(spans)], word_sums)
    return word_sums


def _summed(
    graph: FactorGraph,
    word_sums: Float64,
    messages: Float32,
    doc_sums: Float32,
    slot_means: Float32,
    past_word_sums: Float64,
    n_threads: int,
) -> TopicState:
    """Return the state of some messages and slot means, with the sums of the tags."""
    K = messages.shape[1]
    tag_sums = np.empty((graph.n_tags, K))
    tag_squares = np.empty((graph.n_tags, K))
    moments = (graph.tag_slots, slot_means, tag_sums, tag_squares)
    run_ranges(loops.group_moments, graph.tag_slots.offsets, K, n_threads, *moments)
    return TopicState(messages, doc_sums, word_sums, slot_means, tag_sums, tag_squares, past_word_sums)


def pairwise_factors(tag_sums: Float64, tag_squares: Float64, tag_docs: Any) -> Float64:
    """Return f_gamma_t (T, K) = (S_t S_t - Q_t) / (n_t (n_t - 1)); zeros where a tag has no pair."""
    pairs = np.maximum(tag_docs * (tag_docs - 1.0), 1.0)[:, np.newaxis]
    lonely = (np.asarray(tag_docs) < 2)[:, np.newaxis]
    return np.where(lonely, 0.0, np.maximum(tag_sums * tag_sums - tag_squares, 0.0) / pairs)


def hyperedge_factor(tag_means: Any, order: int) -> Float64:
    """Return f_delta (K,) = e_m of the tags' mean slot means (T_d, K), m = min(order, T_d)."""
    means = np.asarray(tag_means, dtype=np.float64)
    factor: Float64 = loops.symmetric(means, min(order, len(means)))
    return factor


def fold_in(
    graph: FactorGraph, phi: Float32, prior: Float32, max_iter: int, tol: float, n_threads: int
) -> tuple[Float32, Float32]:
    """Return messages (E, K) and sums (D, K) of new documents, topics frozen; see `reference.fold_in`."""
    messages = np.empty((graph.n_edges, phi.shape[1]), dtype=np.float32)
    sums = np.empty((graph.n_docs, phi.shape[1]), dtype=np.float32)
    work = 8 * phi.shape[1] * max_iter
    run_ranges(
        loops.fold_in, graph.doc_edges, work, n_threads, graph, phi, prior, max_iter, tol, messages, sums
    )
    return messages, sums


def initial_state(graph: FactorGraph, word_topics: Float32, seed: int, n_threads: int) -> TopicState:
    """Return a start around p(topic | word), the same at any number of threads; see `reference`."""
    n_topics = word_topics.shape[1]
    messages = np.empty((graph.n_edges, n_topics), dtype=np.float32)
    doc_sums = np.zeros((graph.n_docs, n_topics), dtype=np.float32)
    slot_means = np.zeros((graph.n_slots, n_topics), dtype=np.float32)
    arguments = (word_topics, np.uint64(seed), messages, doc_sums, slot_means)
    word_sums = _in_blocks(loops.initialise, graph, n_topics, n_threads, *arguments)
    no_past = np.empty((0, n_topics))
    return _summed(graph, word_sums, messages, doc_sums, slot_means, no_past, n_threads)


def lean_initial_state(graph: FactorGraph, word_topics: Float32, seed: int, n_threads: int) -> TopicState:
    """Return the same start without its messages."""
    n_topics = word_topics.shape[1]
    doc_sums = np.zeros((graph.n_docs, n_topics), dtype=np.float32)
    slot_means = np.zeros((graph.n_slots, n_topics), dtype=np.float32)
    arguments = (word_topics, np.uint64(seed), doc_sums, slot_means)
    word_sums = _in_blocks(loops.initialise_lean, graph, n_topics, n_threads, *arguments)
    no_messages = np.empty((0, n_topics), dtype=np.float32)
    return _summed(graph, word_sums, no_messages, doc_sums, slot_means, word_sums, n_threads)


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
