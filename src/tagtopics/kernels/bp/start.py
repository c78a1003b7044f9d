"""The compiled loops of the start: messages around topics of words, and random credits.

Each document is read a few times by topics that stand still, and its messages are drawn around what it seems
to be about: those of its words that belong to several topics start in the right ones.
"""

from __future__ import annotations

import numpy as np

from tagtopics.kernels.bp.edges import longest_of, overlap, sum_rows
from tagtopics.kernels.bp.tags import normalise_row
from tagtopics.kernels.compiling import inner, kernel
from tagtopics.kernels.randomness import CREDIT_STREAM, NOISE_STREAM, hashed, mixed

PATTERNS = 256
"""Rows of noise to draw from: numbers of its own for each message would cost more than its topics."""

READS = 2
"""How often a document is read before its messages are drawn; more make topics sharp too soon."""

READ_PRIOR = np.float32(0.03)
"""Pseudo-count of each topic in a document that is read."""


@kernel
def initialise(first, last, graph, likelihoods, noise, seed, messages, doc_sums, slot_means, partial):
    """Draw messages, and random credits, for documents first to last.

    `likelihoods` (W, K) are p(w | k), `noise` (PATTERNS, K) what messages are multiplied by.
    """
    theta, gain, wide = _room(messages.shape[1])
    for d in range(first, last):
        _read(d, graph, likelihoods, theta, gain)
        _draw_messages(d, 0, graph, likelihoods, noise, seed, theta, messages, partial)
        _draw_credits(d, 0, graph, seed, messages, doc_sums, slot_means, wide)


@kernel
def initialise_lean(first, last, graph, likelihoods, noise, seed, doc_sums, slot_means, partial):
    """Do the same, and forget the messages of a document once they are in the sums."""
    theta, gain, wide = _room(doc_sums.shape[1])
    messages = np.empty((longest_of(first, last, graph), doc_sums.shape[1]), dtype=np.float32)
    for d in range(first, last):
        base = graph.doc_edges[d]
        _read(d, graph, likelihoods, theta, gain)
        _draw_messages(d, base, graph, likelihoods, noise, seed, theta, messages, partial)
        _draw_credits(d, base, graph, seed, messages, doc_sums, slot_means, wide)


@kernel
def draw_noise(seed, noise):
    """Fill `noise` (PATTERNS, K) with numbers from a half to three halves."""
    for i in range(noise.shape[0]):
        bits = hashed(seed, NOISE_STREAM + i)
        for k in range(noise.shape[1]):
            noise[i, k] = np.float32(0.5) + mixed(bits, k)


@kernel
def _room(K):
    return np.empty(K, dtype=np.float32), np.empty(K, dtype=np.float32), np.empty(K)


@inner
def _read(d, graph, likelihoods, theta, gain):
    """Put what document d seems to be about into `theta`, in tokens."""
    K = theta.shape[0]
    theta[:] = 1
    for _ in range(READS):
        gain[:] = 0
        for e in range(graph.doc_edges[d], graph.doc_edges[d + 1]):
            w = graph.edge_word[e]
            total = overlap(w, likelihoods, theta)
            share = graph.edge_count[e] / total if total > 0 else np.float32(0)
            for k in range(K):
                gain[k] += share * likelihoods[w, k]
        for k in range(K):
            theta[k] = theta[k] * gain[k] + READ_PRIOR


@inner
def _draw_messages(d, base, graph, likelihoods, noise, seed, theta, messages, partial):
    """Draw the messages of document d, that of edge e into row e - base."""
    K = messages.shape[1]
    for e in range(graph.doc_edges[d], graph.doc_edges[d + 1]):
        r, w = e - base, graph.edge_word[e]
        row = hashed(seed, graph.whole.first_edge + e) % np.uint64(PATTERNS)
        total = np.float32(0)
        for k in range(K):
            value = theta[k] * likelihoods[w, k] * noise[row, k]
            messages[r, k] = value
            total += value
        if not total > 0:
            messages[r, :] = 1
            total = np.float32(K)
        scale = graph.edge_count[e] / total
        for k in range(K):
            messages[r, k] *= scale
            partial[w, k] += messages[r, k]


@inner
def _draw_credits(d, base, graph, seed, messages, doc_sums, slot_means, wide):
    """Add the messages of document d up: all of them, and each slot's by random shares."""
    start, stop = graph.doc_edges[d], graph.doc_edges[d + 1]
    sum_rows(start - base, stop - base, messages, d, doc_sums, wide)
    if start < stop:
        for s in range(graph.doc_slots[d], graph.doc_slots[d + 1]):
            bits = hashed(seed, CREDIT_STREAM + graph.whole.first_slot + s)
            for e in range(start, stop):
                share = mixed(bits, e - start)
                for k in range(messages.shape[1]):
                    slot_means[s, k] += share * messages[e - base, k]
            normalise_row(s, slot_means)
