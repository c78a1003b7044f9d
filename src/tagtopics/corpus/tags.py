"""What users give as tags, as lists of strings.

One cell holds the tags of one document. A list holds one tag an element. A string is split: on the separator
if one is given; else on `;` and `|` if either occurs anywhere in the column; else on `,`. So `Doe, Jane; Roe,
Richard` are two authors, and in the same column `Doe, Jane` is one. Nothing (None, NaN, an empty string) is
no tag. White space is trimmed, and a tag that a document repeats counts once.
"""

from __future__ import annotations

import datetime
import math
import numbers
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tagtopics.corpus.text import clean_name
from tagtopics.errors import InputError

Where = Callable[[int], str]
STRONG = re.compile(r"[;|]")
WEAK = re.compile(",")
"""What divides the tags of a column of strings where the user does not say: `STRONG` if it occurs at all."""


@dataclass(frozen=True)
class TagLists:
    """The tags of D documents.

    Attributes:
        lists: the distinct tags of each document, in the order given.
        n_repeated: how many further times a document named a tag it already has.
    """

    lists: list[list[str]]
    n_repeated: int = 0

    def names(self) -> tuple[str, ...]:
        """Return all tags, sorted."""
        return tuple(sorted({tag for tags in self.lists for tag in tags}))


def document_number(row: int) -> str:
    """Name a document by its row, where nothing better is known."""
    return f"document {row}"


def read_tags(
    cells: Sequence[Any],
    *,
    separator: str | re.Pattern[str] | None = None,
    kind: str | None = None,
    where: Where = document_number,
) -> TagLists:
    """Return the tags of one column.

    Args:
        cells: what was given for each of D documents.
        separator: what divides the tags of a string; None for the rule of this module; a pattern where
            these cells are a part of a column, for which the rule was decided.
        kind: put before each tag, as in `author:Jane Doe`; None for plain tags.
        where: names a row in errors.

    Returns:
        the tags of each document.
    """
    split = _splitter(cells, separator)
    lists = []
    n_repeated = 0
    for row, cell in enumerate(cells):
        found = _tags_of_cell(cell, split, partial(where, row))
        tags = list(dict.fromkeys(found))
        n_repeated += len(found) - len(tags)
        lists.append(tags if kind is None else [f"{kind}:{tag}" for tag in tags])
    return TagLists(lists, n_repeated)


def join_kinds(columns: Iterable[TagLists]) -> TagLists:
    """Return the tags of several columns as one."""
    parts = list(columns)
    lists = [
        [tag for tags in of_doc for tag in tags] for of_doc in zip(*(p.lists for p in parts), strict=True)
    ]
    return TagLists(lists, sum(part.n_repeated for part in parts))


def name_of(value: Any, where: Callable[[], str], what: str = "tag") -> str | None:
    """Return one tag, id or label as a clean string, None where there is nothing.

    Args:
        value: a string, number or date, or a missing value of Python, NumPy or pandas.
        where: names the place in errors.
        what: names the thing in errors.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if is_missing(value):
        return None
    if isinstance(value, str):
        return clean_name(value) or None
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, numbers.Number) and value == value and abs(value) != math.inf:  # type: ignore[arg-type]
        return str(value)
    raise InputError(f"{where()}: each {what} must be a string or a number, not {_describe(value)}")


def is_missing(value: Any) -> bool:
    """Say whether a value stands for nothing: None, NaN, or the missing values of pandas."""
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return True
    return isinstance(value, float) and math.isnan(value)


def as_list(cell: Any) -> list[Any] | None:
    """Return a cell that holds several values as a list, None for any other cell."""
    if isinstance(cell, list | tuple):
        return list(cell)
    if isinstance(cell, set | frozenset):
        return sorted(cell, key=str)
    if isinstance(cell, np.ndarray) and cell.ndim == 1:
        return list(cell.tolist())
    return None


def _tags_of_cell(cell: Any, split: Callable[[str], list[str]], where: Callable[[], str]) -> list[str]:
    values = as_list(cell)
    if values is None:
        values = split(cell) if isinstance(cell, str) else [cell]
    names = (name_of(value, where) for value in values)
    return [name for name in names if name is not None]


def has_strong(cells: Sequence[Any]) -> bool:
    """Tell whether a string of a column holds `;` or `|`."""
    return any(isinstance(cell, str) and STRONG.search(cell) for cell in cells)


def _splitter(cells: Sequence[Any], separator: str | re.Pattern[str] | None) -> Callable[[str], list[str]]:
    if separator == "":
        raise InputError("tag_separator: must not be empty; leave it out for the default")
    if separator is None:
        separator = STRONG if has_strong(cells) else WEAK
    return re.compile(re.escape(separator)).split if isinstance(separator, str) else separator.split


def _describe(value: Any) -> str:
    kinds: dict[type, str] = {dict: "an object", list: "a list", tuple: "a list", bytes: "bytes"}
    return kinds.get(type(value)) or f"{type(value).__name__} {repr(value)[:40]}"
