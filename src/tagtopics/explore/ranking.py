"""The largest values of every row of a large matrix."""

from __future__ import annotations

import numpy as np

from tagtopics._typing import Float32, Int64

_WIDTH = 64
"""Columns of a group. Only the groups with the largest maxima are looked into."""


def largest_in_rows(values: Float32, n: int) -> Int64:
    """Return (R, n): the places of the n largest values of each row, largest first, first of equals first.

    The n largest are in the n groups of columns with the largest maxima, of which the first of equals.

    Args:
        values: (R, C), finite.
        n: how many; all C if there are fewer.
    """
    n_rows, n_columns = values.shape
    n, n_groups = min(n, n_columns), -(-n_columns // _WIDTH)
    padded = np.full((n_rows, n_groups * _WIDTH), -np.inf, dtype=values.dtype)
    padded[:, :n_columns] = values
    maxima = padded.reshape(n_rows, n_groups, _WIDTH).max(2)
    groups = np.sort(np.argsort(-maxima, axis=1, kind="stable")[:, :n], axis=1)
    places = (groups[:, :, np.newaxis] * _WIDTH + np.arange(_WIDTH)).reshape(n_rows, -1)
    order = np.argsort(-np.take_along_axis(padded, places, axis=1), axis=1, kind="stable")[:, :n]
    return np.asarray(np.take_along_axis(places, order, axis=1), dtype=np.int64)
