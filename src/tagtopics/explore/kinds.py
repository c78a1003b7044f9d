"""Kinds of tags: a tag is written `kind:name`."""

from __future__ import annotations

import re

_YEAR = re.compile("year:([1-9][0-9]{3})")


def kind_of(tag: str) -> str:
    """Return the kind of a tag; empty if it has none."""
    kind, colon, _ = tag.partition(":")
    return kind if colon else ""


def year_of(tag: str) -> int:
    """Return the year that a tag of the kind `year` names; 0 for other tags."""
    found = _YEAR.fullmatch(tag)
    return int(found.group(1)) if found else 0


def is_year(tag: str) -> bool:
    """Tell whether a tag names a year."""
    return year_of(tag) > 0
