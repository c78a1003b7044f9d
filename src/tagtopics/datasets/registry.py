"""The data sets that can be downloaded (`registry.toml`), and their files in the cache, checked."""

from __future__ import annotations

import http.client
import os
import tomllib
import urllib.error
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path

from pydantic import BaseModel

from tagtopics.errors import InputError, one_line
from tagtopics.files import cache_folder, digest_file


class RemoteFile(BaseModel):
    """One file of a data set."""

    role: str  # counts, tags, vocabulary or tag_names
    name: str  # in the cache
    address: str  # it names a commit, so its content cannot change
    size: int  # bytes
    sha256: str


class ExpectedStatistics(BaseModel):
    """The statistics of the corpus that is built from the registered files."""

    n_docs: int
    n_tags: int
    n_words: int
    n_tokens: int  # I_d of the paper is this over D
    n_edges: int  # non-zero counts; W_d is this over D
    n_slots: int  # pairs of document and tag; T_d is this over D


class DatasetEntry(BaseModel):
    """One registered data set.

    Attributes:
        name: the name for `load_dataset`.
        description: one line.
        source: the public repository it comes from.
        licence: what is known of it.
        note: known flaws and differences from the paper; may be empty.
        format: how to read the files, mat or mulan; see `upstream`.
        files: what to download.
        expected: statistics of the corpus.
        paper: the row of the paper's Table II, under the names of `Corpus.statistics`.
        n_train: size of the official training part, which comes first; None without a split.
    """

    name: str
    description: str
    source: str
    licence: str
    note: str
    format: str
    files: tuple[RemoteFile, ...]
    expected: ExpectedStatistics
    paper: Mapping[str, float]
    n_train: int | None = None


@cache
def read_registry() -> Mapping[str, DatasetEntry]:
    """Return all registered data sets by name, in the order of the file."""
    text = files("tagtopics.datasets").joinpath("registry.toml").read_text(encoding="utf-8")
    return {name: DatasetEntry(name=name, **table) for name, table in tomllib.loads(text).items()}


def is_cached(entry: DatasetEntry, directory: Path | None = None) -> bool:
    """Tell whether all files of a data set are in the cache, with the right sizes."""
    folder = (directory or cache_folder()) / entry.name
    paths = [(folder / file.name, file.size) for file in entry.files]
    return all(os.path.isfile(path) and path.stat().st_size == size for path, size in paths)


def fetch_dataset(entry: DatasetEntry, directory: Path | None = None) -> Path:
    """Download all files of a data set into the cache, and return their folder.

    Existing files are kept. One with another checksum is an `InputError`: it may be the user's own.

    Args:
        entry: an entry of the registry.
        directory: the cache; None for `cache_folder()`.

    Returns:
        The folder `directory / entry.name`.
    """
    folder = (directory or cache_folder()) / entry.name
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
