"""The largest values of every row of a large matrix."""

from __future__ import annotations

import numpy as np

from tagtopics._typing import Float32, Float64, Int64
from tagtopics.kernels.ranking import largest_of_rows
from tagtopics.kernels.threads import resolve_threads


def largest_in_rows(values: Float32 | Float64, n: int) -> Int64:
    """Return (R, n): the places of the n largest values of each row, largest first, first of equals first.

    Args:
        values: (R, C), finite.
        n: how many; all C if there are fewer.
    """
    n_rows, n_columns = values.shape
    offsets = np.arange(n_rows + 1) * n_columns
    places = largest_of_rows(offsets, values.ravel(), min(n, n_columns), resolve_threads(None))
    return np.asarray(places - offsets[:-1, np.newaxis])
