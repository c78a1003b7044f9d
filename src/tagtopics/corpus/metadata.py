"""Metadata of documents: titles, dates and URLs, which are stored with them and are not tags.

A date is an ISO string of a year, a month or a day: `2020`, `2020-05`, `2020-05-03`. An address is an http or
https link.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tagtopics.corpus.cells import is_missing, is_missing_text
from tagtopics.corpus.text import clean_name

METADATA: Mapping[str, str] = {"title": "titles", "date": "dates", "url": "urls"}
"""What may be known of a document, and the field of `Corpus` that holds it."""

DEFAULT_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "title": ("title",),
    "date": ("date", "year"),
    "url": ("url",),
}
"""The columns that are used if the user names none; the first that exists."""

Fields = dict[str, Sequence[str | None] | None]
"""The values of each field in `METADATA`; None for a field that no document has."""

_YEARS = range(1000, 3000)
_MONTHS = {
    name: number
    for number, names in enumerate(
        ("january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug",
         "september sept sep", "october oct", "november nov", "december dec"), start=1
    )
    for name in names.split()
}  # fmt: skip
_ISO = re.compile(r"(\d{4})(?:[-/.](\d{1,2})(?:[-/.](\d{1,2}))?)?(?:[T ]\d{1,2}(?::[^\n]*)?)?Z?")
_COMPACT = re.compile(r"(\d{4})(\d\d)(\d\d)")
_POINTS = re.compile(r"(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})")
_SLASHES = re.compile(r"(\d{1,2})[/-](\d{1,2})[/-](\d{4})")
_WORDS = re.compile(r"[a-z]+|\d+", re.IGNORECASE)
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
    return _iso(text) or _day_first(text) or _named_month(text) or _lone_year(text)


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


_PARSERS: Mapping[str, tuple[Callable[[Any], str | None], str]] = {
    "title": (title_of, "titles that are no text"),
    "date": (iso_date, "dates that cannot be read"),
    "url": (link_of, "addresses that are no http link"),
}


def read_metadata(cells: Mapping[str, Sequence[Any]]) -> tuple[Fields, list[str]]:
    """Return the fields of documents, and one line for each kind of values that were left out.

    Args:
        cells: for "title", "date" and "url", or some of them, what was given for each document.
    """
    fields: Fields = {}
    notices = []
    for what, values in cells.items():
        parse, problem = _PARSERS[what]
        found = [parse(value) for value in values]
        fields[METADATA[what]] = found if any(value is not None for value in found) else None
        left = [value for value, kept in zip(values, found, strict=True) if kept is None and _given(value)]
        if left:
            first = repr(left[0])[:60]
            notices.append(f"{len(left):,} {problem} left out, the first is {first}")
    return fields, notices


def _given(value: Any) -> bool:
    """Tell whether a cell is not empty."""
    if isinstance(value, str):
        return bool(value.strip()) and not is_missing_text(value)
    return not is_missing(value) and value not in ([], ())


def _date(year: int, month: int | None = None, day: int | None = None) -> str | None:
    """Return the ISO string of a date, None if there is no such date."""
    if year not in _YEARS:
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


def _iso(text: str) -> str | None:
    match = _COMPACT.fullmatch(text) or _ISO.fullmatch(text)
    return _date(*(int(part) if part else None for part in match.groups())) if match else None  # type: ignore[arg-type]


def _day_first(text: str) -> str | None:
    """Read `3.5.2020`; and `13/05/2020` or `05/13/2020`, where one number must be the day."""
    if match := _POINTS.fullmatch(text):
        day, month, year = map(int, match.groups())
        return _date(year, month, day)
    if not (match := _SLASHES.fullmatch(text)):
        return None
    first, second, year = map(int, match.groups())
    if first > 12:
        return _date(year, second, first)
    if second > 12 or first == second:
        return _date(year, first, second)
    return _date(year) if first and second else None


def _named_month(text: str) -> str | None:
    """Read `May 2020`, `3 May 2020`, `May 3, 2020` and `Sun, 03 May 2020 12:00:00 GMT`."""
    words = [word.lower() for word in _WORDS.findall(text)[:5]]
    months = [at for at, word in enumerate(words) if word in _MONTHS]
    if len(months) != 1:
        return None
    month = _MONTHS[words[months[0]]]
    years = [word for word in words if word.isdecimal() and len(word) == 4]
    days = [word for word in words[: months[0] + 2] if word.isdecimal() and len(word) < 3]
    if len(years) != 1 or len(days) > 1:
        return None
    return _date(int(years[0]), month, int(days[0]) if days else None)


def _lone_year(text: str) -> str | None:
    """Read `Spring 2020` and `[c1998]`: text with one number that is a year."""
    if len(text) > 40 or len(re.findall(r"\d+", text)) != 1:
        return None
    match = _LONE_YEAR.search(text)
    return match[1] if match else None
