"""Compiled inner loops of a sweep: arrays and scalars in, rows of arrays changed in place.

Rules of this file. Messages are stored as count times mu in single precision; whatever adds up over documents
is accumulated in double. Functions take whole arrays and row numbers, because slices cost reference counts.
Loops over k are the innermost ones, contiguous, and as few as possible: what is read once serves all that
needs it. The arrays passed to a function do not overlap (see `compiling`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import cgutils, config, types
from numba.extending import intrinsic

from tagtopics.bp.constants import RECALLS
from tagtopics.bp.tags import mix_tags, update_slots
from tagtopics.jit.compiling import allocator, inner, kernel

RUN = 64  # edges of a document that are added up in single precision before they are added in double
AHEAD = 2  # edges between prefetching rows and using them; one to three measured alike
LINE = 16  # single-precision numbers in a cache line on most machines


class Scratch(NamedTuple):
    """Buffers of a thread, reused for one document after the other; T_d is the largest number of tags."""

    fresh: Any  # (K,) a new message
    mix: Any  # (K,) the weighted messages of the tags
    prior: Any  # (K,) what an edge's message depends on besides the other words of its document
    run: Any  # (K,) the document's sums over the last edges
    wide: Any  # (K,) and over all edges before, in double precision
    others: Any  # (T_d, K) the tags' means over other documents
    shares: Any  # (T_d,) of a word
    factor: Any  # (order + 1, K) elementary symmetric polynomials, in double precision
    joint: Any  # (order + 1, K)


@kernel
def update_documents(first, last, graph, given, priors, messages, doc_sums, slot_means, change, partial):
    """Update messages, sums and slot means of documents first to last; without sums of tags, no slot means.

    Without stored messages, those of a document are recomputed, updated and discarded. `change` (D,) is set
    to how far each document's messages moved, or then its sums: its last messages are only approximate.
    `partial` (W, K) gets the new word sums.
    """
    K, lean = doc_sums.shape[1], given.previous.sums.shape[0] > 0
    scratch = _scratch(longest_of(first, last, graph.doc_slots), priors.order, K)
    rows = np.empty((longest_of(first, last, graph.doc_edges), K), dtype=np.float32) if lean else messages
    before = np.empty(K, dtype=np.float32)
    for d in range(first, last):
        if graph.doc_edges[d] == graph.doc_edges[d + 1]:
            continue
        base = graph.doc_edges[d] if lean else 0
        w0 = mix_tags(d, graph, given, priors, slot_means, scratch)
        if lean:
            for k in range(K):
                before[k] = doc_sums[d, k]
            _recall(d, graph, given.previous, priors, w0, rows, doc_sums, scratch)
        change[d] = _update_edges(d, base, graph, given.words, priors, w0, rows, doc_sums, partial, scratch)
        if lean:
            moved = np.float32(0)
            for k in range(K):
                moved += abs(before[k] - doc_sums[d, k])
            change[d] = moved
        if given.tag_sums.shape[0] > 0:
            update_slots(d, base, graph, rows, doc_sums, slot_means, scratch)


@allocator
def _scratch(n_tags, order, K):
    f = np.float32
    return Scratch(
        np.empty(K, f), np.empty(K, f), np.empty(K, f), np.empty(K, f), np.empty(K),
        np.empty((n_tags, K), f), np.empty(n_tags, f),
        np.empty((order + 1, K)), np.empty((order + 1, K)),
    )  # fmt: skip


@inner
def longest_of(first, last, offsets):
    """Return the largest difference of neighbouring offsets, first to last."""
    longest = 0
    for d in range(first, last):
        longest = max(longest, offsets[d + 1] - offsets[d])
    return longest


@inner
def _recall(d, graph, words, priors, w0, messages, doc_sums, scratch):
    """Recompute the messages of a document from the sums they were computed from, and rebuild its sums.

    A message is the fixed point of its own update: first without excluding itself, then excluding itself with
    half steps. Near convergence that is very nearly what a stored message would be.
    """
    start, stop = graph.doc_edges[d], graph.doc_edges[d + 1]
    tokens, count = tokens_of(d, graph), np.float32(-1)
    for e in range(start, stop):
        r = e - start
        count = _fill_prior(d, count, graph.edge_count[e], tokens, w0, priors, scratch)
        messages[r, :] = 0
        step = np.float32(1)
        for _ in range(RECALLS):
            total = _score(e, r, d, graph, words, priors, w0, messages, doc_sums, scratch)
            _move(r, step, _scale(total, graph.edge_count[e], scratch.fresh), scratch.fresh, messages)
            step = np.float32(0.5)
    sum_rows(0, stop - start, messages, d, doc_sums, scratch.wide)


@inner
def _move(r, step, scale, fresh, messages):
    """Move the message in row r part of the way to `fresh`, scaled."""
    for k in range(fresh.shape[0]):
        messages[r, k] += step * (fresh[k] * scale - messages[r, k])


@inner
def overlap(w, rows, vector):
    """Return the dot product of row w and a vector."""
    total = np.float32(0)
    for k in range(vector.shape[0]):
        total += vector[k] * rows[w, k]
    return total


@inner
def tokens_of(d, graph):
    """Return the number of tokens of a document."""
    total = np.float32(0)
    for e in range(graph.doc_edges[d], graph.doc_edges[d + 1]):
        total += graph.edge_count[e]
    return total


@inner
def _fill_prior(d, before, count, tokens, w0, priors, scratch):
    """Set `scratch.prior` to what an edge's message depends on besides words, w0 alpha + others mix.

    It depends on the edge through its count alone, so it is kept if the edge before had the same count, and
    always where no tag sends a message. A document's own pseudo-counts are added to alpha. Return the count.
    """
    if before < 0 or (w0 < 1 and before != count):
        others = max(tokens - min(count, priors.own_tokens), np.float32(0)) + priors.alpha_total
        for k in range(scratch.prior.shape[0]):
            scratch.prior[k] = w0 * priors.alpha[k] + others * scratch.mix[k]
        if priors.own_counts.shape[0] > 0:
            total = np.float32(0)
            for k in range(scratch.prior.shape[0]):
                total += priors.own_counts[d, k]
            for k in range(scratch.prior.shape[0]):
                scratch.prior[k] += w0 * priors.own_counts[d, k] + total * scratch.mix[k]
    return count


@inner
def _score(e, r, d, graph, words, priors, w0, messages, doc_sums, scratch):
    """Set `scratch.fresh` to the unscaled message of edge e, whose last one is in row r; return its sum."""
    w = graph.edge_word[e]
    beta, zero = priors.beta, np.float32(0)
    excluded = min(priors.own_tokens / graph.edge_count[e], np.float32(1))
    total = np.float32(0)
    for k in range(scratch.fresh.shape[0]):
        own = excluded * messages[r, k]
        theta = w0 * max(doc_sums[d, k] - own, zero) + scratch.prior[k]
        score = theta * ((max(words.sums[w, k] - own, zero) + beta) * words.shares[w, k])
        scratch.fresh[k] = score
        total += score
    return total


@inner
def _scale(total, count, fresh):
    """Return the factor that scales `fresh`, of known sum, to the count; zeros are set to ones first."""
    if not total > 0:
        fresh[:] = 1
        total = np.float32(fresh.shape[0])
    return count / total


@inner
def _update_edges(d, base, graph, words, priors, w0, messages, doc_sums, partial, scratch):
    """Update the messages of one document, edge by edge; return how far they moved.

    The message of edge e is in row e - base.
    """
    stop = graph.doc_edges[d + 1]
    tokens, count = tokens_of(d, graph), np.float32(-1)
    moved = 0.0
    scratch.wide[:] = 0
    for first in range(graph.doc_edges[d], stop, RUN):
        scratch.run[:] = 0
        for e in range(first, min(first + RUN, stop)):
            r = e - base
            _fetch_ahead(e, r, graph, words, messages, partial)
            count = _fill_prior(d, count, graph.edge_count[e], tokens, w0, priors, scratch)
            total = _score(e, r, d, graph, words, priors, w0, messages, doc_sums, scratch)
            scale = _scale(total, graph.edge_count[e], scratch.fresh)
            moved += _replace(r, d, graph.edge_word[e], scale, messages, doc_sums, partial, scratch)
        for k in range(messages.shape[1]):
            scratch.wide[k] += scratch.run[k]
    for k in range(messages.shape[1]):
        doc_sums[d, k] = scratch.wide[k]
    return moved


@inner
def _replace(r, d, w, scale, messages, doc_sums, partial, scratch):
    """Replace the message in row r by the fresh one and update all sums; return how far it moved."""
    moved = np.float32(0)
    for k in range(scratch.fresh.shape[0]):
        value = scratch.fresh[k] * scale
        step = value - messages[r, k]
        moved += abs(step)
        messages[r, k] = value
        doc_sums[d, k] += step
        scratch.run[k] += value
        partial[w, k] += value
    return moved


@inner
def _fetch_ahead(e, r, graph, words, messages, partial):
    """Prefetch the rows of a later edge while edge e, whose message is in row r, is updated."""
    ahead = min(AHEAD, graph.edge_word.shape[0] - 1 - e)
    w = graph.edge_word[e + ahead]
    for k in range(0, messages.shape[1], LINE):
        prefetch(words.sums, w, k)
        prefetch(words.shares, w, k)
        prefetch(partial, w, k)
        prefetch(messages, r + ahead, k)


@inner
def sum_rows(first, last, rows, d, sums, wide):
    """Set row d of `sums` to the sum of rows first to last: by fours, then in double precision."""
    K = rows.shape[1]
    wide[:] = 0
    e = first
    while e + 4 <= last:
        for k in range(K):
            wide[k] += np.float64((rows[e, k] + rows[e + 1, k]) + (rows[e + 2, k] + rows[e + 3, k]))
        e += 4
    while e < last:
        for k in range(K):
            wide[k] += rows[e, k]
        e += 1
    for k in range(K):
        sums[d, k] = wide[k]


@intrinsic
def prefetch(typing: Any, array: Any, row: Any, column: Any) -> Any:
    """Prefetch the cache line of array[row, column] to hide memory latency; any row is allowed.

    The rows that an edge needs are scattered over tables larger than the inner caches. The processor cannot
    predict them, but the words of the next edges are known. Prefetching changes no result.
    """

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        table = context.make_array(signature.args[0])(context, builder, values[0])
        place = cgutils.get_item_pointer(
            context, builder, signature.args[0], table, values[1:], wraparound=False
        )
        place = builder.bitcast(place, ir.IntType(8).as_pointer())
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [place.type, number, number, number])
        instruction = builder.module.declare_intrinsic("llvm.prefetch", [place.type], kind)
        builder.call(
            instruction, [place, number(0), number(3), number(1)]
        )  # read access, high locality, data
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp), generate


if getattr(config, "DISABLE_JIT", 0):  # plain Python has no such instruction
    globals()["prefetch"] = lambda array, row, column: None
