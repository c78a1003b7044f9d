"""What must hold of the messages and sums of belief propagation after every sweep."""

from __future__ import annotations

import numpy as np

from tagtopics.bp.graph import CorpusSums, DocState, FactorGraph


def invariant_error(graph: FactorGraph, sums: CorpusSums, docs: DocState) -> float:
    """Return the largest relative error of what must hold in any state; zero up to rounding.

    Each edge's messages add up to its count; documents, words and all topics conserve the tokens; slot
    means are distributions. NaN anywhere makes the result infinite.
    """
    counts = graph.edge_count.astype(np.float64)
    edge_doc = np.repeat(np.arange(graph.n_docs), np.diff(graph.doc_edges))
    doc_tokens = np.bincount(edge_doc, counts, graph.n_docs)
    word_tokens = np.bincount(graph.edge_word, counts, graph.n_words)
    pairs = [
        (docs.messages.sum(1, dtype=np.float64), counts[: len(docs.messages)]),
        (docs.doc_sums.sum(1, dtype=np.float64), doc_tokens),
        (sums.words.sum(1), word_tokens),
        (sums.words.sum(keepdims=True).ravel(), counts.sum(keepdims=True)),
        (docs.slot_means[graph.tag_slots.members].sum(1, dtype=np.float64), np.ones(1)),
        (sums.tags.sum(1), graph.totals.tag_docs.astype(np.float64)),
    ]
    worst = 0.0
    for found, expected in pairs:
        error = np.abs(found - expected) / np.maximum(expected, 1.0)
        worst = max(worst, float(np.max(np.where(np.isnan(error), np.inf, error), initial=0.0)))
    return worst
