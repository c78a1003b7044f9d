"""What the cells of a table mean: missing values, names, tags, titles, dates and addresses.

Names are cleaned the same way everywhere: white space is trimmed, text is NFC, a whole number has no decimal
point, and a missing value (None, NaN, an empty string) is no name.

A column of tags is read in one way, whatever its single cells look like; the same holds for a list of strings
given as tags. A list holds one tag per element. A string holds all tags of a document. It is split at the
separator if one is given; else at `;` and `|` if either occurs anywhere in the column; else at `,`, with a
warning. So `Doe, Jane; Roe, Richard` are two authors, and `Doe, Jane` in the same column is one. Lists
written as text, such as `['a', 'b']`, are lists; `nan` and `None` are missing.

A date is an ISO string of a year, a month or a day: `2020`, `2020-05`, `2020-05-03`. An address is an http or
https link.
"""

from __future__ import annotations

import ast
import datetime
import json
import math
import numbers
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from tagtopics.corpus.core import Where, document_number
from tagtopics.corpus.text import clean_name
from tagtopics.errors import InputError, Unusual

TagLists = list[list[str]]  # the tags of each document, in the order given, with repetitions

# The separators of a column that no one has named: those of `STRONG` that occur in it, else `WEAK`.
STRONG, WEAK = (";", "|"), ","
MISSING = frozenset({"nan", "NaN", "NAN", "None", "null", "NULL", "<NA>", "NaT"})  # what programs write

_DECIMAL, _WHOLE = re.compile(r"-?\d+\.0"), re.compile(r"-?\d+")
_QUOTED = re.compile(r"""('(?:[^'\\]|\\.?)*(?:'|\Z)|"(?:[^"\\]|\\.?)*(?:"|\Z))(\s+(?=['"]))?""", re.DOTALL)
"""A string, and the white space before the next one in an array, as NumPy writes it."""
_IN_LISTS = (str, int, float, type(None))
_MARKS = re.compile(r"[;|,]")


def is_missing(value: Any) -> bool:
    """Tell whether a value is None, NaN, or a missing value of pandas."""
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return True
    return isinstance(value, float) and math.isnan(value)


def is_missing_text(value: Any) -> bool:
    """Tell whether a value is a string that stands for a missing one."""
    return isinstance(value, str) and value.strip() in MISSING


def name_of(value: Any, where: Callable[[], str], what: str = "tag") -> str | None:
    """Return one tag, id or label, a string, number or date, as a clean string; None for a missing value."""
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
    kinds: dict[type, str] = {dict: "an object", list: "a list", tuple: "a list", bytes: "bytes"}
    found = kinds.get(type(value)) or f"{type(value).__name__} {repr(value)[:40]}"
    raise InputError(f"{where()}: each {what} must be a string or a number, not {found}")


# --------------------------------------------------------------------------------------------------- tags


@dataclass
class TagStyle:
    """How the strings of a column of tags are read: what occurs in its cells, part by part."""

    given: tuple[str, ...] | None = None  # separators that the user named, or a model was fitted with
    marks: set[str] = field(default_factory=set)  # the separators that occur
    decimals: bool = False  # whether whole numbers are written as 1999.0
    numeric: bool = True  # whether all strings are whole numbers
    listed: str | None = None  # the first string that is a list
    missing: str | None = None  # the first string that stands for a missing value
    parted: str | None = None  # the first string with a comma

    @classmethod
    def of(cls, cells: Sequence[Any], separator: str | tuple[str, ...] | None = None) -> TagStyle:
        """Return the style of a whole column; `separator` is what the user named, None for the default."""
        style = cls(given_separators(separator))
        style.update(cells)
        return style

    def update(self, cells: Sequence[Any]) -> None:
        """Take more cells of the column into account."""
        for cell in cells:
            if not isinstance(cell, str):
                continue
            if self.numeric and (text := cell.strip()) and text not in MISSING:
                self.decimals = self.decimals or _DECIMAL.fullmatch(text) is not None
                self.numeric = (_DECIMAL.fullmatch(text) or _WHOLE.fullmatch(text)) is not None
            if list_in(cell) is not None:
                self.listed = self.listed or cell
            elif cell.strip() in MISSING:
                self.missing = self.missing or cell.strip()
            else:
                self.marks.update(_MARKS.findall(cell))
                if "," in cell:
                    self.parted = self.parted or cell

    @property
    def separators(self) -> tuple[str, ...]:
        """The strings that divide tags; none if no separator occurs."""
        if self.given is not None:
            return self.given
        strong = tuple(mark for mark in STRONG if mark in self.marks)
        return strong or ((WEAK,) if WEAK in self.marks else ())

    @property
    def meaning(self) -> tuple[bool, bool]:
        """What changes how cells are read that were seen before."""
        strong = self.given is not None or not self.marks.isdisjoint(STRONG)
        return strong, self.numeric and self.decimals

    def splitter(self) -> Callable[[str], list[Any]]:
        """Return the function from a string to the values in it, which are still to be cleaned."""
        divide = divider(self.separators).split if self.separators else None
        decimals = self.meaning[1]

        def split(cell: str) -> list[Any]:
            if (values := list_in(cell)) is not None:
                return values
            if decimals:
                cell = cell.strip().removesuffix(".0")
            parts = [cell] if divide is None else divide(cell)
            return [part for part in parts if part.strip() not in MISSING]

        return split

    def notices(self, column: str) -> list[str]:
        """Return a line on each decision; division at commas is unusual."""
        lines = list[str]()
        if self.given is None and self.separators == (WEAK,) and self.parted is not None:
            parts = " | ".join(part.strip() for part in self.parted.split(WEAK) if part.strip())
            split = f"{column}: tags are split at commas, such as {_short(parts)!r}"
            lines.append(Unusual(f"{split}; name another separator with tag_separator (--tag-separator)"))
        elif self.given is None and self.separators:
            lines.append(f"{column}: tags are split at {' and '.join(map(repr, self.separators))}")
        elif self.given is not None:
            others = [mark for mark in STRONG if mark in self.marks and mark not in "".join(self.given)]
            named = " and ".join(map(repr, self.given)) or "nothing"
            lines += [f"{column}: tags contain {mark!r}, but are split at {named}" for mark in others[:1]]
        if self.listed is not None:
            lines.append(f"{column}: strings such as {_short(self.listed)!r} are read as lists of tags")
        if self.missing is not None:
            lines.append(f"{column}: {self.missing!r} is read as a missing value")
        if self.numeric and self.decimals:
            lines.append(f"{column}: whole numbers lose their decimal point, 1999.0 is 1999")
        return lines


def divider(separators: Sequence[str]) -> re.Pattern[str]:
    """Return the pattern of what divides the tags of a string."""
    return re.compile("|".join(map(re.escape, separators)))


def given_separators(separator: str | tuple[str, ...] | None) -> tuple[str, ...] | None:
    """Return the separator that a user named as a tuple, None for the default."""
    if separator == "":
        raise InputError("tag_separator: must not be empty; leave it out for the default")
    return (separator,) if isinstance(separator, str) else separator


def list_in(cell: str) -> list[Any] | None:
    """Return the values of a list that Python, NumPy or JSON wrote as text; None if the text is no list.

    `['a', 'b']`, `["a", "b"]`, `('a',)`, `{'a'}` and `['a' 'b']` are lists. A word without quotes is not:
    `[sic]` is a tag.
    """
    text = cell.strip()
    if text[:1] + text[-1:] not in ("[]", "()", "{}"):
        return None
    text = _QUOTED.sub(lambda match: match[1] + (", " if match[2] else ""), text)
    for read in (json.loads, ast.literal_eval):
        try:
            found = read(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        values = sorted(found, key=str) if isinstance(found, set) else found
        if isinstance(values, list | tuple) and (values or text[0] == "["):
            return list(values) if all(type(value) in _IN_LISTS for value in values) else None
    return None


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."


def read_tags(
    cells: Sequence[Any],
    *,
    style: TagStyle | None = None,
    kind: str | None = None,
    where: Where = document_number,
) -> TagLists:
    """Return the tags of one column.

    Args:
        cells: what was given for each of D documents.
        style: how strings are read; None for that of these cells, by default.
        kind: put before each tag, as in `author:Jane Doe`; None for plain tags.
        where: names a row in errors.
    """
    split = (style or TagStyle.of(cells)).splitter()
    lists = tags_of_cells(cells, split, where)
    return lists if kind is None else [[f"{kind}:{tag}" for tag in tags] for tags in lists]


def tags_of_cells(cells: Sequence[Any], split: Callable[[str], list[Any]], where: Where) -> TagLists:
    """Return the tags of cells, of which strings are split in the same way."""
    clean: dict[str, str] = {}  # most tags occur often
    found = []
    for row, cell in enumerate(cells):
        if isinstance(cell, str):
            values = split(cell)
        elif isinstance(cell, set | frozenset):
            values = sorted(cell, key=str)
        elif isinstance(cell, np.ndarray) and cell.ndim == 1:
            values = cell.tolist()
        else:
            values = list(cell) if isinstance(cell, list | tuple) else [cell]
        tags = []
        for value in values:
            name = clean.get(value) if type(value) is str else name_of(value, partial(where, row))
            if name is None and type(value) is str:
                name = clean[value] = clean_name(value)
            if name:
                tags.append(name)
        found.append(tags)
    return found


# ----------------------------------------------------------------------------------------------- metadata

METADATA = {"title": "titles", "date": "dates", "url": "urls"}  # and the field of `Corpus` with each
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_ISO = re.compile(r"(\d{4})(?:[-/.](\d{1,2})(?:[-/.](\d{1,2}))?)?(?:[T ]\d{1,2}(?::[^\n]*)?)?Z?")
_COMPACT = re.compile(r"(\d{4})(\d\d)(\d\d)")
_NUMBERS = re.compile(r"(\d{1,2})([./-])\s?(\d{1,2})\2\s?(\d{4})")
# `May 2020`, `3 May 2020`, `May 3, 2020`, `Sun, 03 May 2020 12:00:00 GMT`; `2020 May 3`.
_MONTH, _SIGNS = rf"({'|'.join(_MONTHS)})[a-z]*", r"[\s,./-]+"
_DAY = rf"(?:(\d{{1,2}})(?:st|nd|rd|th)?{_SIGNS})?"
_MONTH_FIRST = re.compile(rf"(?:[a-z]+{_SIGNS})?{_DAY}{_MONTH}{_SIGNS}{_DAY}(\d{{4}})(?!\d).*", re.IGNORECASE)
_YEAR_FIRST = re.compile(rf"(\d{{4}}){_SIGNS}{_MONTH}(?:{_SIGNS}(\d{{1,2}})(?!\d).*)?", re.IGNORECASE)
_LONE_YEAR = re.compile(r"(?<!\d)([12]\d{3})(?!\d)")
_DOI = re.compile(r"(?:doi:\s*|(?:https?://)?(?:dx\.)?doi\.org/)?(10\.\d{4,9}/\S+)", re.IGNORECASE)
_LINK = re.compile(r"https?://[^\s<>\"]+", re.IGNORECASE)


def iso_date(value: Any) -> str | None:
    """Return a date as an ISO string, None if it cannot be read as one.

    A day and a month whose order is unknown, as in `03/05/2020`, are left out: the year is kept.

    Args:
        value: a date; a number such as 2020 or 2020.0; or a string in a usual form, month names in English.
    """
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[s]").item()
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, datetime.date):
        return _date(value.year, value.month, value.day)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        return None
    text = value.strip().removesuffix(".0")
    if match := _COMPACT.fullmatch(text) or _ISO.fullmatch(text):
        year, *rest = (int(part or 0) for part in match.groups())
        if found := _date(year, *rest):
            return found
    lone = _LONE_YEAR.search(text) if len(text) <= 40 and len(re.findall(r"\d+", text)) == 1 else None
    if match := _MONTH_FIRST.fullmatch(text):
        return _date(int(match[4]), _MONTHS.index(match[2].lower()) + 1, int(match[1] or match[3] or 0))
    if match := _YEAR_FIRST.fullmatch(text):
        return _date(int(match[1]), _MONTHS.index(match[2].lower()) + 1, int(match[3] or 0))
    return _day_first(text) or (lone[1] if lone else None)  # `Spring 2020`, `[c1998]`


def link_of(value: Any) -> str | None:
    """Return an address as an http or https link, None if it is none; a DOI becomes a link, too."""
    if not isinstance(value, str):
        return None
    text = value.strip()
    if doi := _DOI.fullmatch(text):
        return f"https://doi.org/{doi[1]}"
    if text.lower().startswith("www."):
        text = f"https://{text}"
    return text if _LINK.fullmatch(text) and len(text) <= 2000 else None


def title_of(value: Any) -> str | None:
    """Return a title on one line, None if there is none."""
    if isinstance(value, list | tuple) and value:
        value = value[0]
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = f"{value:g}"
    return (clean_name(value) or None) if isinstance(value, str) else None


_PARSERS = {
    "title": (title_of, "titles that are no text"),
    "date": (iso_date, "dates that cannot be read"),
    "url": (link_of, "addresses that are no http link"),
}


def read_metadata(cells: Mapping[str, Sequence[Any]]) -> tuple[dict[str, list[str | None] | None], list[str]]:
    """Return fields of documents, None for one that none has, and a line for each kind of values left out.

    Args:
        cells: for "title", "date" and "url", or some of them, what was given for each document.
    """
    fields: dict[str, list[str | None] | None] = {}
    notices: list[str] = []
    for what, values in cells.items():
        parse, problem = _PARSERS[what]
        found = [parse(value) for value in values]
        fields[METADATA[what]] = found if any(value is not None for value in found) else None
        left = [value for value, kept in zip(values, found, strict=True) if kept is None and _given(value)]
        if left:
            notices.append(Unusual(f"{len(left):,} {problem} left out, the first is {repr(left[0])[:60]}"))
    return fields, notices


def _given(value: Any) -> bool:
    if isinstance(value, str):
        return bool(value.strip()) and not is_missing_text(value)
    return not is_missing(value) and value not in ([], ())


def _date(year: int, month: int | None = None, day: int | None = None) -> str | None:
    """Return the ISO string of a date, None if there is no such date."""
    if not 1000 <= year < 3000:
        return None
    if not month:
        return f"{year}"
    if not 1 <= month <= 12:
        return None
    if not day:
        return f"{year}-{month:02d}"
    try:
        return datetime.date(year, month, day).isoformat()
    except ValueError:
        return None


def _day_first(text: str) -> str | None:
    """Read `3.5.2020`; and `13/05/2020` or `05/13/2020`, where one number must be the day."""
    if not (match := _NUMBERS.fullmatch(text)):
        return None
    first, second, year = int(match[1]), int(match[3]), int(match[4])
    if match[2] == "." or first > 12:
        return _date(year, second, first)
    if second > 12 or first == second:
        return _date(year, first, second)
    return _date(year) if first and second else None
