"""The factor graph: `structure` is the wiring, `state` the numbers on it."""

from tagtopics.graph.state import Own, PastSums, Priors, Sums, TopicState, invariant_error
from tagtopics.graph.structure import FactorGraph, Groups, Whole, build_graph, build_part, group_by

__all__ = [
    "FactorGraph",
    "Groups",
    "Own",
    "PastSums",
    "Priors",
    "Sums",
    "TopicState",
    "Whole",
    "build_graph",
    "build_part",
    "group_by",
    "invariant_error",
]
