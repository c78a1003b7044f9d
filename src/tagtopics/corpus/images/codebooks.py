"""Learning a codebook: k-means on a sample of tiles, the same bits for the same seed."""

from __future__ import annotations

import warnings

import numpy as np

from tagtopics._typing import Float32


def learn_codebook(tiles: Float32, size: int, seed: int) -> Float32:
    """Return the k-means centres (size, dimensions) of tiles, in the order of the tiles they stand for.

    There are fewer centres where there are fewer distinct tiles. Run it on one thread: k-means adds up in the
    order in which its threads end.
    """
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    distinct = np.unique(tiles, axis=0)
    if len(distinct) <= size:
        return distinct
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", ConvergenceWarning
        )  # near-equal tiles; a codebook need not be optimal
        found = KMeans(size, n_init=1, max_iter=60, tol=1e-4, random_state=seed).fit(tiles)
    centres = found.cluster_centers_.astype(np.float32)
    commonest = np.argsort(-np.bincount(found.labels_, minlength=size), kind="stable")
    return np.ascontiguousarray(centres[commonest])
