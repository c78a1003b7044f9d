"""The data sets that can be downloaded (`registry.toml`), and their files in the cache, checked."""

from __future__ import annotations

import http.client
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


class DatasetEntry(BaseModel):
    """One registered data set."""

    name: str  # for `load_dataset`
    description: str  # one line
    source: str  # the public repository it comes from
    licence: str  # what is known of it
    note: str  # known flaws and differences from the paper; may be empty
    format: str  # mat or mulan; see `load`
    files: tuple[RemoteFile, ...]
    expected: Mapping[str, int]  # what a build from these files must give
    paper: Mapping[str, float]  # the row of the paper's Table II, named as in `Corpus.statistics`
    n_train: int | None = None  # size of the official training part, which comes first


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
