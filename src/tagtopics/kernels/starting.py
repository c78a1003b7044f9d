"""The compiled loops of the start: messages around topics of words, and random credits."""

from __future__ import annotations

import numpy as np

from tagtopics.kernels.compiling import inner, kernel
from tagtopics.kernels.loops import normalise_row, sum_rows
from tagtopics.kernels.randomness import CREDIT_STREAM, hashed, mixed


@kernel
def initialise(first, last, graph, word_topics, seed, messages, doc_sums, slot_means, partial):
    """Draw messages around `word_topics`, and random credits, for documents first to last."""
    partial[:, :] = 0
    wide = np.empty(messages.shape[1])
    for d in range(first, last):
        _draw_document(d, 0, graph, word_topics, seed, messages, doc_sums, slot_means, partial, wide)


@kernel
def initialise_lean(first, last, graph, word_topics, seed, doc_sums, slot_means, partial):
    """Do the same, and forget the messages of a document once they are in the sums."""
    partial[:, :] = 0
    longest = 0
    for d in range(first, last):
        longest = max(longest, graph.doc_edges[d + 1] - graph.doc_edges[d])
    messages = np.empty((longest, doc_sums.shape[1]), dtype=np.float32)
    wide = np.empty(messages.shape[1])
    for d in range(first, last):
        base = graph.doc_edges[d]
        _draw_document(d, base, graph, word_topics, seed, messages, doc_sums, slot_means, partial, wide)


@inner
def _draw_document(d, base, graph, word_topics, seed, messages, doc_sums, slot_means, partial, wide):
    """Draw the messages of one document, the message of edge e in row e - base, and its slot means."""
    K = messages.shape[1]
    half = np.float32(0.5)
    start, stop = graph.doc_edges[d], graph.doc_edges[d + 1]
    for e in range(start, stop):
        r, w = e - base, graph.edge_word[e]
        bits = hashed(seed, graph.whole.first_edge + e)
        for k in range(K):
            messages[r, k] = word_topics[w, k] * (half + mixed(bits, k))
        normalise_row(r, messages)
        for k in range(K):
            messages[r, k] *= graph.edge_count[e]
        for k in range(K):
            partial[w, k] += messages[r, k]
    sum_rows(start - base, stop - base, messages, d, doc_sums, wide)
    if start < stop:
        for s in range(graph.doc_slots[d], graph.doc_slots[d + 1]):
            bits = hashed(seed, CREDIT_STREAM + graph.whole.first_slot + s)
            for e in range(start, stop):
                share = mixed(bits, e - start)
                for k in range(K):
                    slot_means[s, k] += share * messages[e - base, k]
            normalise_row(s, slot_means)
