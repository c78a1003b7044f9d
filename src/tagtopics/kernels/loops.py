"""The compiled inner loops: arrays and scalars in, rows of arrays changed in place.

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

CREDIT_STREAM = 1 << 62
"""Where the counters of the random credits begin, far from those of the messages."""

SIGN_STREAM = 1 << 61
"""Where those of the random signs of `anchors` begin."""

FOLD_STRIDE = 0.7
"""How much further than its messages say a new document's theta goes; half to one measured alike."""


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
            _update_slots(d, 0, graph, messages, others, shares, slot_means)


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
            _update_slots(d, base, graph, messages, others, shares, slot_means)
            change[d] = _distance(d, np.float32(1), before, doc_sums)


@inner
def _scratch(first, last, graph, K):
    """Return room for the tags of one document: (T_d, K), (T_d,) and (K,)."""
    widest = 0
    for d in range(first, last):
        widest = max(widest, graph.doc_slots[d + 1] - graph.doc_slots[d])
    others = np.empty((widest, K), dtype=np.float32)
    return others, np.empty(widest, dtype=np.float32), np.empty(K, dtype=np.float32)


@inner
def _recall(d, graph, past, priors, w0, mix, doc_sums, messages):
    """Recompute the messages of a document from the sums they were computed from, and rebuild its sums.

    A message is the fixed point of its own update: once without taking itself out, once more with. When
    nothing changes any more that is exactly what a stored message would be.
    """
    K = messages.shape[1]
    start, stop = graph.doc_edges[d], graph.doc_edges[d + 1]
    fresh = np.empty(K, dtype=np.float32)
    tokens = _tokens(d, graph)
    for e in range(start, stop):
        r = e - start
        messages[r, :] = 0
        for _ in range(2):
            _score(e, r, d, graph, past, priors, tokens, w0, mix, messages, doc_sums, fresh)
            scale = _scale(fresh, graph.edge_count[e])
            for k in range(K):
                messages[r, k] = fresh[k] * scale
    _sum_rows(0, stop - start, messages, d, doc_sums)


@inner
def _tokens(d, graph):
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
        _normalise_row(i, others)
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
    means = np.empty((last - first, K))
    wide = np.empty((last - first, K))
    for i in range(last - first):
        t = graph.slot_tag[first + i]
        for k in range(K):
            means[i, k] = field.tag_sums[t, k] / field.tag_docs[t]
            wide[i, k] = others[i, k]
    m = min(order, last - first)
    factor = symmetric(means, m)
    joint = symmetric(wide, m - 1)
    for k in range(K):
        joint[k] *= factor[k]
    return joint


@inner
def symmetric(rows, m):
    """Return e_m of the rows, element-wise: m accumulators, one pass. e_0 is one."""
    K = rows.shape[1]
    e = np.zeros((m + 1, K))
    e[0, :] = 1.0
    for i in range(rows.shape[0]):
        for j in range(min(i + 1, m), 0, -1):
            for k in range(K):
                e[j, k] += rows[i, k] * e[j - 1, k]
    return e[m].copy()


@inner
def _update_edges(d, base, graph, field, priors, w0, mix, messages, doc_sums, partial):
    """Update the messages of one document, one edge after the other; return how much they moved.

    The message of edge e is in row e - base.
    """
    K = messages.shape[1]
    start, stop = graph.doc_edges[d], graph.doc_edges[d + 1]
    fresh = np.empty(K, dtype=np.float32)
    tokens = _tokens(d, graph)
    moved = 0.0
    for e in range(start, stop):
        r, w = e - base, graph.edge_word[e]
        _score(e, r, d, graph, field, priors, tokens, w0, mix, messages, doc_sums, fresh)
        scale = _scale(fresh, graph.edge_count[e])
        moved += _distance(r, scale, fresh, messages)
        for k in range(K):
            value = fresh[k] * scale
            doc_sums[d, k] += value - messages[r, k]
            messages[r, k] = value
            partial[w, k] += value
    _sum_rows(start - base, stop - base, messages, d, doc_sums)
    return moved


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
def _sum_rows(first, last, rows, d, sums):
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


@kernel
def add_partials(first, last, partials, grid, sums):
    """Add rows first to last of some partial sums (n, N, K), rounded to a grid, to `sums`.

    The grid is so coarse that adding is exact: any order, any parts, the same bits.
    """
    K = sums.shape[1]
    fine = 1.0 / grid
    for i in range(first, last):
        for j in range(partials.shape[0]):
            for k in range(K):
                sums[i, k] += np.rint(fine * partials[j, i, k]) * grid


@inner
def _update_slots(d, base, graph, messages, profiles, shares, slot_means):
    """Attribute each word of a document to its tags; each slot mean becomes the mean of its words."""
    K = messages.shape[1]
    first, last = graph.doc_slots[d], graph.doc_slots[d + 1]
    n = last - first
    slot_means[first:last, :] = 0
    for e in range(graph.doc_edges[d] - base, graph.doc_edges[d + 1] - base):
        total = np.float32(0)
        for i in range(n):
            likelihood = np.float32(0)
            for k in range(K):
                likelihood += messages[e, k] * profiles[i, k]
            shares[i] = likelihood
            total += likelihood
        for i in range(n):
            share = shares[i] / total if total > 0 else np.float32(1) / np.float32(n)
            for k in range(K):
                slot_means[first + i, k] += share * messages[e, k]
    for i in range(n):
        _normalise_row(first + i, slot_means)


@inner
def _normalise_row(i, rows):
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


@kernel
def group_sums(first, last, groups, rows, sums):
    """Put the sum of the rows of each group into `sums`, always in the order of the members."""
    K = rows.shape[1]
    for g in range(first, last):
        sums[g, :] = 0
        for j in range(groups.offsets[g], groups.offsets[g + 1]):
            i = groups.members[j]
            for k in range(K):
                sums[g, k] += rows[i, k]


@kernel
def add_moments(first, last, groups, blocks, rows, grid, sums, squares):
    """Add the rows of each group to its row of `sums`, and their squares to that of `squares`.

    Rows from blocks[b] to blocks[b + 1] are a block: its sums are rounded to the grid before they join.
    """
    K = rows.shape[1]
    part = np.zeros(K)
    part_squares = np.zeros(K)
    for g in range(first, last):
        b = 0
        for j in range(groups.offsets[g], groups.offsets[g + 1]):
            i = groups.members[j]
            if i >= blocks[b + 1]:
                _join(g, part, grid, sums)
                _join(g, part_squares, grid, squares)
                while i >= blocks[b + 1]:
                    b += 1
            for k in range(K):
                wide = np.float64(rows[i, k])
                part[k] += wide
                part_squares[k] += wide * wide
        if groups.offsets[g] < groups.offsets[g + 1]:
            _join(g, part, grid, sums)
            _join(g, part_squares, grid, squares)


@inner
def _join(g, part, grid, sums):
    """Add a block's sum (K,), rounded to the grid, to row g, and begin the next with zeros."""
    fine = 1.0 / grid
    for k in range(part.shape[0]):
        sums[g, k] += np.rint(fine * part[k]) * grid
    part[:] = 0


@kernel
def fold_in(first, last, graph, phi, prior, max_iter, tol, sums):
    """Infer the sums of new documents first to last, each until it rests; see `reference.fold_in`."""
    K = phi.shape[1]
    stride = np.float32(FOLD_STRIDE)
    theta = np.empty(K, dtype=np.float32)
    gain = np.empty(K, dtype=np.float32)
    floor = np.empty(K, dtype=np.float32)
    for d in range(first, last):
        tokens = _tokens(d, graph)
        for k in range(K):
            theta[k] = prior[d, k]
        floor[:] = 1
        _gather_gains(d, graph, phi, theta, floor, gain)
        for k in range(K):
            sums[d, k] = theta[k] * gain[k]
            theta[k] = sums[d, k] + prior[d, k]
        for _ in range(max_iter):
            for k in range(K):
                floor[k] = prior[d, k] / theta[k]
            _gather_gains(d, graph, phi, theta, floor, gain)
            for k in range(K):
                sums[d, k] = theta[k] * gain[k]
            moved = np.float32(0)
            for k in range(K):
                moved += abs(sums[d, k] + prior[d, k] - theta[k])
            if moved < tol * tokens:
                break
            for k in range(K):
                fresh = sums[d, k] + prior[d, k]
                theta[k] = max(fresh + stride * (fresh - theta[k]), prior[d, k])


@inner
def _gather_gains(d, graph, phi, theta, floor, gain):
    """Put the sum of a document's messages by theta into `gain`; a token keeps `floor` of theta at least.

    A message is c theta (1 - phi / t) phi, normalised, with t = sum_k theta phi: theta phi / t is what one
    token has put into theta. Nothing is stored for an edge: two sums, then one pass that adds.
    """
    K = phi.shape[1]
    one = np.float32(1)
    gain[:] = 0
    for e in range(graph.doc_edges[d], graph.doc_edges[d + 1]):
        w = graph.edge_word[e]
        own = np.float32(0)
        for k in range(K):
            own += theta[k] * phi[w, k]
        if own > 0:
            own = one / own
            total = np.float32(0)
            for k in range(K):
                total += theta[k] * phi[w, k] * max(one - own * phi[w, k], floor[k])
            scale = graph.edge_count[e] / total
            for k in range(K):
                gain[k] += scale * phi[w, k] * max(one - own * phi[w, k], floor[k])
        else:
            for k in range(K):
                gain[k] += graph.edge_count[e] / (np.float32(K) * theta[k])


@inner
def hashed(seed, counter):
    """Return 64 random bits: SplitMix64 of seed and counter; see `reference.hashed`."""
    z = (np.uint64(counter) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z += seed * np.uint64(0xD1342543DE82EF95)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@inner
def uniform(seed, counter):
    """Return a number in (0, 1) for a counter; see `reference.hashed_uniform`."""
    return np.float32((np.float64(hashed(seed, counter) >> np.uint64(40)) + 0.5) / np.float64(1 << 24))


@inner
def mixed(bits, k):
    """Return a number in (0, 1): a 32-bit mix of some random bits and k, cheap enough for inner loops."""
    x = np.uint32(np.uint32(bits) + np.uint32(np.uint32(k) * np.uint32(0x9E3779B9)))
    x = np.uint32((x ^ (x >> np.uint32(16))) * np.uint32(0x7FEB352D))
    x = np.uint32((x ^ (x >> np.uint32(15))) * np.uint32(0x846CA68B))
    x = np.uint32(x ^ (x >> np.uint32(16)))
    return (np.float32(x >> np.uint32(8)) + np.float32(0.5)) * np.float32(1.0 / (1 << 24))


@kernel
def initialise(first, last, graph, word_topics, seed, messages, doc_sums, slot_means, partial):
    """Draw messages around `word_topics`, and random credits, for documents first to last."""
    partial[:, :] = 0
    for d in range(first, last):
        _draw_document(d, 0, graph, word_topics, seed, messages, doc_sums, slot_means, partial)


@kernel
def initialise_lean(first, last, graph, word_topics, seed, doc_sums, slot_means, partial):
    """Do the same, and forget the messages of a document once they are in the sums."""
    partial[:, :] = 0
    longest = 0
    for d in range(first, last):
        longest = max(longest, graph.doc_edges[d + 1] - graph.doc_edges[d])
    messages = np.empty((longest, doc_sums.shape[1]), dtype=np.float32)
    for d in range(first, last):
        base = graph.doc_edges[d]
        _draw_document(d, base, graph, word_topics, seed, messages, doc_sums, slot_means, partial)


@inner
def _draw_document(d, base, graph, word_topics, seed, messages, doc_sums, slot_means, partial):
    """Draw the messages of one document, the message of edge e in row e - base, and its slot means."""
    K = messages.shape[1]
    half = np.float32(0.5)
    start, stop = graph.doc_edges[d], graph.doc_edges[d + 1]
    for e in range(start, stop):
        r, w = e - base, graph.edge_word[e]
        bits = hashed(seed, graph.whole.first_edge + e)
        for k in range(K):
            messages[r, k] = word_topics[w, k] * (half + mixed(bits, k))
        _normalise_row(r, messages)
        for k in range(K):
            messages[r, k] *= graph.edge_count[e]
        for k in range(K):
            partial[w, k] += messages[r, k]
    _sum_rows(start - base, stop - base, messages, d, doc_sums)
    if start < stop:
        for s in range(graph.doc_slots[d], graph.doc_slots[d + 1]):
            bits = hashed(seed, CREDIT_STREAM + graph.whole.first_slot + s)
            for e in range(start, stop):
                share = mixed(bits, e - start)
                for k in range(K):
                    slot_means[s, k] += share * messages[e - base, k]
            _normalise_row(s, slot_means)
