"""Texts of documents in the arrays of a shard: ids, titles, dates and addresses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tagtopics.corpus.cells import METADATA
from tagtopics.errors import InputError

TEXTS = ("id", *METADATA.values())
Arrays = dict[str, npt.NDArray[Any]]
Metadata = Mapping[str, Sequence[str | None] | None]
"""Titles, dates and urls (the values of `METADATA`) of documents; None where unknown."""


def metadata_of(source: Any, rows: slice = slice(None)) -> dict[str, Sequence[str | None]]:
    """Return the metadata of some documents of a corpus, as far as it has any."""
    found = {name: getattr(source, name) for name in METADATA.values()}
    return {name: values[rows] for name, values in found.items() if values is not None}


def pack(name: str, texts: Sequence[str | None]) -> Arrays:
    """Return `NAME_bytes`, the texts in UTF-8 one after the other, and `NAME_offsets`, where each begins."""
    encoded = [(text or "").encode("utf-8", "replace") for text in texts]
    offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum([len(text) for text in encoded], out=offsets[1:])
    return {f"{name}_bytes": np.frombuffer(b"".join(encoded), dtype=np.uint8), f"{name}_offsets": offsets}


def unpack(name: str, arrays: Arrays, n_docs: int, path: Path) -> list[Any]:
    """Return the texts that `pack` wrote, None where unknown; arrays that cannot be theirs are refused."""
    data, offsets = arrays.get(f"{name}_bytes"), arrays.get(f"{name}_offsets")
    if data is None and offsets is None and name != "id":
        return [None] * n_docs
    if data is None or offsets is None or data.dtype != np.uint8 or offsets.dtype != np.int64:
        raise InputError(f"{path}: damaged, it has no {name}_bytes of uint8 and {name}_offsets of int64")
    fits = offsets.shape == (n_docs + 1,) and offsets[0] == 0 and offsets[-1] == data.size
    if not fits or (offsets[1:] < offsets[:-1]).any():
        raise InputError(f"{path}: damaged, its offsets do not fit its {n_docs:,} documents")
    encoded = data.tobytes()
    try:
        texts = [encoded[a:b].decode("utf-8") for a, b in pairwise(offsets.tolist())]
    except UnicodeDecodeError:
        raise InputError(f"{path}: damaged, {name}_bytes is not UTF-8") from None
    return list(texts) if name == "id" else [text or None for text in texts]
