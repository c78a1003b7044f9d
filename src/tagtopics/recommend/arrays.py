"""A recommender as named arrays and JSON, for saved models."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from tagtopics.corpus.core import check_array, checked_csr
from tagtopics.errors import InputError
from tagtopics.recommend.calibration import N_FEATURES, Calibration
from tagtopics.recommend.recommender import TagRecommender
from tagtopics.recommend.ridge import HALVED_FROM, LEAST, pack, stored_sizes, unpack

_PREFIX, _WITH_VECTORS = "recommender.", "with_vectors."
_MATRICES = ("counts", "tags")
_REGRESSION = ("coefficients", "own", "inverse", *Calibration._fields)
_NONE = np.zeros(0, dtype=np.float16)
_LARGEST = 1e9  # largest number in the arrays of a loaded recommender; those of a fit stay far below
_WIDEST = 1e4  # largest bandwidth; that of a fit is at most a tenth
_MOST_TOKENS = 1e15  # largest entry of a matrix; more tokens than a model can be fitted to


def recommender_to_arrays(recommender: TagRecommender | None) -> dict[str, Any]:
    """Return the arrays of a recommender by name; an empty dictionary for None."""
    if recommender is None:
        return {}
    arrays = {"topics": recommender.topics, "rows": recommender.rows} | _regression_to_arrays(recommender)
    for name in _MATRICES:
        arrays |= matrix_to_arrays(getattr(recommender, name), name)
    if (other := recommender.with_vectors) is not None:
        more = _regression_to_arrays(other) | {"vectors": other.vectors}
        arrays |= {_WITH_VECTORS + name: array for name, array in more.items()}
    return {_PREFIX + name: np.ascontiguousarray(array) for name, array in arrays.items()}


def _regression_to_arrays(recommender: TagRecommender) -> dict[str, Any]:
    coefficients, inverse = recommender.coefficients, recommender.inverse
    if coefficients.size >= HALVED_FROM:
        coefficients = coefficients.astype(np.float16)  # as a fit rounded them
    arrays = {"coefficients": coefficients, "own": recommender.own} | recommender.calibration._asdict()
    return arrays | {"inverse": pack(inverse).astype(np.float16) if len(inverse) else _NONE}


def recommender_to_json(recommender: TagRecommender | None) -> dict[str, Any] | None:
    """Return the names and numbers of a recommender; None for None."""
    if recommender is None:
        return None
    found = {"tag_names": list(recommender.tag_names), "bandwidth": recommender.bandwidth}
    if recommender.vector_weight is None:
        return found
    other = {"bandwidth": recommender.with_vectors.bandwidth} if recommender.with_vectors else {}
    return found | {"vectors": {"weight": recommender.vector_weight} | other}


def recommender_from(
    description: Any, arrays: dict[str, Any], n_words: int, n_topics: int
) -> TagRecommender | None:
    """Return the recommender that the two functions above converted; an `InputError` if it is damaged."""
    own = {name[len(_PREFIX) :]: array for name, array in arrays.items() if name.startswith(_PREFIX)}
    if description is None:
        return None
    names = description["tag_names"]
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InputError("the recommender's tag_names must be a list of strings")
    N, T = len(own["rows"]), len(names)
    regression = _regression_from(description, own, T, n_topics)
    plain = TagRecommender(
        counts=matrix_from(own, "counts", (N, n_words)),
        tags=matrix_from(own, "tags", (N, T)),
        tag_names=tuple(names),
        topics=own["topics"],
        rows=own["rows"],
        **regression,
    )
    if (of_vectors := description.get("vectors")) is None:
        return plain
    weight = float(of_vectors["weight"])
    plain = replace(plain, vector_weight=weight)
    if not weight:
        return plain
    other = own | {name: own[_WITH_VECTORS + name] for name in (*_REGRESSION, "vectors")}
    more, vectors = _regression_from(of_vectors, other, T, n_topics), other["vectors"]
    check_unit_vectors(vectors, N, "the recommender's array of vectors")
    if not 0 < weight <= 1:
        raise InputError(f"the recommender's vectors have a weight of {weight}")
    return replace(plain, with_vectors=replace(plain, vectors=vectors, **more))


def _regression_from(description: Any, own: dict[str, Any], n_tags: int, n_topics: int) -> dict[str, Any]:
    """Return the checked parts of a regression, and of what it is calibrated by, by name."""
    bandwidth = float(description["bandwidth"])
    if not 0 < bandwidth <= _WIDEST:
        raise InputError(f"the recommender's bandwidth must be above 0 and at most {_WIDEST:g}")
    if own["coefficients"].dtype == np.float16:
        own["coefficients"] = own["coefficients"].astype(np.float32)
    _check(own, n_tags, n_topics)
    calibration = Calibration(*(own[name] for name in Calibration._fields))
    parts = {"coefficients": own["coefficients"], "own": own["own"], "inverse": unpack(own["inverse"])}
    return parts | {"bandwidth": bandwidth, "calibration": calibration}


def _check(own: dict[str, Any], n_tags: int, n_topics: int) -> None:
    N = len(own["rows"])
    n_coefficients, n_inverse = stored_sizes(N, n_tags) if len(own["own"]) else (0, 0)
    wanted = {
        "coefficients": ((N if n_coefficients else 0, n_tags), np.float32),
        "inverse": ((n_inverse,), np.float16),
        "own": ((N if n_coefficients or n_inverse else 0,), np.float32),
        "topics": ((N, n_topics), np.float32),
        "rows": ((N,), np.int64),
        "weights": ((N_FEATURES,), np.float64),
        "popularity_penalty": ((n_tags,), np.float64),
        "threshold": ((n_tags,), np.float64),
    }
    for name, (shape, dtype) in wanted.items():
        check_array(own[name], shape, dtype, f"the recommender's {name}", least=-_LARGEST, most=_LARGEST)
    sums, penalty = own["topics"].sum(1, dtype=np.float64), own["popularity_penalty"]
    no_words = not N or (np.diff(own["counts.indptr"]) <= 0).any() or (own["counts.data"] < LEAST).any()
    for wrong, what in (
        ((own["topics"] < 0).any() or (np.abs(sums - 1) > 1e-3).any(), "topics are not proportions"),
        ((np.diff(own["rows"], prepend=-1) <= 0).any(), "rows do not ascend"),
        ((penalty <= 0).any(), "popularity_penalty holds numbers that are not positive"),
        (no_words, "documents must have words"),
        ((own["tags.data"] != 1).any(), "tags must be 1 where a document has a tag"),
    ):
        if wrong:
            raise InputError(f"the recommender's {what}")


def matrix_to_arrays(matrix: Any, name: str) -> dict[str, Any]:
    """Return the three arrays of a CSR array, by name; an empty dictionary for None."""
    if matrix is None:
        return {}
    return {
        f"{name}.data": np.asarray(matrix.data, dtype=np.float32),
        f"{name}.indices": np.asarray(matrix.indices, dtype=np.int32),
        f"{name}.indptr": np.asarray(matrix.indptr, dtype=np.int64),
    }


def matrix_from(arrays: dict[str, Any], name: str, shape: tuple[int, int]) -> sp.csr_array:
    """Return the CSR array that `matrix_to_arrays` converted, all that kernels rely on checked."""
    data, indices, indptr = (arrays[f"{name}.{part}"] for part in ("data", "indices", "indptr"))
    check_array(data, data.shape, np.float32, name, most=_MOST_TOKENS)
    return checked_csr(data, indices, indptr, shape, name, canonical=True)


def check_unit_vectors(vectors: Any, n: int, what: str) -> None:
    """Raise an `InputError` unless n vectors from a file have a length of one or less."""
    check_array(vectors, (n, *(vectors.shape[1:2] or (0,))), np.float32, what, least=-1.001, most=1.001)
