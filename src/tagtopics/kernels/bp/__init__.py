"""Kernels of belief propagation: compiled loops and their readable reference."""
