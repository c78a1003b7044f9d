"""The format of Blei's LDA-C: one document per line, `N word:count word:count ...`, words from 0."""

from __future__ import annotations

from array import array
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from tagtopics.corpus.core import Documents
from tagtopics.corpus.formats.text_files import (
    MAX_UNNAMED,
    companion,
    distinct_names,
    names_beside,
    text_lines,
)
from tagtopics.corpus.recipe import ReadOptions
from tagtopics.corpus.tags import tags_of_file
from tagtopics.errors import InputError


def read_ldac(path: Path, options: ReadOptions) -> Documents:
    """Read LDA-C, with words from `NAME.vocab` or `vocab.txt` and tags from `NAME.tags`, if they exist."""
    vocabulary = names_beside(path, ".vocab")
    if vocabulary is None and (path.parent / "vocab.txt").is_file():
        vocabulary = distinct_names(path.parent / "vocab.txt")
    known = options.vocabulary if vocabulary is None else vocabulary
    n_words = MAX_UNNAMED if known is None else len(known)
    columns, values, starts = array("q"), array("q"), [0]
    for number, line in text_lines(path):
        _parse(line, columns, values, n_words, f"{path}, line {number}")
        starts.append(len(columns))
    width = max(columns, default=-1) + 1 if known is None else n_words
    parts = (np.asarray(values), np.asarray(columns), starts)
    tagged = companion(path, ".tags")
    return Documents(
        source=str(path),
        counts=sp.csr_array(parts, shape=(len(starts) - 1, width)),
        vocabulary=vocabulary,
        tags=None if tagged is None else tags_of_file(tagged, options.separator),
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
