"""Belief propagation: factor graph, messages, sweeps, the loop, executors and checkpoints."""
