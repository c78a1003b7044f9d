"""Pairs of row and column of a sparse matrix as single numbers: row * n_columns + column.

Few of all pairs of documents and tags matter. As sorted keys they are compared, united and looked up at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tagtopics._typing import Bool, Float64, Int64


def entry_keys(matrix: Any, n_columns: int | None = None) -> Int64:
    """Return the keys of the entries of a CSR matrix; they ascend if its indices are sorted.

    Args:
        matrix: CSR (R, C).
        n_columns: to count pairs with more columns than C.
    """
    rows = np.repeat(np.arange(matrix.shape[0], dtype=np.int64), np.diff(matrix.indptr))
    return np.asarray(rows * (n_columns or matrix.shape[1]) + matrix.indices)


def find_keys(keys: Int64, known: Int64) -> tuple[Bool, Int64]:
    """Return (P,) which keys are among the known ones, which ascend, and (P,) the place of each there."""
    place = np.searchsorted(known, keys)
    return np.append(known, -1)[place] == keys, place


def values_at(keys: Int64, known: Int64, values: Any) -> Float64:
    """Return (P,): the values of keys, given those of the known ones, which ascend; 0 for any other key."""
    found, place = find_keys(keys, known)
    return np.where(found, np.append(values, 0)[place], 0.0)


def has_entries(matrix: Any, rows: Int64, columns: Int64) -> Bool:
    """Return (P,): whether each pair of row and column is an entry of a CSR matrix."""
    return np.asarray(np.isin(rows * matrix.shape[1] + columns, entry_keys(matrix)))
