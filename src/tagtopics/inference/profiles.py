"""The joint profile of tags: which topics they have in common."""

from __future__ import annotations

from typing import Any

import numpy as np

from tagtopics._typing import Float64


def joint_profile(profiles: Any) -> Float64:
    """Return (K,): the normalised product of profiles (n, K), the tags' hyperedge factor of full order.

    It is uniform if the profiles have no topic in common.
    """
    profiles = np.asarray(profiles, dtype=np.float64)
    product = np.prod(profiles, axis=0)
    total = product.sum()
    if total < 1e-250:  # many factors: without logarithms the product would underflow
        with np.errstate(divide="ignore"):
            logs = np.log(profiles).sum(0)
        if not np.isfinite(logs).any():
            return np.full(profiles.shape[1], 1.0 / profiles.shape[1])
        product = np.exp(logs - logs.max())
        total = product.sum()
    return np.asarray(product / total)
