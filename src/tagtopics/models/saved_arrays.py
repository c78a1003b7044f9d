"""The arrays of a saved model, and what must hold of them; `save` and `load` make the same checks."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from tagtopics.corpus.core import check_array
from tagtopics.errors import InputError
from tagtopics.models.base import TopicModel
from tagtopics.models.topic_words import CANDIDATES
from tagtopics.recommend.arrays import check_unit_vectors, matrix_to_arrays, recommender_to_arrays

NAMES = {"vocabulary_": "W", "tag_names_": "T", "doc_ids_": "D"}
"""The names that every model has, and the axis of arrays that they belong to."""

# The arrays that every model has, with their axes.
_ARRAYS: dict[str, tuple[str, ...]] = {
    "components_": ("K", "W"),
    "doc_topic_": ("D", "K"),
    "topic_sums_": ("K",),
    "tag_docs_": ("T",),
    "doc_topic_prior_": ("K",),
    "topic_words_": ("K", "words listed"),
}

# Types of arrays; all others are of type float64.
_DTYPES = {
    "components_": "f4",
    "doc_topic_": "f4",
    "doc_topic_prior_": "f4",
    "tag_docs_": "i8",
    "topic_words_": "i4",
}

# Largest number in an array: more tokens than a model can be fitted to.
_LARGEST = 1e15

# Least prior of the largest topic; a fit takes 1e-9 or more.
_LEAST_PRIOR = 1e-12

_LAYERS = {
    "curation_": "tagtopics.curation.journal",
    "names_": "tagtopics.subjects.tag_names",
    "visual_": "tagtopics.images.vocabulary",
}


def layer_of(attribute: str) -> Any:
    """Return the module of a layer that converts an attribute; it is imported for models that have it."""
    return import_module(_LAYERS[attribute])


def arrays_of(model: TopicModel) -> dict[str, tuple[str, ...]]:
    """Return the arrays of a model and their axes."""
    return _ARRAYS | model._saved_arrays


def arrays_to_save(model: TopicModel) -> dict[str, Any]:
    """Return all arrays of a model by name, those of its recommender, tag names and images included."""
    listed = {"topic_words_": model.listed_words(CANDIDATES).astype(np.int32)}
    own = {name: getattr(model, name) for name in arrays_of(model)} | listed
    arrays = {name: np.ascontiguousarray(value) for name, value in own.items()}
    arrays |= recommender_to_arrays(model.recommender_)
    named = model.names_ if model.recommender_ is not None else None
    arrays |= {} if named is None else layer_of("names_").names_to_arrays(named)
    arrays |= matrix_to_arrays(model.tag_words_, "tag_words_")
    arrays |= {} if model.vectors_ is None else {"vectors_": np.ascontiguousarray(model.vectors_)}
    return arrays | ({} if model.visual_ is None else layer_of("visual_").visual_to_arrays(model.visual_))


def check_arrays(arrays: dict[str, Any], sizes: dict[str, int], model: TopicModel) -> None:
    """Raise an `InputError` unless the model's own arrays have the sizes of its axes and possible numbers."""
    sizes = sizes | {"words listed": min(CANDIDATES, sizes["W"])}
    for name, axes in arrays_of(model).items():
        if name not in arrays:
            raise InputError(f"arrays.safetensors has no {name}")
        shape = tuple(sizes[axis] for axis in axes)
        check_array(arrays[name], shape, _DTYPES.get(name, "f8"), name, most=_LARGEST)
    for name in ("components_", "doc_topic_"):
        if (np.abs(arrays[name].sum(1, dtype=np.float64) - 1) > 1e-3).any():
            raise InputError(f"{name} is damaged: its rows do not add up to one")
    vectors = arrays.get("vectors_")
    if vectors is not None:
        check_unit_vectors(vectors, max(1, min(len(vectors), sizes["D"])), "vectors_")
    prior = arrays["doc_topic_prior_"]
    if prior.size and not (prior.min() > 0 and prior.max() >= _LEAST_PRIOR):
        raise InputError("doc_topic_prior_ holds numbers that are not positive, or too small")
    words = np.sort(arrays["topic_words_"], axis=1)
    if (words >= sizes["W"]).any() or (np.diff(words) == 0).any():
        raise InputError("topic_words_ is damaged: its rows are not numbers of different words")
