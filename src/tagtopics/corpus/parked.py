"""Texts in a temporary file, for as long as the memory is needed for something else."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from itertools import pairwise
from threading import Lock
from typing import overload
from weakref import finalize

import numpy as np

_WORTH = 1 << 24
"""Characters from which on texts are worth a file."""

_CHUNK = 1 << 20
"""Bytes, about, that are read at a time."""


class ParkedTexts(Sequence[str]):
    """Texts in a file that the system deletes with this object; they are read when asked for."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._file, self._lock = tempfile.TemporaryFile(), Lock()  # noqa: SIM115
        finalize(self, self._file.close)
        ends = [0]
        for text in texts:
            ends.append(ends[-1] + self._file.write(text.encode("utf-8", "surrogatepass")))
        self._file.flush()
        self._ends = np.array(ends)

    def __len__(self) -> int:
        return len(self._ends) - 1

    @overload
    def __getitem__(self, row: int) -> str: ...
    @overload
    def __getitem__(self, row: slice) -> tuple[str, ...]: ...
    def __getitem__(self, row: int | slice) -> str | tuple[str, ...]:
        if isinstance(row, slice):
            return tuple(self[i] for i in range(*row.indices(len(self))))
        row = range(len(self))[row]
        return self._read(row, row + 1)[0]

    def __iter__(self) -> Iterator[str]:
        goals = np.arange(0, self._ends[-1], _CHUNK)
        cuts = np.unique([0, *np.searchsorted(self._ends[:-1], goals), len(self)])
        for first, last in pairwise(cuts.tolist()):
            yield from self._read(first, last)

    def _read(self, first: int, last: int) -> list[str]:
        """Return the texts from the first to before the last."""
        start, *ends = (self._ends[first : last + 1] - self._ends[first]).tolist()
        with self._lock:
            self._file.seek(int(self._ends[first]))
            content = self._file.read(int(self._ends[last] - self._ends[first]))
        return [content[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise([start, *ends])]


def parked(texts: Sequence[str] | None) -> Sequence[str] | None:
    """Return texts that take no memory, if they are long and there is a place for them; else as they are."""
    if texts is None or sum(map(len, texts)) < _WORTH:
        return texts
    try:
        return ParkedTexts(texts)
    except OSError:  # no space, or no folder for temporary files
        return texts
