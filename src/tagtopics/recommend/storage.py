"""Conversion of a recommender to arrays and JSON, and back, with all checks."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from tagtopics.corpus.core import checked_csr
from tagtopics.errors import InputError
from tagtopics.recommend.calibration import Calibration
from tagtopics.recommend.recommender import TagRecommender

_PREFIX = "recommender."
_MATRICES = ("landmark_counts", "company")
_ARRAYS = ("landmark_topics", "coefficients", "tag_docs")
_OF_CALIBRATION = ("weights", "handicap")

_LARGEST = 1e9
"""Largest number in a recommender's arrays; those of a fit stay far below, and larger ones could overflow."""


def recommender_to_arrays(recommender: TagRecommender | None) -> dict[str, Any]:
    """Return the arrays of a recommender by name; an empty dictionary for None."""
    if recommender is None:
        return {}
    arrays = {name: getattr(recommender, name) for name in _ARRAYS}
    arrays |= {name: getattr(recommender.calibration, name) for name in _OF_CALIBRATION}
    for name in _MATRICES:
        arrays |= matrix_to_arrays(getattr(recommender, name), name)
    return {_PREFIX + name: np.ascontiguousarray(array) for name, array in arrays.items()}


def recommender_to_json(recommender: TagRecommender | None) -> dict[str, Any] | None:
    """Return the names and numbers of a recommender; None for None."""
    if recommender is None:
        return None
    return {
        "tag_names": list(recommender.tag_names),
        "bandwidth": recommender.bandwidth,
        "n_docs": recommender.n_docs,
        "threshold": recommender.calibration.threshold,
    }


def recommender_from(
    description: Any, arrays: dict[str, Any], n_words: int, n_topics: int
) -> TagRecommender | None:
    """Return the recommender that the two functions above converted; None for None.

    Raises:
        InputError: if its parts do not fit together.
    """
    if description is None:
        return None
    names = description["tag_names"]
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InputError("the recommender's tag_names must be a list of strings")
    own = {name[len(_PREFIX) :]: array for name, array in arrays.items() if name.startswith(_PREFIX)}
    _check(own, len(names), n_topics)
    M, T = own["coefficients"].shape
    calibration = Calibration(own["weights"], own["handicap"], float(description["threshold"]))
    return TagRecommender(
        landmark_counts=matrix_from(own, "landmark_counts", (M, n_words)),
        landmark_topics=own["landmark_topics"],
        coefficients=own["coefficients"],
        bandwidth=float(description["bandwidth"]),
        tag_docs=own["tag_docs"],
        n_docs=max(int(description["n_docs"]), 1),
        company=matrix_from(own, "company", (T, T)),
        calibration=calibration,
        tag_names=tuple(names),
    )


def _check(own: dict[str, Any], n_tags: int, n_topics: int) -> None:
    M = len(own["landmark_counts.indptr"]) - 1
    wanted = {
        "coefficients": ((M, n_tags), np.float32),
        "landmark_topics": ((M, n_topics), np.float32),
        "tag_docs": ((n_tags,), np.int64),
        "weights": ((6,), np.float64),
        "handicap": ((n_tags,), np.float64),
    }
    for name, (shape, dtype) in wanted.items():
        if own[name].shape != shape or own[name].dtype != dtype:
            found = f"{own[name].dtype} {own[name].shape}"
            raise InputError(f"the recommender's {name} is {found}, not {np.dtype(dtype)} {shape}")
        if not (np.abs(own[name]) <= _LARGEST).all():
            raise InputError(f"the recommender's {name} holds numbers that are not finite or too large")
    if (own["landmark_topics"] < 0).any() or (own["tag_docs"] < 0).any():
        raise InputError("the recommender's landmark_topics or tag_docs are negative")
    if (own["landmark_topics"] > 1.001).any():
        raise InputError("the recommender's landmark_topics are not proportions")
    if (own["handicap"] <= 0).any():
        raise InputError("the recommender's handicap holds numbers that are not positive")


def matrix_to_arrays(matrix: Any, name: str) -> dict[str, Any]:
    """Return the three arrays of a CSR array, by name; an empty dictionary for None."""
    if matrix is None:
        return {}
    return {
        f"{name}.data": np.asarray(matrix.data, dtype=np.float32),
        f"{name}.indices": np.asarray(matrix.indices, dtype=np.int64),
        f"{name}.indptr": np.asarray(matrix.indptr, dtype=np.int64),
    }


def matrix_from(arrays: dict[str, Any], name: str, shape: tuple[int, int]) -> sp.csr_array:
    """Return the CSR array that `matrix_to_arrays` converted; its entries must be finite and not negative."""
    data, indices, indptr = (arrays[f"{name}.{part}"] for part in ("data", "indices", "indptr"))
    matrix = checked_csr(data, indices, indptr, shape, name)
    if not np.isfinite(matrix.data).all() or (matrix.data < 0).any():
        raise InputError(f"{name} holds numbers that are negative or not finite")
    return matrix
