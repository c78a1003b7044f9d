"""Counting names of which there may be too many: rare ones are forgotten, and by how much is known.

This is lossy counting. When more than `limit` names are held, all up to a count c go, c the least that halves
them. Each time, a name loses c at the most, so that the sum of these c bounds what any name lacks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain

import numpy as np

from tagtopics._typing import Int64


class Tally:
    """In how many documents each name occurs, and how often, in bounded memory.

    Args:
        limit: how many names may be held between two calls of `add`.

    Attributes:
        limit: the same.
        lost: the most documents that any name may lack; 0 where all counts are exact.
    """

    def __init__(self, limit: int) -> None:
        self.lost = 0
        self.limit = limit
        self._docs: Counter[str] = Counter()
        self._tokens: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._docs)

    def add(self, documents: Sequence[Sequence[str]]) -> None:
        """Count the names of some documents."""
        self._docs.update(chain.from_iterable(map(set, documents)))
        self._tokens.update(chain.from_iterable(documents))
        if len(self._docs) > self.limit:
            self._forget()

    def names(self) -> list[str]:
        """Return the names, sorted."""
        return sorted(self._docs)

    def counts(self, names: Sequence[str]) -> tuple[Int64, Int64]:
        """Return the documents with each of N names, and its occurrences; both of shape (N,)."""
        docs, tokens = (
            np.fromiter((counter[name] for name in names), dtype=np.int64, count=len(names))
            for counter in (self._docs, self._tokens)
        )
        return docs, tokens

    def _forget(self) -> None:
        counts = np.fromiter(self._docs.values(), dtype=np.int64, count=len(self._docs))
        place = len(counts) - 1 - self.limit // 2
        cut = int(np.partition(counts, place)[place])
        rare = [name for name, count in self._docs.items() if count <= cut]
        for name in rare:
            del self._docs[name]
            del self._tokens[name]
        self.lost += cut
