"""Counting the terms of many texts in compiled code, on several threads.

The counts are those of `tagtopics.corpus.text.analyzer` with the default pattern. Texts are counted in
chunks, each with its own table of terms; terms are sorted at the end, so threads make no difference.
"""

from __future__ import annotations

import re
import secrets
import sys
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from threading import Lock
from unicodedata import normalize

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from tagtopics._typing import CSR, Int32, Int64
from tagtopics.corpus.core import INT32_MAX
from tagtopics.corpus.counting_loops import JOINER, LETTER, MARK, WORD, count_terms
from tagtopics.corpus.recipe import TextRecipe
from tagtopics.corpus.text import combining_marks, fold_case, stop_words
from tagtopics.jit.threads import results_of

_CHUNK = 1 << 21  # characters that a thread counts at a time; each chunk has its own table of terms
_SECRET = secrets.randbits(62) | 1


class CompiledCounter:
    """Counts the terms of batches of texts.

    Args:
        recipe: how text becomes terms; it has the default pattern.
        vocabulary: the terms to count, distinct; None for all.
    """

    def __init__(self, recipe: TextRecipe, vocabulary: Sequence[str] | None = None) -> None:
        self._recipe, self._vocabulary = recipe, vocabulary
        stop = stop_words(recipe)
        self._stop = [_bytes(word) for word in stop if word.split() == [word]]  # no others occur in texts
        self._column = {_bytes(word): w for w, word in enumerate(vocabulary or ())}

    def count(self, texts: Sequence[str]) -> tuple[CSR, Sequence[str], int]:
        """Return the counts (D, W) of D texts, the W terms, and the number of terms outside the vocabulary.

        The columns are those of the vocabulary, or else all terms in sorted order.
        """
        ends = np.cumsum([0, *map(len, texts)])
        goals = np.arange(_CHUNK, ends[-1], _CHUNK)
        cuts = np.unique([0, *np.searchsorted(ends, goals), len(texts)]).tolist()
        column, words, lock = dict(self._column), self._vocabulary, Lock()

        def count(chunk: tuple[int, int]) -> tuple[Int32, Int32, Int64]:
            terms, counts, sizes, names = self._count(texts[slice(*chunk)])
            with lock:
                if words is None:
                    columns = [column.setdefault(name, len(column)) for name in names]
                else:
                    columns = [column.get(name, -1) for name in names]
            return np.array(columns, dtype=np.int32)[terms], counts, sizes

        parts = results_of(count, list(pairwise(cuts)))
        none = (np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int32), np.zeros(1, dtype=np.int64))
        columns, counts, sizes = map(np.concatenate, zip(none, *parts, strict=True))
        if words is None:
            names = sorted(column)
            rank = np.empty(len(names), dtype=np.int32)
            rank[[column[name] for name in names]] = np.arange(len(names))
            columns, words = rank[columns], [name.decode("utf-8", "surrogatepass") for name in names]
        known = columns >= 0
        indptr = np.concatenate([[0], np.cumsum(known)])[np.cumsum(sizes)]
        indptr = indptr.astype(np.int32 if indptr[-1] <= INT32_MAX else np.int64)
        matrix = sp.csr_array((counts[known], columns[known], indptr), shape=(len(texts), len(words)))
        matrix.sort_indices()
        matrix.has_canonical_format = True
        return matrix, words, int(counts[~known].sum(dtype=np.int64))

    def _count(self, texts: Sequence[str]) -> tuple[Int32, Int32, Int64, list[bytes]]:
        """Return numbers and counts of the terms of each text, how many each has, and all terms."""
        recipe, (smallest, largest), stop = self._recipe, self._recipe.ngram_range, self._stop
        # (1) The texts in UTF-8, their case folded; that of ASCII at once.
        fold = fold_case if recipe.lowercase else str
        pieces = [_bytes(text if text.isascii() else fold(normalize("NFC", text))) for text in texts]
        whole = b"".join(pieces).lower() if recipe.lowercase else b"".join(pieces)
        offsets = np.cumsum([0, *map(len, pieces)])
        # (2) Room for all terms there may be; pages that are not used take no memory.
        most = np.diff(offsets) // (recipe.min_length + 1) + 1
        room = (largest - smallest + 1) * int(most.sum()) + len(stop)
        letters = np.empty(sum(map(len, stop)) + len(stop) + len(whole) + len(texts), dtype=np.uint8)
        before = b"".join(word + b" " for word in stop)
        letters[: len(before)] = np.frombuffer(before, dtype=np.uint8)
        slots = np.zeros(1 << (2 * room).bit_length(), dtype=np.int64)
        starts, stops = np.empty((2, room), dtype=np.int64)
        stops[: len(stop)] = np.cumsum([len(word) + 1 for word in stop]) - 1
        starts[: len(stop)] = stops[: len(stop)] - [len(word) for word in stop]
        # (3) Count, and cut the terms out of `letters`.
        terms, counts = np.empty((2, room), dtype=np.int32)
        ends, words = np.empty(len(texts), dtype=np.int64), np.empty(int(most.max()), dtype=np.int64)
        n_terms = count_terms(
            np.frombuffer(whole, dtype=np.uint8),
            offsets,
            character_classes(),
            (recipe.min_length, smallest, largest, len(stop), _SECRET),
            letters,
            words,
            (slots, starts, stops),
            (terms, counts, ends, np.zeros(room, dtype=np.int64)),
        )
        found = letters.tobytes()
        places = zip(starts[len(stop) : n_terms].tolist(), stops[len(stop) : n_terms].tolist(), strict=True)
        names, n = [found[a:b] for a, b in places], int(ends[-1])
        return terms[:n] - np.int32(len(stop)), counts[:n].copy(), np.diff(ends, prepend=0), names


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


@lru_cache(maxsize=1)
def character_classes() -> npt.NDArray[np.uint8]:
    """Return the class of each code point, (0x110000,), as `corpus.counting_loops` numbers them."""
    kinds = np.zeros(sys.maxunicode + 1, dtype=np.uint8)
    every = np.arange(len(kinds), dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")
    for run in re.finditer(r"\w+", every):
        letters = np.fromiter(map(str.isalpha, run.group()), dtype=bool)
        kinds[run.start() : run.end()] = np.where(letters, WORD | LETTER, WORD)
    kinds[combining_marks()] |= MARK
    kinds[[0x200C, 0x200D]] = JOINER
    return kinds
