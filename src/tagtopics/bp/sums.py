"""Sums of rows: over blocks of documents, over the slots of tags.

Partial sums are rounded to a grid so coarse that adding them to the sums of the whole corpus is exact: any
order and any parts give the same bits (decision 202).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from threading import Lock
from typing import Any

import numpy as np

from tagtopics._typing import Float32, Float64
from tagtopics.bp.graph import CorpusSums, FactorGraph
from tagtopics.jit.compiling import inner, kernel
from tagtopics.jit.threads import run_lanes, run_ranges


def add_in_blocks(loop: Any, graph: FactorGraph, grid: float, sums: Float64, *arguments: Any) -> None:
    """Run `loop(first, last, graph, *arguments, partial)` on each block; add the partials to `sums` (W, n).

    Each thread takes the next free block, adds it up in single precision, and adds the result, rounded to a
    grid, to the sums in double precision.
    """
    lock = Lock()

    def run(blocks: Iterator[tuple[int, int]]) -> None:
        partial = np.zeros(sums.shape, dtype=np.float32)
        for first, last in blocks:
            loop(first, last, graph, *arguments, partial)
            with lock:
                _add_partial(partial, grid, sums)

    run_lanes(run, pairwise(graph.doc_blocks.tolist()))


def add_tags(graph: FactorGraph, slot_means: Float32, sums: CorpusSums) -> None:
    """Add the slot means (S, K) of a graph, and their squares, to the sums of the tags."""
    blocks, grid = graph.doc_slots[graph.doc_blocks], graph.totals.doc_grid
    arguments = (graph.tag_slots, blocks, slot_means, grid, sums.tags, sums.tag_squares)
    run_ranges(_add_moments, graph.tag_slots.offsets, slot_means.shape[1], *arguments)


@kernel
def _add_partial(partial, grid, sums):
    """Add the sums of a block, rounded to a grid, to those of all, and set them to zero."""
    fine = 1.0 / grid
    for i in range(sums.shape[0]):
        for k in range(sums.shape[1]):
            sums[i, k] += np.rint(fine * partial[i, k]) * grid
            partial[i, k] = 0


@kernel
def _add_moments(first, last, groups, blocks, rows, grid, sums, squares):
    """Add the rows of each group to its row of `sums`, and their squares to that of `squares`.

    Rows from blocks[b] to blocks[b + 1] are a block, whose sums are rounded to the grid before they are
    added.
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
    """Add a block's sum (K,), rounded to the grid, to row g, and set it to zero for the next block."""
    fine = 1.0 / grid
    for k in range(part.shape[0]):
        sums[g, k] += np.rint(fine * part[k]) * grid
    part[:] = 0
