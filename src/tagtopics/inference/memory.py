"""How much memory a fit needs, and which engine that leaves."""

from __future__ import annotations

import os
from typing import NamedTuple

from tagtopics.graph import FactorGraph

_SHARE = 0.5
"""Share of the machine's memory that stored messages may take before "auto" turns lean."""


class MemoryEstimate(NamedTuple):
    """Bytes that belief propagation needs beside the corpus."""

    stored: int  # with messages stored: K numbers for each word of each document
    lean: int  # with messages recalled: K numbers for each document, word and slot
    machine: int  # what the machine has, or 0 if it does not say


def estimate_memory(graph: FactorGraph, n_topics: int) -> MemoryEstimate:
    """Estimate what each engine needs for a graph and a number of topics."""
    narrow = 4 * (graph.n_docs + graph.n_slots)
    wide = 8 * (2 * graph.n_words + 2 * graph.n_tags) + 4 * (3 * graph.n_words + 2 * graph.n_tags)
    lean = n_topics * (narrow + wide)
    messages = 4 * n_topics * graph.n_edges
    return MemoryEstimate(lean + messages, lean + 8 * n_topics * graph.n_words, _machine())


def is_lean(memory: str, graph: FactorGraph, n_topics: int) -> bool:
    """Decide for "stored", "lean", or "auto": lean where stored messages would take half of the machine."""
    if memory != "auto":
        return memory == "lean"
    estimate = estimate_memory(graph, n_topics)
    return estimate.machine > 0 and estimate.stored > _SHARE * estimate.machine


def _machine() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return 0
