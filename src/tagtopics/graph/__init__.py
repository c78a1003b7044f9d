"""The factor graph: `structure` is the wiring, `state` the numbers on it."""

from tagtopics.graph.state import PastSums, Priors, TopicState, invariant_error
from tagtopics.graph.structure import FactorGraph, Groups, build_graph, group_by

__all__ = [
    "FactorGraph",
    "Groups",
    "PastSums",
    "Priors",
    "TopicState",
    "build_graph",
    "group_by",
    "invariant_error",
]
