"""Topics of one model matched with the topics of another."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from tagtopics._blas import single_thread
from tagtopics._typing import Float64, Int64

FOUND = 0.8
"""Cosine similarity from which two matched topics count as the same topic."""


class Matching(NamedTuple):
    """One-to-one pairs of topics, as many as the smaller model has."""

    rows: Int64  # (N,) topics of the first model, ascending
    columns: Int64  # (N,) the topic of the second model that each is matched with
    similarity: Float64  # (N,) cosine similarity of each pair


def similarities(first: Any, second: Any) -> Float64:
    """Return (K, L): the cosine similarities of topics (K, W) and (L, W) over the same words."""
    with single_thread():
        return np.asarray(_unit(first) @ _unit(second).T)


def best_pairs(similarity: Float64) -> Matching:
    """Return the one-to-one pairs of rows and columns whose similarities add up to the most."""
    rows, columns = linear_sum_assignment(similarity, maximize=True)
    return Matching(rows.astype(np.int64), columns.astype(np.int64), similarity[rows, columns])


def match_topics(first: Any, second: Any) -> Matching:
    """Return the best one-to-one pairs of topics (K, W) and (L, W) over the same words."""
    return best_pairs(similarities(first, second))


def found_again(first: Any, second: Any) -> Any:
    """Return (K,) of bool: which topics of the first (K, W) are found in the second (L, W)."""
    pairs = match_topics(first, second)
    found = np.zeros(len(first), dtype=bool)
    found[pairs.rows] = pairs.similarity >= FOUND
    return found


def _unit(topics: Any) -> Float64:
    wide = np.asarray(topics, dtype=np.float64)
    lengths = np.sqrt(np.einsum("kw,kw->k", wide, wide))
    return np.asarray(wide / np.maximum(lengths, 1e-300)[:, np.newaxis])
