"""The specification of `top`: a full sort of every row."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from tagtopics._typing import Float32, Float64, Int64


def largest_of_rows(offsets: Int64, values: Float32 | Float64, n: int) -> Int64:
    """Return (R, n): the places of the n largest values of each row, in order, filled up with -1."""
    places = np.full((len(offsets) - 1, n), -1, dtype=np.int64)
    for row, (a, b) in zip(places, pairwise(offsets), strict=True):
        best = np.argsort(-values[a:b], kind="stable")[:n]
        row[: len(best)] = a + best
    return places
