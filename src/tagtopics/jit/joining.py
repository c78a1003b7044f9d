"""A compiled loop that joins texts with numbers; `joining_reference` is the readable twin."""

from __future__ import annotations

import numpy as np

from tagtopics._typing import Int64
from tagtopics.jit.compiling import short_kernel

_COMMA = 44


class Texts:
    """Texts in one array of bytes.

    Args:
        texts: any number of them.
    """

    def __init__(self, texts: list[bytes]) -> None:
        self._content = np.frombuffer(b"".join(texts), dtype=np.uint8)
        self._sizes = np.array([len(text) for text in texts], dtype=np.int64)
        self._starts = np.cumsum(self._sizes) - self._sizes

    def joined(self, places: Int64, numbers: bytes) -> bytes:
        """Return the texts at some places, each followed by its number.

        Args:
            places: (n,) which texts.
            numbers: n numbers, with a comma after each but the last.
        """
        sizes, starts = self._sizes[places], self._starts[places]
        given = np.frombuffer(numbers, dtype=np.uint8)
        out = np.empty(int(sizes.sum()) + len(given) - max(len(places) - 1, 0), dtype=np.uint8)
        _join(starts, sizes, self._content, given, out)
        return out.tobytes()


@short_kernel
def _join(starts, sizes, content, numbers, out):
    at, to, n = np.uint64(0), np.uint64(0), np.uint64(len(numbers))
    for i in range(len(starts)):
        start, size = np.uint64(starts[i]), np.uint64(sizes[i])
        for j in range(size):
            out[to + j] = content[start + j]
        to += size
        end = at
        while end < n and numbers[end] != _COMMA:
            end += np.uint64(1)
        for j in range(end - at):
            out[to + j] = numbers[at + j]
        to += end - at
        at = end + np.uint64(1)
