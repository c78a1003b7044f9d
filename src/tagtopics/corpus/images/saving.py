"""A visual vocabulary inside a model's folder: its settings as JSON, its codebooks as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tagtopics.corpus.images.descriptors import DESCRIPTORS
from tagtopics.corpus.images.settings import check_settings
from tagtopics.corpus.images.vocabulary import VisualVocabulary
from tagtopics.errors import InputError

PREFIX = "visual."
"""Before the number of a codebook in the arrays of a model."""

_SETTINGS = ("descriptor", "window", "step", "working_pixels", "max_pixels", "on_error", "random_state")


def visual_to_json(visual: VisualVocabulary | None) -> dict[str, Any] | None:
    """Return the settings that decide how a new image becomes words; None for a model of no images."""
    if visual is None:
        return None
    settings = {name: getattr(visual, name) for name in _SETTINGS}
    settings["codebook_sizes"] = [len(codebook) for codebook in visual.codebooks_]
    return {name: v.item() if isinstance(v, np.generic) else v for name, v in settings.items()}


def visual_to_arrays(visual: VisualVocabulary | None) -> dict[str, npt.NDArray[Any]]:
    """Return the codebooks under the names they have in `arrays.safetensors`; none for None."""
    codebooks = () if visual is None else visual.codebooks_
    return {f"{PREFIX}{i}": np.ascontiguousarray(book) for i, book in enumerate(codebooks)}


def visual_from(settings: Any, arrays: dict[str, Any]) -> VisualVocabulary | None:
    """Return the vocabulary that the two functions above took apart; anything else is an `InputError`."""
    if settings is None:
        return None
    if not isinstance(settings, dict) or set(settings) != {*_SETTINGS, "codebook_sizes"}:
        raise InputError("its visual vocabulary is damaged: the settings are not what they should be")
    sizes = settings["codebook_sizes"]
    visual = VisualVocabulary(**settings)
    if isinstance(sizes, list) and 1 in sizes:
        visual.codebook_sizes = [max(size, 2) for size in sizes]  # a codebook of one flat tile
    check_settings(visual)
    visual.codebook_sizes = sizes
    dimensions = DESCRIPTORS[visual.descriptor].dimensions(visual._window())
    shapes = list(zip(sizes, dimensions, strict=True))
    visual.codebooks_ = tuple(_codebook(arrays, i, shape) for i, shape in enumerate(shapes))
    visual.vocabulary_ = visual._names()
    return visual


def _codebook(arrays: dict[str, Any], i: int, shape: tuple[int, int]) -> Any:
    codebook = arrays.get(f"{PREFIX}{i}")
    if codebook is None or codebook.dtype != np.float32 or codebook.shape != shape:
        raise InputError(f"its visual vocabulary is damaged: codebook {i} must be {shape} of float32")
    if not np.isfinite(codebook).all():
        raise InputError(f"its visual vocabulary is damaged: codebook {i} holds numbers that are not finite")
    return codebook
