"""Supervised multiclass labelling (Carneiro et al. 2007): the paper's baseline for images."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from tagtopics._blas import single_thread
from tagtopics._typing import Float32, Float64
from tagtopics.corpus.tags import tags_of_labels
from tagtopics.errors import InputError
from tagtopics.images.decode import WORKING_PIXELS, Sizing, each_image, list_images, read_image
from tagtopics.images.descriptors import planes_of, windows
from tagtopics.jit.threads import results_of, thread_limit

_PATCH = 8  # side of a patch, in pixels
LEAST_VARIANCE = 0.15
"""Smallest variance, as a share of the variance of the features. Without it, flat patches give Gaussians so
narrow that a few unusual patches would decide about the tags of an image (decision 243)."""


class SML(BaseEstimator):  # type: ignore[misc]
    """Supervised multiclass labelling: one Gaussian mixture per tag, tags ranked by Bayes' rule.

    Each image is a bag of 8 x 8 patches, described by the low frequencies of their discrete cosine transform
    in YCbCr. A mixture is fitted to each image, and a larger one to the mixtures of all images of a tag
    (hierarchical EM). A new image gets the tags under which its patches are most likely.

    Args:
        n_image_components: Gaussians per image.
        n_tag_components: maximum number of Gaussians per tag.
        n_frequencies: coefficients kept of each of the three planes, of 64.
        step: pixels from one patch to the next.
        max_iter: EM steps, for images and for tags.
        prior_weight: weight of the log frequency of a tag, added to the mean log likelihood of a patch.
        working_pixels: images are scaled to this area; None keeps their size.
        random_state: seed; equal seeds give equal bits at any `n_jobs`.
        n_jobs: threads; None or -1 for all cores.

    Attributes:
        tag_names_: the T tags.
        mixtures_: one for each tag that some image has; None for other tags.
        tag_docs_: (T,) number of images that carry each tag.
    """

    def __init__(
        self,
        n_image_components: int = 8,
        n_tag_components: int = 64,
        *,
        n_frequencies: int = 21,
        step: int = 6,
        max_iter: int = 15,
        prior_weight: float = 0.0,
        working_pixels: int | None = WORKING_PIXELS,
        random_state: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_image_components = n_image_components
        self.n_tag_components = n_tag_components
        self.n_frequencies = n_frequencies
        self.step = step
        self.max_iter = max_iter
        self.prior_weight = prior_weight
        self.working_pixels = working_pixels
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, images: Iterable[Any], y: Any) -> Self:
        """Learn a mixture for each tag.

        Args:
            images: paths, arrays or Pillow images; all of them must be readable.
            y: their tags: lists of strings, or an indicator matrix (D, T).
        """
        self._check()
        found = list_images(images)
        tags, self.tag_names_ = tags_of_labels(y, len(found))
        self.floor_ = self._floor(found)
        of_images = self._each(self._mixture_of_image, found)
        self.tag_docs_ = np.asarray(tags.sum(0), dtype=np.int64).ravel()
        by_tag = tags.tocsc()

        def merge(tag: int) -> Mixture | None:
            own = [of_images[d] for d in by_tag.indices[by_tag.indptr[tag] : by_tag.indptr[tag + 1]]]
            if not own:
                return None
            rng = np.random.default_rng([self.random_state, 2, tag])
            return merge_mixtures(own, self.n_tag_components, self.floor_, rng, self.max_iter)

        with single_thread(), thread_limit(self.n_jobs):
            self.mixtures_ = results_of(merge, range(tags.shape[1]))
        return self

    def scores(self, images: Iterable[Any]) -> Float64:
        """Return (D, T): the mean log likelihood of an image's patches under each tag, and its prior.

        A tag that no image of the fit carries has minus infinity.
        """
        check_is_fitted(self)
        mixtures = {t: mixture for t, mixture in enumerate(self.mixtures_) if mixture is not None}

        def likelihoods(at: int, image: Any) -> Float64:
            patches = self._patches(image)
            return np.array([log_likelihood(mixture, patches) for mixture in mixtures.values()])

        rows, known = self._each(likelihoods, list_images(images)), list(mixtures)
        scores = np.full((len(rows), len(self.tag_names_)), -np.inf)
        prior = np.log(np.maximum(self.tag_docs_[known], 1) / max(self.tag_docs_.sum(), 1))
        scores[:, known] = np.stack(rows) + self.prior_weight * prior
        return scores

    def recommend(self, images: Iterable[Any], top: int = 5) -> list[list[tuple[str, float]]]:
        """Return for each image its most likely tags with their scores."""
        best = []
        for row in self.scores(images):
            order = np.argsort(-row, kind="stable")[:top]
            best.append([(self.tag_names_[t], float(row[t])) for t in order])
        return best

    def _each(self, function: Any, images: list[Any]) -> list[Any]:
        return each_image(function, images, self.n_jobs)[0]

    def _mixture_of_image(self, at: int, image: Any) -> Mixture:
        rng = np.random.default_rng([self.random_state, 1, at])
        return fit_mixture(self._patches(image), self.n_image_components, self.floor_, rng, self.max_iter)

    def _patches(self, image: Any) -> Float32:
        """Return (patches, 3 x frequencies) of one image."""
        pixels = read_image(image, Sizing(self.working_pixels, _PATCH))
        basis = _basis(self.n_frequencies)
        planes = (windows(plane, _PATCH, self.step).reshape(-1, _PATCH**2) for plane in planes_of(pixels))
        return np.hstack([plane @ basis for plane in planes])

    def _floor(self, images: list[Any]) -> Float32:
        """Return the smallest variances: a share of the variances of the patches of some images."""
        some = images[:: max(1, len(images) // 50)]
        patches = np.concatenate(self._each(lambda at, image: self._patches(image), some))
        return np.asarray(LEAST_VARIANCE * patches.var(0) + 1e-3, dtype=np.float32)

    def _check(self) -> None:
        for name in ("n_image_components", "n_tag_components", "n_frequencies", "step", "max_iter"):
            value = getattr(self, name)
            if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 1:
                raise InputError(f"SML: {name} must be a whole number, 1 or more, not {value!r}")
        if self.n_frequencies > _PATCH**2:
            raise InputError(f"SML: n_frequencies must be at most {_PATCH**2}, not {self.n_frequencies}")


def _basis(n: int) -> Float32:
    """Return (64, n): the first n basis images of the cosine transform of 8 x 8, low frequencies first."""
    from scipy.fft import dct

    one = dct(np.eye(_PATCH), axis=0, norm="ortho")
    order = sorted(range(_PATCH**2), key=lambda i: (i // _PATCH + i % _PATCH, i))
    images = [np.outer(one[i // _PATCH], one[i % _PATCH]).ravel() for i in order[:n]]
    return np.stack(images, axis=1).astype(np.float32)


class Mixture(NamedTuple):
    """K Gaussians in d dimensions."""

    weights: Float32  # (K,) add up to one
    means: Float32  # (K, d)
    variances: Float32  # (K, d)


def log_densities(mixture: Mixture, x: Float32) -> Float32:
    """Return log w_k - 1/2 sum_i [(x_i - m_ki)^2 / v_ki + log 2 pi v_ki], (n, K), for samples x (n, d).

    It is computed as x @ linear + x^2 @ square + offset: two products of matrices.
    """
    weights, means, variances = mixture
    precision = 1.0 / variances
    offset = (
        np.log(np.maximum(weights, 1e-12))
        - 0.5 * np.log(2 * np.pi * variances).sum(1)
        - 0.5 * (means**2 * precision).sum(1)
    )
    logs = x @ np.ascontiguousarray((means * precision).T)
    logs += (x * x) @ np.ascontiguousarray(-0.5 * precision.T)
    logs += offset
    return np.asarray(logs)


def log_likelihood(mixture: Mixture, x: Float32) -> float:
    """Return the mean log density of samples (n, d) under a mixture."""
    logs = log_densities(mixture, x)
    top = logs.max(1, keepdims=True)
    logs -= top
    np.exp(logs, out=logs)
    return float((top[:, 0] + np.log(logs.sum(1))).mean(dtype=np.float64))


def fit_mixture(
    x: Float32, n_components: int, floor: Float32, rng: np.random.Generator, max_iter: int
) -> Mixture:
    """Fit a mixture to samples (n, d) by EM from randomly chosen ones; `floor` are the smallest variances."""
    K = min(n_components, len(x))
    means = x[rng.choice(len(x), K, replace=False)]
    spread = np.maximum(x.var(0), floor)
    mixture = Mixture(np.full(K, 1 / K, np.float32), means, np.tile(spread, (K, 1)))
    squares = x * x
    for _ in range(max_iter):
        shares = _shares(log_densities(mixture, x))
        mixture = _mixture(shares, x, squares, floor)
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
    chances = weights.astype(np.float64) + 1e-9
    start = rng.choice(len(means), K, replace=False, p=chances / chances.sum())
    pooled = variances.mean(0) + means.var(0)
    parent = Mixture(np.full(K, 1 / K, np.float32), means[start], np.tile(pooled, (K, 1)))
    squares = variances + means**2
    for _ in range(max_iter):
        flat = parent._replace(weights=np.ones(K, np.float32))
        fit = log_densities(flat, means) - 0.5 * (variances @ (1.0 / parent.variances).T)
        shares = _shares(fit * power + np.log(parent.weights))
        parent = _mixture(shares * weights[:, np.newaxis], means, squares, floor)
    return parent


def _shares(log_weights: Float32) -> Float32:
    """Return rows of probabilities from rows of logarithms."""
    shares = np.exp(log_weights - log_weights.max(1, keepdims=True))
    return np.asarray(shares / shares.sum(1, keepdims=True))


def _mixture(shares: Float32, x: Float32, squares: Float32, floor: Float32) -> Mixture:
    """Return the mixture whose Gaussians have shares (n, K) of samples (n, d), from the first two moments."""
    total = shares.sum(0) + 1e-6
    means = (shares.T @ x) / total[:, np.newaxis]
    variances = (shares.T @ squares) / total[:, np.newaxis] - means**2
    return Mixture(total / total.sum(), means, np.maximum(variances, floor))
