"""The specification of `places_loops`: the same in NumPy, with sums over all pairs and all grid points."""

from __future__ import annotations

from typing import Any

import numpy as np

from tagtopics._typing import Float64


def attraction_of(pull: Any, places: Float64) -> Float64:
    """Return (D, 2): sum_j p_ij (y_i - y_j) / (1 + |y_i - y_j|^2), for symmetric attraction (D, D)."""
    apart = places[:, np.newaxis] - places
    weight = pull / (1 + (apart**2).sum(2))
    return np.asarray((weight[:, :, np.newaxis] * apart).sum(1))


def corners(places: Float64, low: Float64, size: float, n: int) -> Float64:
    """Return (D, n, n): the share of each document at each point of a grid, bilinear."""
    points = low[:, np.newaxis] + size * np.arange(n)
    shares = [np.maximum(1 - np.abs(places[:, [c]] - points[c]) / size, 0) for c in (0, 1)]
    return np.asarray(shares[0][:, :, np.newaxis] * shares[1][:, np.newaxis, :])


def slopes(potential: Float64, size: float) -> Float64:
    """Return (2, n - 6, n - 6): -1/2 of the slopes of (n, n), by central differences over six neighbours."""
    weights = np.array([-1, 9, -45, 0, 45, -9, 1]) / (-120 * size)
    around = np.lib.stride_tricks.sliding_window_view(potential, (7, 7))
    return np.stack([around[:, :, :, 3] @ weights, around[:, :, 3] @ weights])


def descended(slope: Float64, momentum: float, rate: float, step: Float64, gain: Float64) -> tuple[Any, Any]:
    """Return the next step and gain, each (D, 2), of gradient descent with momentum and gains."""
    fresh = np.maximum(np.where(slope * step > 0, 0.8 * gain, gain + 0.2), 0.01)
    return momentum * step - rate * fresh * slope, fresh
