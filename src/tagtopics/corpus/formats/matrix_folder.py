"""Matrix folders: the layout in which corpora lie on disk."""

from __future__ import annotations

import json
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from tagtopics.corpus.core import canonical_tags
from tagtopics.corpus.counted import Counted, distinct_names
from tagtopics.corpus.files import existing, name_lines, text_lines
from tagtopics.corpus.formats.tables import read_jsonl
from tagtopics.corpus.recipe import TextRecipe, recipe_from_json
from tagtopics.corpus.text import clean_text
from tagtopics.errors import InputError

_DAMAGE = (
    OSError, ValueError, KeyError, TypeError, EOFError, MemoryError, OverflowError, RuntimeError,
    zipfile.BadZipFile, zlib.error,
)  # fmt: skip
"""What reading a damaged archive may raise."""


def read_folder(folder: Path) -> Counted:
    """Read a matrix folder.

    `words.npz` and `vocab.txt` are required, `tags.npz` and `tags.txt` belong together; `ids.txt`,
    `labels.txt`, `split.txt`, `links.npz`, `texts.jsonl.gz` and `recipe.json` may be there.
    """
    counts = load_csr(_required(folder, "words.npz"))
    n_docs, n_words = counts.shape
    tagged = existing(folder / "tags.npz")
    tags = None if tagged is None else load_csr(tagged)
    linked = existing(folder / "links.npz")
    return Counted(
        source=str(folder),
        counts=counts,
        vocabulary=_names(_required(folder, "vocab.txt"), n_words, "words.npz"),
        tags=tags,
        tag_names=None if tags is None else _names(_required(folder, "tags.txt"), tags.shape[1], "tags.npz"),
        ids=_lines(folder / "ids.txt", n_docs),
        labels=_labels(folder / "labels.txt", n_docs),
        links=None if linked is None else canonical_tags(load_csr(linked), str(linked)),
        texts=_texts(folder, n_docs),
        split=_split(folder / "split.txt", n_docs),
        recipe=_recipe(folder / "recipe.json"),
    )


def load_csr(path: Path) -> sp.csr_array:
    """Load a sparse matrix of `scipy.sparse.save_npz` without trusting it.

    Nothing is unpickled, and every index is checked, so that a hostile file is an `InputError`.
    """
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as parts:
            kind = parts["format"].item()
            shape = tuple(int(n) for n in parts["shape"])
            arrays = tuple(parts[name] for name in ("data", "indices", "indptr"))
    except FileNotFoundError:
        raise InputError(f"no such file: {path}") from None
    except _DAMAGE as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"{path}: cannot be read as a sparse matrix ({reason})") from None
    if (kind.decode("ascii", "replace") if isinstance(kind, bytes) else kind) != "csr":
        raise InputError(f"{path}: expected a CSR matrix, as scipy.sparse.save_npz writes it")
    data, indices, indptr = arrays
    _check_csr(path, shape, data, indices, indptr)
    return sp.csr_array((data, indices, indptr), shape=shape)


def _check_csr(path: Path, shape: tuple[int, ...], data: Any, indices: Any, indptr: Any) -> None:
    flat = all(part.ndim == 1 for part in (data, indices, indptr))
    whole = all(part.dtype.kind in "iu" for part in (indices, indptr))
    if not (flat and whole and data.dtype.kind in "biuf" and len(shape) == 2):
        raise InputError(f"{path}: damaged matrix; its parts have wrong types")
    n_rows, n_columns = shape
    fits = 0 <= n_rows == len(indptr) - 1 and 0 <= n_columns < 2**31
    if not (fits and len(data) == len(indices) == indptr[-1] and indptr[0] == 0):
        raise InputError(f"{path}: damaged matrix; its parts do not fit its shape {shape}")
    if (indptr[1:] < indptr[:-1]).any():
        raise InputError(f"{path}: damaged matrix; its row pointers go backwards")
    if len(indices) and not (indices.min() >= 0 and indices.max() < n_columns):
        raise InputError(f"{path}: damaged matrix; an index lies outside its {n_columns} columns")


def _required(folder: Path, name: str) -> Path:
    path = folder / name
    if not path.is_file():
        raise InputError(
            f"{folder}: no {name}; a matrix folder holds words.npz, vocab.txt, tags.npz and tags.txt"
        )
    return path


def _names(path: Path, n: int, matrix: str) -> tuple[str, ...]:
    names = distinct_names(path)
    if len(names) != n:
        raise InputError(f"{path}: {len(names)} lines, but {matrix} has {n} columns")
    return names


def _lines(path: Path, n_docs: int) -> tuple[str, ...] | None:
    if not path.is_file():
        return None
    lines = name_lines(path)
    if len(lines) != n_docs:
        raise InputError(f"{path}: {len(lines)} lines for {n_docs} documents")
    return lines


def _labels(path: Path, n_docs: int) -> tuple[str | None, ...] | None:
    lines = _lines(path, n_docs)
    return None if lines is None else tuple(line.strip() or None for line in lines)


def _split(path: Path, n_docs: int) -> tuple[str, ...] | None:
    lines = _lines(path, n_docs)
    for number, part in enumerate(lines or (), start=1):
        if part not in ("train", "test"):
            raise InputError(f"{path}, line {number}: expected train or test, got {part[:40]!r}")
    return lines


def _texts(folder: Path, n_docs: int) -> tuple[str, ...] | None:
    path = existing(folder / "texts.jsonl.gz", folder / "texts.jsonl")
    if path is None:
        return None
    table = read_jsonl(path, ("text",))
    texts = table.column("text", "the texts")
    if len(texts) != n_docs:
        raise InputError(f"{path}: {len(texts)} texts for {n_docs} documents")
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise InputError(f"{table.where(row)}: text must be a string, not {type(text).__name__}")
    return tuple(map(clean_text, texts))


def _recipe(path: Path) -> TextRecipe | None:
    if not path.is_file():
        return None
    try:
        return recipe_from_json(json.loads("".join(line for _, line in text_lines(path))))
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not valid JSON ({error})") from None
