"""The compiled loops that add up rows: of blocks, of groups, of the slots of tags.

What joins the sums of a whole corpus is rounded to a grid so coarse that adding is exact: any order, any
parts, the same bits (decision 084).
"""

from __future__ import annotations

import numpy as np

from tagtopics.kernels.compiling import inner, kernel


@kernel
def add_partial(partial, grid, sums):
    """Add the sums of a block, rounded to a grid, to those of all, and clear them for the next block."""
    fine = 1.0 / grid
    for i in range(sums.shape[0]):
        for k in range(sums.shape[1]):
            sums[i, k] += np.rint(fine * partial[i, k]) * grid
            partial[i, k] = 0


@kernel
def group_sums(first, last, groups, rows, sums):
    """Put the sum of the rows of each group into `sums`, always in the order of the members."""
    K = rows.shape[1]
    for g in range(first, last):
        sums[g, :] = 0
        for j in range(groups.offsets[g], groups.offsets[g + 1]):
            i = groups.members[j]
            for k in range(K):
                sums[g, k] += rows[i, k]


@kernel
def add_moments(first, last, groups, blocks, rows, grid, sums, squares):
    """Add the rows of each group to its row of `sums`, and their squares to that of `squares`.

    Rows from blocks[b] to blocks[b + 1] are a block: its sums are rounded to the grid before they join.
    """
    K = rows.shape[1]
    part = np.zeros(K)
    part_squares = np.zeros(K)
    for g in range(first, last):
        b = 0
        for j in range(groups.offsets[g], groups.offsets[g + 1]):
            i = groups.members[j]
            if i >= blocks[b + 1]:
                _join(g, part, grid, sums)
                _join(g, part_squares, grid, squares)
                while i >= blocks[b + 1]:
                    b += 1
            for k in range(K):
                wide = np.float64(rows[i, k])
                part[k] += wide
                part_squares[k] += wide * wide
        if groups.offsets[g] < groups.offsets[g + 1]:
            _join(g, part, grid, sums)
            _join(g, part_squares, grid, squares)


@inner
def _join(g, part, grid, sums):
    """Add a block's sum (K,), rounded to the grid, to row g, and begin the next with zeros."""
    fine = 1.0 / grid
    for k in range(part.shape[0]):
        sums[g, k] += np.rint(fine * part[k]) * grid
    part[:] = 0
