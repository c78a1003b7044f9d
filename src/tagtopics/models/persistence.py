"""Saved models: a folder with `model.json`, `arrays.safetensors` and optionally the corpus. Never pickle.

`model.json` has the SHA-256 of every other file and of itself. A folder is written in one step, so a reader
sees one save or another; what it reads is checked against the digests, so it never gets a mixture.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib import metadata
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError
from safetensors import SafetensorError
from safetensors.numpy import load, save

from tagtopics.bp.checkpoint import plain_value
from tagtopics.corpus import Corpus, read_corpus, write_matrix_folder
from tagtopics.corpus.columns import Columns
from tagtopics.corpus.recipe import recipe_from_json, recipe_to_json
from tagtopics.errors import CorpusWarning, InputError, one_line
from tagtopics.files import (
    BLANK,
    atomic_folder,
    check_target,
    digest_bytes,
    digest_file,
    is_sealed,
    sealed,
    snapshot,
    sweep_leftovers,
)
from tagtopics.models.base import TopicModel
from tagtopics.models.journal import Curation
from tagtopics.models.saved_arrays import NAMES, arrays_of, arrays_to_save, check_arrays, layer_of
from tagtopics.models.saved_files import (
    ARRAYS_FILE,
    BASE,
    CORPUS,
    DESCRIPTION,
    NAMES_FILE,
    check_files,
    checked_bytes,
    description_bytes,
)
from tagtopics.models.validation import Preset, check_parameters
from tagtopics.recommend.arrays import matrix_from, recommender_from, recommender_to_json

FORMAT, SCHEMA = "tagtopics model", 3
"""Mark and version of the layout; files of a newer version are refused."""

_Result = TypeVar("_Result")


class _Names(BaseModel):
    model_config = ConfigDict(strict=True)

    vocabulary_: list[str]
    tag_names_: list[str]
    doc_ids_: list[str]


class _Step(BaseModel):
    iteration: int
    change: FiniteFloat
    seconds: FiniteFloat


class Description(BaseModel):
    """The content of `model.json`."""

    format: Literal["tagtopics model"]
    schema_: Literal[3] = Field(alias="schema")
    save_id: str
    digest: str
    files: dict[str, str]
    class_: str = Field(alias="class")
    parameters: dict[str, Any]
    recipe: dict[str, Any] | None
    columns: Columns | None
    visual: dict[str, Any] | None
    recommender: dict[str, Any] | None
    thesaurus: dict[str, Any] | None
    names: _Names
    phrases: list[str]
    curation: Curation
    numbers: dict[str, FiniteFloat]
    history: list[_Step]
    stop_reason: str
    fitted: str | None = Field(max_length=40)
    made_with: dict[str, str]


# ---------------------------------------------------------------------------------- saving


def check_model_target(path: str | Path, *, option: str = "--out") -> Path:
    """Return the path if a model may be written there; call this before a long fit.

    Raises:
        InputError: if there is something else than a model of tagtopics, or a model next to other files.
    """
    return check_target(path, "model", is_model_folder, option=option)


def is_model_folder(path: Path) -> bool:
    """Return whether a folder is a model of tagtopics and holds no other files."""
    try:
        if path.is_symlink() or not path.is_dir():
            return False
        with snapshot(path) as folder:
            known = {DESCRIPTION, *_sealed_content(description_bytes(folder))["files"]}
            found = {place.relative_to(folder).as_posix(): place.is_dir() for place in folder.rglob("*")}
            return all(name in ({CORPUS, BASE} if is_dir else known) for name, is_dir in found.items())
    except (OSError, InputError, KeyError, TypeError):
        return False


def save_model(
    model: TopicModel,
    path: str | Path,
    corpus: Corpus | None = None,
    *,
    after: str | None = None,
    check: Callable[[], None] = lambda: None,
) -> str:
    """Write a fitted model, with its documents if given, to a new folder or in place of an older model.

    Args:
        model: the model.
        path: the folder.
        corpus: the documents it was fitted to.
        after: the save that is replaced, if it has the same corpus: its files are linked, not written again.
        check: called just before an older model is replaced, as in `atomic_folder`; see `refuse_changes`.

    Returns:
        The name of this save, for `after`.
    """
    content = _checked_content(model)
    base = None if model.base_ is None else _checked_content(model.base_)
    target = check_model_target(path, option="save")
    with atomic_folder(target, check) as folder:
        if base is not None:
            (folder / BASE).mkdir()
            _write(*base, folder / BASE)
        known = {} if corpus is None or after is None else _linked_corpus(target, after, folder)
        if corpus is not None and not known:
            write_matrix_folder(corpus, folder / CORPUS)
        return _write(*content, folder, known)


def _linked_corpus(target: Path, save_id: str, folder: Path) -> dict[str, str]:
    """Give a new folder the corpus of an earlier save; return its digests, none if that save is gone."""
    try:
        with snapshot(target) as place:
            raw = _parsed(description_bytes(place))
            names = [name for name in raw["files"] if name.startswith(f"{CORPUS}/")]
            if raw["save_id"] != save_id or not names:
                return {}
            (folder / CORPUS).mkdir()
            for name in names:
                os.link(place / name, folder / name)
            return {name: str(raw["files"][name]) for name in names}
    except (OSError, InputError):  # a file system without links, or another process has replaced the save
        shutil.rmtree(folder / CORPUS, ignore_errors=True)
        return {}


def _checked_content(model: TopicModel) -> tuple[Description, str, dict[str, Any]]:
    """Return the description of a model, the names of its tags and its arrays, if `load` takes them."""
    try:
        description, arrays = _description(model), arrays_to_save(model)
        text = (
            layer_of("names_").names_to_text(model.names_) if model.names_ and description.thesaurus else ""
        )
        _parts(description, text, arrays, model)
    except ValidationError as error:
        raise InputError(f"save: {one_line(error)}; the model cannot be saved") from None
    except InputError as error:
        raise InputError(f"save: {error}; the model cannot be saved") from None
    return description, text, arrays


def _write(
    description: Description,
    text: str,
    arrays: dict[str, Any],
    folder: Path,
    known: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Write arrays, and a description with the digests of all files, some of them known; return its id."""
    (folder / ARRAYS_FILE).write_bytes(save(arrays))
    if text:
        (folder / NAMES_FILE).write_bytes(text.encode())
    places = {place.relative_to(folder).as_posix(): place for place in sorted(folder.rglob("*"))}
    description.files |= {
        name: known[name] if name in known else digest_file(place)
        for name, place in places.items()
        if place.is_file()
    }
    content = description.model_dump_json(by_alias=True, indent=1)
    (folder / DESCRIPTION).write_text(sealed(content), encoding="utf-8")
    return description.save_id


def _description(model: TopicModel) -> Description:
    """Return the description of a model, without its files."""
    parameters = model.get_params(deep=False)
    seed = parameters["random_state"]
    if not (seed is None or isinstance(seed, int | np.integer)):
        parameters["random_state"] = None  # a generator cannot be saved; the result is
    content = {
        "format": FORMAT,
        "schema": SCHEMA,
        "save_id": secrets.token_hex(16),
        "digest": BLANK,
        "files": {},
        "class": type(model).__name__,
        "parameters": {name: plain_value(value) for name, value in parameters.items()},
        "recipe": None if model.recipe_ is None else recipe_to_json(model.recipe_),
        "columns": model.columns_,
        "visual": None if model.visual_ is None else layer_of("visual_").visual_to_json(model.visual_),
        "recommender": recommender_to_json(model.recommender_),
        "thesaurus": layer_of("names_").names_to_json(model.names_)
        if model.names_ and model.recommender_
        else None,
        "names": {name: list(getattr(model, name)) for name in NAMES},
        "phrases": list(model.phrases_),
        "curation": model.curation_.to_json(),
        "numbers": model._numbers(),
        "history": model.history_,
        "stop_reason": model.stop_reason_,
        "fitted": model.fitted_,
        "made_with": _made_with(),
    }
    return Description.model_validate(content)


@cache
def _made_with() -> dict[str, str]:
    """Return the versions of the packages that a fit depends on."""
    packages = ("tagtopics", "numpy", "scipy", "scikit-learn", "numba")
    return {name: metadata.version(name) for name in packages}


# ---------------------------------------------------------------------------------- loading


def load_model(path: str | Path) -> TopicModel:
    """Return the model that `save_model` wrote; no code is run from it.

    Import `tagtopics.baselines` first to load models of its classes, as `tagtopics.load` does.

    Raises:
        InputError: if there is no model, it is damaged, or it was written by a newer version.
    """
    return _consistently(Path(path), _read_model)


def load_with_corpus(path: str | Path) -> tuple[TopicModel, Corpus | None]:
    """Return a model and its corpus, both of the same save; None if the model was saved without."""

    def read(*save: Any) -> tuple[TopicModel, Corpus | None]:
        with ThreadPoolExecutor(1) as thread:  # digests and gzip need no lock
            corpus = thread.submit(_read_corpus, *save)
            return _read_model(*save), corpus.result()

    return _consistently(Path(path), read)


def _consistently(folder: Path, read: Callable[[Path, dict[str, Any]], _Result]) -> _Result:
    """Read from a model folder, all of one save, even if another process replaces the folder meanwhile."""
    if not folder.exists():
        sweep_leftovers(folder)
    if not folder.exists():
        raise InputError(f"no such model: {folder}")
    if not folder.is_dir():
        raise InputError(f"{folder} is not a model: it is a file, and a model is a folder that `fit` saved")
    with snapshot(folder) as place:
        try:
            return read(place, _parsed(description_bytes(place)))
        except InputError as error:
            raise InputError(f"{folder}: {str(error).replace(str(place), str(folder))}") from None


def _parsed(content: bytes) -> dict[str, Any]:
    """Return the content of a `model.json` of the present schema, its own digest checked."""
    raw = _sealed_content(content)
    if raw["schema"] < SCHEMA:
        raise InputError(f"written by an older tagtopics (schema {raw['schema']}); fit the model again")
    return raw


def _sealed_content(content: bytes) -> dict[str, Any]:
    """Return the content of a `model.json` of this or an older schema, its own digest checked."""
    try:
        raw = json.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"model.json cannot be read: {error}") from None
    if not isinstance(raw, dict) or "schema" not in raw:
        raise InputError("model.json is damaged: it is not the description of a model")
    schema = raw["schema"]
    if isinstance(schema, int) and schema > SCHEMA:
        raise InputError(f"written by a newer tagtopics (schema {schema}); upgrade tagtopics to read it")
    if raw.get("format") != FORMAT or not isinstance(schema, int):
        raise InputError("model.json is damaged: it is not the description of a model")
    if not is_sealed(content):
        raise InputError("model.json is damaged: its content does not match its digest")
    check_files(raw.get("files"))
    return raw


def _read_model(folder: Path, raw: dict[str, Any]) -> TopicModel:
    try:
        description = Description.model_validate(raw)
        arrays = _read_arrays(folder, description.files)
        named = description.thesaurus is not None
        text = checked_bytes(folder, NAMES_FILE, description.files).decode("utf-8") if named else ""
        model = _restored(description, text, arrays)
        if description.curation.edits:
            model.base_ = _read_base(folder / BASE, description.files)
        return model
    except ValidationError as error:
        raise InputError(f"model.json is damaged: {one_line(error)}") from None
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"the model is damaged: {type(error).__name__} {error}") from None


def _read_base(folder: Path, files: dict[str, str]) -> TopicModel:
    """Return the model as it was before the edits of its journal."""
    content = description_bytes(folder)
    if digest_bytes(content) != files.get(f"{BASE}/{DESCRIPTION}"):
        raise InputError("base/model.json is damaged: its content does not match its digest")
    raw = _parsed(content)
    if raw.get("curation", {}).get("edits"):
        raise InputError("base/model.json is damaged: a base has no edits")
    return _read_model(folder, raw)


def _read_arrays(folder: Path, files: dict[str, str]) -> dict[str, Any]:
    try:
        arrays: dict[str, Any] = load(checked_bytes(folder, ARRAYS_FILE, files))
    except (SafetensorError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"arrays.safetensors is damaged: {error}") from None
    return arrays


def _read_corpus(folder: Path, raw: dict[str, Any]) -> Corpus | None:
    files = {name: digest for name, digest in raw["files"].items() if name.startswith(f"{CORPUS}/")}
    if not files or not (folder / CORPUS).is_dir():
        if files:
            raise InputError("its corpus is missing")
        return None
    try:
        for name, digest in files.items():
            if digest_file(folder / name) != digest:
                raise InputError(f"{name} is damaged: its content does not match its digest")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CorpusWarning)  # the user saw them when the corpus was first read
            return read_corpus(folder / CORPUS)
    except OSError as error:
        raise InputError(f"its corpus cannot be read: {error.strerror}") from None


def _parts(description: Description, text: str, arrays: dict[str, Any], model: TopicModel) -> dict[str, Any]:
    """Return the attributes of a model that are made of arrays, all of them checked."""
    names = {name: tuple(getattr(description.names, name)) for name in NAMES}
    sizes = {axis: len(names[name]) for name, axis in NAMES.items()}
    T, W = sizes["T"], sizes["W"]
    K = model.count_topics(T)
    check_arrays(arrays, sizes | {"K": K, "K + 1": K + 1}, model)
    recommender = recommender_from(description.recommender, arrays, W, K)
    tags = () if recommender is None else recommender.tag_names
    found = {
        "visual_": None
        if description.visual is None
        else layer_of("visual_").visual_from(description.visual, arrays),
        "recommender_": recommender,
        "names_": None
        if description.thesaurus is None
        else layer_of("names_").names_from(description.thesaurus, text, arrays, tags),
        "tag_words_": matrix_from(arrays, "tag_words_", (T, W)) if "tag_words_.data" in arrays else None,
    }
    return found | names | {name: arrays[name] for name in arrays_of(model)}


def _restored(description: Description, text: str, arrays: dict[str, Any]) -> TopicModel:
    model = _unfitted(description)
    for name, value in _parts(description, text, arrays, model).items():
        setattr(model, name, value)
    model.components_ = np.asfortranarray(model.components_)  # the layout that `fit` leaves
    model._set_numbers({name: _number(value, name) for name, value in description.numbers.items()})
    model.recipe_ = None if description.recipe is None else recipe_from_json(description.recipe)
    model.columns_, model.curation_ = description.columns, description.curation
    model.phrases_, model.n_features_in_ = tuple(description.phrases), len(model.vocabulary_)
    model.history_ = [step.model_dump() for step in description.history]
    model.n_iter_ = model.history_[-1]["iteration"] if model.history_ else 0
    model.stop_reason_, model.fitted_ = description.stop_reason, description.fitted
    return model


def _unfitted(description: Description) -> TopicModel:
    if description.class_ not in TopicModel.registry:
        raise InputError(f"unknown kind of model {description.class_[:80]!r}")
    parameters = dict(description.parameters)
    if isinstance(parameters.get("preset"), dict):
        parameters["preset"] = Preset(**parameters["preset"])
    model = TopicModel.registry[description.class_](**parameters)
    check_parameters(model)
    return model


def _number(value: float, name: str) -> float:
    if not 0 <= value < float("inf"):
        raise InputError(f"{name} must be a number, 0 or more")
    return value
