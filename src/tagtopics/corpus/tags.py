"""Tags as users give them: cells of a column, lists, files, labels `y`, indicator matrices.

Names are cleaned the same way everywhere: white space is trimmed, text is NFC, a whole number has no decimal
point, and a missing value (None, NaN, an empty string) is no tag. A list holds one tag per element. What a
string means depends on where it is:

- In a column of a table, and in a list of strings given as tags, a string holds all tags of a document. It is
  split at the separator if one is given; else at `;` and `|` if either occurs anywhere in the column; else at
  `,`, with a warning. So `Doe, Jane; Roe, Richard` are two authors, and `Doe, Jane` in the same column is
  one. Lists written as text, such as `['a', 'b']`, are lists; `nan` and `None` are missing. See
  `tagtopics.corpus.cells`.
- In the labels `y` of an estimator, one string per document is one tag and is never split.
"""

from __future__ import annotations

import datetime
import math
import numbers
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from tagtopics.corpus.align import align_columns
from tagtopics.corpus.cells import TagStyle, is_missing
from tagtopics.corpus.core import Where, document_number, tag_matrix
from tagtopics.corpus.formats.text_files import name_lines
from tagtopics.corpus.text import clean_name
from tagtopics.errors import CorpusWarning, InputError

TagLists = list[list[str]]
"""The tags of each document, in the order given; a document may repeat a tag."""


def read_tags(
    cells: Sequence[Any],
    *,
    separator: str | None = None,
    style: TagStyle | None = None,
    kind: str | None = None,
    where: Where = document_number,
) -> TagLists:
    """Return the tags of one column.

    Args:
        cells: what was given for each of D documents.
        separator: what divides the tags of a string; None for the default.
        style: how strings are read, if these cells are a part of a column for which that was decided.
        kind: put before each tag, as in `author:Jane Doe`; None for plain tags.
        where: names a row in errors.
    """
    split = (style or TagStyle.of(cells, separator)).splitter()
    clean = _CleanNames()
    lists = (_tags_of_cell(cell, split, partial(where, row), clean) for row, cell in enumerate(cells))
    return [tags if kind is None else [f"{kind}:{tag}" for tag in tags] for tags in lists]


NotedTags = tuple[TagLists, list[str], list[str]]
"""The tags of each document, lines on what was decided, and those of them that the user should see now."""


def noted_tags(cells: Sequence[Any], separator: str | None, where: Where = document_number) -> NotedTags:
    """Return the tags of a whole column, and what was decided."""
    style = TagStyle.of(cells, separator)
    warned = style.commas("tags")
    return read_tags(cells, style=style, where=where), [*warned, *style.notices("tags")], warned


def tags_of_file(path: Path, separator: str | None) -> NotedTags:
    """Return the tags of a file with one line for each document, and what was decided."""
    return noted_tags(name_lines(path), separator, lambda row: f"{path}, line {row + 1}")


MOST_KINDS = 8
"""With more different kinds than this, tags count as having none."""


def split_kind(tag: str) -> tuple[str, str]:
    """Return kind and name of a tag `kind:name`; of any other tag, an empty kind and the tag.

    An address such as `http://example.org` has no kind.
    """
    kind, _, name = tag.partition(":")
    has_kind = kind.strip() and name.strip() and not name.startswith("//")
    return (kind, name) if has_kind else ("", tag)


def kind_of(tag: str) -> str:
    """Return the kind of a tag; empty if it has none."""
    return split_kind(tag)[0]


def bare_name(tag: str) -> str:
    """Return the name of a tag without its kind: `Jane Doe` of `author:Jane Doe`."""
    return split_kind(tag)[1]


def distinct_tags(lists: TagLists) -> tuple[str, ...]:
    """Return all tags, sorted."""
    return tuple(sorted({tag for tags in lists for tag in tags}))


def tags_of_labels(
    y: Any, n_docs: int, tag_names: Sequence[str] | None = None
) -> tuple[sp.csr_array, tuple[str, ...]]:
    """Return the `y` of an estimator as tags: CSR (D, T) of int8 ones, and T names.

    Args:
        y: None, one label per document, lists of names, or an indicator matrix (sparse, dense, or a table
            whose columns are the tags).
        n_docs: the number of documents, D.
        tag_names: the columns wanted; other tags are left out with a warning. None for all tags.
    """
    if y is None:
        names = tuple(tag_names or ())
        return sp.csr_array((n_docs, len(names)), dtype=np.int8), names
    if not isinstance(y, Sequence) and hasattr(y, "__array__") and not hasattr(y, "columns"):
        y = np.asarray(y)
    if is_indicator(y):
        return _tags_of_indicator(y, n_docs, tag_names)
    clean = _CleanNames()
    lists = [
        _tags_of_cell(value, _unsplit, partial(document_number, row), clean) for row, value in enumerate(y)
    ]
    _check_length(len(lists), n_docs)
    found = distinct_tags(lists)
    names = found if tag_names is None else tuple(tag_names)
    if unknown := set(found).difference(names):
        message = f"{len(unknown)} tag(s) unknown to the model left out, such as {min(unknown)!r}"
        warnings.warn(message, CorpusWarning, stacklevel=4)
    return tag_matrix(lists, names), names


def is_indicator(y: Any) -> bool:
    """Tell whether labels are an indicator matrix: sparse, a table, or a 2-D array of numbers."""
    if sp.issparse(y) or hasattr(y, "columns"):
        return True
    return isinstance(y, np.ndarray) and y.ndim == 2 and y.dtype.kind in "biuf"


def name_of(value: Any, where: Callable[[], str], what: str = "tag") -> str | None:
    """Return one tag, id or label as a clean string, None for a missing value.

    Args:
        value: a string, number or date, or a missing value of Python, NumPy or pandas.
        where: names the place in errors.
        what: names the thing in errors.
    """
    if isinstance(value, str):
        return clean_name(value) or None
    if isinstance(value, np.generic):
        value = value.item()
    if is_missing(value):
        return None
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, numbers.Number) and value == value and abs(value) != math.inf:  # type: ignore[arg-type]
        return str(value)
    raise InputError(f"{where()}: each {what} must be a string or a number, not {_describe(value)}")


class _CleanNames(dict[str, str]):
    """The clean name of each string that was looked up, empty for a missing one: most tags occur often."""

    def __missing__(self, value: str) -> str:
        return self.setdefault(value, clean_name(value))


def _tags_of_cell(
    cell: Any, split: Callable[[str], list[Any]], where: Callable[[], str], clean: _CleanNames
) -> list[str]:
    values = cell if type(cell) is list else _as_list(cell)
    if values is None:
        values = split(cell) if isinstance(cell, str) else [cell]
    names = [clean[value] if type(value) is str else name_of(value, where) for value in values]
    return [name for name in names if name]


def _as_list(cell: Any) -> list[Any] | None:
    """Return a cell that holds several values as a list, None for any other cell."""
    if isinstance(cell, list | tuple):
        return list(cell)
    if isinstance(cell, set | frozenset):
        return sorted(cell, key=str)
    if isinstance(cell, np.ndarray) and cell.ndim == 1:
        return list(cell.tolist())
    return None


def _unsplit(value: str) -> list[Any]:
    return [value]


def _tags_of_indicator(
    y: Any, n_docs: int, tag_names: Sequence[str] | None
) -> tuple[sp.csr_array, tuple[str, ...]]:
    csr = sp.csr_array(y if sp.issparse(y) else np.asarray(y), copy=True)
    csr.sum_duplicates()
    csr.eliminate_zeros()
    _check_length(csr.shape[0], n_docs)
    if not np.isin(csr.data, (0, 1)).all():
        raise InputError("tags: an indicator matrix holds zeros and ones only")
    csr = csr.astype(np.int8)
    if hasattr(y, "columns"):
        return _named_columns(csr, list(y.columns), tag_names)
    names = tuple(f"tag{t}" for t in range(csr.shape[1])) if tag_names is None else tuple(tag_names)
    if len(names) != csr.shape[1]:
        raise InputError(f"tags: the indicator has {csr.shape[1]} columns, the model has {len(names)} tags")
    return csr, names


def _named_columns(
    csr: sp.csr_array, columns: list[Any], tag_names: Sequence[str] | None
) -> tuple[sp.csr_array, tuple[str, ...]]:
    """Return the indicator of a table; columns whose clean names are equal are one tag."""
    have = [name_of(name, lambda: "tags") or "" for name in columns]
    names = tuple(dict.fromkeys(have)) if tag_names is None else tuple(tag_names)
    tags, n_lost = align_columns(csr, have, names)
    tags.data = np.ones(tags.nnz, dtype=np.int8)
    if n_lost:
        message = f"{n_lost:,} tag(s) of the new documents unknown to the model left out"
        warnings.warn(message, CorpusWarning, stacklevel=5)
    return tags, names


def _check_length(found: int, expected: int) -> None:
    if found != expected:
        raise InputError(f"inconsistent numbers of samples: {expected} documents, tags for {found}")


def _describe(value: Any) -> str:
    kinds: dict[type, str] = {dict: "an object", list: "a list", tuple: "a list", bytes: "bytes"}
    return kinds.get(type(value)) or f"{type(value).__name__} {repr(value)[:40]}"
