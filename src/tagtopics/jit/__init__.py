"""Compiled code: decorators for kernels, threads, random numbers, the n largest."""
