"""Downloading files into the cache: https only, checked before they appear, never at import."""

from __future__ import annotations

import hashlib
import http.client
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from tagtopics._io import atomic_file, cache_folder, digest_file
from tagtopics.datasets.registry import DatasetEntry, RemoteFile
from tagtopics.errors import InputError

Progress = Callable[[str, int, int], None]
"""Called with the name of the file, the bytes so far and the bytes in all."""

_BLOCK = 64 * 1024
_LOOPBACK = {"127.0.0.1", "localhost", "::1"}


def is_cached(entry: DatasetEntry, directory: Path | None = None) -> bool:
    """Tell whether all files of a data set are in the cache, with the right sizes."""
    folder = (directory or cache_folder("data")) / entry.name
    paths = [(folder / file.name, file.size) for file in entry.files]
    return all(path.is_file() and path.stat().st_size == size for path, size in paths)


def fetch_dataset(
    entry: DatasetEntry,
    directory: Path | None = None,
    progress: Progress | None = None,
    timeout: float = 30.0,
) -> Path:
    """Download all files of a data set into the cache, and return their folder.

    Existing files are kept if their checksum is right, and downloaded again if it is not.

    Args:
        entry: an entry of the registry.
        directory: the cache; None for `cache_folder("data")`.
        progress: called after every block.
        timeout: seconds to wait for the server, each time.

    Returns:
        The folder `directory / entry.name`.
    """
    folder = (directory or cache_folder("data")) / entry.name
    for file in entry.files:
        target = folder / file.name
        if not (target.is_file() and digest_file(target) == file.sha256):
            fetch_file(file, target, progress=progress, timeout=timeout)
    return folder


def fetch_file(
    file: RemoteFile, target: Path, progress: Progress | None = None, timeout: float = 30.0
) -> None:
    """Download one file to `target`, where it appears whole and with the right checksum, or not at all."""
    _require_safe(file.address)
    with atomic_file(target) as part:
        try:
            with part.open("wb") as stream:
                digest = _download(file, stream, progress, timeout)
        except (OSError, http.client.HTTPException) as error:
            raise InputError(_failure(file, target, error)) from error
        if digest != file.sha256:
            raise InputError(f"{file.address}: sha256 is {digest}, expected {file.sha256}; nothing was kept")


def _download(file: RemoteFile, stream: IO[bytes], progress: Progress | None, timeout: float) -> str:
    """Copy the body of a response to a stream, and return its SHA-256."""
    digest = hashlib.sha256()
    done = 0
    request = urllib.request.Request(file.address, headers={"User-Agent": "tagtopics"})
    with urllib.request.build_opener(_SafeRedirects).open(request, timeout=timeout) as response:
        while block := response.read(_BLOCK):
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
    if parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK):
        return
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
