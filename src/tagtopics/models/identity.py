"""What a fit is of: two fits with the same identity end with the same bits."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from tagtopics.corpus.core import Corpus

if TYPE_CHECKING:
    from tagtopics.models.base import TopicModel

_FREE = ("n_jobs", "max_iter", "tol")
"""Parameters that may change from one part of a fit to the next."""


def identity_of(model: TopicModel, corpus: str) -> dict[str, Any]:
    """Return what decides about the result of a fit, JSON: the model, its parameters, the corpus's digest."""
    parameters = {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in model.get_params(deep=False).items()
        if name not in _FREE
    }
    return {"model": type(model).__name__, "parameters": parameters, "corpus": corpus}


def digest_of(corpus: Corpus) -> str:
    """Return a hash of the counts, the tags and their names."""
    digest = hashlib.sha256()
    for matrix in (corpus.counts, corpus.tags):
        for array in (np.array(matrix.shape), matrix.indptr, matrix.indices, matrix.data):
            digest.update(np.ascontiguousarray(array).data)
    digest.update("\n".join((*corpus.vocabulary, "", *corpus.tag_names)).encode("utf-8", "replace"))
    return digest.hexdigest()
