"""The specification of `products`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tagtopics._typing import Float64, Int64


def row_products(one: Any, a: Int64, other: Any, b: Int64) -> Float64:
    """Return (P,): the products of rows `a` of a matrix and rows `b` of another."""
    left, right = one.toarray(), other.toarray()
    return np.array([left[i] @ right[j] for i, j in zip(a, b, strict=True)])
