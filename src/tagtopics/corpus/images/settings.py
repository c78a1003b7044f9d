"""What the parameters of a visual vocabulary may be: one table, one line for each mistake."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tagtopics.corpus.images.decode import MAX_PIXELS
from tagtopics.corpus.images.descriptors import DESCRIPTORS
from tagtopics.errors import InputError


def _whole(value: Any, least: int) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and int(value) >= least


def _is_codebooks(value: Any) -> bool:
    if value is None:
        return True
    return isinstance(value, list | tuple) and all(_whole(size, 2) and size <= 65536 for size in value)


_RULES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "descriptor": (lambda v: isinstance(v, str) and v in DESCRIPTORS, "the name of a descriptor: cpam"),
    "codebook_sizes": (_is_codebooks, "whole numbers from 2 to 65536, one for each codebook, or None"),
    "window": (lambda v: v is None or (_whole(v, 2) and v <= 256), "an even number from 2 to 256, or None"),
    "step": (lambda v: v is None or (_whole(v, 1) and v <= 256), "a whole number from 1 to 256, or None"),
    "working_pixels": (lambda v: v is None or _whole(v, 64), "a number of pixels, 64 or more, or None"),
    "max_pixels": (
        lambda v: _whole(v, 64) and v <= 2 * MAX_PIXELS,
        f"a number of pixels from 64 to {2 * MAX_PIXELS}",
    ),
    "n_sample_tiles": (lambda v: _whole(v, 1), "a whole number, 1 or more"),
    "on_error": (lambda v: v in ("skip", "raise"), "'skip' or 'raise'"),
    "verbose": (lambda v: isinstance(v, bool), "True or False"),
    "random_state": (lambda v: _whole(v, 0), "a whole number, 0 or more"),
    "n_jobs": (lambda v: v is None or v == -1 or _whole(v, 1), "None, a number of threads, or -1 for all"),
}


def check_settings(visual: Any) -> None:
    """Raise `InputError` for the first parameter that is not what it may be."""
    for name, value in visual.get_params(deep=False).items():
        holds, wanted = _RULES[name]
        if not holds(value):
            raise InputError(f"VisualVocabulary: {name} must be {wanted}, not {repr(value)[:60]}")
    descriptor = DESCRIPTORS[visual.descriptor]
    window = descriptor.window if visual.window is None else visual.window
    if window % descriptor.multiple:
        raise InputError(
            f"VisualVocabulary: window must be a multiple of {descriptor.multiple}, not {window}"
        )
    sizes = visual.codebook_sizes
    if sizes is not None and len(sizes) != len(descriptor.codebook_sizes):
        blocks = " and ".join(descriptor.block_names)
        raise InputError(f"VisualVocabulary: codebook_sizes must be for {blocks}, not {len(sizes)} number(s)")
