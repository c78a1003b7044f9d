"""What belongs to the documents of a shard, on disk from one sweep to the next.

A file for each shard and sweep: `00003-00012.own` is shard 3 after sweep 12. A sweep reads the files of the
one before and writes its own, so it can be done again, by anyone, with the same result: nothing that is
killed in the middle of it leaves anything wrong behind.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import Any

import numpy as np

from tagtopics.errors import InputError
from tagtopics.graph import Own
from tagtopics.inference.checksums import as_bytes, checksum

_HEAD = struct.Struct("<8s6q")
_MAGIC = b"ttmown01"


class Keeper:
    """Keeps the state of shards in a folder."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)

    def path(self, shard: int, sweep: int) -> Path:
        """Return where the state of a shard after a sweep is, or would be."""
        return self.folder / f"{shard:05d}-{sweep:05d}.own"

    def put(self, shard: int, sweep: int, own: Own) -> None:
        """Write the state of a shard after a sweep, whole or not at all."""
        path = self.path(shard, sweep)
        fresh = path.with_suffix(f".{os.getpid()}.part")
        sizes = (own.doc_sums.shape[1], *(len(array) for array in own))
        head = _HEAD.pack(_MAGIC, sweep, *sizes, checksum(*own))
        try:
            with fresh.open("wb") as file:
                file.write(head)
                for array in own:
                    file.write(as_bytes(array).data)
            os.replace(fresh, path)
        except OSError as error:
            fresh.unlink(missing_ok=True)
            raise InputError(
                f"{path}: cannot be written ({error.strerror or error}); the last whole sweep is kept: "
                "make room and go on with --resume"
            ) from None

    def get(self, shard: int, sweep: int) -> Own:
        """Read the state of a shard after a sweep."""
        path = self.path(shard, sweep)
        try:
            data = np.fromfile(path, dtype=np.uint8)
        except OSError as error:
            raise InputError(f"{path}: cannot be read ({error.strerror or error}); begin anew") from None
        own = _unpacked(data, sweep)
        if own is None:
            raise InputError(f"{path}: damaged; begin the fit anew, without --resume")
        return own

    def has(self, shard: int, sweep: int) -> bool:
        """Tell whether the state of a shard after a sweep is there."""
        return self.path(shard, sweep).is_file()

    def forget(self, before: int) -> None:
        """Remove what was kept of sweeps before one, and what was left unfinished."""
        for path in self.folder.iterdir():
            old = path.suffix == ".own" and int(path.stem.split("-")[1]) < before
            if old or path.suffix == ".part":
                path.unlink(missing_ok=True)


def _unpacked(data: Any, sweep: int) -> Own | None:
    """Return the state in some bytes, as views of them, or None where they are not what was written."""
    if len(data) < _HEAD.size:
        return None
    magic, of_sweep, K, *sizes, expected = _HEAD.unpack(data[: _HEAD.size].tobytes())
    if magic != _MAGIC or of_sweep != sweep or len(data) != _HEAD.size + 4 * K * sum(sizes):
        return None
    rows = data[_HEAD.size :].view(np.float32).reshape(-1, K)
    ends = np.cumsum(sizes)
    own = Own(*(rows[end - n : end] for n, end in zip(sizes, ends, strict=True)))
    return own if checksum(*own) == expected else None
