"""Checkpoints: an unfinished fit to shards on disk, to be continued to the same bits.

A checkpoint is one safetensors file: the sums, the previous word sums and alpha. Its metadata has a format
mark, a JSON record (priors, history, what is being fitted) and a digest of the record and all arrays. The
state of the documents is next to it (`scale.shard_executor`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, JsonValue

from tagtopics.bp.callbacks import Step
from tagtopics.bp.graph import Belief, CorpusSums, Priors
from tagtopics.errors import InputError, one_line
from tagtopics.files import atomic_file, digest_arrays, digest_bytes
from tagtopics.models.persistence import plain_value

FORMAT = "tagtopics checkpoint"
_FREE = ("n_jobs", "max_iter", "tol", "recommender")  # parameters that may change when a fit is continued

_Arrays = dict[str, npt.NDArray[Any]]


class _Record(BaseModel):
    """The JSON of a checkpoint."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")
    version: Literal[1] = 1
    sweep: Annotated[int, Field(ge=0)]
    priors: dict[str, int | FiniteFloat]  # but alpha; a fit compares them with its own
    history: tuple[tuple[int, FiniteFloat, FiniteFloat], ...]
    identity: dict[str, JsonValue]


def save_checkpoint(path: Path, belief: Belief, history: Sequence[Step], identity: Mapping[str, Any]) -> None:
    """Write a belief, its history and what is being fitted."""
    scalars = belief.priors._asdict()
    arrays: _Arrays = dict(zip(CorpusSums._fields[:3], belief.sums[:3], strict=True))
    arrays["previous"] = belief.previous
    arrays["doc_topic_prior"] = scalars.pop("doc_topic")
    record = _Record(
        sweep=belief.sweep,
        priors=scalars,
        history=tuple((step.iteration, step.change, step.seconds) for step in history),
        identity=_as_json(identity),
    )
    write_arrays(path, arrays, {"format": FORMAT, "record": record.model_dump_json()})


def load_checkpoint(path: str | Path, identity: Mapping[str, Any] | None = None) -> tuple[Belief, list[Step]]:
    """Return a belief and its history, to resume from.

    Args:
        path: a file of `save_checkpoint`.
        identity: what is to be fitted; a checkpoint of something else is an `InputError`.
    """
    arrays, metadata = read_arrays(path, FORMAT)
    try:
        record = _Record.model_validate_json(metadata["record"])
        sums = CorpusSums(*(arrays.pop(name) for name in CorpusSums._fields[:3]))
        previous, alpha = arrays.pop("previous"), arrays.pop("doc_topic_prior")
        priors = Priors(alpha, **record.priors)  # type: ignore[arg-type]  # `order` is whole
        history = [Step(*step) for step in record.history]
        if arrays or [step.iteration for step in history] != [*range(1, record.sweep + 1)]:
            raise ValueError("it has other arrays, or its history has not one entry for each sweep")
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: damaged checkpoint ({one_line(error)}); start again without it") from None
    for name, value in _as_json(identity or {}).items():
        if (found := record.identity.get(name)) != value:
            raise InputError(
                f"{path}: was begun with another {name} ({_short(found)} there, {_short(value)} now); "
                "use the same, or remove it and start again"
            )
    return Belief(record.sweep, sums, previous, priors, None), history


def has_format(path: Path, format: str) -> bool:
    """Return whether a path is a file that `write_arrays` wrote with this mark."""
    try:
        return path.is_file() and read_metadata(path).get("format") == format
    except InputError:
        return False


def identity_of(model: Any, corpus: str) -> dict[str, Any]:
    """Return what determines the result of a fit, JSON: model, parameters and digest of the corpus."""
    parameters = {
        name: plain_value(value) for name, value in model.get_params(deep=False).items() if name not in _FREE
    }
    return {"model": type(model).__name__, "parameters": parameters, "corpus": corpus}


def write_arrays(path: Path, arrays: _Arrays, metadata: Mapping[str, str]) -> None:
    """Write arrays and metadata to a safetensors file, atomically, with a digest of both."""
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    described = {**metadata, "digest": _digest(arrays, metadata)}
    try:
        with atomic_file(path) as temporary:
            save_file(arrays, temporary, metadata=described)
    except SafetensorError as error:
        raise InputError(f"{path}: cannot be written ({one_line(error)}); nothing was changed") from None


def read_arrays(path: str | Path, format: str) -> tuple[_Arrays, dict[str, str]]:
    """Return the arrays and the metadata of a file of `write_arrays`, if mark and digest are right."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    metadata = read_metadata(path)
    if metadata.get("format") != format:
        raise InputError(f"{path}: not a {format.removeprefix('tagtopics ')} written by tagtopics")
    try:
        arrays = load_file(path)
    except (SafetensorError, OSError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: damaged ({one_line(error)}); start again without it") from None
    if metadata.pop("digest", None) != _digest(arrays, metadata):
        raise InputError(f"{path}: damaged (its digest differs); start again without it")
    return arrays, metadata


def read_metadata(path: str | Path) -> dict[str, str]:
    """Return the metadata of a safetensors file; an `InputError` says what is wrong with any other file."""
    from safetensors import SafetensorError, safe_open

    if not Path(path).is_file():
        raise InputError(f"{path}: no such file")
    try:
        with safe_open(path, "numpy") as file:
            return dict(file.metadata() or {})
    except (SafetensorError, OSError, ValueError) as error:
        raise InputError(f"{path}: not a file of tagtopics, or damaged ({one_line(error)})") from None


def _digest(arrays: _Arrays, metadata: Mapping[str, str]) -> str:
    names = sorted(arrays)
    text = json.dumps([names, sorted(metadata.items())])
    return digest_bytes(f"{text}\n{digest_arrays(*(arrays[name] for name in names))}".encode())


def _as_json(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return a mapping as JSON would give it back."""
    found: dict[str, Any] = json.loads(json.dumps(dict(value)))
    return found


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
