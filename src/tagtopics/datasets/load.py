"""Loading a corpus by name: the user's, embedded, generated, or downloaded."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

from tagtopics.corpus import read_corpus
from tagtopics.corpus.core import Corpus
from tagtopics.corpus.formats.matrix_folder import DAMAGE, npz_array, open_npz
from tagtopics.datasets.registry import DatasetEntry, fetch_dataset, is_cached, read_registry
from tagtopics.datasets.upstream import read_mat, read_mulan
from tagtopics.errors import InputError

BUILT_IN = {
    "docstrings": "Docstrings of the installed numpy, scipy and scikit-learn, tagged by package and kind.",
    "synthetic": "Planted topics, tags and groups of tags; `make_tagged_corpus` also gives the truth.",
}
"""Data sets that need no file: name and description."""


@dataclass(frozen=True)
class DatasetRow:
    """One line of `list_datasets`.

    Attributes:
        name: the name for `load_dataset`.
        description: one line; empty for the user's folders.
        n_docs: documents; None if unknown before it is built.
        n_tags: tags, likewise.
        n_words: words, likewise.
        origin: where it comes from: TAGTOPICS_DATA, cache, download, embedded or generated.
    """

    name: str
    description: str
    n_docs: int | None
    n_tags: int | None
    n_words: int | None
    origin: str


def load_dataset(name_or_path: str | Path) -> Corpus:
    """Load a corpus by its name or path.

    A path that exists is read. A name is looked up in `TAGTOPICS_DATA`, then among the embedded ones
    ("docstrings", "synthetic"), then in the registry: from the cache, else by download.

    Args:
        name_or_path: see `list_datasets` for the names.

    Returns:
        The corpus.
    """
    name = str(name_or_path)
    path = Path(os.path.expanduser(name))
    known = name in BUILT_IN or name in read_registry()
    if (path / "words.npz").is_file() or (path.exists() and not known):
        return read_corpus(path)
    if (folder := _user_folders().get(name)) is not None:
        return read_corpus(folder)
    if name == "docstrings":
        from tagtopics.datasets import docstrings

        return docstrings.load_docstrings()
    if name == "synthetic":
        from tagtopics.datasets.synthetic import make_tagged_corpus

        return make_tagged_corpus().corpus
    entry = read_registry().get(name)
    if entry is None:
        names = ", ".join(row.name for row in list_datasets())
        raise InputError(f"no dataset or path {name!r}; the data sets are {names}")
    return build_dataset(entry, fetch_dataset(entry))


def list_datasets() -> list[DatasetRow]:
    """Return the data sets that `load_dataset` knows by name, and where each comes from."""
    rows = {}
    for name, description in BUILT_IN.items():
        origin = "embedded" if name == "docstrings" else "generated"
        rows[name] = DatasetRow(name, description, None, None, None, origin)
    for name, entry in read_registry().items():
        origin = "cache" if is_cached(entry) else "download"
        sizes = (entry.expected.n_docs, entry.expected.n_tags, entry.expected.n_words)
        rows[name] = DatasetRow(name, entry.description, *sizes, origin)
    for name, folder in _user_folders().items():
        description = rows[name].description if name in rows else ""
        (n_docs, n_words), (_, n_tags) = _shape(folder / "words.npz"), _shape(folder / "tags.npz")
        rows[name] = DatasetRow(name, description, n_docs, n_tags, n_words, "TAGTOPICS_DATA")
    return sorted(rows.values(), key=lambda row: row.name)


def build_dataset(entry: DatasetEntry, folder: Path) -> Corpus:
    """Build a registered corpus from its files in a folder; with its official split, if any."""
    paths = {file.role: folder / file.name for file in entry.files}
    corpus = read_mat(paths) if entry.format == "mat" else read_mulan(paths)
    if entry.n_train is None:
        return corpus
    split = ("train",) * entry.n_train + ("test",) * (corpus.n_docs - entry.n_train)
    return replace(corpus, split=split)


def _user_folders() -> dict[str, Path]:
    """Return the matrix folders in the directory `TAGTOPICS_DATA` by name."""
    named = os.path.expanduser(os.environ.get("TAGTOPICS_DATA", ""))
    if not named or not os.path.isdir(named):
        return {}
    return {path.name: path for path in sorted(Path(named).glob("*")) if (path / "words.npz").is_file()}


def _shape(path: Path) -> tuple[int | None, int | None]:
    """Return the shape of a stored CSR matrix without reading its entries; None if the file is not one."""
    try:
        with open_npz(path) as archive:
            rows, columns = npz_array(archive, "shape")
    except DAMAGE:  # an `InputError` is a `ValueError`
        return None, None
    return int(rows), int(columns)
