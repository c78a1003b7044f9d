"""Gaussian mixtures with diagonal covariances: EM on samples, and EM on other mixtures."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tagtopics._typing import Float32, Float64

LEAST_VARIANCE = 0.15
"""Smallest variance, as a share of the variance of the features. Without it, flat patches give Gaussians so
narrow that a few unusual patches would decide about the tags of an image (decision 043)."""


class Mixture(NamedTuple):
    """K Gaussians in d dimensions."""

    weights: Float32  # (K,) add up to one
    means: Float32  # (K, d)
    variances: Float32  # (K, d)


class Densities(NamedTuple):
    """A mixture prepared for many samples: log (weight x density) = x @ linear + x*x @ square + offset."""

    linear: Float32  # (d, K)
    square: Float32  # (d, K)
    offset: Float32  # (K,)

    def __call__(self, x: Float32) -> Float32:
        """Return (n, K) for samples (n, d)."""
        total = x @ self.linear
        total += (x * x) @ self.square
        total += self.offset
        return np.asarray(total)


def densities_of(mixture: Mixture) -> Densities:
    """Return log w_k - 1/2 sum_i [(x_i - m_ki)^2 / v_ki + log 2 pi v_ki] as products of matrices."""
    precision = 1.0 / mixture.variances
    offset = (
        np.log(np.maximum(mixture.weights, 1e-12))
        - 0.5 * np.log(2 * np.pi * mixture.variances).sum(1)
        - 0.5 * (mixture.means**2 * precision).sum(1)
    )
    linear = np.ascontiguousarray((mixture.means * precision).T)
    return Densities(linear, np.ascontiguousarray(-0.5 * precision.T), offset)


def log_likelihood(x: Float32, densities: Densities) -> float:
    """Return the mean log density of samples (n, d) under a mixture."""
    logs = densities(x)
    top = logs.max(1, keepdims=True)
    logs -= top
    np.exp(logs, out=logs)
    return float((top[:, 0] + np.log(logs.sum(1))).mean(dtype=np.float64))


def fit_mixture(
    x: Float32, n_components: int, floor: Float32, rng: np.random.Generator, max_iter: int
) -> Mixture:
    """Fit a mixture to samples by EM from randomly chosen ones.

    Args:
        x: (n, d) samples.
        n_components: maximum of K; fewer if there are fewer samples.
        floor: (d,) smallest variances.
        rng: for choosing the start.
        max_iter: EM steps.
    """
    K = min(n_components, len(x))
    means = x[rng.choice(len(x), K, replace=False)]
    spread = np.maximum(x.var(0), floor)
    mixture = Mixture(np.full(K, 1 / K, np.float32), means, np.tile(spread, (K, 1)))
    squares = x * x
    for _ in range(max_iter):
        shares = _shares(densities_of(mixture)(x))
        total = shares.sum(0) + 1e-6
        means = (shares.T @ x) / total[:, np.newaxis]
        variances = (shares.T @ squares) / total[:, np.newaxis] - means**2
        mixture = Mixture(total / total.sum(), means, np.maximum(variances, floor))
    return mixture


def merge_mixtures(
    mixtures: list[Mixture], n_components: int, floor: Float32, rng: np.random.Generator, max_iter: int
) -> Mixture:
    """Fit one mixture to several by hierarchical EM (Vasconcelos and Lippman, 1999), without their samples.

    A Gaussian j of the children belongs to Gaussian k of the parent with probability

        h_jk  proportional to  pi_k [ N(mu_j; m_k, V_k) exp(-1/2 tr(V_k^-1 Sigma_j)) ]^(pi_j N)

    and the parent's moments are those of its children, weighted by h_jk pi_j. N is the number of Gaussians a
    child has, so that the exponent is one on average and shares are neither all equal nor all 0 or 1.
    """
    weights = np.concatenate([m.weights for m in mixtures])
    means = np.concatenate([m.means for m in mixtures])
    variances = np.concatenate([m.variances for m in mixtures])
    K = min(n_components, len(means))
    power = (weights * len(weights) / len(mixtures))[:, np.newaxis]
    start = rng.choice(len(means), K, replace=False, p=_chances(weights))
    parent = Mixture(np.full(K, 1 / K, np.float32), means[start], np.tile(_pooled(means, variances), (K, 1)))
    for _ in range(max_iter):
        flat = parent._replace(weights=np.ones(K, np.float32))
        fit = densities_of(flat)(means) - 0.5 * (variances @ (1.0 / parent.variances).T)
        shares = _shares(fit * power + np.log(parent.weights))
        weighted = shares * weights[:, np.newaxis]
        total = weighted.sum(0) + 1e-6
        new_means = (weighted.T @ means) / total[:, np.newaxis]
        second = (weighted.T @ (variances + means**2)) / total[:, np.newaxis]
        parent = Mixture(total / total.sum(), new_means, np.maximum(second - new_means**2, floor))
    return parent


def _pooled(means: Float32, variances: Float32) -> Float32:
    return np.asarray(variances.mean(0) + means.var(0))


def _chances(weights: Float32) -> Float64:
    chances = weights.astype(np.float64) + 1e-9
    return np.asarray(chances / chances.sum())


def _shares(log_weights: Float32) -> Float32:
    """Return rows of probabilities from rows of logarithms."""
    shares = np.exp(log_weights - log_weights.max(1, keepdims=True))
    return np.asarray(shares / shares.sum(1, keepdims=True))
