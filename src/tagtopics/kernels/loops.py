"""The compiled inner loops of a sweep: arrays and scalars in, rows of arrays changed in place.

Rules of this file. Messages are stored as count times mu in single precision; whatever adds up over documents
is accumulated in double. Functions take whole arrays and row numbers, because slices cost reference counts.
Loops over k are the inner ones and contiguous.

A loop over k that sums up stores nothing, and one that stores sums nothing up: before a loop that does both,
the compiler asks at run time whether the arrays lie apart, and the order of the sum, and so its last bit,
would depend on where they lie.
"""

from __future__ import annotations

import numpy as np

from tagtopics.kernels.compiling import inner, kernel
from tagtopics.kernels.prefetching import LINE, prefetch

RECALLS = 3
"""How often a message is recomputed to recall it; see decision 009."""

AHEAD = 2
"""Edges between asking for rows and using them; one to three measured alike."""


@kernel
def update_documents(first, last, graph, field, priors, messages, doc_sums, slot_means, change, partial):
    """Update messages, sums and slot means of documents first to last.

    `change` gets what each document moved, `partial` (W, K) the new word sums of these documents.
    """
    partial[:, :] = 0
    others, shares, mix = _scratch(first, last, graph, messages.shape[1])
    for d in range(first, last):
        if graph.doc_edges[d] < graph.doc_edges[d + 1]:
            w0 = _mix_tags(d, graph, field, priors, slot_means, others, mix)
            change[d] = _update_edges(d, 0, graph, field, priors, w0, mix, messages, doc_sums, partial)
            _update_slots(d, 0, graph, messages, doc_sums, others, shares, slot_means)


@kernel
def update_documents_lean(first, last, graph, field, past, priors, doc_sums, slot_means, change, partial):
    """Do the same without stored messages: recall those of a document, update them, forget them.

    `change` gets how far the sums of each document moved, for its last messages are known only nearly.
    """
    partial[:, :] = 0
    others, shares, mix = _scratch(first, last, graph, doc_sums.shape[1])
    longest = 0
    for d in range(first, last):
        longest = max(longest, graph.doc_edges[d + 1] - graph.doc_edges[d])
    K = doc_sums.shape[1]
    messages = np.empty((longest, K), dtype=np.float32)
    before = np.empty(K, dtype=np.float32)
    for d in range(first, last):
        base = graph.doc_edges[d]
        if base < graph.doc_edges[d + 1]:
            for k in range(K):
                before[k] = doc_sums[d, k]
            w0 = _mix_tags(d, graph, field, priors, slot_means, others, mix)
            _recall(d, graph, past, priors, w0, mix, doc_sums, messages)
            _update_edges(d, base, graph, field, priors, w0, mix, messages, doc_sums, partial)
            _update_slots(d, base, graph, messages, doc_sums, others, shares, slot_means)
            change[d] = _distance(d, np.float32(1), before, doc_sums)


@kernel
def narrow_tags(first, last, sums, squares, docs, narrow, factors):
    """Narrow S_t; put f_gamma_t = (S_t S_t - Q_t) / (n_t (n_t - 1)) into `factors`, zeros without a pair."""
    K = sums.shape[1]
    for t in range(first, last):
        scale = 1.0 / (docs[t] * (docs[t] - 1.0)) if docs[t] >= 2.0 else 0.0
        for k in range(K):
            narrow[t, k] = sums[t, k]
        for k in range(K):
            factors[t, k] = max(sums[t, k] * sums[t, k] - squares[t, k], 0.0) * scale


@inner
def _scratch(first, last, graph, K):
    """Return room for the tags of one document: (T_d, K), (T_d, 4) and (K,)."""
    widest = 0
    for d in range(first, last):
        widest = max(widest, graph.doc_slots[d + 1] - graph.doc_slots[d])
    others = np.empty((widest, K), dtype=np.float32)
    return others, np.empty((widest, 4), dtype=np.float32), np.empty(K, dtype=np.float32)


@inner
def _recall(d, graph, past, priors, w0, mix, doc_sums, messages):
    """Recompute the messages of a document from the sums they were computed from, and rebuild its sums.

    A message is the fixed point of its own update: first without taking itself out, then with, going half of
    the way. When nothing changes any more that is very nearly what a stored message would be.
    """
    K = messages.shape[1]
    start, stop = graph.doc_edges[d], graph.doc_edges[d + 1]
    fresh = np.empty(K, dtype=np.float32)
    tokens = tokens_of(d, graph)
    for e in range(start, stop):
        r = e - start
        messages[r, :] = 0
        way = np.float32(1)
        for _ in range(RECALLS):
            _score(e, r, d, graph, past, priors, tokens, w0, mix, messages, doc_sums, fresh)
            scale = _scale(fresh, graph.edge_count[e])
            for k in range(K):
                messages[r, k] += way * (fresh[k] * scale - messages[r, k])
            way = np.float32(0.5)
    sum_rows(0, stop - start, messages, d, doc_sums)


@inner
def tokens_of(d, graph):
    """Return how many tokens a document has."""
    total = np.float32(0)
    for e in range(graph.doc_edges[d], graph.doc_edges[d + 1]):
        total += graph.edge_count[e]
    return total


@inner
def _score(e, r, d, graph, field, priors, tokens, w0, mix, messages, doc_sums, fresh):
    """Put the unscaled message of edge e, whose last one is in row r, into `fresh`."""
    w = graph.edge_word[e]
    beta, zero = priors.beta, np.float32(0)
    others = max(tokens - graph.edge_count[e], zero) + priors.alpha_total
    for k in range(fresh.shape[0]):
        own = messages[r, k]
        theta = w0 * (max(doc_sums[d, k] - own, zero) + priors.alpha[k]) + others * mix[k]
        fresh[k] = theta * ((max(field.word_sums[w, k] - own, zero) + beta) * field.word_shares[w, k])


@inner
def _mix_tags(d, graph, field, priors, slot_means, others, mix):
    """Fill `mix` = w1 pairwise + w2 hyperedge, and `others`, the tags' means elsewhere; return w0."""
    K = mix.shape[0]
    first, last = graph.doc_slots[d], graph.doc_slots[d + 1]
    mix[:] = 0
    w0 = np.float32(1)
    speaking = 0
    for i in range(last - first):
        _take_out(first + i, i, graph, field, slot_means, others)
        if priors.w1 > 0:
            speaking += _add_message(graph.slot_tag[first + i], i, field, others, mix)
    if speaking > 0:
        share = priors.w1 / np.float32(speaking)
        for k in range(K):
            mix[k] *= share
        w0 -= priors.w1
    if last - first > 1 and priors.w2 > 0:
        joint = _hyperedge_message(first, last, graph, field, others, priors.order)
        total = joint.sum()
        if total > 0:
            scale = priors.w2 / total
            for k in range(K):
                mix[k] += np.float32(scale * joint[k])
            w0 -= priors.w2
    for i in range(last - first):
        normalise_row(i, others)
    return w0


@inner
def _take_out(s, i, graph, field, slot_means, others):
    """Put S_t - own, the sum over the tag's other documents, into row i."""
    t = graph.slot_tag[s]
    if field.tag_docs[t] > 1:
        for k in range(others.shape[1]):
            others[i, k] = max(field.tag_sums[t, k] - slot_means[s, k], np.float32(0))
    else:
        others[i, :] = 0


@inner
def _add_message(t, i, field, others, mix):
    """Add the tag's message f_gamma_t (S_t - own), normalised, to `mix`; return 0 if it says nothing."""
    K = others.shape[1]
    total = np.float32(0)
    for k in range(K):
        total += field.factors[t, k] * others[i, k]
    if not total > 0:
        return 0
    scale = np.float32(1) / total
    for k in range(K):
        mix[k] += scale * (field.factors[t, k] * others[i, k])
    return 1


@inner
def _hyperedge_message(first, last, graph, field, others, order):
    """Return e_m(S_t / n_t) e_(m-1)(S_t - own) over the slots of a document, in double precision."""
    K = others.shape[1]
    m = min(order, last - first)
    factor = _no_rows(m, K)
    joint = _no_rows(m - 1, K)
    for i in range(last - first):
        t = graph.slot_tag[first + i]
        _join_row(i, 1.0 / field.tag_docs[t], t, field.tag_sums, factor)
        _join_row(i, 1.0, i, others, joint)
    for k in range(K):
        joint[m - 1, k] *= factor[m, k]
    return joint[m - 1]


@inner
def symmetric(rows, m):
    """Return e_m of the rows, element-wise: m accumulators, one pass. e_0 is one."""
    e = _no_rows(m, rows.shape[1])
    for i in range(rows.shape[0]):
        _join_row(i, 1.0, i, rows, e)
    return e[m].copy()


@inner
def _no_rows(m, K):
    """Return e_0 to e_m, (m + 1, K), of no rows at all."""
    e = np.zeros((m + 1, K))
    e[0, :] = 1.0
    return e


@inner
def _join_row(i, scale, row, rows, e):
    """Let a multiple of a row join e_0 to e_m of the i rows before."""
    for j in range(min(i + 1, e.shape[0] - 1), 0, -1):
        for k in range(e.shape[1]):
            e[j, k] += (scale * rows[row, k]) * e[j - 1, k]


@inner
def _update_edges(d, base, graph, field, priors, w0, mix, messages, doc_sums, partial):
    """Update the messages of one document, one edge after the other; return how much they moved.

    The message of edge e is in row e - base.
    """
    K = messages.shape[1]
    start, stop = graph.doc_edges[d], graph.doc_edges[d + 1]
    fresh = np.empty(K, dtype=np.float32)
    tokens = tokens_of(d, graph)
    moved = 0.0
    for e in range(start, stop):
        r, w = e - base, graph.edge_word[e]
        _fetch_ahead(e, r, graph, field, messages, partial)
        _score(e, r, d, graph, field, priors, tokens, w0, mix, messages, doc_sums, fresh)
        scale = _scale(fresh, graph.edge_count[e])
        moved += _distance(r, scale, fresh, messages)
        for k in range(K):
            value = fresh[k] * scale
            doc_sums[d, k] += value - messages[r, k]
            messages[r, k] = value
            partial[w, k] += value
    sum_rows(start - base, stop - base, messages, d, doc_sums)
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
def _scale(fresh, count):
    """Return what scales `fresh` to add up to the edge's count; all zeros become all ones first."""
    total = np.float32(0)
    for k in range(fresh.shape[0]):
        total += fresh[k]
    if not total > 0:
        fresh[:] = 1
        total = np.float32(fresh.shape[0])
    return count / total


@inner
def _distance(i, scale, vector, rows):
    """Return how far a vector, scaled, is from row i."""
    total = np.float32(0)
    for k in range(vector.shape[0]):
        total += abs(vector[k] * scale - rows[i, k])
    return total


@inner
def sum_rows(first, last, rows, d, sums):
    """Rebuild row d of `sums` from rows first to last: in fours, and the fours in double precision."""
    K = rows.shape[1]
    wide = np.zeros(K)
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


@inner
def _update_slots(d, base, graph, messages, doc_sums, profiles, shares, slot_means):
    """Attribute each word of a document to its tags; each slot mean becomes the mean of its words."""
    first, last = graph.doc_slots[d], graph.doc_slots[d + 1]
    e, stop = graph.doc_edges[d] - base, graph.doc_edges[d + 1] - base
    if last - first == 1:  # all words are its tag's
        for k in range(doc_sums.shape[1]):
            slot_means[first, k] = doc_sums[d, k]
    else:
        slot_means[first:last, :] = 0
        while e + 4 <= stop:
            _credit_four(e, first, last, messages, profiles, shares, slot_means)
            e += 4
        while e < stop:
            _credit_one(e, first, last, messages, profiles, shares, slot_means)
            e += 1
    for s in range(first, last):
        normalise_row(s, slot_means)


@inner
def _credit_one(e, first, last, messages, profiles, shares, slot_means):
    """Share the message in row e out among the slots, by how likely it is under each one's profile."""
    K = messages.shape[1]
    for i in range(last - first):
        likelihood = np.float32(0)
        for k in range(K):
            likelihood += messages[e, k] * profiles[i, k]
        shares[i, 0] = likelihood
    _normalise_column(0, last - first, shares)
    for i in range(last - first):
        share = shares[i, 0]
        for k in range(K):
            slot_means[first + i, k] += share * messages[e, k]


@inner
def _credit_four(e, first, last, messages, profiles, shares, slot_means):
    """Do the same with four rows at once: a product of small matrices, four messages to each load."""
    K = messages.shape[1]
    for i in range(last - first):
        p, q, r, s = np.float32(0), np.float32(0), np.float32(0), np.float32(0)
        for k in range(K):
            profile = profiles[i, k]
            p += messages[e, k] * profile
            q += messages[e + 1, k] * profile
            r += messages[e + 2, k] * profile
            s += messages[e + 3, k] * profile
        shares[i, 0], shares[i, 1], shares[i, 2], shares[i, 3] = p, q, r, s
    for column in range(4):
        _normalise_column(column, last - first, shares)
    for i in range(last - first):
        p, q, r, s = shares[i, 0], shares[i, 1], shares[i, 2], shares[i, 3]
        for k in range(K):
            slot_means[first + i, k] += (p * messages[e, k] + q * messages[e + 1, k]) + (
                r * messages[e + 2, k] + s * messages[e + 3, k]
            )


@inner
def _normalise_column(column, n, shares):
    """Scale n numbers of a column to add up to one; zeros become even shares."""
    total = np.float32(0)
    for i in range(n):
        total += shares[i, column]
    for i in range(n):
        shares[i, column] = shares[i, column] / total if total > 0 else np.float32(1) / np.float32(n)


@inner
def normalise_row(i, rows):
    """Scale a row to add up to one; a row of zeros becomes uniform."""
    K = rows.shape[1]
    total = 0.0
    for k in range(K):
        total += rows[i, k]
    if total > 0:
        for k in range(K):
            rows[i, k] = rows[i, k] / total
    else:
        rows[i, :] = np.float32(1) / np.float32(K)
