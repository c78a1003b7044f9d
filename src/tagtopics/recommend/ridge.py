"""Kernel ridge regression with closed-form leave-one-out predictions: all tags share one factorisation."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from tagtopics._typing import Float32, Float64

_STEP = 0.65
_FREQUENCIES = (1, 2)
"""Where the spectrum of the chi-squared kernel is sampled (Vedaldi and Zisserman 2012)."""

PARTS = 1 + 2 * len(_FREQUENCIES)
"""Features that stand for one word."""

_DENSE_COLUMNS = 1024
"""Up to so many features a dense product is faster than a sparse one."""

_BLOCK = 2048
"""Documents whose kernel values are held at a time where not all fit."""


class Ridge(NamedTuple):
    """What a ridge regression learned, and what it would have said of each document without it."""

    coefficients: Float32  # (M, T)
    left_out: Float32  # (N, T) leave-one-out predictions of the first N rows


def chi2_features(counts: Any) -> sp.csr_array:
    """Map documents so that dot products approximate sum_w 2 x_w y_w / (x_w + y_w) of word shares x, y.

    Args:
        counts: CSR (D, W).

    Returns:
        CSR (D, PARTS * W), rows of length one: the features of word w are columns w, W + w, 2 W + w, ...
    """
    csr = sp.csr_array(counts, dtype=np.float32)
    totals = np.maximum(csr.sum(axis=1, dtype=np.float64), 1e-300)
    share = csr.data / np.repeat(totals, np.diff(csr.indptr))
    parts = [np.sqrt(share * _STEP)]
    for j in _FREQUENCIES:
        scale = np.sqrt(2 * share * _STEP / np.cosh(np.pi * j * _STEP))
        angle = j * _STEP * np.log(share)
        parts += [scale * np.cos(angle), scale * np.sin(angle)]
    columns = [sp.csr_array((part, csr.indices, csr.indptr), shape=csr.shape) for part in parts]
    features = sp.csr_array(sp.hstack(columns, format="csr"), dtype=np.float32)
    lengths = np.sqrt(np.maximum(features.multiply(features).sum(axis=1), 1e-30))
    features.data /= np.repeat(lengths, np.diff(features.indptr)).astype(np.float32)
    return features


def dot_products(left: sp.csr_array, right: sp.csr_array) -> Float32:
    """Return left @ right.T as a dense array."""
    if left.shape[1] <= _DENSE_COLUMNS:
        return np.asarray(left.toarray() @ right.toarray().T, dtype=np.float32)
    return np.asarray((left @ right.T).toarray(), dtype=np.float32)


def exact_ridge(kernel: Float32, targets: Float32, ridge: float) -> Ridge:
    """Solve (K + ridge I) A = Y, and predict each row from all others.

    Leaving row i out of the fit gives f_i = y_i - a_i / C_ii with C the inverse of K + ridge I.

    Args:
        kernel: (N, N) symmetric; overwritten.
        targets: (N, T) Y.
        ridge: added to the diagonal.
    """
    kernel[np.diag_indices_from(kernel)] += np.float32(ridge)
    factor, failed = scipy.linalg.lapack.spotrf(kernel, lower=1, overwrite_a=1)
    if failed:
        raise np.linalg.LinAlgError("the kernel is not positive definite")
    coefficients, _ = scipy.linalg.lapack.spotrs(factor, targets, lower=1)
    inverse, _ = scipy.linalg.lapack.spotri(factor, lower=1, overwrite_c=1)
    diagonal = np.maximum(np.diag(inverse), 1e-12)[:, np.newaxis]
    return Ridge(np.ascontiguousarray(coefficients, dtype=np.float32), targets - coefficients / diagonal)


def landmark_ridge(kernel_of: Any, landmarks: Any, targets: Any, ridge: float, sample: Any) -> Ridge:
    """Regress on the kernel to M landmarks only, for more documents than an (N, N) kernel allows.

    Args:
        kernel_of: function of row numbers, giving their kernel to the landmarks (rows, M).
        landmarks: (M,) row numbers.
        targets: function of row numbers, giving their targets (rows, T).
        ridge: weight of the norm of the solution.
        sample: row numbers of the documents whose leave-one-out predictions are wanted; `n_rows` in all.
    """
    n_rows, rows = sample
    gram = np.float64(ridge) * kernel_of(landmarks)
    moments: Any = 0.0
    for first in range(0, n_rows, _BLOCK):
        block = np.arange(first, min(first + _BLOCK, n_rows))
        kernel = kernel_of(block)
        gram += kernel.T @ kernel
        moments = moments + kernel.T @ targets(block)
    gram[np.diag_indices_from(gram)] += 1e-6 * np.trace(gram) / len(gram)
    factor = scipy.linalg.cho_factor(gram, lower=True)
    coefficients = scipy.linalg.cho_solve(factor, moments).astype(np.float32)
    kernel = kernel_of(rows)
    half: Float64 = scipy.linalg.solve_triangular(factor[0], kernel.T, lower=True)
    leverage = np.minimum((half**2).sum(0), 1 - 1e-6)[:, np.newaxis]
    left_out = (kernel @ coefficients - leverage * targets(rows)) / (1 - leverage)
    return Ridge(coefficients, left_out.astype(np.float32))
