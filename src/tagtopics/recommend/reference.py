"""The specification of `recommend.loops`, in plain NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np


def similarities(left: Any, right: Any, left_topics: Any, right_topics: Any, topic_weight: float) -> Any:
    """Return (L, R): how alike documents are, from 0 to 1.

    The part of the words is the chi-squared kernel sum_w 2 x_w y_w / (x_w + y_w) of their shares (L, W) and
    (R, W); that of the topics is the product of the square roots of their proportions, (L, K) and (R, K).
    """
    x, y = left[:, np.newaxis], right[np.newaxis]
    words = (2 * x * y / np.maximum(x + y, 1e-300)).sum(2)
    return (1 - topic_weight) * words + topic_weight * left_topics @ right_topics.T
