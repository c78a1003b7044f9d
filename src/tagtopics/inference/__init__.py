"""Inference: one loop, algorithms that give a start and a step, callbacks that watch."""
