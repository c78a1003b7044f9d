"""Counting the terms of many texts in compiled code, on several threads.

The counts are those of `tagtopics.corpus.text.analyzer` with the default pattern. Each thread has a table of
the terms it has met; all terms are sorted at the end, so nothing depends on the number of threads.
"""

from __future__ import annotations

import re
import secrets
import sys
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import compress
from typing import NamedTuple
from unicodedata import normalize

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from tagtopics._typing import Int32, Int64
from tagtopics.corpus.core import INT32_MAX
from tagtopics.corpus.counting_loops import JOINER, LETTER, MARK, WORD, count_terms, place_terms
from tagtopics.corpus.recipe import TextRecipe
from tagtopics.corpus.text import combining_marks, fold_case, stop_words
from tagtopics.jit.threads import run_lanes

_CHUNK = 1 << 19
"""The approximate number of characters that a thread counts at a time."""

_FIRST_ROOM = 1 << 13
"""The number of terms that a new table has room for; it grows."""

_MULTIPLIER = secrets.randbits(62) | 1

Uint8 = npt.NDArray[np.uint8]


class CompiledCounter:
    """Counts the terms of batches of texts.

    Args:
        recipe: how text becomes terms; it has the default pattern.
        vocabulary: the terms to count, distinct; None for all.
    """

    def __init__(self, recipe: TextRecipe, vocabulary: Sequence[str] | None = None) -> None:
        self._vocabulary, self._lower = vocabulary, recipe.lowercase
        stop = [word for word in stop_words(recipe) if word.split() == [word]]  # no others occur in texts
        terms = list(dict.fromkeys([*stop, *(vocabulary or ())]))
        self._recipe = (recipe.min_length, *recipe.ngram_range, len(stop), vocabulary is not None)
        self._table = _table_of(terms)
        column = {word: w for w, word in enumerate(vocabulary or ())}
        self._columns = np.array([column.get(term, -1) for term in terms], dtype=np.int32)

    def count(self, texts: Sequence[str]) -> tuple[sp.csr_array, Sequence[str], int]:
        """Return the counts (D, W) of D texts, the W terms, and the number of terms outside the vocabulary.

        The columns are those of the vocabulary, or else all terms in sorted order.
        """
        ends = np.cumsum(np.fromiter(map(len, texts), dtype=np.int64, count=len(texts)))
        goals = np.arange(_CHUNK, ends[-1] if len(texts) else 0, _CHUNK)
        cuts = np.unique([0, *np.searchsorted(ends, goals), len(texts)]).tolist()
        parts: dict[int, _Part] = {}
        lanes: list[tuple[_Table, list[int]]] = []

        def lane(waiting: Iterator[int]) -> None:
            known = self._vocabulary is not None
            table, mine = self._table if known else _with_room(self._table, _FIRST_ROOM, 8 * _FIRST_ROOM), []
            for i in waiting:
                parts[i], table = self._count(texts[cuts[i] : cuts[i + 1]], table)
                mine.append(i)
            lanes.append((table, mine))

        run_lanes(lane, range(len(cuts) - 1))
        words = self._vocabulary
        if words is None:
            words = _sort_terms(parts, lanes)
        else:
            parts = {i: part._replace(terms=self._columns[part.terms]) for i, part in parts.items()}
        ordered = [parts[i] for i in sorted(parts)]
        return _matrix(ordered, len(words)), words, sum(part.unknown for part in ordered)

    def _count(self, texts: Sequence[str], table: _Table) -> tuple[_Part, _Table]:
        """Return the counts of some texts, and the table, which is a larger one if it had to grow."""
        fold = fold_case if self._lower else str
        pieces = [
            (text if text.isascii() else fold(normalize("NFC", text))).encode("utf-8", "surrogatepass")
            for text in texts
        ]
        lengths = np.fromiter(map(len, pieces), dtype=np.int64, count=len(pieces))
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        whole = b"".join(pieces)
        text = np.frombuffer(bytearray(whole.lower() if self._lower else whole), dtype=np.uint8)
        longest, most = int(lengths.max()), lengths // 2 + 1
        words, letters = np.empty(int(most.max()), dtype=np.int64), np.empty(longest + 1, dtype=np.uint8)
        _, smallest, largest, *_ = self._recipe
        terms, counts = np.empty((2, (largest - smallest + 1) * int(most.sum())), dtype=np.int32)
        ends = np.empty(len(texts), dtype=np.int64)
        done = unknown = 0
        while True:
            out = (terms, counts, ends, np.zeros(len(table.starts), dtype=np.int64))
            done, missing = count_terms(
                done, text, offsets, character_classes(), self._recipe, table, letters, words, out
            )
            unknown += missing
            if done == len(texts):
                return _Part(terms[: ends[-1]].copy(), counts[: ends[-1]].copy(), ends, unknown), table
            table = _with_room(table, 2 * len(table.starts), 2 * len(table.stored) + longest)


@lru_cache(maxsize=1)
def character_classes() -> Uint8:
    """Return the class of each code point, (0x110000,), as `corpus.counting_loops` numbers them."""
    kinds = np.zeros(sys.maxunicode + 1, dtype=np.uint8)
    every = np.arange(len(kinds), dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")
    for run in re.finditer(r"\w+", every):
        letters = np.fromiter(map(str.isalpha, run.group()), dtype=bool)
        kinds[run.start() : run.end()] = np.where(letters, WORD | LETTER, WORD)
    kinds[combining_marks()] |= MARK
    kinds[[0x200C, 0x200D]] = JOINER
    return kinds


class _Table(NamedTuple):
    """The hash table of `corpus.counting_loops`."""

    slots: Int64
    starts: Int64
    stored: Uint8
    size: Int64


class _Part(NamedTuple):
    """The counts of some documents; see `corpus.counting_loops.count_terms`."""

    terms: Int32
    counts: Int32
    ends: Int64
    unknown: int


def _table_of(terms: Sequence[str]) -> _Table:
    """Return a table of distinct terms without room for more."""
    pieces = [term.encode("utf-8", "surrogatepass") for term in terms]
    stored = np.frombuffer(b"".join(piece + b"\n" for piece in pieces), dtype=np.uint8)
    starts = np.cumsum([0, *(len(piece) + 1 for piece in pieces)])
    bare = _Table(np.empty(0, dtype=np.int64), starts, stored, np.array([len(pieces), _MULTIPLIER]))
    return _with_room(bare, len(pieces), len(stored))


def _with_room(table: _Table, n_terms: int, n_bytes: int) -> _Table:
    """Return a copy of a table with room for more terms and bytes."""
    w = int(table.size[0])
    used = int(table.starts[w])
    larger = _Table(
        slots=np.zeros(1 << (2 * (w + n_terms)).bit_length(), dtype=np.int64),
        starts=np.zeros(w + n_terms + 1, dtype=np.int64),
        stored=np.empty(used + n_bytes, dtype=np.uint8),
        size=table.size.copy(),
    )
    larger.starts[: w + 1], larger.stored[:used] = table.starts[: w + 1], table.stored[:used]
    place_terms(*larger)
    return larger


def _sort_terms(parts: dict[int, _Part], lanes: Sequence[tuple[_Table, list[int]]]) -> list[str]:
    """Return the terms that occur in any part, sorted, and change the parts to their numbers."""
    found: list[list[str]] = []
    words: set[str] = set()
    for table, mine in lanes:
        occurs = np.zeros(table.size[0], dtype=bool)
        for i in mine:
            occurs[parts[i].terms] = True
        found.append(_terms_of(table))
        words.update(compress(found[-1], occurs.tolist()))
    ordered = sorted(words)
    rank = {word: w for w, word in enumerate(ordered)}
    for terms, (_, mine) in zip(found, lanes, strict=True):
        ranks = np.array([rank.get(term, -1) for term in terms], dtype=np.int32)
        for i in mine:
            parts[i] = parts[i]._replace(terms=ranks[parts[i].terms])
    return ordered


def _terms_of(table: _Table) -> list[str]:
    """Return the terms of a table."""
    used = int(table.starts[table.size[0]])
    return table.stored[:used].tobytes().decode("utf-8", "surrogatepass").split("\n")[:-1]


def _matrix(parts: Sequence[_Part], n_terms: int) -> sp.csr_array:
    """Return the counts of all parts as a canonical matrix."""
    terms, counts = (
        np.concatenate([np.empty(0, dtype=np.int32), *arrays])
        for arrays in ([part.terms for part in parts], [part.counts for part in parts])
    )
    before = np.cumsum([0, *(len(part.terms) for part in parts)])
    indptr = np.concatenate([[0], *(part.ends + n for part, n in zip(parts, before, strict=False))])
    index_type = np.int32 if len(terms) <= INT32_MAX else np.int64
    matrix = sp.csr_array((counts, terms, indptr.astype(index_type)), shape=(len(indptr) - 1, n_terms))
    matrix.sort_indices()
    matrix.has_canonical_format = True
    return matrix
