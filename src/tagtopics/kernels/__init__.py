"""Kernels: `reference` says what is computed, `compiled` computes it fast. Same names, same signatures."""
