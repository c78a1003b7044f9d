"""Inference: one loop, algorithms that provide a start and a step, and callbacks."""
