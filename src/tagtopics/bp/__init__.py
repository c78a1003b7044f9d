"""Belief propagation: factor graph, messages, sweeps, the loop and executors."""
