"""The settings of a visual vocabulary: which values are allowed, and how a model stores them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tagtopics.corpus.images.decode import MAX_PIXELS
from tagtopics.corpus.images.descriptors import DESCRIPTORS
from tagtopics.corpus.images.vocabulary import VisualVocabulary
from tagtopics.corpus.recipe import first_problem
from tagtopics.errors import InputError

PREFIX = "visual."
"""The names of codebooks in the arrays of a model: this and a number."""

_Pixels = Annotated[int, Field(ge=64, le=2 * MAX_PIXELS)]


class _Stored(BaseModel):
    """The settings that decide how a new image becomes words."""

    model_config = ConfigDict(strict=True, extra="forbid")

    descriptor: str
    codebook_sizes: list[Annotated[int, Field(ge=1, le=65536)]] | None
    window: Annotated[int, Field(ge=2, le=256)] | None
    step: Annotated[int, Field(ge=1, le=256)] | None
    working_pixels: _Pixels | None
    max_pixels: _Pixels
    on_error: Literal["skip", "raise"]
    random_state: Annotated[int, Field(ge=0)]


class _Settings(_Stored):
    """All parameters of `VisualVocabulary`."""

    codebook_sizes: list[Annotated[int, Field(ge=2, le=65536)]] | None
    n_sample_tiles: Annotated[int, Field(ge=1)]
    verbose: bool
    n_jobs: Annotated[int, Field(ge=-1)] | None


def check_settings(visual: VisualVocabulary) -> None:
    """Raise `InputError` for the first parameter that is not allowed."""
    _check(_Settings, {name: _plain(value) for name, value in visual.get_params(deep=False).items()})
    if visual.n_jobs == 0:
        raise InputError("VisualVocabulary: n_jobs must be None, a number of threads, or -1 for all, not 0")


def visual_to_json(visual: VisualVocabulary | None) -> dict[str, Any] | None:
    """Return the settings that decide how a new image becomes words; None for a model without images."""
    if visual is None:
        return None
    settings = {name: _plain(getattr(visual, name)) for name in _Stored.model_fields}
    return settings | {"codebook_sizes": [len(codebook) for codebook in visual.codebooks_]}


def visual_to_arrays(visual: VisualVocabulary | None) -> dict[str, npt.NDArray[Any]]:
    """Return the codebooks under their names in the arrays of a model."""
    codebooks = () if visual is None else visual.codebooks_
    return {f"{PREFIX}{i}": np.ascontiguousarray(book) for i, book in enumerate(codebooks)}


def visual_from(settings: Any, arrays: dict[str, Any]) -> VisualVocabulary | None:
    """Return the vocabulary of `visual_to_json` and `visual_to_arrays`; anything else is an `InputError`."""
    if settings is None:
        return None
    if not isinstance(settings, dict):
        raise InputError("its visual vocabulary is damaged: the settings are not a JSON object")
    _check(_Stored, settings)
    sizes = settings["codebook_sizes"] or ()
    visual = VisualVocabulary(**settings)
    dimensions = DESCRIPTORS[visual.descriptor].dimensions(visual._window())
    shapes = list(zip(sizes, dimensions, strict=True))
    visual.codebooks_ = tuple(_codebook(arrays, i, shape) for i, shape in enumerate(shapes))
    visual.vocabulary_ = visual._names()
    return visual


def _check(model: type[_Stored], settings: dict[str, Any]) -> None:
    try:
        checked = model.model_validate(settings)
    except ValidationError as error:
        raise InputError(f"VisualVocabulary: {first_problem(error)}") from None
    descriptor = DESCRIPTORS.get(checked.descriptor)
    if descriptor is None:
        known = ", ".join(DESCRIPTORS)
        raise InputError(f"VisualVocabulary: descriptor must be one of {known}, not {checked.descriptor!r}")
    window = descriptor.window if checked.window is None else checked.window
    if window % descriptor.multiple:
        raise InputError(
            f"VisualVocabulary: window must be a multiple of {descriptor.multiple}, not {window}"
        )
    sizes = checked.codebook_sizes
    if (sizes is not None or model is _Stored) and len(sizes or ()) != len(descriptor.codebook_sizes):
        blocks = " and ".join(descriptor.block_names)
        n_sizes = len(sizes or ())
        raise InputError(f"VisualVocabulary: codebook_sizes must be for {blocks}, not {n_sizes} number(s)")


def _plain(value: Any) -> Any:
    """Return a value without NumPy's types, and a tuple as a list."""
    if isinstance(value, np.generic):
        return value.item()
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def _codebook(arrays: dict[str, Any], i: int, shape: tuple[int, int]) -> Any:
    codebook = arrays.get(f"{PREFIX}{i}")
    if codebook is None or codebook.dtype != np.float32 or codebook.shape != shape:
        raise InputError(f"its visual vocabulary is damaged: codebook {i} must be {shape} of float32")
    if not np.isfinite(codebook).all():
        raise InputError(
            f"its visual vocabulary is damaged: codebook {i} contains numbers that are not finite"
        )
    return codebook
