"""Compiled belief propagation of labelled LDA, whose documents have different sets of topics.

The messages of document d are a table of its edges by its slots, stored one document after the other in
one flat array from `tables[d]` on. `tests/models/labeled_reference.py` is its specification.
"""

from __future__ import annotations

import numpy as np

from tagtopics.baselines.gibbs_loops import uniform
from tagtopics.jit.compiling import inner, kernel


@kernel
def start(first, last, graph, tables, seed, messages, slot_sums):
    """Draw the messages of documents first to last close to uniform."""
    for d in range(first, last):
        n = graph.doc_slots[d + 1] - graph.doc_slots[d]
        for e in range(graph.doc_edges[d], graph.doc_edges[d + 1]):
            row = tables[d] + (e - graph.doc_edges[d]) * n
            total = np.float32(0)
            for i in range(n):
                messages[row + i] = np.float32(0.5) + uniform(seed, row + i)
                total += messages[row + i]
            for i in range(n):
                messages[row + i] *= graph.edge_count[e] / total
        _sum_table(d, graph, tables, messages, slot_sums)


@kernel
def update_documents(
    first, last, graph, tables, word_sums, topic_sums, alpha, beta, messages, slot_sums, change
):
    """Update messages and slot sums of documents first to last; `change` is set to how far each moved.

    mu(i) is (slot_sums[i] - own + alpha) (word_sums[w, k] - own + beta) / (topic_sums[k] - own + W beta),
    k the topic of slot i, normalised over the document's slots.
    """
    all_beta = np.float32(word_sums.shape[0]) * beta
    zero = np.float32(0)
    for d in range(first, last):
        slot = graph.doc_slots[d]
        n = graph.doc_slots[d + 1] - slot
        fresh = np.empty(n, dtype=np.float32)
        moved = 0.0
        for e in range(graph.doc_edges[d], graph.doc_edges[d + 1]):
            row = tables[d] + (e - graph.doc_edges[d]) * n
            w = graph.edge_word[e]
            total = np.float32(0)
            for i in range(n):
                k = graph.slot_tag[slot + i]
                own = messages[row + i]
                theta = max(slot_sums[slot + i] - own, zero) + alpha
                word = max(word_sums[w, k] - own, zero) + beta
                fresh[i] = theta * word / (max(topic_sums[k] - own, zero) + all_beta)
                total += fresh[i]
            for i in range(n):
                share = fresh[i] / total if total > 0 else np.float32(1) / np.float32(n)
                value = graph.edge_count[e] * share
                step = value - messages[row + i]
                moved += abs(step)
                slot_sums[slot + i] += step
                messages[row + i] = value
        _sum_table(d, graph, tables, messages, slot_sums)
        change[d] = moved


@inner
def _sum_table(d, graph, tables, messages, slot_sums):
    """Compute the slot sums of document d in double precision."""
    slot = graph.doc_slots[d]
    n = graph.doc_slots[d + 1] - slot
    n_edges = graph.doc_edges[d + 1] - graph.doc_edges[d]
    for i in range(n):
        total = 0.0
        for e in range(n_edges):
            total += messages[tables[d] + e * n + i]
        slot_sums[slot + i] = total
