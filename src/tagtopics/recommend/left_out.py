"""Answers to training documents, each without itself, where all of them are in one regression.

Its coefficients tell these answers in closed form (`ridge.solve_part`), so that nothing is compared, and the
full table of documents and tags is not needed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tagtopics._typing import Float32, Int64
from tagtopics.jit.threads import run_ranges
from tagtopics.recommend import loops
from tagtopics.recommend.recommender import TagRecommender
from tagtopics.recommend.ridge import PART, RIDGE


def is_one_regression(recommender: TagRecommender) -> bool:
    """Return whether all training documents are in one regression."""
    return 0 < len(recommender.coefficients) <= PART


def scores_at(recommender: TagRecommender, own: Int64, tags: Int64, carried: Any) -> Float32:
    """Return (P,): what the regression predicts for pairs of document and tag, without the document.

    Args:
        recommender: with one regression.
        own: (P,) numbers of training documents.
        tags: (P,) columns.
        carried: (P,) whether the document has the tag.
    """
    scores = recommender.coefficients[own, tags] * _scale(recommender, own)
    return np.asarray(scores + carried.astype(np.float32), dtype=np.float32)


def best_tags(recommender: TagRecommender, own: Int64, n: int, n_threads: int) -> Int64:
    """Return (D, n): the tags with the largest positive scores of training documents, largest first.

    The first of equals is first; -1 fills up the rest. See `scores_at`.
    """
    tags, places = recommender.tags[own], np.full((len(own), n), -1, dtype=np.int64)
    offsets, columns = tags.indptr.astype(np.int64), tags.indices.astype(np.int64)
    width = recommender.coefficients.shape[1]
    run_ranges(
        loops.best_without, np.arange(len(own) + 1), width, n_threads,
        recommender.coefficients, own, _scale(recommender, own), offsets, columns, places,
    )  # fmt: skip
    return places


def _scale(recommender: TagRecommender, own: Int64) -> Float32:
    return np.asarray(-(recommender.own[own] + RIDGE), dtype=np.float32)
