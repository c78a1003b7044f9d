"""The format of Blei's LDA-C: one document a line, `N word:count word:count ...`, words from 0."""

from __future__ import annotations

from array import array
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from tagtopics.corpus.counted import (
    MAX_UNNAMED,
    Counted,
    companion,
    distinct_names,
    names_beside,
    tags_of_file,
)
from tagtopics.corpus.files import text_lines
from tagtopics.errors import InputError


def read_ldac(path: Path, n_words: int | None, separator: str | None) -> Counted:
    """Read LDA-C, with the words of `NAME.vocab` or `vocab.txt` and the tags of `NAME.tags` where there are.

    Args:
        path: the file of counts.
        n_words: the number of words, where the caller knows it.
        separator: what divides the tags on a line of `NAME.tags`.
    """
    vocabulary = names_beside(path, ".vocab")
    if vocabulary is None and (path.parent / "vocab.txt").is_file():
        vocabulary = distinct_names(path.parent / "vocab.txt")
    n_words = n_words if vocabulary is None else len(vocabulary)
    columns, values, starts = array("q"), array("q"), [0]
    for number, line in text_lines(path):
        _parse(line, columns, values, n_words or MAX_UNNAMED, f"{path}, line {number}")
        starts.append(len(columns))
    width = max(columns, default=-1) + 1 if n_words is None else n_words
    parts = (np.asarray(values), np.asarray(columns), starts)
    tagged = companion(path, ".tags")
    return Counted(
        source=str(path),
        counts=sp.csr_array(parts, shape=(len(starts) - 1, width)),
        vocabulary=vocabulary,
        tags=None if tagged is None else tags_of_file(tagged, separator),
    )


def _parse(line: str, columns: array[int], values: array[int], n_words: int, where: str) -> None:
    """Append the entries of one line."""
    size, *pairs = line.split() or ["0"]
    if size != str(len(pairs)):
        raise InputError(f"{where}: starts with {size[:20]!r}, but {len(pairs)} entries follow")
    for pair in pairs:
        word, _, count = pair.partition(":")
        if not (word.isdecimal() and count.isdecimal() and len(word) < 11 and len(count) < 11):
            raise InputError(f"{where}: {pair[:40]!r} is not of the form word:count, with whole numbers")
        if int(word) >= n_words:
            raise InputError(f"{where}: word {word} is outside the {n_words} words, numbered from 0")
        columns.append(int(word))
        values.append(int(count))
