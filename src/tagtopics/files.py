"""Files and folders: atomic writes, proof of ownership, digests, cache folders.

Every output of tagtopics goes through this module. A file or folder is written under a temporary name next to
its target, flushed to disk, and moved into place in one step, so a reader finds the old content or the new,
never a mixture. Existing content is replaced only if tagtopics wrote it. Writers hold locks on files, which
end with the process and which other containers see too: what nobody has locked is a leftover.
"""

from __future__ import annotations

import ctypes
import errno
import glob
import hashlib
import io
import os
import re
import secrets
import shutil
import stat
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from tagtopics.errors import InputError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

# Names of unfinished folders, `.NAME.PID-RANDOM.tmp`, of folders moved aside, `.old`, and of their locks.
_TEMPORARY = re.compile(r"(?P<stem>\.(?P<name>.+)\.\d+-[0-9a-f]{8})\.(?:tmp|old|lock)")

# In place of `PID-RANDOM.lock`: the lock that a writer of NAME holds while it replaces a folder.
_EXCHANGE_LOCK = "0-00000000.lock"

_AT_FDCWD, _RENAME_EXCHANGE = -100, 2

BLANK = "0" * 64
"""In place of the digest of a text when the text itself is digested."""


def cache_folder() -> Path:
    """Return the folder for downloaded data sets: `TAGTOPICS_CACHE`, or a folder in the user's cache."""
    named = os.environ.get("TAGTOPICS_CACHE")
    return Path(os.path.expanduser(named)) if named else _user_cache()


@cache
def code_folder() -> Path | None:
    """Return a folder for cached code, in which only this user can write; None, with a warning, without one.

    Cached code is executable, so it never shares a folder with data, and what others may have written is not
    used. The folder is in `NUMBA_CACHE_DIR`, else in the user's cache.
    """
    named = os.environ.get("NUMBA_CACHE_DIR")
    try:
        return _private_folder(Path(named).absolute() if named else _user_cache().parent)
    except OSError as error:
        reason = f"{error.filename or 'no folder'}: {error.strerror or error}"
    remedy = "set XDG_CACHE_HOME or NUMBA_CACHE_DIR to a folder in which you can write"
    message = f"compiled code is not cached, so each run compiles it again ({reason}); {remedy}"
    warnings.warn(message, RuntimeWarning, stacklevel=2)
    return None


def _user_cache() -> Path:
    """Return our folder in the user's cache; without a home, a path at which no folder can be."""
    from platformdirs import user_cache_path

    try:
        found = user_cache_path("tagtopics", appauthor=False)
    except RuntimeError:  # older versions return a relative path
        found = Path("~", "tagtopics")
    return Path(os.devnull, found)  # `found` if it is absolute: the working folder may hold files of others


def _private_folder(parent: Path) -> Path:
    """Return this user's folder for code, created if need be; an `OSError` if others can write there."""
    user = os.geteuid() if hasattr(os, "geteuid") else None
    folder = parent / ("tagtopics-kernels" if user is None else f"tagtopics-kernels-{user}")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.lstat()
    private = stat.S_ISDIR(found.st_mode) and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    above = parent.stat().st_uid  # another user who owns the parent could exchange the folder at any time
    if user is not None and not (private and found.st_uid == user and above in (user, 0)):  # not on Windows
        raise PermissionError(errno.EPERM, "is not a folder in which only you can write", str(folder))
    tempfile.TemporaryFile(dir=folder).close()
    return folder


@contextmanager
def atomic_file(path: str | Path, *, like: Path | None = None) -> Iterator[Path]:
    """Yield a temporary path to write to; on success it replaces `path`, on an error it is removed.

    A file that is replaced keeps its permissions; with `like`, the new file has no more than that file.

    Raises:
        InputError: if the file cannot be written; an older file stays as it is.
    """
    target = Path(path)
    # In a folder that only the user can read, since libraries may write temporary files of their own.
    with _temporary_folder(target, target.parent, mode=0o700) as folder:
        temporary = folder / target.name
        yield temporary
        modes = [other.stat().st_mode & 0o777 for other in (target, like) if other and other.is_file()]
        if modes:
            with suppress(PermissionError):  # a file system without permissions
                temporary.chmod(modes[0] & modes[-1])
        _flush(temporary)
        os.replace(temporary, target)
        _flush_name(target)


@contextmanager
def atomic_folder(path: str | Path, check: Callable[[], None] = lambda: None) -> Iterator[Path]:
    """Yield a temporary folder to fill; on success it replaces `path` in one step.

    Check first with `check_target` that an existing folder may be replaced: it is removed as a whole.

    Args:
        path: the folder.
        check: called just before the folder is replaced, while no other process can replace it; an error that
            it raises leaves the older folder as it is.

    Raises:
        InputError: if the folder cannot be written; an older one stays as it is.
    """
    target = Path(path)
    with _temporary_folder(target, target.parent) as folder:
        yield folder
        for place in sorted(folder.rglob("*")):
            if not place.is_symlink():
                _flush(place)
        _flush(folder)
        with lock_file(target.with_name(f".{target.name}.{_EXCHANGE_LOCK}"), wait=True):
            check()
            _put_in_place(folder, target)
        _flush_name(target)


def check_target(
    path: str | Path,
    what: str,
    is_ours: Callable[[Path], bool] | None,
    *,
    overwrite: bool | None = None,
    option: str = "--out",
) -> Path:
    """Return the path of an output that may be written there; call it before any long computation.

    This is the one rule of all writers: what is there is replaced only if it is provably ours, or if the user
    asks for it.

    Args:
        path: where the user wants the output.
        what: the kind of output, such as "model" or "report".
        is_ours: tells whether an existing path holds such an output of tagtopics and nothing else; None for
            outputs without a mark, which have nothing to recognise them by.
        overwrite: whether a *file* that is not ours may be replaced, by an option of the caller; None if the
            caller has no such option. A folder that is not ours is never replaced.
        option: the name of the option, for the message.

    Raises:
        InputError: if something else is there, or the place cannot be written to.
    """
    target = Path(path)
    if not str(path) or target.name in ("", "..") or "\0" in str(path):
        raise InputError(f"{option} {str(path)!r}: not a usable path")
    if target.is_symlink() or (
        target.exists()
        and not (overwrite and target.is_file())
        and not (is_ours is not None and is_ours(target))
    ):
        kind = "folder" if target.is_dir() else "file"
        reason = f"this {kind} is not a {what} written by tagtopics"
        if kind == "folder":
            reason += ", or holds other files"
        elif is_ours is None:
            reason = "this file already exists"
        remedy = "choose another path"
        if kind == "file" and overwrite is not None:
            remedy += ", or give --overwrite" if option.startswith("--") else ", or set overwrite=True"
        raise InputError(f"{option} {target}: {reason}; {remedy}")
    parent = next(place for place in target.absolute().parents if place.exists())
    if not parent.is_dir():
        raise InputError(f"{option} {target}: {parent} is a file, not a folder")
    _try_to_write(target, parent)
    return target


def _try_to_write(target: Path, parent: Path) -> None:
    """Make folders with the names that a writer needs, and try to replace a target that exists.

    What cannot be known otherwise before a long computation: names that are too long, mount points, disks
    that are full or cannot be written to.
    """
    with _temporary_folder(target, parent) as folder:
        trial = folder / target.absolute().relative_to(parent)
        trial.mkdir(parents=True)
        if target.is_dir() and any(target.iterdir()):
            try:
                os.rename(trial, target)  # never succeeds
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                    raise


def check_apart(**targets: str | Path) -> None:
    """Raise `InputError` if one of two outputs is the other, or lies inside it."""
    (one, first), (other, second) = ((name, Path(path).resolve()) for name, path in targets.items())
    if first == second or first in second.parents or second in first.parents:
        raise InputError(f"--{one} {targets[one]} and --{other} {targets[other]}: choose separate paths")


def check_space(path: str | Path, n_bytes: int) -> None:
    """Raise `InputError` if the disk of a path has less than `n_bytes` free."""
    parent = next(place for place in Path(path).absolute().parents if place.exists())
    free = shutil.disk_usage(parent).free
    if free < n_bytes:
        raise InputError(
            f"{path}: needs about {n_bytes / 1e6:,.2g} MB, {free / 1e6:,.2g} MB are free; free some space"
        )


def sweep_leftovers(path: str | Path) -> None:
    """Remove what a killed process left next to a path; a folder that it had moved aside is put back.

    Where files cannot be locked, unfinished folders stay: their writer may be alive.
    """
    target = Path(path)
    found = target.parent.glob(f".{glob.escape(target.name)}.*")
    matches = [match for place in found if (match := _TEMPORARY.fullmatch(place.name))]
    for stem in sorted({match["stem"] for match in matches if match["name"] == target.name}):
        new, old, lock = (target.with_name(f"{stem}.{kind}") for kind in ("tmp", "old", "lock"))
        with suppress(OSError), lock_file(lock) as held:
            if held is not False and old.is_dir() and not target.exists():
                os.rename(old, target)
            if held:
                shutil.rmtree(new, ignore_errors=True)
                shutil.rmtree(old, ignore_errors=True)


@contextmanager
def lock_file(path: Path, *, wait: bool = False) -> Iterator[bool | None]:
    """Lock a file, which is created and removed with the lock; yield whether it is locked.

    Yields False if another process has locked it (never with `wait`), None where files cannot be locked.
    """
    if fcntl is None:
        yield None
        return
    locked: bool | None = True
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)  # NFS locks only such files
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            locked = False if isinstance(error, BlockingIOError) else None
        with suppress(FileNotFoundError):
            if locked is False or os.path.samestat(os.fstat(descriptor), os.stat(path)):
                break
        os.close(descriptor)  # the process that had locked it has removed it
    try:
        yield locked
    finally:
        if locked is not False:
            with suppress(OSError):
                path.unlink()
        if locked:
            fcntl.flock(descriptor, fcntl.LOCK_UN)  # forked processes may have the descriptor as well
        os.close(descriptor)


def utc_now() -> str:
    """Return the time in UTC as ISO 8601, to the second; that of SOURCE_DATE_EPOCH, if it is set."""
    try:
        now = datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), UTC)
    except (KeyError, ValueError, OverflowError, OSError):
        now = datetime.now(UTC)
    return now.isoformat(timespec="seconds")


def digest_bytes(data: Any) -> str:
    """Return the SHA-256 of bytes, or of anything with the buffer protocol, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def seal(text: str) -> str:
    """Return a JSON text with the SHA-256 of itself in place of its first 64 zeros; see `is_sealed`."""
    return text.replace(BLANK, digest_bytes(text.encode()), 1)


def is_sealed(content: bytes) -> bool:
    """Return whether bytes are those that `seal` gave: the first `"digest"` is that of all other bytes."""
    match = re.search(rb'"digest":\s*"([0-9a-f]{64})"', content)
    if match is None:
        return False
    blank = content[: match.start(1)] + BLANK.encode() + content[match.end(1) :]
    return digest_bytes(blank) == match[1].decode()


def digest_file(path: str | Path) -> str:
    """Return the SHA-256 of a file in hexadecimal; what is no regular file raises an `OSError`."""
    with open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_regular(path: str | Path) -> bytes:
    """Return the content of a regular file; a pipe or a device, which may never end, raises an `OSError`."""
    with open_regular(path) as file:
        return file.read()


def open_regular(path: str | Path) -> io.BufferedReader:
    """Open a regular file for reading; anything else raises an `OSError` at once."""

    def opener(name: str, flags: int) -> int:  # a pipe is opened without waiting for its writer
        return os.open(name, flags | getattr(os, "O_NONBLOCK", 0))

    file = open(path, "rb", opener=opener)  # noqa: SIM115  # the caller closes it
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return file


def digest_arrays(*arrays: Any) -> str:
    """Return a checksum of the dtypes, shapes and bytes of arrays (XXH3, 128 bits).

    Fast enough to take at every sweep. It detects damage; it is no protection against forgery.
    """
    import numpy as np
    from xxhash import xxh3_128

    state = xxh3_128()
    for array in arrays:
        flat = np.ascontiguousarray(array)
        state.update(f"{flat.dtype.str}{flat.shape}".encode())
        state.update(flat.reshape(-1).view(np.uint8).data)
    return str(state.hexdigest())


@contextmanager
def _temporary_folder(target: Path, parent: Path, *, mode: int = 0o777) -> Iterator[Path]:
    """Yield a new folder for a target, locked against `sweep_leftovers`, and remove it afterwards.

    What goes wrong on disk is an `InputError`.
    """
    stem = f".{target.name}.{os.getpid()}-{secrets.token_hex(4)}"
    folder = parent / f"{stem}.tmp"
    try:
        parent.mkdir(parents=True, exist_ok=True)
        sweep_leftovers(target)
        with lock_file(parent / f"{stem}.lock", wait=True):
            folder.mkdir(mode)
            try:
                yield folder
            finally:
                shutil.rmtree(folder, ignore_errors=True)
    except OSError as error:
        reason = error.strerror or str(error)
        if error.errno == errno.EBUSY:
            reason = "a mount point cannot be replaced: name a folder inside it"
        raise InputError(f"{target}: cannot be written ({reason}); nothing was changed") from error


def _flush(path: Path) -> None:
    """Force a file or folder to disk, where the system supports it."""
    if sys.platform == "win32" and path.is_dir():
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EBADF, errno.EACCES):
            raise
    finally:
        os.close(descriptor)


def _flush_name(target: Path) -> None:
    """Force to disk that a file or folder has its name."""
    try:
        _flush(target.parent)
    except OSError as error:
        reason = error.strerror or error
        raise InputError(
            f"{target}: is written, but the disk may lose it ({reason}); check the disk"
        ) from error


def _put_in_place(new: Path, target: Path) -> None:
    """Put folder `new` at `target`; afterwards an older folder is at `new`, for the caller to remove."""
    if not target.exists():
        os.rename(new, target)
    elif not _exchange(new, target):
        aside = new.with_suffix(".old")
        os.rename(target, aside)
        os.rename(new, target)
        os.rename(aside, new)


def _exchange(left: Path, right: Path) -> bool:
    """Swap two paths in one step; return False where the system cannot."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError, TypeError):
        return False
    if rename(_AT_FDCWD, os.fsencode(left), _AT_FDCWD, os.fsencode(right), _RENAME_EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):
        return False
    raise OSError(code, os.strerror(code), str(right))
