"""Counts in text files: UCI bags of words, Blei's LDA-C, and multi-label SVMlight."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from tagtopics.corpus.cells import read_tags
from tagtopics.corpus.core import Documents, ReadOptions
from tagtopics.corpus.formats.text_files import (
    MAX_UNNAMED,
    companion,
    distinct_names,
    existing,
    names_beside,
    only_file,
    open_bytes,
    text_lines,
)
from tagtopics.corpus.tags import tags_of_file
from tagtopics.errors import InputError, one_line

_PAIR = re.compile(r"(\d{1,10}):(\d{1,10})")


def read_uci(path: Path, options: ReadOptions) -> Documents:
    """Read UCI bag of words: three lines with D, W and NNZ, then lines `document word count`, from 1.

    The header may claim at most 1,000 documents more than twice those that have words, and at most
    `MAX_UNNAMED` words without a file that names them.
    """
    if path.is_dir():
        path = only_file(path, "docword.*", "docword file")
    lines = (line for _, line in text_lines(path))
    n_docs, n_words, n_entries = _uci_header(path, lines)
    entries = _uci_entries(path, lines)
    if len(entries) != n_entries:
        raise InputError(f"{path}: the header says {n_entries} entries, but there are {len(entries)}")
    for numbers, n, what in ((entries[:, 0], n_docs, "document"), (entries[:, 1], n_words, "word")):
        bad = np.flatnonzero((numbers < 1) | (numbers > n))
        if len(bad):
            raise InputError(f"{path}, entry {bad[0] + 1}: {what} {numbers[bad[0]]} is not in 1..{n}")
    n_used = len(np.unique(entries[:, 0]))
    if n_docs > 2 * n_used + 1000:
        raise InputError(f"{path}, line 1: says {n_docs} documents, but only {n_used} of them have words")
    name = path.name.removesuffix(".gz").replace("docword", "vocab", 1)
    beside = existing(path.with_name(name), path.with_name(name + ".gz"))
    vocabulary = None if beside is None else distinct_names(beside)
    if vocabulary is not None and len(vocabulary) != n_words:
        raise InputError(f"{path}, line 2: says {n_words} words, but the vocabulary has {len(vocabulary)}")
    most = min(2 * int(entries[:, 1].max(initial=0)) + 1000, MAX_UNNAMED)
    if vocabulary is None and n_words > most:
        raise InputError(
            f"{path}, line 2: says {n_words} words, more than {most}; put the vocab file next to it"
        )
    rows, columns, values = entries[:, 0] - 1, entries[:, 1] - 1, entries[:, 2]
    counts = sp.coo_array((values, (rows, columns)), shape=(n_docs, n_words))
    return Documents(source=str(path), counts=counts, vocabulary=vocabulary)


def _uci_header(path: Path, lines: Iterator[str]) -> list[int]:
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


def _uci_entries(path: Path, lines: Iterator[str]) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    first = next(lines, None)
    if first is None:
        raise InputError(f"{path}: no entries; expected lines 'document word count'")
    try:
        entries = np.loadtxt(chain([first], lines), dtype=np.int64, ndmin=2, comments=None)
    except InputError:
        raise
    except (ValueError, OverflowError) as error:
        raise InputError(f"{path}: below the header, {error}; expected lines 'document word count'") from None
    if entries.shape[1] != 3:
        raise InputError(f"{path}, line 4: {entries.shape[1]} numbers; expected 'document word count'")
    return entries


def read_ldac(path: Path, options: ReadOptions) -> Documents:
    """Read LDA-C, with words from `NAME.vocab` or `vocab.txt` and tags from `NAME.tags`, if they exist."""
    vocabulary = names_beside(path, ".vocab")
    if vocabulary is None and (path.parent / "vocab.txt").is_file():
        vocabulary = distinct_names(path.parent / "vocab.txt")
    known = options.vocabulary if vocabulary is None else vocabulary
    n_words = MAX_UNNAMED if known is None else len(known)
    columns, values, starts = array("q"), array("q"), [0]
    for number, line in text_lines(path):
        for word, count in _parse_ldac(line, n_words, f"{path}, line {number}"):
            columns.append(word)
            values.append(count)
        starts.append(len(columns))
    width = max(columns, default=-1) + 1 if known is None else n_words
    parts = (np.asarray(values), np.asarray(columns), starts)
    tagged = companion(path, ".tags")
    tags, notices, warned = (None, [], []) if tagged is None else tags_of_file(tagged, options.tag_separator)
    return Documents(
        source=str(path),
        counts=sp.csr_array(parts, shape=(len(starts) - 1, width)),
        vocabulary=vocabulary,
        tags=tags,
        notices=notices,
        warnings=warned,
    )


def _parse_ldac(line: str, n_words: int, where: str) -> Iterator[tuple[int, int]]:
    size, *pairs = line.split() or ["0"]
    if size != str(len(pairs)):
        raise InputError(f"{where}: starts with {size[:20]!r}, but {len(pairs)} entries follow")
    for pair in pairs:
        match = _PAIR.fullmatch(pair)
        if match is None:
            raise InputError(f"{where}: {pair[:40]!r} is not of the form word:count, with whole numbers")
        word, count = int(match[1]), int(match[2])
        if word >= n_words:
            raise InputError(f"{where}: word {word} is outside the {n_words} words, numbered from 0")
        yield word, count


def read_svmlight(path: Path, options: ReadOptions) -> Documents:
    """Read a multi-label SVMlight file; label numbers are tags, `NAME.vocab` may name the words.

    Words may be numbered from 0 or from 1; if word 0 never occurs, they are taken to be numbered from 1.
    """
    from sklearn.datasets import load_svmlight_file

    if not path.is_file():
        raise InputError(f"no such file: {path}")
    vocabulary = names_beside(path, ".vocab")
    known = options.vocabulary if vocabulary is None else vocabulary
    n_words = None if known is None else len(known)
    try:
        with open_bytes(path) as file:
            counts, labels = load_svmlight_file(file, n_features=n_words, multilabel=True)
    except InputError:
        raise
    except (ValueError, OverflowError, OSError, EOFError, MemoryError) as error:
        raise InputError(f"{path}: cannot be read as SVMlight ({one_line(error)})") from None
    if counts.shape[1] > MAX_UNNAMED:
        raise InputError(f"{path}: word number {counts.shape[1]} is too large; at most {MAX_UNNAMED} words")
    tags = read_tags([list(of_doc) for of_doc in labels], where=lambda row: f"{path}, document {row}")
    return Documents(source=str(path), counts=counts, vocabulary=vocabulary, tags=tags)
