"""Compiled loops of the map of documents: attraction, repulsion by way of a grid, and steps downhill.

All in double precision, but for the attraction and the fields of the grid. Each document has a row of its
own, so ranges of documents may run on any thread; only `add_mass` adds up over documents, and runs on one.
"""

from __future__ import annotations

import numpy as np

from tagtopics.jit.compiling import inner, kernel

EDGE = 3  # cells at each side of a grid in which no document is: `differentiate` needs so many neighbours


@kernel
def attract(first, last, offsets, neighbours, weights, x, y, force):
    """Set `force` (D, 2) to sum_j p_ij (y_i - y_j) / (1 + |y_i - y_j|^2), j the neighbours of i.

    Neighbours are int32; weights and the two coordinates of places, (D,) each, are float32: what is read for
    each pair decides how long it takes.
    """
    for i in range(first, last):
        right, down = np.float32(0), np.float32(0)
        for e in range(offsets[i], offsets[i + 1]):
            j = neighbours[e]
            dx, dy = x[i] - x[j], y[i] - y[j]
            weight = weights[e] / (np.float32(1) + dx * dx + dy * dy)
            right += weight * dx
            down += weight * dy
        force[i, 0] = right
        force[i, 1] = down


@inner
def _cell(position, n):
    """Return the cell of a grid of n x n that a position is in, and how far in it is."""
    cell = min(int(position), n - 2)
    return cell, position - cell


@kernel
def add_mass(places, left, top, size, mass):
    """Divide each document among the corners of its cell, and add it to `mass` (n, n), which is zero."""
    n = mass.shape[0]
    for i in range(places.shape[0]):
        a, u = _cell((places[i, 0] - left) / size, n)
        b, v = _cell((places[i, 1] - top) / size, n)
        mass[a, b] += (1.0 - u) * (1.0 - v)
        mass[a, b + 1] += (1.0 - u) * v
        mass[a + 1, b] += u * (1.0 - v)
        mass[a + 1, b + 1] += u * v


@kernel
def differentiate(first, last, size, fields):
    """Set rows first to last of fields 1 and 2 of (3, n, n) to the slopes of field 0, times -1/2.

    Central differences over six neighbours, whose error falls with the sixth power of the cell's size. The
    first and last `EDGE` rows and columns stay as they are.
    """
    n = fields.shape[1]
    scale = -1 / (120 * size)
    near, middle, far = np.float32(45 * scale), np.float32(-9 * scale), np.float32(scale)
    for a in range(max(first, EDGE), min(last, n - EDGE)):
        for b in range(EDGE, n - EDGE):
            down = near * (fields[0, a + 1, b] - fields[0, a - 1, b])
            down += middle * (fields[0, a + 2, b] - fields[0, a - 2, b])
            fields[1, a, b] = down + far * (fields[0, a + 3, b] - fields[0, a - 3, b])
            right = near * (fields[0, a, b + 1] - fields[0, a, b - 1])
            right += middle * (fields[0, a, b + 2] - fields[0, a, b - 2])
            fields[2, a, b] = right + far * (fields[0, a, b + 3] - fields[0, a, b - 3])


@kernel
def read_fields(first, last, places, left, top, size, fields, felt):
    """Set `felt` (D, 3) to the fields (3, n, n) at the places, interpolated between corners."""
    n = fields.shape[1]
    for i in range(first, last):
        a, u = _cell((places[i, 0] - left) / size, n)
        b, v = _cell((places[i, 1] - top) / size, n)
        for f in range(3):
            near = (1.0 - v) * fields[f, a, b] + v * fields[f, a, b + 1]
            far = (1.0 - v) * fields[f, a + 1, b] + v * fields[f, a + 1, b + 1]
            felt[i, f] = (1.0 - u) * near + u * far


@kernel
def descend(first, last, pull, felt, settings, places, step, gain):
    """Move documents downhill with momentum and gains, as t-SNE does.

    `settings` are exaggeration, momentum, rate and total repulsion. A gain grows while the slope changes its
    direction, and shrinks while it does not.
    """
    exaggeration, momentum, rate, total = settings
    for i in range(first, last):
        for c in range(2):
            slope = 4.0 * (exaggeration * pull[i, c] - felt[i, c + 1] / total)
            grown = 0.8 * gain[i, c] if slope * step[i, c] > 0 else gain[i, c] + 0.2
            gain[i, c] = max(grown, 0.01)
            step[i, c] = momentum * step[i, c] - rate * gain[i, c] * slope
            places[i, c] += step[i, c]
