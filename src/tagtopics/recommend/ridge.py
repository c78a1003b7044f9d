"""Kernel ridge regression with closed-form leave-one-out predictions: all tags share one factorisation."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.linalg import lapack
from sklearn.kernel_approximation import AdditiveChi2Sampler
from sklearn.preprocessing import normalize

from tagtopics._typing import Float32, Float64

_STEP, _SAMPLES = 0.65, 3
"""Where the spectrum of the chi-squared kernel is sampled (Vedaldi and Zisserman 2012)."""

PARTS = 2 * _SAMPLES - 1
"""Features that stand for one word."""

_DENSE_COLUMNS = 1024
"""Up to this many features a dense product is faster than a sparse one."""

_BLOCK = 2048
"""Documents whose kernel values are in memory at a time."""

_JITTERS = (1e-6, 1e-4, 1e-2)
"""Shares of the mean diagonal added to a matrix of moments until it is positive definite."""


class Ridge(NamedTuple):
    """The solution of a ridge regression, and its prediction for each document without that document."""

    coefficients: Float32  # (M, T)
    left_out: Float32  # (N, T) leave-one-out predictions of the first N rows


def chi2_features(counts: Any) -> sp.csr_array:
    """Map documents so that dot products approximate sum_w 2 x_w y_w / (x_w + y_w) of word shares x, y.

    Args:
        counts: CSR (D, W).

    Returns:
        CSR (D, PARTS * W) of float32, rows of length one: the features of word w are columns w, W + w, ...
    """
    shares = normalize(sp.csr_array(counts, dtype=np.float64), "l1")
    sampler = AdditiveChi2Sampler(sample_steps=_SAMPLES, sample_interval=_STEP)
    return sp.csr_array(normalize(sampler.fit_transform(shares)), dtype=np.float32)


def dot_products(left: sp.csr_array, right: sp.csr_array) -> Float32:
    """Return left @ right.T as a dense array."""
    if left.shape[1] <= _DENSE_COLUMNS:
        return np.asarray(left.toarray() @ right.toarray().T, dtype=np.float32)
    return np.asarray((left @ right.T).toarray(), dtype=np.float32)


def exact_ridge(kernel: Float32, targets: Float32, ridge: float) -> Ridge:
    """Solve (K + ridge I) A = Y, and predict each row from all others.

    Leaving row i out of the fit gives f_i = y_i - a_i / C_ii with C the inverse of K + ridge I.

    Args:
        kernel: (N, N) symmetric; its diagonal is changed in place.
        targets: (N, T) Y.
        ridge: added to the diagonal.
    """
    kernel[np.diag_indices_from(kernel)] += np.float32(ridge)
    factor, failed = lapack.spotrf(kernel, lower=1)
    solve, invert = lapack.spotrs, lapack.spotri
    if failed:  # rounding in single precision made it indefinite
        factor, failed = lapack.dpotrf(kernel.astype(np.float64), lower=1, overwrite_a=1)
        solve, invert = lapack.dpotrs, lapack.dpotri
    if failed:
        raise np.linalg.LinAlgError("the kernel is not positive definite")
    coefficients, _ = solve(factor, targets, lower=1)
    inverse, _ = invert(factor, lower=1, overwrite_c=1)
    diagonal = np.maximum(np.diag(inverse), 1e-12)[:, np.newaxis]
    left_out = np.asarray(targets - coefficients / diagonal, dtype=np.float32)
    return Ridge(np.ascontiguousarray(coefficients, dtype=np.float32), left_out)


def landmark_ridge(kernel_of: Any, landmarks: Any, targets: Any, ridge: float, sample: Any) -> Ridge:
    """Regress on the kernel to M landmarks only, for more documents than an (N, N) kernel allows.

    All sums over documents are in double precision: in single precision the matrix of moments is no longer
    positive definite where documents resemble each other.

    Args:
        kernel_of: function of row numbers, giving their kernel to the landmarks (rows, M).
        landmarks: (M,) row numbers.
        targets: function of row numbers, giving their targets (rows, T).
        ridge: weight of the norm of the solution.
        sample: the number of rows, and the row numbers of the documents whose leave-one-out predictions are
            wanted.
    """
    n_rows, rows = sample
    gram = np.float64(ridge) * kernel_of(landmarks).astype(np.float64)
    moments: Any = 0.0
    for first in range(0, n_rows, _BLOCK):
        block = np.arange(first, min(first + _BLOCK, n_rows))
        kernel = kernel_of(block).astype(np.float64)
        gram += kernel.T @ kernel
        moments = moments + kernel.T @ targets(block)
    factor = _factor(gram)
    coefficients = scipy.linalg.cho_solve((factor, True), moments).astype(np.float32)
    kernel = kernel_of(rows)
    half: Float64 = scipy.linalg.solve_triangular(factor, kernel.T, lower=True)
    leverage = np.minimum((half**2).sum(0), 1 - 1e-6)[:, np.newaxis]
    left_out = (kernel @ coefficients - leverage * targets(rows)) / (1 - leverage)
    return Ridge(coefficients, left_out.astype(np.float32))


def _factor(gram: Float64) -> Float64:
    """Return the lower Cholesky factor of a positive matrix, with as little added as it needs."""
    mean = float(np.trace(gram)) / len(gram)
    for jitter in _JITTERS:
        raised = gram.copy()
        raised[np.diag_indices_from(raised)] += jitter * mean
        factor, failed = lapack.dpotrf(raised, lower=1, overwrite_a=1)
        if not failed:
            return np.asarray(factor)
    raise np.linalg.LinAlgError("the matrix of moments is not positive definite")
