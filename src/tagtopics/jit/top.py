"""The n largest of many values, and of each of many rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tagtopics._typing import Float32, Float64, Int64
from tagtopics.jit.compiling import kernel
from tagtopics.jit.threads import run_lanes, run_ranges

_FEW = 64  # up to this n, the kernel keeps a sorted list of the largest values so far


def largest(values: Any, n: int) -> Int64:
    """Return the places of the n largest values, largest first, the first of equals first."""
    n = min(n, len(values))
    least = np.partition(values, len(values) - n)[len(values) - n] if n else np.inf
    large = np.flatnonzero(values >= least)  # all that a full sort could put first
    return large[np.argsort(-values[large], kind="stable")[:n]]


def largest_in_rows(values: Any, n: int) -> Int64:
    """Return (R, n): the columns of the n largest values of each row, largest first, first of equals first.

    Args:
        values: (R, C) without NaN.
        n: how many; all C if there are fewer.
    """
    n_rows, n_columns = values.shape
    n = min(n, n_columns)
    if 0 < n <= _FEW:
        flat: Any = np.asarray(values, dtype=np.float32 if values.dtype == np.float32 else np.float64).ravel()
        offsets = np.arange(n_rows + 1) * n_columns
        places = largest_of_rows(offsets, flat, n)
        return np.asarray(places - offsets[:-1, np.newaxis])
    found = np.empty((n_rows, n), dtype=np.int64)

    def lane(waiting: Iterator[int]) -> None:
        for r in waiting:
            found[r] = largest(values[r], n)

    run_lanes(lane, range(n_rows))
    return found


def largest_of_rows(offsets: Int64, values: Float32 | Float64, n: int) -> Int64:
    """Return (R, n): where the n largest values of each row are, largest first, the first of equals first.

    Args:
        offsets: (R + 1,) where each row begins in `values`.
        values: (N,) without NaN.
        n: how many, at least one and not very many; the places of a shorter row are filled up with -1.
    """
    places = np.full((len(offsets) - 1, n), -1, dtype=np.int64)
    run_ranges(_largest_of_rows, offsets, 4, offsets, values, places)
    return places


@kernel
def _largest_of_rows(first, last, offsets, values, places):
    n = places.shape[1]
    top = np.empty(n, dtype=values.dtype)
    for r in range(first, last):
        size = 0
        for i in range(offsets[r], offsets[r + 1]):
            value = values[i]
            if size == n and not value > top[n - 1]:
                continue
            size = min(size + 1, n)
            at = size - 1
            while at > 0 and value > top[at - 1]:
                top[at] = top[at - 1]
                places[r, at] = places[r, at - 1]
                at -= 1
            top[at] = value
            places[r, at] = i
