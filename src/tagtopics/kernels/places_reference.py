"""The specification of `places`: the same in NumPy, with sums over all pairs and all points of the grid."""

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


def descended(slope: Float64, momentum: float, rate: float, step: Float64, gain: Float64) -> tuple[Any, Any]:
    """Return the next step and gain, each (D, 2), of gradient descent with momentum and gains."""
    fresh = np.maximum(np.where(slope * step > 0, 0.8 * gain, gain + 0.2), 0.01)
    return momentum * step - rate * fresh * slope, fresh
