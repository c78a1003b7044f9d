"""Products of rows of sparse matrices, for many pairs of rows; `products_reference` is the readable twin."""

from __future__ import annotations

from typing import Any

import numpy as np

from tagtopics._typing import Float64, Int64
from tagtopics.jit.compiling import kernel
from tagtopics.jit.threads import run_ranges


def row_products(one: Any, a: Int64, other: Any, b: Int64, n_threads: int) -> Float64:
    """Return (P,): the products of rows `a` of a CSR matrix and rows `b` of another, both of float64.

    Args:
        one: CSR (A, C), each column at most once in a row; its rows are the shorter ones, if that is known.
        a: (P,) rows of `one`.
        other: CSR (B, C), likewise.
        b: (P,) rows of `other`.
        n_threads: any number gives the same bits.
    """
    order = np.argsort(b, kind="stable")  # so that each row of `other` is spread out once
    rows, starts = np.unique(b[order], return_index=True)
    offsets = np.append(starts, len(b)).astype(np.int64)
    found = np.zeros(len(b))
    width = max(1, one.nnz // max(one.shape[0], 1))
    matrices = tuple(
        (matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data)
        for matrix in (one, other)
    )
    columns = np.array([one.shape[1]], dtype=np.int64)
    run_ranges(_row_products, offsets, width, n_threads, offsets, rows, a[order], *matrices, columns, found)
    answer = np.empty(len(b))
    answer[order] = found
    return answer


@kernel
def _row_products(first, last, offsets, rows, a, one, other, columns, found):
    """Set `found` of the pairs of groups first to last; a group has one row of the other matrix."""
    begin, column, value = one
    other_begin, other_column, other_value = other
    spread = np.zeros(columns[0])
    for g in range(first, last):
        start, end = other_begin[rows[g]], other_begin[rows[g] + 1]
        for e in range(start, end):
            spread[other_column[e]] = other_value[e]
        for p in range(offsets[g], offsets[g + 1]):
            total = 0.0
            for e in range(begin[a[p]], begin[a[p] + 1]):
                total += value[e] * spread[column[e]]
            found[p] = total
        for e in range(start, end):
            spread[other_column[e]] = 0.0
