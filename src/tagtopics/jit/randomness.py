"""Random numbers as functions of a seed and a counter: the same in any part and any order."""

from __future__ import annotations

import numpy as np

from tagtopics.jit.compiling import inner


@inner
def hash_bits(seed, counter):
    """Return 64 random bits: SplitMix64 of seed and counter; see `bp_reference.hash_bits`."""
    z = (np.uint64(counter) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z += seed * np.uint64(0xD1342543DE82EF95)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@inner
def mix_bits(bits, k):
    """Return a number in (0, 1): a 32-bit mix of some random bits and k, cheap enough for inner loops."""
    x = np.uint32(np.uint32(bits) + np.uint32(np.uint32(k) * np.uint32(0x9E3779B9)))
    x = np.uint32((x ^ (x >> np.uint32(16))) * np.uint32(0x7FEB352D))
    x = np.uint32((x ^ (x >> np.uint32(15))) * np.uint32(0x846CA68B))
    x = np.uint32(x ^ (x >> np.uint32(16)))
    return (np.float32(x >> np.uint32(8)) + np.float32(0.5)) * np.float32(1.0 / (1 << 24))
