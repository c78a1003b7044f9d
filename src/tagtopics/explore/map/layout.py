"""A map of documents: points in the plane whose neighbours have similar topics.

The layout minimises the objective of t-SNE (van der Maaten and Hinton, 2008). Attraction is computed on a
sparse graph of nearest neighbours, repulsion on a grid by fast Fourier transforms (Linderman et al., 2019).
Nothing is random: it starts from principal components, and every sum has a fixed order, so equal documents
give equal bits with any number of threads.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.fft
import scipy.sparse as sp

from tagtopics._blas import single_thread
from tagtopics._typing import Float32, Float64, Int64
from tagtopics.explore.map.places_loops import EDGE, add_mass, attract, descend, differentiate, read_fields
from tagtopics.jit.threads import run_ranges
from tagtopics.jit.top import largest_in_rows

NEIGHBOURS = 15  # documents that attract a document
# How many of them attract more at the end, how many times as much, and for how many steps (decision 252).
_NEAREST, _STRONGER, _FINAL = 4, 4.0, 100
STEPS = (100, 200)  # steps with exaggerated attraction, which form the groups, and steps after that
_EXAGGERATION = 12.0
_MOMENTUM = (0.5, 0.8)
_EXACT = 12_000  # documents up to which all pairs are compared
_PROBES = 12  # nearest groups in which the neighbours of a document are searched, if documents are many
_BLOCK = 1 << 24  # pairs of documents compared at a time
_CELL = 0.5  # preferred size of a cell of the grid; repulsion has a width of about 1
_GRID = (32, 384)  # least and most cells on a side
_MARGIN = 2 * EDGE + 2  # cells on a side that no document is in


class Grid(NamedTuple):
    """The transform of the potential of repulsion on a grid of n x n cells of one size, padded to 2n x 2n.

    The potential is 1 / (1 + d^2), above its least value on the grid. Of documents that are close together it
    differs so little that single precision would not show it otherwise.
    """

    n: int
    size: float
    least: float
    transform: Float32  # (2n, n + 1); real, because the potential is symmetric


@single_thread()
@np.errstate(under="ignore")  # the smallest parts of a transform vanish in single precision
def document_layout(topics: Float32, near: Int64) -> Float64:
    """Return (D, 2): a place in the unit square for each document.

    Args:
        topics: (D, K) topic proportions.
        near: from `neighbours_of`.
    """
    D = len(topics)
    if D < 4:
        return np.stack([(np.arange(D) + 1) / (D + 1), np.full(D, 0.5)], axis=1)
    roots = _roots(topics)
    pulls = attraction(near), attraction(near, nearest_first(roots, near))
    places = _optimise(principal_plane(roots), pulls)
    low, high = places.min(0), places.max(0)
    span = max(float((high - low).max()), 1e-12)
    return np.asarray(0.5 + 0.98 * (places - (low + high) / 2) / span)


@single_thread()
def neighbours_of(topics: Float32) -> Int64:
    """Return (D, n): the documents with the most similar topics, for each; 15 of them if there are enough."""
    return nearest(_roots(topics), min(NEIGHBOURS, max(len(topics) - 1, 0)))


def _roots(topics: Float32) -> Float32:
    return np.sqrt(np.asarray(topics, dtype=np.float64)).astype(np.float32)


def nearest(roots: Float32, n: int) -> Int64:
    """Return (D, n): the most similar other documents of each, in no particular order.

    If documents are many, they are divided into groups around some of them, and only the nearest groups of a
    document are searched.

    Args:
        roots: (D, K) square roots of topic proportions; similarity is their product.
        n: how many, fewer than D.
    """
    D = len(roots)
    found = np.empty((D, n), dtype=np.int64)
    if D <= _EXACT:
        everything = np.arange(D)
        for rows in np.array_split(everything, max(1, -(-D * D // _BLOCK))):
            found[rows] = _best(roots, rows, everything, n)
        return found
    centres, group = _groups(roots)
    order = np.argsort(group, kind="stable")
    members = np.split(order, np.searchsorted(group[order], np.arange(1, len(centres))))
    near = np.argsort(-(centres @ centres.T), axis=1, kind="stable")
    for g, rows in enumerate(members):
        if not len(rows):
            continue
        n_groups = _PROBES
        among = np.concatenate([members[other] for other in near[g, :n_groups]])
        while len(among) <= 4 * n and n_groups < len(centres):
            n_groups *= 2
            among = np.concatenate([members[other] for other in near[g, :n_groups]])
        for part in np.array_split(rows, -(-len(rows) * len(among) // _BLOCK)):
            found[part] = _best(roots, part, among, n)
    return found


def _best(roots: Float32, rows: Int64, among: Int64, n: int) -> Int64:
    """Return (rows, n): the documents among some that are most similar to each row, without itself."""
    alike = roots[rows] @ roots[among].T
    place = np.full(len(roots), -1, dtype=np.int64)
    place[among] = np.arange(len(among))
    own = np.flatnonzero(place[rows] >= 0)
    alike[own, place[rows[own]]] = -1
    return among[largest_in_rows(alike, n)]


def _groups(roots: Float32) -> tuple[Float32, Int64]:
    """Return the centres of groups of documents, and (D,) the group of each: two rounds of k-means."""
    D = len(roots)
    n = int(np.sqrt(D))
    centres = roots[np.linspace(0, D - 1, n).astype(np.int64)]
    group = np.zeros(D, dtype=np.int64)
    for _ in range(3):
        for rows in np.array_split(np.arange(D), -(-D * n // _BLOCK)):
            group[rows] = np.argmax(roots[rows] @ centres.T, axis=1)
        ones = sp.csr_array((np.ones(D, dtype=np.float32), (group, np.arange(D))), shape=(n, D))
        sums = ones @ roots
        centres = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12)
    return centres.astype(np.float32), group


def nearest_first(roots: Float32, near: Int64) -> Float64:
    """Return (D, n): how much each of the most similar documents attracts a document at the end.

    Args:
        roots: (D, K) square roots of topic proportions.
        near: (D, n) the most similar documents of each.
    """
    D, n = near.shape
    weights = np.ones((D, n))
    for rows in np.array_split(np.arange(D), -(-near.size * roots.shape[1] // _BLOCK)):
        alike = np.einsum("ijk,ik->ij", roots[near[rows]], roots[rows])
        weights[rows[:, np.newaxis], largest_in_rows(alike, min(_NEAREST, n))] = _STRONGER
    return np.asarray(weights / weights.sum(1, keepdims=True))


def attraction(near: Int64, weights: Float64 | None = None) -> sp.csr_array:
    """Return CSR (D, D): the symmetric attraction of documents, which adds up to one.

    Args:
        near: (D, n) the most similar documents of each.
        weights: (D, n) how much each attracts the document; all alike by default.
    """
    D, n = near.shape
    pull = np.full(near.size, 1.0 / n) if weights is None else weights.ravel()
    directed = sp.csr_array((pull, near.ravel(), np.arange(D + 1) * n), shape=(D, D))
    both = sp.csr_array(directed + directed.T)
    both.sort_indices()
    both.data /= 2 * sp.triu(both, 1).data.sum()
    return both


def principal_plane(roots: Float32) -> Float64:
    """Return (D, 2): the first two principal components, signs fixed, with a small standard deviation."""
    centred = roots - roots.mean(0, dtype=np.float64)
    _, vectors = np.linalg.eigh(centred.T @ centred)
    axes = vectors[:, ::-1][:, :2]
    if axes.shape[1] < 2:
        axes = np.pad(axes, ((0, 0), (0, 2 - axes.shape[1])))
    axes = axes * np.where(axes[np.argmax(np.abs(axes), axis=0), [0, 1]] < 0, -1.0, 1.0)
    plane = centred @ axes
    turn = np.arange(len(roots)) * 2.399963  # golden angle: equal documents do not start at the same point
    plane += 1e-3 * np.stack([np.cos(turn), np.sin(turn)], axis=1) * max(float(plane.std()), 1e-6)
    return np.asarray(plane * (1e-2 / max(float(plane[:, 0].std()), 1e-12)))


def _optimise(places: Float64, pulls: tuple[sp.csr_array, sp.csr_array]) -> Float64:
    """Return places (D, 2) after gradient descent with momentum and gains, as in t-SNE.

    The second attraction holds in the last steps: it brings the nearest closer and leaves groups in place.
    """
    D = len(places)
    first, last = (
        (pull.indptr.astype(np.int64), pull.indices.astype(np.int32), pull.data.astype(np.float32))
        for pull in pulls
    )
    every = np.arange(D + 1)
    step, gain, force = np.zeros_like(places), np.ones_like(places), np.empty_like(places)
    grid: Grid | None = None
    for i in range(sum(STEPS)):
        late = i >= STEPS[0]
        exaggeration = 1.0 if late else _EXAGGERATION
        grid = _grid_for(places, grid)
        pull = first if i < sum(STEPS) - _FINAL else last
        x, y = np.ascontiguousarray(places.T, dtype=np.float32)
        run_ranges(attract, pull[0], 4, *pull, x, y, force)
        felt, total = repulsion(places, grid)
        settings = (exaggeration, _MOMENTUM[late], max(D / exaggeration / 4, 2.0), total)
        run_ranges(descend, every, 8, force, felt, settings, places, step, gain)
        for coordinate in places.T:  # column by column: much faster than along the first axis
            coordinate -= coordinate.mean()
    return places


def _grid_for(places: Float64, grid: Grid | None) -> Grid:
    """Return a grid that covers the places; the given one, if it does and is not much too large."""
    span = max(float(np.ptp(coordinate)) for coordinate in places.T) * 1.02 + 1e-9
    if grid is not None and 0.7 <= span / (grid.size * (grid.n - _MARGIN)) <= 1:
        return grid
    wanted = int(np.clip(np.ceil(1.2 * span / _CELL) + _MARGIN, *_GRID))
    n = scipy.fft.next_fast_len(min(wanted, 24 + 8 * int(np.sqrt(len(places)))), real=True)
    size = 1.15 * span / (n - _MARGIN)
    near = np.minimum(np.arange(2 * n), 2 * n - np.arange(2 * n)) * size
    squares = near[:, np.newaxis] ** 2 + near**2
    most = float(squares.max())
    above = (most - squares) / ((1 + squares) * (1 + most))
    return Grid(n, size, 1 / (1 + most), scipy.fft.rfft2(above, workers=1).real.astype(np.float32))


def repulsion(places: Float64, grid: Grid) -> tuple[Float64, float]:
    """Return sums over all other documents, interpolated on a grid.

    The potential, sum_j 1 / (1 + d^2), comes from one transform there and one back, and the force is its
    slope. Rows and columns that are known to be zero, or that no one needs, are not transformed.

    Returns:
        (D, 3): sum_j 1 / (1 + d^2), sum_j (y_i - y_j) / (1 + d^2)^2 in both directions, the first with the
        document itself; and the total of the first without. The gradient is their ratio.
    """
    n, size = grid.n, grid.size
    mass, felt = np.zeros((n, n)), np.empty((len(places), 3))
    left, top = (float(coordinate.min()) - EDGE * size for coordinate in places.T)
    add_mass(places, left, top, size, mass)
    narrow = mass.astype(np.float32)  # the map is as good, and transforms take half the time
    spread = scipy.fft.fft(scipy.fft.rfft(narrow, 2 * n, axis=1), 2 * n, axis=0)
    back = scipy.fft.ifft(spread * grid.transform, axis=0, overwrite_x=True)[:n]
    fields = np.zeros((3, n, n), dtype=np.float32)
    fields[0] = scipy.fft.irfft(back, 2 * n, axis=1)[:, :n]
    run_ranges(differentiate, np.arange(n + 1), 8 * n, size, fields)
    run_ranges(read_fields, np.arange(len(places) + 1), 24, places, left, top, size, fields, felt)
    felt[:, 0] += grid.least * len(places)
    return felt, max(float(felt[:, 0].sum()) - len(places), 1e-12)
