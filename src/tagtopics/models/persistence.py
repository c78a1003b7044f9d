"""Models on disk: a folder with `model.json` and `arrays.safetensors`. Never pickle; nothing is run."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from tagtopics.baselines.atm import ATM
from tagtopics.baselines.labeled_lda import LabeledLDA
from tagtopics.baselines.rtm import RTM
from tagtopics.corpus.core import Corpus
from tagtopics.corpus.images.settings import visual_from, visual_to_arrays, visual_to_json
from tagtopics.corpus.recipe import recipe_from_json, recipe_to_json
from tagtopics.errors import InputError
from tagtopics.models.base import TopicModel
from tagtopics.models.kept_corpus import keep_corpus
from tagtopics.models.lda import LDA
from tagtopics.models.ttm import TTM
from tagtopics.models.validation import check_parameters
from tagtopics.recommend.storage import (
    matrix_from,
    matrix_to_arrays,
    recommender_from,
    recommender_to_arrays,
    recommender_to_json,
)

SCHEMA = 1
"""Version of the layout; a reader refuses what is newer than itself."""

_CLASSES: dict[str, type[TopicModel]] = {model.__name__: model for model in (ATM, LDA, LabeledLDA, RTM, TTM)}
_ARRAYS: dict[str, tuple[str, ...]] = {
    "components_": ("K", "W"),
    "doc_topic_": ("D", "K"),
    "topic_sums_": ("K",),
    "tag_docs_": ("T",),
    "doc_topic_prior_": ("K",),
}
_MORE_ARRAYS: dict[str, dict[str, tuple[str, ...]]] = {
    "ATM": {"tag_sums_": ("T", "K")},
    "LDA": {"tag_sums_": ("T", "K"), "tag_squares_": ("T", "K")},
    "LabeledLDA": {},
    "RTM": {"tag_sums_": ("T", "K"), "tag_squares_": ("T", "K"), "link_probabilities_": ("K + 1",)},
    "TTM": {"tag_sums_": ("T", "K"), "tag_squares_": ("T", "K")},
}
_NUMBERS: dict[str, tuple[str, ...]] = {
    "TTM": ("pairwise_weight_", "higher_order_weight_", "tag_pseudo_count_")
}
"""Numbers that a fit may learn, by class; a parameter of the same name says what was asked for."""

_NAMES = {"vocabulary_": "W", "tag_names_": "T", "doc_ids_": "D"}


def save_model(model: TopicModel, path: str | Path, corpus: Corpus | None = None) -> None:
    """Write a fitted model to a new folder, or in place of an older model; never half of it.

    Args:
        model: the model.
        path: the folder.
        corpus: the documents to keep in it, if any.
    """
    path = Path(path)
    if path.exists() and not (path / "model.json").is_file():
        raise InputError(f"{path} exists and is no model; choose another place")
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    try:
        arrays = {name: np.ascontiguousarray(getattr(model, name)) for name in _arrays_of(model)}
        arrays |= recommender_to_arrays(model.recommender_)
        arrays |= matrix_to_arrays(model.tag_words_, "tag_words_")
        save_file(arrays | visual_to_arrays(model.visual_), temporary / "arrays.safetensors")
        text = json.dumps(_description(model), ensure_ascii=False, indent=1)
        (temporary / "model.json").write_text(text, encoding="utf-8")
        if corpus is not None:
            keep_corpus(corpus, temporary)
        temporary.chmod(0o755)
        _replace(temporary, path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def load_model(path: str | Path) -> TopicModel:
    """Read a model that `save_model` wrote; anything else is an `InputError`, and nothing of it is run."""
    path = Path(path)
    if not path.exists():
        raise InputError(f"no such model: {path}")
    if not (path / "model.json").is_file():
        raise InputError(f"{path} is no model: it has no model.json")
    try:
        description = json.loads((path / "model.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path / 'model.json'} cannot be read: {error}") from None
    try:
        return _restored(description, _read_arrays(path / "arrays.safetensors"))
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path / 'model.json'} is damaged: {type(error).__name__} {error}") from None
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _description(model: TopicModel) -> dict[str, Any]:
    parameters = model.get_params(deep=False)
    seed = parameters["random_state"]
    if not (seed is None or isinstance(seed, int | np.integer)):
        parameters["random_state"] = None  # a generator cannot be saved; the result is
    versions = {
        name: metadata.version(name) for name in ("tagtopics", "numpy", "scipy", "scikit-learn", "numba")
    }
    return {
        "schema": SCHEMA,
        "class": type(model).__name__,
        "parameters": {name: _plain(value) for name, value in parameters.items()},
        "recipe": None if model.recipe_ is None else recipe_to_json(model.recipe_),
        "visual": visual_to_json(model.visual_),
        "recommender": recommender_to_json(model.recommender_),
        "names": {name: list(getattr(model, name)) for name in _NAMES},
        "numbers": {name: float(getattr(model, name)) for name in _NUMBERS.get(type(model).__name__, ())},
        "history": model.history_,
        "stop_reason": model.stop_reason_,
        "made_with": versions,
    }


def _restored(description: dict[str, Any], arrays: dict[str, Any]) -> TopicModel:
    schema = description["schema"]
    if not isinstance(schema, int) or schema > SCHEMA:
        raise InputError(f"written by a newer tagtopics (schema {schema}); upgrade to read it")
    if description["class"] not in _CLASSES:
        raise InputError(f"unknown kind of model {description['class']!r}")
    model = _CLASSES[description["class"]](**description["parameters"])
    check_parameters(model)
    model.visual_ = visual_from(description.get("visual"), arrays)
    names = {name: _strings(description["names"][name], name) for name in _NAMES}
    shape = len(names["vocabulary_"]), model._n_topics(len(names["tag_names_"]))
    model.recommender_ = recommender_from(description.get("recommender"), arrays, *shape)
    if "tag_words_.data" in arrays:
        model.tag_words_ = matrix_from(arrays, "tag_words_", (len(names["tag_names_"]), shape[0]))
    _check_shapes(arrays, names, model)
    for name, values in (names | arrays).items():
        setattr(model, name, values)
    model.components_ = np.asfortranarray(model.components_)  # as `fit` leaves them
    for name in _NUMBERS.get(type(model).__name__, ()):
        given = getattr(model, name.removesuffix("_"))
        setattr(model, name, _number(description.get("numbers", {}).get(name, given), name))
    recipe = description["recipe"]
    model.recipe_ = None if recipe is None else recipe_from_json(recipe)
    model.n_features_in_ = len(names["vocabulary_"])
    model.history_ = list(description["history"])
    model.n_iter_ = int(model.history_[-1]["iteration"]) if model.history_ else 0
    model.stop_reason_ = str(description["stop_reason"])
    return model


def _read_arrays(path: Path) -> dict[str, Any]:
    try:
        arrays: dict[str, Any] = load_file(path)
    except FileNotFoundError:
        raise InputError("its arrays.safetensors is missing") from None
    except (SafetensorError, OSError, ValueError) as error:
        raise InputError(f"its arrays.safetensors is damaged: {error}") from None
    return arrays


def _arrays_of(model: TopicModel) -> dict[str, tuple[str, ...]]:
    """Return the axes of the arrays that a model consists of."""
    return _ARRAYS | _MORE_ARRAYS[type(model).__name__]


def _check_shapes(arrays: dict[str, Any], names: dict[str, tuple[str, ...]], model: TopicModel) -> None:
    K = model._n_topics(len(names["tag_names_"]))
    sizes = {axis: len(names[name]) for name, axis in _NAMES.items()} | {"K": K, "K + 1": K + 1}
    for name, axes in _arrays_of(model).items():
        if name not in arrays:
            raise InputError(f"its arrays.safetensors has no {name}")
        wanted = tuple(sizes[axis] for axis in axes)
        if arrays[name].shape != wanted:
            raise InputError(f"{name} has shape {arrays[name].shape}, the names ask for {wanted}")
        if not np.isfinite(arrays[name]).all() or (arrays[name] < 0).any():
            raise InputError(f"{name} holds numbers that are negative or not finite")
    for name in set(arrays) - set(_arrays_of(model)):
        del arrays[name]


def _number(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
        raise InputError(f"{name} must be a number, 0 or more")
    return float(value)


def _strings(values: Any, name: str) -> tuple[str, ...]:
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise InputError(f"{name} must be a list of strings")
    return tuple(values)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _replace(new: Path, path: Path) -> None:
    """Put folder `new` at `path`; an older model there is moved aside first and then removed."""
    if not path.exists():
        os.rename(new, path)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{path.name}.old.", dir=path.parent))
    os.rename(path, old / "model")
    os.rename(new, path)
    shutil.rmtree(old, ignore_errors=True)
