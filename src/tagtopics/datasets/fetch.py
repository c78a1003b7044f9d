"""Fetching files into the cache: https only, checked before they get their name, never at import."""

from __future__ import annotations

import hashlib
import http.client
import os
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from tagtopics.datasets.registry import DatasetEntry, RemoteFile
from tagtopics.errors import InputError

Progress = Callable[[str, int, int], None]
"""Called with the name of the file, the bytes so far and the bytes in all."""

_BLOCK = 64 * 1024
_LOOPBACK = {"127.0.0.1", "localhost", "::1"}


def cache_directory() -> Path:
    """Return the directory of fetched files: `TAGTOPICS_CACHE`, else the platform's own place for caches."""
    named = os.environ.get("TAGTOPICS_CACHE")
    if named:
        return Path(named).expanduser()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "tagtopics"


def is_cached(entry: DatasetEntry, directory: Path | None = None) -> bool:
    """Whether all files of a data set are in the cache; sizes are compared, checksums when it is loaded."""
    folder = (directory or cache_directory()) / entry.name
    paths = [(folder / file.name, file.size) for file in entry.files]
    return all(path.is_file() and path.stat().st_size == size for path, size in paths)


def fetch_dataset(
    entry: DatasetEntry,
    directory: Path | None = None,
    progress: Progress | None = None,
    timeout: float = 30.0,
) -> Path:
    """Bring all files of a data set into the cache, and return their folder.

    Files that are there already are kept when their checksum is right, and fetched again when it is not.

    Args:
        entry: of the registry.
        directory: the cache; `cache_directory()` unless given.
        progress: called after every block.
        timeout: seconds to wait for the server, each time.

    Returns:
        The folder `directory / entry.name`.
    """
    folder = (directory or cache_directory()) / entry.name
    for file in entry.files:
        target = folder / file.name
        if not (target.is_file() and _checksum(target) == file.sha256):
            fetch_file(file, target, progress=progress, timeout=timeout)
    return folder


def fetch_file(
    file: RemoteFile, target: Path, progress: Progress | None = None, timeout: float = 30.0
) -> None:
    """Fetch one file to `target`; it appears there whole and with the right checksum, or not at all."""
    _require_safe(file.address)
    part: Path | None = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{file.name}.", suffix=".part", dir=target.parent)
        part = Path(name)
        with os.fdopen(handle, "wb") as stream:
            digest = _download(file, stream, progress, timeout)
        if digest != file.sha256:
            raise InputError(f"{file.address}: sha256 is {digest}, expected {file.sha256}; nothing was kept")
        part.replace(target)
    except (OSError, http.client.HTTPException) as error:
        raise InputError(_failure(file, target, error)) from error
    finally:
        if part is not None:
            part.unlink(missing_ok=True)


def _download(file: RemoteFile, stream: IO[bytes], progress: Progress | None, timeout: float) -> str:
    """Copy the body of an answer to a stream, and return its sha256."""
    digest = hashlib.sha256()
    done = 0
    request = urllib.request.Request(file.address, headers={"User-Agent": "tagtopics"})
    with urllib.request.build_opener(_SafeRedirects).open(request, timeout=timeout) as answer:
        while block := answer.read(_BLOCK):
            done += len(block)
            if done > file.size:
                raise InputError(
                    f"{file.address}: larger than the expected {file.size} bytes; nothing was kept"
                )
            digest.update(block)
            stream.write(block)
            if progress is not None:
                progress(file.name, done, file.size)
    if done < file.size:
        raise InputError(
            f"{file.address}: broke off after {done} of {file.size} bytes; nothing was kept, try again"
        )
    return digest.hexdigest()


class _SafeRedirects(urllib.request.HTTPRedirectHandler):
    """Follows redirections, but not away from https."""

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
    """Refuse everything but https; plain http is for a server on this very machine."""
    parts = urllib.parse.urlsplit(address)
    if parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK):
        return
    raise InputError(f"{address}: only https addresses are fetched")


def _failure(file: RemoteFile, target: Path, error: Exception) -> str:
    """One line for a failed fetch: what, why, and what to do without a connection."""
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(error, urllib.error.HTTPError):
        reason = f"{error.code} {error.reason}"
        error.close()
    return (
        f"cannot fetch {file.address} to {target} ({' '.join(str(reason).split()) or type(error).__name__}); "
        "offline, set TAGTOPICS_DATA to a directory of matrix folders"
    )


def _checksum(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
