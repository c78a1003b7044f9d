"""Belief propagation: `reference` is the specification, the other modules compute the same, compiled."""
