"""What the cells of a table mean: missing values, and in columns of tags separators, lists, decimal points.

A column is read in one way, whatever its single cells look like. `TagStyle` collects what occurs in all of
its cells, part by part, and says what was decided.
"""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tagtopics.errors import InputError

STRONG, WEAK = (";", "|"), ","
"""The separators of a column that no one has named: those of `STRONG` that occur in it, else `WEAK`."""

MISSING = frozenset({"nan", "NaN", "NAN", "None", "null", "NULL", "<NA>", "NaT"})
"""Strings by which programs write that a cell is empty."""

_LONGEST = max(map(len, MISSING))

_DECIMAL, _WHOLE = re.compile(r"-?\d+\.0"), re.compile(r"-?\d+")
_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_BARE = r"-?\d+(?:\.\d*)?|nan|NaN|None|null|<NA>"
_ITEM = re.compile(rf"(?:({_QUOTED})|({_BARE}))(?:\s*,\s*|\s+|$)", re.DOTALL)
_ARRAY = re.compile(r"array\((.*?)(?:,\s*dtype=[\w<>']+)?\)", re.DOTALL)
_MARKS = re.compile(r"[;|,]")
_SHOWN = 60


@dataclass(frozen=True)
class TagStyle:
    """How the strings of a column of tags are read.

    Attributes:
        given: separators that the user named, or that a model was fitted with; None to find them.
        marks: the separators that occur.
        decimals: whether whole numbers are written as 1999.0.
        numeric: whether all strings are whole numbers.
        listed: the first string that is a list.
        missing: the first string that stands for a missing value.
        parted: the first string with a comma.
    """

    given: tuple[str, ...] | None = None
    marks: frozenset[str] = frozenset()
    decimals: bool = False
    numeric: bool = True
    listed: str | None = None
    missing: str | None = None
    parted: str | None = None

    @classmethod
    def of(cls, cells: Sequence[Any], separator: str | tuple[str, ...] | None = None) -> TagStyle:
        """Return the style of a whole column; `separator` is what the user named, None for the default."""
        return cls(given_separators(separator)).updated(cells)

    def updated(self, cells: Sequence[Any]) -> TagStyle:
        """Return the style of this column with more cells."""
        found: dict[str, Any] = {}
        marks, decimals, numeric = set(self.marks), self.decimals, self.numeric
        for cell in cells:
            if not isinstance(cell, str):
                continue
            if numeric and (text := cell.strip()) and text not in MISSING:
                decimals = decimals or _DECIMAL.fullmatch(text) is not None
                numeric = (_DECIMAL.fullmatch(text) or _WHOLE.fullmatch(text)) is not None
            if list_in(cell) is not None:
                found.setdefault("listed", cell)
            elif cell.strip() in MISSING:
                found.setdefault("missing", cell.strip())
            else:
                marks.update(_MARKS.findall(cell))
                if "," in cell:
                    found.setdefault("parted", cell)
        first = {name: getattr(self, name) or value for name, value in found.items()}
        return replace(self, marks=frozenset(marks), decimals=decimals, numeric=numeric, **first)

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
        separators = self.separators
        divide = re.compile("|".join(map(re.escape, separators))).split if separators else None
        decimals = self.numeric and self.decimals

        def split(cell: str) -> list[Any]:
            if (values := list_in(cell)) is not None:
                return values
            if decimals:
                cell = cell.strip().removesuffix(".0")
            parts = [cell] if divide is None else divide(cell)
            return [part for part in parts if part.strip() not in MISSING]

        return split

    def commas(self, column: str) -> list[str]:
        """Return a line if strings are divided at commas, without being asked to."""
        if self.given is not None or self.separators != (WEAK,) or self.parted is None:
            return []
        parts = " | ".join(part.strip() for part in self.parted.split(WEAK) if part.strip())
        return [
            f"{column}: tags are split at commas, such as {_short(parts)!r}; "
            "name another separator with tag_separator (--tag-separator)"
        ]

    def notices(self, column: str) -> list[str]:
        """Return a line on each other decision."""
        lines = []
        if self.given is None and self.separators and self.separators != (WEAK,):
            lines.append(f"{column}: tags are split at {' and '.join(map(repr, self.separators))}")
        if self.given is not None and self.marks.intersection(STRONG).difference("".join(self.given)):
            other = next(mark for mark in STRONG if mark in self.marks and mark not in "".join(self.given))
            named = " and ".join(map(repr, self.given)) or "nothing"
            lines.append(f"{column}: tags contain {other!r}, but are split at {named}")
        if self.listed is not None:
            lines.append(f"{column}: strings such as {_short(self.listed)!r} are read as lists of tags")
        if self.missing is not None:
            lines.append(f"{column}: {self.missing!r} is read as a missing value")
        if self.numeric and self.decimals:
            lines.append(f"{column}: whole numbers lose their decimal point, 1999.0 is 1999")
        return lines


def given_separators(separator: str | tuple[str, ...] | None) -> tuple[str, ...] | None:
    """Return the separator that a user named as a tuple, None for the default."""
    if separator == "":
        raise InputError("tag_separator: must not be empty; leave it out for the default")
    return (separator,) if isinstance(separator, str) else separator


def list_in(cell: str) -> list[Any] | None:
    """Return the values of a list that Python, NumPy or JSON wrote as text; None if the text is no list.

    `['a', 'b']`, `["a", "b"]`, `('a',)`, `{'a'}`, `['a' 'b']` and `array(['a'], dtype=object)` are lists. A
    word without quotes is not: `[sic]` is a tag.
    """
    text = cell.strip()
    if text.startswith("array("):
        text = _ARRAY.sub(r"\1", text)
    if text[:1] + text[-1:] not in ("[]", "()", "{}"):
        return None
    body, values = text[1:-1].strip(), list[Any]()
    if not body:
        return [] if text[0] == "[" else None
    at = 0
    while at < len(body):
        found = _ITEM.match(body, at)
        value = None if found is None else _value(*found.groups())
        if found is None or value is None:
            return None
        values.append(None if value in MISSING and not found[1] else value)
        at = found.end()
    return values


def is_missing(value: Any) -> bool:
    """Tell whether a value is None, NaN, or a missing value of pandas."""
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return True
    return isinstance(value, float) and math.isnan(value)


def is_missing_text(value: Any) -> bool:
    """Tell whether a value is a string that stands for a missing one."""
    if not isinstance(value, str):
        return False
    if len(value) > _LONGEST and not (value[0].isspace() or value[-1].isspace()):
        return False  # most texts: nothing to copy
    return value.strip() in MISSING


def _value(quoted: str | None, bare: str) -> Any:
    """Return an item of a list, None if it is not valid."""
    if quoted is None:
        return bare if bare in MISSING else float(bare) if "." in bare else int(bare)
    for read in (json.loads, ast.literal_eval) if quoted[0] == '"' else (ast.literal_eval,):
        try:
            return read(quoted)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
    return None


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."
