"""The factor graph: `structure` holds the wiring, `state` the numbers on it."""

from tagtopics.graph.state import (
    Belief,
    CorpusSums,
    DocState,
    Priors,
    SweepInput,
    WordInput,
    invariant_error,
    normalised,
)
from tagtopics.graph.structure import FactorGraph, Groups, Totals, build_graph, group_by, wire

__all__ = [
    "Belief",
    "CorpusSums",
    "DocState",
    "FactorGraph",
    "Groups",
    "Priors",
    "SweepInput",
    "Totals",
    "WordInput",
    "build_graph",
    "group_by",
    "invariant_error",
    "normalised",
    "wire",
]
