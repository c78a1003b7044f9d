"""The specification of `recommend.loops`, in plain NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np


def similarities(left: Any, right: Any, left_topics: Any, right_topics: Any, topic_weight: float) -> Any:
    """Return (L, R): how alike documents are, from 0 to 1.

    The part of the words is the chi-squared kernel sum_w 2 x_w y_w / (x_w + y_w) of their shares.

    Args:
        left: (L, W) shares of words; rows add up to one.
        right: (R, W) likewise.
        left_topics: (L, K) square roots of topic proportions.
        right_topics: (R, K) likewise.
        topic_weight: share of the topics; the other share is that of the words.
    """
    x, y = left[:, np.newaxis], right[np.newaxis]
    words = (2 * x * y / np.maximum(x + y, 1e-300)).sum(2)
    return (1 - topic_weight) * words + topic_weight * left_topics @ right_topics.T


def weigh(alike: Any, trained: Any, n: int, bandwidth: float, ridge: float) -> tuple[Any, Any]:
    """Return the n nearest documents of one new document, in order, and their weights.

    Args:
        alike: (N,) similarities of the new document with the training documents.
        trained: (N, N) similarities of the training documents.
        n: how many neighbours.
        bandwidth: of the kernel exp(-bandwidth (1 - similarity)).
        ridge: added to the diagonal of the kernel of the neighbours.
    """
    rows = np.sort(np.argsort(-alike, kind="stable")[:n])
    kernel = np.exp(-bandwidth * (1 - trained[np.ix_(rows, rows)]))
    values = np.exp(-bandwidth * (1 - alike[rows]))
    return rows, np.linalg.solve(kernel + ridge * np.eye(len(rows)), values)


def best_without(coefficients: Any, scale: Any, tags: Any, n: int) -> Any:
    """Return (D, n): the tags with the largest positive scores, the first of equals first, filled up with -1.

    Args:
        coefficients: (D, T) of the documents.
        scale: (D,) what they are multiplied with.
        tags: (D, T) added to it, 0 or 1.
        n: how many.
    """
    scores = coefficients * scale[:, np.newaxis] + tags
    best = np.argsort(-scores, axis=1, kind="stable")[:, :n]
    places = np.full((len(scores), n), -1)
    places[:, : best.shape[1]] = np.where(np.take_along_axis(scores, best, 1) > 0, best, -1)
    return places
