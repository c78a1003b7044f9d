"""Loading a corpus by name: the user's, embedded, or downloaded."""

from __future__ import annotations

import http.client
import os
import tomllib
import urllib.error
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import scipy.sparse as sp
from pydantic import BaseModel

from tagtopics.corpus import read_corpus
from tagtopics.corpus.core import Corpus
from tagtopics.errors import InputError, one_line
from tagtopics.files import cache_folder, digest_file

_DOCSTRINGS = "Docstrings of the installed numpy, scipy and scikit-learn, tagged by package and kind."


class RemoteFile(BaseModel):
    """One file of a data set."""

    role: str  # counts, tags, vocabulary or tag_names
    name: str  # in the cache
    address: str  # it names a commit, so its content cannot change
    size: int  # bytes
    sha256: str


class DatasetEntry(BaseModel):
    """One registered data set."""

    name: str  # for `load_dataset`
    description: str  # one line
    source: str  # the public repository it comes from
    licence: str  # what is known of it
    note: str  # known flaws and differences from the paper; may be empty
    format: str  # mat or mulan
    files: tuple[RemoteFile, ...]
    expected: Mapping[str, int]  # what a build from these files must give
    paper: Mapping[str, float]  # the row of the paper's Table II, named as in `Corpus.statistics`
    n_train: int | None = None  # size of the official training part, which comes first


@dataclass(frozen=True)
class DatasetRow:
    """One line of `list_datasets`."""

    name: str  # for `load_dataset`
    description: str  # one line; empty for the user's folders
    origin: str  # TAGTOPICS_DATA, cache, download or embedded


def load_dataset(name_or_path: str | Path) -> Corpus:
    """Load a corpus by its name or path.

    A path that exists is read. A name is looked up in `TAGTOPICS_DATA`; "docstrings" is embedded; other names
    are looked up in the registry: from the cache, else by download.

    Args:
        name_or_path: see `list_datasets` for the names.

    Returns:
        The corpus.
    """
    name = str(name_or_path)
    path = Path(os.path.expanduser(name))
    known = name == "docstrings" or name in read_registry()
    if (path / "words.npz").is_file() or (path.exists() and not known):
        return read_corpus(path)
    if (folder := _user_folders().get(name)) is not None:
        return read_corpus(folder)
    if name == "docstrings":
        from tagtopics.datasets import docstrings

        return docstrings.load_docstrings()
    entry = read_registry().get(name)
    if entry is None:
        names = ", ".join(row.name for row in list_datasets())
        raise InputError(f"no dataset or path {name!r}; the data sets are {names}")
    return _build(entry, fetch_dataset(entry))


def list_datasets() -> list[DatasetRow]:
    """Return the data sets that `load_dataset` knows by name, and where each comes from."""
    rows = {"docstrings": DatasetRow("docstrings", _DOCSTRINGS, "embedded")}
    for name, entry in read_registry().items():
        rows[name] = DatasetRow(name, entry.description, "cache" if is_cached(entry) else "download")
    for name in _user_folders():
        rows[name] = DatasetRow(name, rows[name].description if name in rows else "", "TAGTOPICS_DATA")
    return sorted(rows.values(), key=lambda row: row.name)


def _user_folders() -> dict[str, Path]:
    """Return the matrix folders in the directory `TAGTOPICS_DATA` by name."""
    named = os.path.expanduser(os.environ.get("TAGTOPICS_DATA", ""))
    found = sorted(Path(named).glob("*/words.npz")) if named else []
    return {path.parent.name: path.parent for path in found if path.is_file()}


# ------------------------------------------------- registered files (`registry.toml`), in the cache, checked


@cache
def read_registry() -> Mapping[str, DatasetEntry]:
    """Return all registered data sets by name, in the order of the file."""
    text = files("tagtopics.datasets").joinpath("registry.toml").read_text(encoding="utf-8")
    return {name: DatasetEntry(name=name, **table) for name, table in tomllib.loads(text).items()}


def is_cached(entry: DatasetEntry) -> bool:
    """Tell whether all files of a data set are in the cache, with the right sizes."""
    paths = [(cache_folder() / entry.name / file.name, file.size) for file in entry.files]
    return all(path.is_file() and path.stat().st_size == size for path, size in paths)


def fetch_dataset(entry: DatasetEntry) -> Path:
    """Download the files of a data set that the cache lacks, and return their folder.

    A file with another checksum is an `InputError`: it may be the user's own.
    """
    folder = cache_folder() / entry.name
    for file in entry.files:
        target = folder / file.name
        if not target.exists():
            _fetch_file(file, target)
        elif not target.is_file() or digest_file(target) != file.sha256:
            raise InputError(
                f"{target}: is damaged, or another file of this name (its checksum differs); remove it to "
                "download it again, or set TAGTOPICS_CACHE to another folder"
            )
    return folder


def _fetch_file(file: RemoteFile, target: Path) -> None:
    """Download one file to `target`, where it appears whole and with the right checksum, or not at all."""
    from sklearn.datasets import fetch_file

    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        fetch_file(file.address, target.parent, file.name, file.sha256, n_retries=0)
    except (OSError, http.client.HTTPException) as error:
        if isinstance(error, urllib.error.HTTPError):
            error.close()  # its connection
        raise InputError(
            f"cannot fetch {file.address} to {target} ({one_line(error)}); offline, set TAGTOPICS_DATA to a "
            "directory of matrix folders"
        ) from error


def _build(entry: DatasetEntry, folder: Path) -> Corpus:
    """Build a registered corpus from its files in a folder; with its official split, if any."""
    paths = {file.role: folder / file.name for file in entry.files}
    counts, tags, words, names = _read_mat(paths) if entry.format == "mat" else _read_mulan(paths)
    split = ("train",) * (entry.n_train or 0) + ("test",) * (counts.shape[0] - (entry.n_train or 0))
    corpus = read_corpus(counts, tags=tags, vocabulary=words)
    return replace(corpus, tag_names=tuple(names), split=None if entry.n_train is None else split)


def _read_mat(paths: dict[str, Path]) -> tuple[Any, Any, Sequence[str], Sequence[str]]:
    """Read words x documents, tags x documents and their names from four files of MATLAB."""
    from scipy.io import loadmat

    def variable(role: str) -> Any:
        loaded = loadmat(paths[role], spmatrix=False)
        return next(value for name, value in loaded.items() if not name.startswith("__"))

    counts, tags = (sp.csr_array(variable(role).T) for role in ("counts", "tags"))
    words, names = ([str(cell.item()) for cell in variable(r).ravel()] for r in ("vocabulary", "tag_names"))
    return counts, tags, words, names


def _read_mulan(paths: dict[str, Path]) -> tuple[Any, Any, Sequence[str], Sequence[str]]:
    """Read rows `{column value, ...}` of an ARFF file; the attributes that the XML file names are tags."""
    labels = [element.get("name", "") for element in ElementTree.parse(paths["tag_names"]).iter()]
    labels = [name for name in labels if name]
    head, _, rows = paths["counts"].read_text(encoding="utf-8").partition("@data\n")
    names = [line.split()[1].strip("'") for line in head.splitlines() if line.startswith("@attribute")]
    column = {name: i for i, name in enumerate(names)}
    table = sp.lil_array((rows.count("{"), len(names)), dtype=np.int32)
    for row, line in enumerate(rows.splitlines()):
        for pair in line.strip("{}").split(","):
            at, value = pair.split()
            table[row, int(at)] = int(value)
    matrix = sp.csc_array(table)
    tagged = [column[name] for name in labels]
    words = sorted(set(range(len(names))) - set(tagged))
    return matrix[:, words], matrix[:, tagged], [names[i] for i in words], labels
