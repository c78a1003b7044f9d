"""The compiled inner loops of a sweep: arrays and scalars in, rows of arrays changed in place.

Rules of this file. Messages are stored as count times mu in single precision; whatever adds up over documents
is accumulated in double. Functions take whole arrays and row numbers, because slices cost reference counts.
Loops over k are the inner ones and contiguous, and as few as can be: what is read once serves all that needs
it. The arrays a function is given lie apart (`compiling`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tagtopics.kernels.bp.tags import mix_tags, update_slots
from tagtopics.kernels.compiling import inner, kernel
from tagtopics.kernels.prefetch import LINE, prefetch

RECALLS = 5
"""How often a message is recomputed to recall it; see decision 009."""

RUN = 64
"""Edges of a document that are added up in single precision before they join in double."""

AHEAD = 2
"""Edges between asking for rows and using them; one to three measured alike."""


class Room(NamedTuple):
    """Where a thread works on one document after the other; T_d is that of the one with most tags."""

    fresh: Any  # (K,) a message in the making
    mix: Any  # (K,) what the tags say
    prior: Any  # (K,) what an edge hears besides the other words of its document
    run: Any  # (K,) the document's sums over the last edges
    wide: Any  # (K,) and over all edges before, in double precision
    others: Any  # (T_d, K) the tags' means elsewhere
    shares: Any  # (T_d, 4) of four words
    factor: Any  # (order + 1, K) elementary symmetric polynomials, in double precision
    joint: Any  # (order + 1, K)


@kernel
def update_documents(first, last, graph, field, priors, messages, doc_sums, slot_means, change, partial):
    """Update messages, sums and slot means of documents first to last.

    `change` gets what each document moved; the new word sums are added to `partial` (W, K).
    """
    room = _room(first, last, graph, priors.order, messages.shape[1])
    for d in range(first, last):
        if graph.doc_edges[d] < graph.doc_edges[d + 1]:
            w0 = mix_tags(d, graph, field, priors, slot_means, room)
            change[d] = _update_edges(d, 0, graph, field, priors, w0, messages, doc_sums, partial, room)
            update_slots(d, 0, graph, messages, doc_sums, slot_means, room)


@kernel
def update_documents_lean(first, last, graph, field, past, priors, doc_sums, slot_means, change, partial):
    """Do the same without stored messages: recall those of a document, update them, forget them.

    `change` gets how far the sums of each document moved, for its last messages are known only nearly.
    """
    K = doc_sums.shape[1]
    room = _room(first, last, graph, priors.order, K)
    messages = np.empty((longest_of(first, last, graph), K), dtype=np.float32)
    before = np.empty(K, dtype=np.float32)
    for d in range(first, last):
        base = graph.doc_edges[d]
        if base < graph.doc_edges[d + 1]:
            for k in range(K):
                before[k] = doc_sums[d, k]
            w0 = mix_tags(d, graph, field, priors, slot_means, room)
            _recall(d, graph, past, priors, w0, messages, doc_sums, room)
            _update_edges(d, base, graph, field, priors, w0, messages, doc_sums, partial, room)
            update_slots(d, base, graph, messages, doc_sums, slot_means, room)
            change[d] = _distance(d, before, doc_sums)


@kernel
def _room(first, last, graph, order, K):
    """Return room for any of the documents first to last; see `Room`."""
    widest = 0
    for d in range(first, last):
        widest = max(widest, graph.doc_slots[d + 1] - graph.doc_slots[d])
    return Room(
        np.empty(K, dtype=np.float32),
        np.empty(K, dtype=np.float32),
        np.empty(K, dtype=np.float32),
        np.empty(K, dtype=np.float32),
        np.empty(K),
        np.empty((widest, K), dtype=np.float32),
        np.empty((widest, 4), dtype=np.float32),
        np.empty((order + 1, K)),
        np.empty((order + 1, K)),
    )


@inner
def longest_of(first, last, graph):
    """Return how many edges the longest of the documents first to last has."""
    longest = 0
    for d in range(first, last):
        longest = max(longest, graph.doc_edges[d + 1] - graph.doc_edges[d])
    return longest


@inner
def _recall(d, graph, past, priors, w0, messages, doc_sums, room):
    """Recompute the messages of a document from the sums they were computed from, and rebuild its sums.

    A message is the fixed point of its own update: first without taking itself out, then with, going half of
    the way. When nothing changes any more that is very nearly what a stored message would be.
    """
    start, stop = graph.doc_edges[d], graph.doc_edges[d + 1]
    tokens, count = tokens_of(d, graph), np.float32(-1)
    for e in range(start, stop):
        r = e - start
        count = _hear_priors(count, graph.edge_count[e], tokens, w0, priors, room)
        messages[r, :] = 0
        way = np.float32(1)
        for _ in range(RECALLS):
            total = _score(e, r, d, graph, past, priors, w0, messages, doc_sums, room)
            _go(r, way, _scale(total, graph.edge_count[e], room.fresh), room.fresh, messages)
            way = np.float32(0.5)
    sum_rows(0, stop - start, messages, d, doc_sums, room.wide)


@inner
def _go(r, way, scale, fresh, messages):
    """Let the message in row r go a part of the way to `fresh`, scaled."""
    for k in range(fresh.shape[0]):
        messages[r, k] += way * (fresh[k] * scale - messages[r, k])


@inner
def overlap(w, rows, vector):
    """Return the product of row w and a vector."""
    total = np.float32(0)
    for k in range(vector.shape[0]):
        total += vector[k] * rows[w, k]
    return total


@inner
def tokens_of(d, graph):
    """Return how many tokens a document has."""
    total = np.float32(0)
    for e in range(graph.doc_edges[d], graph.doc_edges[d + 1]):
        total += graph.edge_count[e]
    return total


@inner
def _hear_priors(before, count, tokens, w0, priors, room):
    """Put what an edge hears besides words, w0 alpha + others mix, into `room.prior`; return its count.

    It depends on the edge by its count alone, so it stays if that of the edge before was the same, and always
    where tags say nothing.
    """
    if before < 0 or (w0 < 1 and before != count):
        others = max(tokens - count, np.float32(0)) + priors.alpha_total
        for k in range(room.prior.shape[0]):
            room.prior[k] = w0 * priors.alpha[k] + others * room.mix[k]
    return count


@inner
def _score(e, r, d, graph, field, priors, w0, messages, doc_sums, room):
    """Put the unscaled message of edge e, whose last one is in row r, into `room.fresh`; return its sum."""
    w = graph.edge_word[e]
    beta, zero = priors.beta, np.float32(0)
    total = np.float32(0)
    for k in range(room.fresh.shape[0]):
        own = messages[r, k]
        theta = w0 * max(doc_sums[d, k] - own, zero) + room.prior[k]
        score = theta * ((max(field.word_sums[w, k] - own, zero) + beta) * field.word_shares[w, k])
        room.fresh[k] = score
        total += score
    return total


@inner
def _scale(total, count, fresh):
    """Return what scales `fresh`, whose sum is known, to the count; all zeros become all ones first."""
    if not total > 0:
        fresh[:] = 1
        total = np.float32(fresh.shape[0])
    return count / total


@inner
def _update_edges(d, base, graph, field, priors, w0, messages, doc_sums, partial, room):
    """Update the messages of one document, one edge after the other; return how much they moved.

    The message of edge e is in row e - base.
    """
    stop = graph.doc_edges[d + 1]
    tokens, count = tokens_of(d, graph), np.float32(-1)
    moved = 0.0
    room.wide[:] = 0
    for first in range(graph.doc_edges[d], stop, RUN):
        room.run[:] = 0
        for e in range(first, min(first + RUN, stop)):
            r = e - base
            _fetch_ahead(e, r, graph, field, messages, partial)
            count = _hear_priors(count, graph.edge_count[e], tokens, w0, priors, room)
            total = _score(e, r, d, graph, field, priors, w0, messages, doc_sums, room)
            scale = _scale(total, graph.edge_count[e], room.fresh)
            moved += _replace(r, d, graph.edge_word[e], scale, messages, doc_sums, partial, room)
        for k in range(messages.shape[1]):
            room.wide[k] += room.run[k]
    for k in range(messages.shape[1]):
        doc_sums[d, k] = room.wide[k]
    return moved


@inner
def _replace(r, d, w, scale, messages, doc_sums, partial, room):
    """Put the fresh message in the place of that in row r, and into all sums; return how far it moved."""
    moved = np.float32(0)
    for k in range(room.fresh.shape[0]):
        value = room.fresh[k] * scale
        step = value - messages[r, k]
        moved += abs(step)
        messages[r, k] = value
        doc_sums[d, k] += step
        room.run[k] += value
        partial[w, k] += value
    return moved


@inner
def _fetch_ahead(e, r, graph, field, messages, partial):
    """Ask for the rows of an edge further on, while edge e, whose message is in row r, is worked on."""
    ahead = min(AHEAD, graph.edge_word.shape[0] - 1 - e)
    w = graph.edge_word[e + ahead]
    for k in range(0, messages.shape[1], LINE):
        prefetch(field.word_sums, w, k)
        prefetch(field.word_shares, w, k)
        prefetch(partial, w, k)
        prefetch(messages, r + ahead, k)


@inner
def _distance(i, vector, rows):
    """Return how far a vector is from row i."""
    total = np.float32(0)
    for k in range(vector.shape[0]):
        total += abs(vector[k] - rows[i, k])
    return total


@inner
def sum_rows(first, last, rows, d, sums, wide):
    """Rebuild row d of `sums` from rows first to last: in fours, and the fours in double precision."""
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
