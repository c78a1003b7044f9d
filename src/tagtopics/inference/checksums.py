"""Checksums of arrays, fast enough to be taken at every sweep."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def checksum(*arrays: Any) -> int:
    """Return a number that any single changed byte of some arrays changes: the sum of their words."""
    total = 0
    for array in arrays:
        data = as_bytes(array)
        whole = len(data) // 8 * 8
        total += int(data[:whole].view(np.uint64).sum(dtype=np.uint64)) + int(data[whole:].sum())
    return total % 2**62


def as_bytes(array: Any) -> npt.NDArray[np.uint8]:
    """Return the bytes of an array, flat; a view of a contiguous one."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)
