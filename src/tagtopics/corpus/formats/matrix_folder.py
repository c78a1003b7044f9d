"""Matrix folders: the layout of corpora on disk."""

from __future__ import annotations

import math
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tagtopics._typing import CSR
from tagtopics.corpus.cells import METADATA, read_metadata
from tagtopics.corpus.core import Documents, FileOptions, ReadOptions, canonical_tags, checked_csr
from tagtopics.corpus.formats.jsonl import stream_jsonl
from tagtopics.corpus.formats.text_files import (
    check_expansion,
    distinct_names,
    existing,
    name_lines,
    read_json,
)
from tagtopics.corpus.recipe import recipe_from_json
from tagtopics.corpus.text import clean_text
from tagtopics.errors import InputError, one_line

# What reading a damaged archive may raise.
_DAMAGE = (
    OSError, ValueError, KeyError, TypeError, EOFError, MemoryError, OverflowError, RuntimeError,
    zipfile.BadZipFile, zlib.error,
)  # fmt: skip


def read_folder(folder: Path, options: ReadOptions) -> Documents:
    """Read a matrix folder.

    `words.npz` and `vocab.txt` are required, `tags.npz` and `tags.txt` belong together; `ids.txt`,
    `labels.txt`, `split.txt`, `titles.txt`, `dates.txt`, `urls.txt`, `links.npz`, `texts.jsonl.gz` and
    `recipe.json` are optional.
    """
    counts = load_csr(_require_file(folder, "words.npz"))
    n_docs, n_words = counts.shape
    tags = load_csr(folder / "tags.npz") if (folder / "tags.npz").is_file() else None
    links = folder / "links.npz"
    lines = {name: _lines(folder / f"{name}.txt", n_docs) for name in ("ids", "labels", "split")}
    for number, part in enumerate(lines["split"] or (), start=1):
        if part not in ("train", "test"):
            where = f"{folder / 'split.txt'}, line {number}"
            raise InputError(f"{where}: expected train or test, got {part[:40]!r}")
    given = {what: _lines(folder / f"{name}.txt", n_docs) for what, name in METADATA.items()}
    metadata, left_out = read_metadata({what: values for what, values in given.items() if values is not None})
    labels, recipe = lines["labels"], None
    if (folder / "recipe.json").is_file():
        try:
            recipe = recipe_from_json(read_json(folder / "recipe.json"))
        except InputError as error:
            raise InputError(f"{folder / 'recipe.json'}: {error}") from None
    return Documents(
        source=str(folder),
        counts=counts,
        vocabulary=_names(_require_file(folder, "vocab.txt"), n_words, "words.npz"),
        tags=tags,
        tag_names=None
        if tags is None
        else _names(_require_file(folder, "tags.txt"), tags.shape[1], "tags.npz"),
        ids=lines["ids"],
        labels=None if labels is None else tuple(line.strip() or None for line in labels),
        links=canonical_tags(load_csr(links), str(links)) if links.is_file() else None,
        texts=_texts(folder, n_docs),
        split=lines["split"],
        recipe=recipe,
        notices=left_out,
        **metadata,  # type: ignore[arg-type]
    )


def load_csr(path: Path) -> CSR:
    """Load a sparse matrix written by `scipy.sparse.save_npz` from a file that may be damaged or hostile.

    Nothing is unpickled, and every index is checked; any problem is an `InputError`. So is a file that
    expands too far, before it is unpacked.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            check_expansion(path, sum(member.file_size for member in archive.infolist()))
            kind = npz_array(archive, "format").item()
            shape = tuple(int(n) for n in npz_array(archive, "shape"))
            data, indices, indptr = (npz_array(archive, name) for name in ("data", "indices", "indptr"))
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError(f"no such file: {path}") from None
    except _DAMAGE as error:
        raise InputError(f"{path}: cannot be read as a sparse matrix ({one_line(error)})") from None
    if (kind.decode("ascii", "replace") if isinstance(kind, bytes) else kind) != "csr":
        raise InputError(f"{path}: expected a CSR matrix, as scipy.sparse.save_npz writes it")
    return checked_csr(data, indices, indptr, shape, str(path))


def npz_array(archive: zipfile.ZipFile, name: str) -> npt.NDArray[Any]:
    """Return an array of an npz file; its header may claim no more bytes than there are."""
    member = archive.getinfo(f"{name}.npy")
    with archive.open(member) as file:
        version = np.lib.format.read_magic(file)
        read_header = getattr(np.lib.format, f"read_array_header_{version[0]}_{version[1]}")
        shape, _, dtype = read_header(file)
        if dtype.hasobject:
            raise ValueError(f"{name} holds objects, which need pickle")
        if math.prod(shape) * dtype.itemsize > member.file_size:
            raise ValueError(f"{name} is not an array of {shape} numbers")
        array: npt.NDArray[Any] = np.frombuffer(file.read(), dtype, math.prod(shape)).reshape(shape)
        return array


def _require_file(folder: Path, name: str) -> Path:
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


def _texts(folder: Path, n_docs: int) -> tuple[str, ...] | None:
    path = existing(folder / "texts.jsonl.gz", folder / "texts.jsonl")
    if path is None:
        return None
    table = next(stream_jsonl(path, ("text",), math.inf, FileOptions()))
    texts = table.column("text", "the texts")
    if len(texts) != n_docs:
        raise InputError(f"{path}: {len(texts)} texts for {n_docs} documents")
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise InputError(f"{table.where(row)}: text must be a string, not {type(text).__name__}")
    return tuple(map(clean_text, texts))
