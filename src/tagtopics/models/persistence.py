"""Saved models: a folder with `model.json`, `arrays.safetensors` and optionally the corpus. Never pickle.

`model.json` has the SHA-256 of every other file and of itself. A folder is written in one step. A reader that
finds another `model.json` after it has read the files reads them again, so it never gets a mixture of saves.
"""

from __future__ import annotations

import json
import re
import secrets
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, is_dataclass
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError
from safetensors import SafetensorError
from safetensors.numpy import load, save

from tagtopics.corpus import Corpus, read_corpus
from tagtopics.corpus.recipe import Columns, recipe_from_json, recipe_to_json
from tagtopics.corpus.write import write_parts
from tagtopics.errors import CorpusWarning, InputError, one_line
from tagtopics.files import (
    BLANK,
    atomic_folder,
    check_target,
    digest_bytes,
    digest_file,
    is_sealed,
    read_regular,
    seal,
    sweep_leftovers,
)
from tagtopics.jit.threads import beside, results_of
from tagtopics.models.base import TopicModel
from tagtopics.models.saved_arrays import NAMES, arrays_of, arrays_to_save, check_arrays, layer_of
from tagtopics.models.validation import Preset, check_parameters
from tagtopics.recommend.arrays import matrix_from, recommender_from, recommender_to_json

FORMAT, SCHEMA = "tagtopics model", 4
"""Mark and version of the layout; files of a newer version are refused."""

NAMES_FILE = "names.tsv"
"""The names of tags, of models with a thesaurus."""

_DESCRIPTION, _ARRAYS, _CORPUS, _BASE = "model.json", "arrays.safetensors", "corpus", "base"

# Names of files: in the folder of the model or in one of its two folders, and nowhere else.
_FILE = re.compile(rf"(?:{_CORPUS}/|{_BASE}/)?(?!\.{{1,2}}$)[^/\\:\0]+")

_Result = TypeVar("_Result")


class _Names(BaseModel):
    model_config = ConfigDict(strict=True)

    vocabulary_: list[str]
    tag_names_: list[str]
    doc_ids_: list[str]
    doc_titles_: list[str] = []  # none, or one for each document


class _Step(BaseModel):
    iteration: int
    change: FiniteFloat
    seconds: FiniteFloat


class Description(BaseModel):
    """The content of `model.json`."""

    format: Literal["tagtopics model"]
    schema_: Literal[4] = Field(alias="schema")
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
    curation: dict[str, Any] | None
    numbers: dict[str, Annotated[FiniteFloat, Field(ge=0)]]
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

    def holds_its_files_only(folder: Path, content: bytes) -> bool:
        known = {_DESCRIPTION, *_sealed_content(content)["files"]}
        found = {place.relative_to(folder).as_posix(): place.is_dir() for place in folder.rglob("*")}
        return all(name in ({_CORPUS, _BASE} if is_dir else known) for name, is_dir in found.items())

    try:
        return not path.is_symlink() and _read_save(path, holds_its_files_only)
    except InputError:
        return False


def refuse_changes(folder: str | Path) -> Callable[[], None]:
    """Return a function that raises an `InputError` once a folder holds another save of a model than now.

    Call this before the model is read, and the function just before it is replaced.
    """

    def digest() -> str | None:
        try:
            return digest_bytes(_description_bytes(Path(folder)))  # the description has the name of the save
        except InputError:
            return None

    read = digest()

    def check() -> None:
        if digest() != read:
            raise InputError(
                f"{folder}: the model was changed by another process since it was read; run the command again"
            )

    return check


def save_model(
    model: TopicModel,
    path: str | Path,
    corpus: Corpus | None = None,
    *,
    check: Callable[[], None] = lambda: None,
) -> None:
    """Write a fitted model, with its documents if given, to a new folder or in place of an older model.

    Args:
        model: the model.
        path: the folder.
        corpus: the documents it was fitted to.
        check: called just before an older model is replaced, as in `atomic_folder`; see `refuse_changes`.
    """
    content = _checked_content(model)
    base = None if model.base_ is None else _checked_content(model.base_)
    with atomic_folder(check_model_target(path, option="save"), check) as folder:
        if base is not None:
            (folder / _BASE).mkdir()
            _write(*base, None, folder / _BASE)
        _write(*content, corpus, folder)


def _checked_content(model: TopicModel) -> tuple[Description, str, dict[str, Any]]:
    """Return the description of a model, the names of its tags and its arrays, if `load` takes them."""
    try:
        description, arrays, text = _description(model), arrays_to_save(model), ""
        if description.thesaurus is not None:
            text = layer_of("names_").names_to_text(model.names_)
        _parts(description, text, arrays, model)
    except (InputError, ValidationError) as error:
        problem = one_line(error) if isinstance(error, ValidationError) else error
        raise InputError(f"save: {problem}; the model cannot be saved") from None
    return description, text, arrays


def _write(
    description: Description, text: str, arrays: dict[str, Any], corpus: Corpus | None, folder: Path
) -> None:
    """Write arrays and documents, and then a description with the digests of all files."""

    def write_arrays() -> None:
        (folder / _ARRAYS).write_bytes(save(arrays))
        if text:
            (folder / NAMES_FILE).write_bytes(text.encode())

    with beside(write_arrays):
        if corpus is not None:
            (folder / _CORPUS).mkdir()
            write_parts(corpus, folder / _CORPUS)
    places = [place for place in sorted(folder.rglob("*")) if place.is_file()]
    names = (place.relative_to(folder).as_posix() for place in places)
    description.files |= dict(zip(names, results_of(digest_file, places), strict=True))
    content = description.model_dump_json(by_alias=True, indent=1)
    (folder / _DESCRIPTION).write_text(seal(content), encoding="utf-8")


def _description(model: TopicModel) -> Description:
    """Return the description of a model, without its files."""
    parameters = model.get_params(deep=False)
    seed = parameters["random_state"]
    if not (seed is None or isinstance(seed, int | np.integer)):
        parameters["random_state"] = None  # a generator cannot be saved; the result is
    titles = list(model.doc_titles_) if any(model.doc_titles_) else []
    named, visual = model.names_ if model.recommender_ else None, model.visual_
    packages = ("tagtopics", "numpy", "scipy", "scikit-learn", "numba")
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
        "visual": None if visual is None else layer_of("visual_").visual_to_json(visual),
        "recommender": recommender_to_json(model.recommender_),
        "thesaurus": None if named is None else layer_of("names_").names_to_json(named),
        "names": {name: list(getattr(model, name)) for name in NAMES} | {"doc_titles_": titles},
        "phrases": list(model.phrases_),
        "curation": model.curation_ and model.curation_.to_json(),
        "numbers": model._numbers(),
        "history": model.history_,
        "stop_reason": model.stop_reason_,
        "fitted": model.fitted_,
        "made_with": {name: metadata.version(name) for name in packages},
    }
    return Description.model_validate(content)


def plain_value(value: Any) -> Any:
    """Return a parameter as JSON has it: dataclasses as objects, numbers of NumPy as numbers."""
    if is_dataclass(value) and not isinstance(value, type):
        return {name: plain_value(part) for name, part in asdict(value).items()}
    return value.item() if isinstance(value, np.generic) else value


# ---------------------------------------------------------------------------------- loading


def load_model(path: str | Path) -> TopicModel:
    """Return the model that `save_model` wrote; no code is run from it.

    Import `tagtopics.baselines` first to load models of its classes, as `tagtopics.load` does.

    Raises:
        InputError: if there is no model, it is damaged, or it was written by a newer version.
    """
    return _read_save(path, lambda folder, content: _read_model(folder, _parse(content)))


def load_with_corpus(path: str | Path) -> tuple[TopicModel, Corpus | None]:
    """Return a model and its corpus, both of the same save; None if the model was saved without."""

    def read(folder: Path, content: bytes) -> tuple[TopicModel, Corpus | None]:
        raw = _parse(content)
        with ThreadPoolExecutor(1) as thread:  # digests and gzip need no lock
            corpus = thread.submit(_read_corpus, folder, raw)
            return _read_model(folder, raw), corpus.result()

    return _read_save(path, read)


def _read_save(path: str | Path, read: Callable[[Path, bytes], _Result]) -> _Result:
    """Read from the folder of a model, all of one save; if another process replaces it, read again."""
    folder = Path(path)
    if not folder.exists():
        sweep_leftovers(folder)  # puts back what a killed process had moved aside
    if not folder.exists():
        raise InputError(f"no such model: {folder}; `tagtopics fit CORPUS --out {folder}` writes one")
    if not folder.is_dir():
        raise InputError(f"{folder} is not a model: it is a file, and a model is a folder that `fit` saved")
    while True:
        content = b""
        try:
            content = _description_bytes(folder)
            found = read(folder, content)
            if _description_bytes(folder) == content:
                return found
        except (InputError, OSError) as error:
            if not content or _description_bytes(folder) == content:
                raise InputError(f"{folder}: {error}") from None


def _description_bytes(folder: Path) -> bytes:
    """Return the content of `model.json`."""
    try:
        return read_regular(folder / _DESCRIPTION)
    except FileNotFoundError:
        raise InputError("not a model: it has no model.json; name a folder that `fit` saved") from None
    except OSError as error:
        raise InputError(f"not a model: model.json cannot be read ({error.strerror})") from None


def _parse(content: bytes) -> dict[str, Any]:
    """Return the content of a `model.json` of the present schema, its own digest checked."""
    raw = _sealed_content(content)
    if raw["schema"] < SCHEMA:
        raise InputError(f"written by an older tagtopics (schema {raw['schema']}); fit the model again")
    return raw


def _sealed_content(content: bytes) -> dict[str, Any]:
    """Return the content of a `model.json` of this or an older schema, its own digest checked."""
    try:
        raw: Any = json.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"model.json cannot be read: {error}") from None
    schema = raw.get("schema") if isinstance(raw, dict) else None
    if isinstance(schema, int) and schema > SCHEMA:
        raise InputError(f"written by a newer tagtopics (schema {schema}); upgrade tagtopics to read it")
    if not isinstance(schema, int) or raw.get("format") != FORMAT:
        raise InputError("model.json is damaged: it is not the description of a model")
    if not is_sealed(content):
        raise InputError("model.json is damaged: its content does not match its digest")
    files = raw.get("files")
    if not isinstance(files, dict) or not all(map(_FILE.fullmatch, files)):
        raise InputError("model.json is damaged: its list of files is not that of a model")
    return dict(raw)


def _read_model(folder: Path, raw: dict[str, Any]) -> TopicModel:
    try:
        description, text = Description.model_validate(raw), ""
        arrays = load(_checked_bytes(folder, _ARRAYS, description.files))
        if description.thesaurus is not None:
            text = _checked_bytes(folder, NAMES_FILE, description.files).decode("utf-8")
        model = _restore(description, text, arrays)
        if model.curation_ is not None and model.curation_.edits:
            base = _parse(_checked_bytes(folder, f"{_BASE}/{_DESCRIPTION}", description.files))
            if (base.get("curation") or {}).get("edits"):
                raise InputError("base/model.json is damaged: a base has no edits")
            model.base_ = _read_model(folder / _BASE, base)  # as it was before the edits of its journal
        return model
    except InputError:
        raise
    except ValidationError as error:
        raise InputError(f"model.json is damaged: {one_line(error)}") from None
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError, SafetensorError) as error:
        raise InputError(f"the model is damaged: {type(error).__name__} {error}") from None


def _checked_bytes(folder: Path, name: str, files: dict[str, str]) -> bytes:
    """Return the content of a file of a model, its digest checked."""
    try:
        content = read_regular(folder / name)
    except FileNotFoundError:
        raise InputError(f"{name} is missing") from None
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror}") from None
    if digest_bytes(content) != files[name]:
        raise InputError(f"{name} is damaged: its content does not match its digest")
    return content


def _read_corpus(folder: Path, raw: dict[str, Any]) -> Corpus | None:
    files = {name: digest for name, digest in raw["files"].items() if name.startswith(f"{_CORPUS}/")}
    if not files:
        return None
    try:
        for name, digest in files.items():
            if digest_file(folder / name) != digest:
                raise InputError(f"{name} is damaged: its content does not match its digest")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CorpusWarning)  # the user saw them when the corpus was first read
            return read_corpus(folder / _CORPUS)
    except OSError as error:
        raise InputError(f"its corpus cannot be read: {error.strerror}") from None


def _parts(description: Description, text: str, arrays: dict[str, Any], model: TopicModel) -> dict[str, Any]:
    """Return the attributes of a model that are made of arrays, all of them checked."""
    names = {name: tuple(getattr(description.names, name)) for name in NAMES}
    sizes = {axis: len(names[name]) for name, axis in NAMES.items()}
    names["doc_titles_"] = tuple(description.names.doc_titles_) or ("",) * sizes["D"]
    if len(names["doc_titles_"]) != sizes["D"]:
        raise InputError(f"doc_titles_ has {len(names['doc_titles_'])} titles for {sizes['D']} documents")
    T, W, K = sizes["T"], sizes["W"], model.count_topics(sizes["T"])
    check_arrays(arrays, sizes | {"K": K, "K + 1": K + 1}, model)
    parts = names | {name: arrays[name] for name in arrays_of(model)}
    recommender = recommender_from(description.recommender, arrays, W, K)
    parts |= {"recommender_": recommender, "visual_": None, "names_": None, "tag_words_": None}
    parts["vectors_"] = arrays.get("vectors_")
    if description.visual is not None:
        parts["visual_"] = layer_of("visual_").visual_from(description.visual, arrays)
    if description.thesaurus is not None:
        tags = () if recommender is None else recommender.tag_names
        parts["names_"] = layer_of("names_").names_from(description.thesaurus, text, arrays, tags)
    if "tag_words_.data" in arrays:
        parts["tag_words_"] = matrix_from(arrays, "tag_words_", (T, W))
    return parts


def _restore(description: Description, text: str, arrays: dict[str, Any]) -> TopicModel:
    if description.class_ not in TopicModel._registry:
        raise InputError(f"unknown kind of model {description.class_[:80]!r}")
    parameters = dict(description.parameters)
    if isinstance(parameters.get("preset"), dict):
        parameters["preset"] = Preset(**parameters["preset"])
    model = TopicModel._registry[description.class_](**parameters)
    check_parameters(model)
    for name, value in _parts(description, text, arrays, model).items():
        setattr(model, name, value)
    model.components_ = np.asfortranarray(model.components_)  # the layout that `fit` leaves
    model._set_numbers(description.numbers)
    model.recipe_ = None if description.recipe is None else recipe_from_json(description.recipe)
    model.columns_ = description.columns
    if description.curation is not None:
        model.curation_ = layer_of("curation_").Curation.from_json(description.curation)
    model.phrases_, model.n_features_in_ = tuple(description.phrases), len(model.vocabulary_)
    model.history_ = [step.model_dump() for step in description.history]
    model.n_iter_ = model.history_[-1]["iteration"] if model.history_ else 0
    model.stop_reason_, model.fitted_ = description.stop_reason, description.fitted
    return model
