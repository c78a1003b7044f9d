"""Counts that came as counts: what a reader of matrices hands over, and its fit to known columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from tagtopics.corpus.core import canonical_counts, canonical_tags, tag_matrix
from tagtopics.corpus.files import existing, name_lines
from tagtopics.corpus.recipe import TextRecipe
from tagtopics.corpus.tags import TagLists, read_tags
from tagtopics.errors import InputError

MAX_UNNAMED = 2**24
"""The most columns that a file may imply without naming them."""


@dataclass(frozen=True, kw_only=True)
class Counted:
    """What a reader of counts found; names are None where the source has none.

    Attributes:
        source: names the source in errors.
        counts: documents x words, of any kind that `canonical_counts` takes.
        vocabulary: the names of its columns.
        tags: documents x tags, or lists of tags.
        tag_names: the names of the columns of `tags`, where `tags` is a matrix.
        ids: a name for each document.
        labels: a class for each document.
        links: documents x documents.
        texts: the text of each document.
        split: "train" or "test" for each document.
        recipe: how text became counts.
    """

    source: str
    counts: Any
    vocabulary: Sequence[str] | None = None
    tags: Any = None
    tag_names: Sequence[str] | None = None
    ids: Sequence[str] | None = None
    labels: Sequence[str | None] | None = None
    links: sp.csr_array | None = None
    texts: Sequence[str] | None = None
    split: Sequence[str] | None = None
    recipe: TextRecipe | None = None


def with_tags(counted: Counted, tags: Any, separator: str | None) -> Counted:
    """Return counts with the tags the user gave in place of their own, if any were given.

    Args:
        counted: the counts.
        tags: a documents x tags matrix, a cell of tags for each document, a file with one line of tags for
            each document, or None.
        separator: what divides the tags of a string.
    """
    if tags is None:
        return counted
    if isinstance(tags, str | Path):
        return replace(counted, tags=tags_of_file(Path(tags), separator), tag_names=None)
    if sp.issparse(tags) or (isinstance(tags, np.ndarray) and tags.ndim == 2):
        return replace(counted, tags=tags, tag_names=None)
    return replace(counted, tags=read_tags(list(tags), separator=separator), tag_names=None)


def fit_words(
    counted: Counted, vocabulary: Sequence[str] | None
) -> tuple[sp.csr_array, tuple[str, ...], int]:
    """Return counts in the columns of a known vocabulary.

    Returns:
        counts (D, W), the W words, and how many tokens of other words were left out.
    """
    counts = canonical_counts(counted.counts, counted.source)
    own = counted.vocabulary
    if vocabulary is None:
        return counts, tuple(own if own is not None else unnamed(counts.shape[1], "word")), 0
    if own is None:
        _same_width(counts, vocabulary, f"{counted.source}: vocabulary")
        return counts, tuple(vocabulary), 0
    fitted = _realign(counts, own, vocabulary)
    return fitted, tuple(vocabulary), int(counts.sum(dtype=np.int64) - fitted.sum(dtype=np.int64))


def fit_tags(
    counted: Counted, tag_names: Sequence[str] | None
) -> tuple[sp.csr_array, tuple[str, ...], int, int]:
    """Return tags in the columns of known names.

    Returns:
        tags (D, T), the T names, how many taggings with other names were left out, how many were repeats.
    """
    if counted.tags is None:
        names = tuple(tag_names or ())
        return sp.csr_array((np.shape(counted.counts)[0], len(names)), dtype=np.int8), names, 0, 0
    if isinstance(counted.tags, TagLists):
        return _fit_tag_lists(counted.tags, tag_names)
    tags = canonical_tags(counted.tags, f"{counted.source}: tags")
    own = counted.tag_names
    if tag_names is None:
        return tags, tuple(own if own is not None else unnamed(tags.shape[1], "tag")), 0, 0
    if own is None:
        _same_width(tags, tag_names, f"{counted.source}: tag_names")
        return tags, tuple(tag_names), 0, 0
    fitted = _realign(tags, own, tag_names)
    return fitted, tuple(tag_names), int(tags.nnz - fitted.nnz), 0


def _fit_tag_lists(
    tags: TagLists, tag_names: Sequence[str] | None
) -> tuple[sp.csr_array, tuple[str, ...], int, int]:
    names = tags.names() if tag_names is None else tuple(tag_names)
    matrix = tag_matrix(tags.lists, names)
    return matrix, names, sum(map(len, tags.lists)) - matrix.nnz, tags.n_repeated


def unnamed(n: int, stem: str) -> tuple[str, ...]:
    """Return names for columns that have none: `word0`, `word1`, ..."""
    return tuple(f"{stem}{i}" for i in range(n))


def tags_of_file(path: Path, separator: str | None) -> TagLists:
    """Return the tags of a file with one line for each document."""
    return read_tags(name_lines(path), separator=separator, where=lambda row: f"{path}, line {row + 1}")


def distinct_names(path: Path) -> tuple[str, ...]:
    """Return the names of a file with one name a line, each of them once."""
    names = name_lines(path)
    if len(set(names)) < len(names):
        first: dict[str, int] = {}
        for number, name in enumerate(names, start=1):
            if first.setdefault(name, number) != number:
                raise InputError(f"{path}, line {number}: {name[:60]!r} is already on line {first[name]}")
    return names


def names_beside(path: Path, suffix: str) -> tuple[str, ...] | None:
    """Return the names of the file that belongs to another: `a.dat` has `a.vocab` or `a.dat.vocab`."""
    beside = companion(path, suffix)
    return None if beside is None else distinct_names(beside)


def companion(path: Path, suffix: str) -> Path | None:
    """Return the file of another suffix that belongs to a file, if there is one."""
    bare = path.with_suffix("") if path.suffix == ".gz" else path
    return existing(bare.with_suffix(suffix), bare.with_name(bare.name + suffix))


def _same_width(matrix: sp.csr_array, names: Sequence[str], what: str) -> None:
    if matrix.shape[1] != len(names):
        raise InputError(f"{what} has {len(names)} names for {matrix.shape[1]} columns")


def _realign(matrix: sp.csr_array, own: Sequence[str], names: Sequence[str]) -> sp.csr_array:
    """Return the columns of a matrix in another order, without those that have no place in it."""
    place = {name: column for column, name in enumerate(names)}
    if len(place) < len(names):
        raise InputError("names: a word or tag is given twice; every name must have one column")
    if tuple(own) == tuple(names):
        return matrix
    target = np.array([place.get(name, -1) for name in own], dtype=np.int64)
    coo = matrix.tocoo()
    row, column = coo.coords
    known = target[column] >= 0
    parts = (coo.data[known], (row[known], target[column[known]]))
    fitted = sp.csr_array(parts, shape=(matrix.shape[0], len(names)), dtype=matrix.dtype)
    fitted.sort_indices()
    return fitted
