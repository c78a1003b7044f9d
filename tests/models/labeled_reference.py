"""Labelled LDA written like its equations: the reference of `labeled_loops`."""

from __future__ import annotations

from typing import Any

import numpy as np
from gibbs_reference import uniform

from tagtopics.bp.graph import FactorGraph, normalise


def table(d: int, graph: FactorGraph, tables: Any, messages: Any) -> Any:
    """Return the messages of document d as a view (E_d, T_d)."""
    n = int(graph.doc_slots[d + 1] - graph.doc_slots[d])
    return messages[tables[d] : tables[d + 1]].reshape(int(graph.doc_edges[d + 1] - graph.doc_edges[d]), n)


def slots_of(d: int, graph: FactorGraph) -> slice:
    """Return the slots of document d."""
    return slice(int(graph.doc_slots[d]), int(graph.doc_slots[d + 1]))


def start(
    first: int, last: int, graph: FactorGraph, tables: Any, seed: Any, messages: Any, slot_sums: Any
) -> None:
    """Draw the messages of documents first to last close to uniform."""
    for d in range(first, last):
        view = table(d, graph, tables, messages)
        drawn = 0.5 + uniform(seed, np.arange(tables[d], tables[d + 1])).reshape(view.shape)
        for i, row in enumerate(drawn):
            if len(row):
                view[i] = graph.edge_count[graph.doc_edges[d] + i] * normalise(row)
        slot_sums[slots_of(d, graph)] = view.sum(0, dtype=np.float64)


def update_documents(
    first: int,
    last: int,
    graph: FactorGraph,
    tables: Any,
    word_sums: Any,
    topic_sums: Any,
    alpha: Any,
    beta: Any,
    messages: Any,
    slot_sums: Any,
    change: Any,
) -> None:
    """Update messages and slot sums of documents first to last; `change` is set to how far each moved."""
    W = word_sums.shape[0]
    for d in range(first, last):
        slots, view = slots_of(d, graph), table(d, graph, tables, messages)
        topics, sums = graph.slot_tag[slots], slot_sums[slots].astype(np.float64)
        before = view.astype(np.float64)
        for i in range(len(view) if len(topics) else 0):
            e, own = int(graph.doc_edges[d]) + i, view[i].astype(np.float64)
            theta = np.maximum(sums - own, 0) + alpha
            word = np.maximum(word_sums[graph.edge_word[e], topics] - own, 0) + beta
            phi = word / (np.maximum(topic_sums[topics] - own, 0) + W * beta)
            view[i] = graph.edge_count[e] * normalise(theta * phi)
            sums += view[i] - own
        slot_sums[slots] = view.sum(0, dtype=np.float64)
        change[d] = np.abs(view - before).sum()
