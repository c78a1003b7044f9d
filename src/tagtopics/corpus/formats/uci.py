"""The bag-of-words format of the UCI repository: `docword.NAME.txt` beside `vocab.NAME.txt`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from tagtopics.corpus.core import Documents
from tagtopics.corpus.formats.text_files import MAX_UNNAMED, distinct_names, existing, text_lines
from tagtopics.corpus.recipe import ReadOptions
from tagtopics.errors import InputError


def read_uci(path: Path, options: ReadOptions) -> Documents:
    """Read UCI bag of words: three lines with D, W and NNZ, then lines `document word count`, from 1.

    The header may claim at most 1,000 documents more than twice those that have words, and at most
    `MAX_UNNAMED` words without a file that names them.
    """
    if path.is_dir():
        path = _only_docword(path)
    lines = (line for _, line in text_lines(path))
    n_docs, n_words, n_entries = _header(path, lines)
    entries = _entries(path, lines)
    if len(entries) != n_entries:
        raise InputError(f"{path}: the header says {n_entries} entries, but there are {len(entries)}")
    _check_range(path, entries[:, 0], n_docs, "document")
    _check_range(path, entries[:, 1], n_words, "word")
    n_used = len(np.unique(entries[:, 0]))
    if n_docs > 2 * n_used + 1000:
        raise InputError(f"{path}, line 1: says {n_docs} documents, but only {n_used} of them have words")
    vocabulary = _vocabulary(path)
    if vocabulary is not None and len(vocabulary) != n_words:
        raise InputError(f"{path}, line 2: says {n_words} words, but the vocabulary has {len(vocabulary)}")
    most = min(2 * int(entries[:, 1].max(initial=0)) + 1000, MAX_UNNAMED)
    if vocabulary is None and n_words > most:
        raise InputError(
            f"{path}, line 2: says {n_words} words, more than {most}; put the vocab file beside it"
        )
    rows, columns, values = entries[:, 0] - 1, entries[:, 1] - 1, entries[:, 2]
    counts = sp.coo_array((values, (rows, columns)), shape=(n_docs, n_words))
    return Documents(source=str(path), counts=counts, vocabulary=vocabulary)


def _only_docword(folder: Path) -> Path:
    found = sorted(folder.glob("docword.*"))
    if len(found) != 1:
        names = ", ".join(path.name for path in found) or "none"
        raise InputError(f"{folder}: expected one docword file, found {names}; name the file itself")
    return found[0]


def _header(path: Path, lines: Iterator[str]) -> list[int]:
    values = []
    for number, line in enumerate(islice(lines, 3), start=1):
        if not line.strip().isdecimal() or len(line) > 12:
            raise InputError(
                f"{path}, line {number}: expected a number; the file starts with three lines: documents, "
                "words, entries"
            )
        values.append(int(line))
    if len(values) < 3:
        raise InputError(f"{path}: ends within its header of three lines")
    return values


def _entries(path: Path, lines: Iterator[str]) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    first = next(lines, None)
    if first is None:
        raise InputError(f"{path}: no entries; expected lines 'document word count'")
    try:
        entries = np.loadtxt(_with(first, lines), dtype=np.int64, ndmin=2, comments=None)
    except InputError:
        raise
    except (ValueError, OverflowError) as error:
        raise InputError(f"{path}: below the header, {error}; expected lines 'document word count'") from None
    if entries.shape[1] != 3:
        raise InputError(f"{path}, line 4: {entries.shape[1]} numbers; expected 'document word count'")
    return entries


def _with(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first
    yield from rest


def _check_range(path: Path, numbers: np.ndarray[tuple[int], np.dtype[np.int64]], n: int, what: str) -> None:
    bad = np.flatnonzero((numbers < 1) | (numbers > n))
    if len(bad):
        raise InputError(f"{path}, entry {bad[0] + 1}: {what} {numbers[bad[0]]} is not in 1..{n}")


def _vocabulary(path: Path) -> tuple[str, ...] | None:
    name = path.name.removesuffix(".gz").replace("docword", "vocab", 1)
    beside = existing(path.with_name(name), path.with_name(name + ".gz"))
    return None if beside is None else distinct_names(beside)
