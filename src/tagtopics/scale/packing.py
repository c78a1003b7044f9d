"""Texts of documents in the arrays of a shard: ids, titles, dates and addresses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tagtopics._typing import Int64
from tagtopics.corpus.metadata import METADATA
from tagtopics.errors import InputError

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


def unpack(name: str, arrays: Mapping[str, npt.NDArray[Any]]) -> tuple[str, ...]:
    """Return the texts that `pack` wrote."""
    text = arrays[f"{name}_bytes"].tobytes()
    return tuple(text[a:b].decode("utf-8") for a, b in pairwise(arrays[f"{name}_offsets"].tolist()))


def pack_metadata(parts: Sequence[tuple[int, Metadata]]) -> Arrays:
    """Return the arrays of metadata of a shard, from runs of documents: how many, and theirs."""
    arrays: Arrays = {}
    for name in METADATA.values():
        texts: list[str | None] = []
        for n_docs, metadata in parts:
            texts += metadata.get(name) or [None] * n_docs
        if any(texts):
            arrays |= pack(name, texts)
    return arrays


def unpack_metadata(
    shards: Sequence[Mapping[str, npt.NDArray[Any]]],
) -> dict[str, Any]:
    """Return titles, dates and urls of all documents of some shards, for a `Corpus`; None if none has any."""
    found: dict[str, Any] = {}
    for name in METADATA.values():
        texts: list[str | None] = []
        for arrays in shards:
            n_docs = len(arrays["id_offsets"]) - 1
            there = f"{name}_bytes" in arrays
            texts += [text or None for text in unpack(name, arrays)] if there else [None] * n_docs
        found[name] = tuple(texts) if any(texts) else None
    return found


def check_texts(arrays: Mapping[str, npt.NDArray[Any]], n_docs: int, path: Path) -> None:
    """Check the ids of a shard, and the metadata that it has."""
    for name in ("id", *METADATA.values()):
        data, offsets = arrays.get(f"{name}_bytes"), arrays.get(f"{name}_offsets")
        if data is None and offsets is None and name != "id":
            continue
        if data is None or offsets is None or data.dtype != np.uint8 or offsets.dtype != np.int64:
            raise InputError(f"{path}: damaged, it has no {name}_bytes of uint8 and {name}_offsets of int64")
        _check_offsets(offsets, n_docs, data.size, path)
        try:
            unpack(name, arrays)
        except UnicodeDecodeError:
            raise InputError(f"{path}: damaged, {name}_bytes is not UTF-8") from None


def _check_offsets(offsets: Int64, n: int, total: int, path: Path) -> None:
    fits = offsets.shape == (n + 1,) and offsets[0] == 0 and offsets[-1] == total
    if not fits or (offsets[1:] < offsets[:-1]).any():
        raise InputError(f"{path}: damaged, its offsets do not fit its {n:,} documents")
