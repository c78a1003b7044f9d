"""Logistic regression by Newton's method: a few columns, many rows.

scikit-learn's gives the same weights, but importing it takes longer than most regressions here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special

from tagtopics._blas import single_thread
from tagtopics._typing import Float64

_MOST_STEPS, _MOST_HALVINGS = 100, 20
_CONVERGED = 1e-15
"""Expected gain of a step, as a share of the rows' total weight, below which the weights are final."""

_ROWS = 4096
"""Rows that are weighted at a time, few enough for the processor's cache."""


@single_thread()
def logistic_regression(
    columns: Any, outcomes: Any, weight: Any = None, inverse_penalty: float = 1.0, start: Any = None
) -> Float64:
    """Return the weights (C + 1,) that minimise the loss and the penalty, that of the constant first.

        inverse_penalty * sum_i weight_i log(1 + exp(-z_i)) + |w|^2 / 2,    z_i = +-(b + x_i w)

    Args:
        columns: (N, C).
        outcomes: (N,) booleans, of both kinds.
        weight: (N,) of the rows; None for one each.
        inverse_penalty: the larger, the less the weights are drawn to zero; the constant b never is.
        start: (C + 1,) weights to begin with, such as those of some of the rows; None for zeros.
    """
    y = np.asarray(outcomes, dtype=np.float64)
    X = np.column_stack([np.ones(len(y)), np.asarray(columns, dtype=np.float64)])
    of_rows = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=np.float64)
    penalty = np.full(X.shape[1], 1.0 / inverse_penalty)
    penalty[0] = 0.0

    def loss(weights: Float64, z: Float64) -> float:
        return float(of_rows @ (np.logaddexp(0.0, z) - y * z) + 0.5 * penalty @ weights**2)

    weights = np.zeros(X.shape[1]) if start is None else np.asarray(start, dtype=np.float64)
    z = X @ weights
    before = loss(weights, z)
    for _ in range(_MOST_STEPS):
        p = scipy.special.expit(z)
        slope = X.T @ (of_rows * (p - y)) + penalty * weights
        curvature = _weighted_squares(X, of_rows * p * (1 - p)) + np.diag(penalty)
        step = _solved(curvature, slope)
        if not slope @ step > _CONVERGED * of_rows.sum():
            break
        for _ in range(_MOST_HALVINGS):
            tried = weights - step
            at = X @ tried
            after = loss(tried, at)
            if after <= before:
                break
            step = step / 2
        else:
            break  # no smaller loss within rounding errors
        weights, z, before = tried, at, after
    return weights


def _weighted_squares(X: Float64, weight: Float64) -> Float64:
    """Return (C, C): the sum of weight_i x_i x_i^T over the rows of X (N, C); no weight is negative."""
    total = np.zeros((X.shape[1], X.shape[1]))
    root = np.sqrt(weight)[:, np.newaxis]
    for first in range(0, len(X), _ROWS):
        part = X[first : first + _ROWS] * root[first : first + _ROWS]
        total += part.T @ part
    return total


def _solved(curvature: Float64, slope: Float64) -> Float64:
    """Return the solution of a system that may be singular, if a column is constant."""
    size = np.sqrt(np.maximum(np.diag(curvature), 1e-300))
    scaled = curvature / np.outer(size, size) + 1e-13 * np.eye(len(size))
    return np.asarray(np.linalg.solve(scaled, slope / size) / size)
