"""Locks that processes hold on files. They end with the process, and other containers see them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


@contextmanager
def lock_file(path: Path, *, wait: bool = False) -> Iterator[bool | None]:
    """Lock a file, which is created and removed with the lock; yield whether it is locked.

    Yields False if another process has locked it (never with `wait`), None where files cannot be locked.
    """
    if fcntl is None:
        yield None
        return
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)  # NFS locks only such files
        locked = lock_open(descriptor, wait=wait)
        if locked is False or is_at(descriptor, path):
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


def lock_open(descriptor: int, *, shared: bool = False, wait: bool = False) -> bool | None:
    """Lock an open file or folder; return False if another process has locked it, None if none can."""
    if fcntl is None:
        return None
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    try:
        fcntl.flock(descriptor, kind if wait else kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def is_at(descriptor: int, path: Path) -> bool:
    """Return whether an open file or folder is still the one at a path."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False
