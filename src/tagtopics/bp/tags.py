"""Compiled loops over the tags of a document: their messages to its words, and the credit of each word.

`edges` calls them before and after the edges of each document, with its `Scratch`.
"""

from __future__ import annotations

import numpy as np

from tagtopics.jit.compiling import inner, kernel


@kernel
def narrow_tags(first, last, sums, squares, docs, narrow, factors):
    """Convert S_t to single precision; set `factors` to f_gamma_t = (S_t S_t - Q_t) / (n_t (n_t - 1)).

    A tag without a pair of documents has zeros.
    """
    K = sums.shape[1]
    for t in range(first, last):
        scale = 1.0 / (docs[t] * (docs[t] - 1.0)) if docs[t] >= 2.0 else 0.0
        for k in range(K):
            narrow[t, k] = sums[t, k]
        for k in range(K):
            factors[t, k] = max(sums[t, k] * sums[t, k] - squares[t, k], 0.0) * scale


@inner
def mix_tags(d, graph, given, priors, slot_means, scratch):
    """Set `mix` = w1 pairwise + w2 hyperedge, `others` = the tags' means over other documents; return w0.

    Without sums of tags, the tags of the document have no say.
    """
    first = graph.doc_slots[d]
    last = graph.doc_slots[d + 1] if given.tag_sums.shape[0] > 0 else first
    scratch.mix[:] = 0
    w0 = np.float32(1)
    n_messages = 0
    for i in range(last - first):
        _exclude_self(first + i, i, graph, given, slot_means, scratch.others)
        if priors.w1 > 0:
            n_messages += _add_message(graph.slot_tag[first + i], i, given, scratch.others, scratch.mix)
    if n_messages > 0:
        _multiply(priors.w1 / np.float32(n_messages), scratch.mix)
        w0 -= priors.w1
    if last - first > 1 and priors.w2 > 0 and _add_hyperedge(first, last, graph, given, priors, scratch):
        w0 -= priors.w2
    for i in range(last - first):
        normalise_row(i, scratch.others)
    return w0


@inner
def _multiply(scale, vector):
    for k in range(vector.shape[0]):
        vector[k] *= scale


@inner
def _exclude_self(s, i, graph, given, slot_means, others):
    """Set row i to S_t - own, the sum over the tag's other documents."""
    t = graph.slot_tag[s]
    if given.tag_docs[t] > 1:
        for k in range(others.shape[1]):
            others[i, k] = max(given.tag_sums[t, k] - slot_means[s, k], np.float32(0))
    else:
        others[i, :] = 0


@inner
def _add_message(t, i, given, others, mix):
    """Add the tag's message f_gamma_t (S_t - own), normalised, to `mix`; return 0 if it is zero."""
    K = others.shape[1]
    total = np.float32(0)
    for k in range(K):
        total += given.tag_factors[t, k] * others[i, k]
    if not total > 0:
        return 0
    scale = np.float32(1) / total
    for k in range(K):
        mix[k] += scale * (given.tag_factors[t, k] * others[i, k])
    return 1


@inner
def _add_hyperedge(first, last, graph, given, priors, scratch):
    """Add w2 e_m(S_t / n_t) e_(m-1)(S_t - own) over the slots of a document, normalised, to `scratch.mix`.

    In double precision. Return whether the message is not zero.
    """
    m = min(priors.order, last - first)
    factor, joint = scratch.factor, scratch.joint
    _no_rows(factor)
    _no_rows(joint)
    for i in range(last - first):
        t = graph.slot_tag[first + i]
        _join_row(i, 1.0 / given.tag_docs[t], t, given.tag_sums, m, factor)
        _join_row(i, 1.0, i, scratch.others, m - 1, joint)
    total = _dot(factor[m], joint[m - 1])
    if total > 0:
        _add_product(priors.w2 / total, factor[m], joint[m - 1], scratch.mix)
    return total > 0


@inner
def _dot(a, b):
    total = 0.0
    for k in range(a.shape[0]):
        total += a[k] * b[k]
    return total


@inner
def _add_product(scale, a, b, vector):
    """Add a multiple of the element-wise product of two rows."""
    for k in range(vector.shape[0]):
        vector[k] += np.float32(scale * (a[k] * b[k]))


@inner
def _no_rows(e):
    """Set `e` to e_0, e_1, ... of no rows."""
    e[:, :] = 0
    e[0, :] = 1


@inner
def _join_row(i, scale, row, rows, m, e):
    """Include a multiple of a row in e_0 to e_m of the i rows before."""
    for j in range(min(i + 1, m), 0, -1):
        for k in range(e.shape[1]):
            e[j, k] += (scale * rows[row, k]) * e[j - 1, k]


@inner
def update_slots(d, base, graph, messages, doc_sums, slot_means, scratch):
    """Attribute each word of a document to its tags; each slot mean becomes the mean of its words."""
    first, last = graph.doc_slots[d], graph.doc_slots[d + 1]
    if last - first == 1:  # all words belong to its tag
        for k in range(doc_sums.shape[1]):
            slot_means[first, k] = doc_sums[d, k]
    else:
        slot_means[first:last, :] = 0
        for e in range(graph.doc_edges[d] - base, graph.doc_edges[d + 1] - base):
            _credit(e, first, last, messages, scratch.others, scratch.shares, slot_means)
    for s in range(first, last):
        normalise_row(s, slot_means)


@inner
def _credit(e, first, last, messages, profiles, shares, slot_means):
    """Divide the message in row e among the slots by its likelihood under each profile, or equally."""
    K, total = messages.shape[1], np.float32(0)
    for i in range(last - first):
        likelihood = np.float32(0)
        for k in range(K):
            likelihood += messages[e, k] * profiles[i, k]
        shares[i] = likelihood
        total += likelihood
    for i in range(last - first):
        share = shares[i] / total if total > 0 else np.float32(1) / np.float32(last - first)
        for k in range(K):
            slot_means[first + i, k] += share * messages[e, k]


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
