"""The data sets that can be downloaded (`registry.toml`), and their files in the cache, checked."""

from __future__ import annotations

import hashlib
import http.client
import os
import tomllib
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import IO, Any

from pydantic import BaseModel, ConfigDict

from tagtopics.corpus.core import Corpus
from tagtopics.errors import InputError
from tagtopics.files import atomic_file, cache_folder, digest_file


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class RemoteFile(_Record):
    """One file of a data set."""

    role: str  # counts, tags, vocabulary or tag_names
    name: str  # in the cache
    address: str  # it names a commit, so its content cannot change
    size: int  # bytes, also the limit of a download
    sha256: str


class ExpectedStatistics(_Record):
    """The exact statistics of a corpus built from the registered files."""

    n_docs: int
    n_tags: int
    n_words: int
    n_tokens: int  # I_d of the paper is this over D
    n_edges: int  # non-zero counts; W_d is this over D
    n_slots: int  # pairs of document and tag; T_d is this over D

    @classmethod
    def of(cls, corpus: Corpus) -> ExpectedStatistics:
        """Count a corpus."""
        sizes = {"n_docs": corpus.n_docs, "n_tags": corpus.n_tags, "n_words": corpus.n_words}
        n_tokens = int(corpus.counts.sum(dtype="int64"))
        return cls(**sizes, n_tokens=n_tokens, n_edges=corpus.counts.nnz, n_slots=corpus.tags.nnz)


class DatasetEntry(_Record):
    """One registered data set.

    Attributes:
        name: the name for `load_dataset`.
        description: one line.
        source: the public repository it comes from.
        licence: what is known of it.
        note: known flaws and differences from the paper; may be empty.
        format: how to read the files, mat or mulan; see `upstream`.
        files: what to download.
        expected: exact statistics of the corpus.
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

    def file(self, role: str) -> RemoteFile:
        """Return the file of a role."""
        return next(file for file in self.files if file.role == role)

    def check(self, corpus: Corpus) -> None:
        """Raise an `InputError` that names the first statistic that differs."""
        found = ExpectedStatistics.of(corpus)
        for (statistic, value), (_, expected) in zip(found, self.expected, strict=True):
            if value != expected:
                raise InputError(
                    f"dataset {self.name!r}: {statistic} is {value}, expected {expected}; "
                    "empty its folder in the cache and load it again"
                )


@cache
def read_registry() -> Mapping[str, DatasetEntry]:
    """Return all registered data sets by name, in the order of the file."""
    text = files("tagtopics.datasets").joinpath("registry.toml").read_text(encoding="utf-8")
    return {name: DatasetEntry(name=name, **table) for name, table in tomllib.loads(text).items()}


Progress = Callable[[str, int, int], None]
"""Called with the name of the file, the bytes so far and the bytes in all."""


def is_cached(entry: DatasetEntry, directory: Path | None = None) -> bool:
    """Tell whether all files of a data set are in the cache, with the right sizes."""
    folder = (directory or cache_folder()) / entry.name
    paths = [(folder / file.name, file.size) for file in entry.files]
    return all(os.path.isfile(path) and path.stat().st_size == size for path, size in paths)


def fetch_dataset(
    entry: DatasetEntry,
    directory: Path | None = None,
    progress: Progress | None = None,
    timeout: float = 30.0,
) -> Path:
    """Download all files of a data set into the cache, and return their folder.

    Existing files are kept. One with another checksum is an `InputError`: it may be the user's own.

    Args:
        entry: an entry of the registry.
        directory: the cache; None for `cache_folder()`.
        progress: called after every block.
        timeout: seconds to wait for the server, each time.

    Returns:
        The folder `directory / entry.name`.
    """
    folder = (directory or cache_folder()) / entry.name
    for file in entry.files:
        target = folder / file.name
        if not target.exists():
            fetch_file(file, target, progress=progress, timeout=timeout)
        elif not target.is_file() or digest_file(target) != file.sha256:
            raise InputError(
                f"{target}: is damaged, or another file of this name (its checksum differs); remove it to "
                "download it again, or set TAGTOPICS_CACHE to another folder"
            )
    return folder


def fetch_file(
    file: RemoteFile, target: Path, progress: Progress | None = None, timeout: float = 30.0
) -> None:
    """Download one file to `target`, where it appears whole and with the right checksum, or not at all."""
    _require_safe(file.address)
    with atomic_file(target) as part:
        try:
            with part.open("wb") as stream:
                _download(file, stream, progress, timeout)
        except (OSError, http.client.HTTPException) as error:
            raise InputError(_failure(file, target, error)) from error


def _download(file: RemoteFile, stream: IO[bytes], progress: Progress | None, timeout: float) -> None:
    """Copy the body of a response to a stream, and check its size and SHA-256."""
    digest, done, problem = hashlib.sha256(), 0, ""
    request = urllib.request.Request(file.address, headers={"User-Agent": "tagtopics"})
    with urllib.request.build_opener(_SafeRedirects).open(request, timeout=timeout) as response:
        while done <= file.size and (block := response.read(64 * 1024)):
            done += len(block)
            digest.update(block)
            stream.write(block)
            if progress is not None:
                progress(file.name, done, file.size)
    if done > file.size:
        problem = f"larger than the expected {file.size} bytes; nothing was kept"
    elif done < file.size:
        problem = f"broke off after {done} of {file.size} bytes; nothing was kept, try again"
    elif digest.hexdigest() != file.sha256:
        problem = f"sha256 is {digest.hexdigest()}, expected {file.sha256}; nothing was kept"
    if problem:
        raise InputError(f"{file.address}: {problem}")


class _SafeRedirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects, but only to https."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        try:
            _require_safe(newurl)
        except InputError:
            fp.close()
            raise
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _require_safe(address: str) -> None:
    """Refuse everything but https, and http to this machine."""
    parts = urllib.parse.urlsplit(address)
    local = parts.scheme == "http" and parts.hostname in ("127.0.0.1", "localhost", "::1")
    if parts.scheme != "https" and not local:
        raise InputError(f"{address}: only https addresses are allowed")


def _failure(file: RemoteFile, target: Path, error: Exception) -> str:
    """Return one line about a failed download: what, why, and what to do without a connection."""
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(error, urllib.error.HTTPError):
        reason = f"{error.code} {error.reason}"
        error.close()
    return (
        f"cannot fetch {file.address} to {target} ({' '.join(str(reason).split()) or type(error).__name__}); "
        "offline, set TAGTOPICS_DATA to a directory of matrix folders"
    )
