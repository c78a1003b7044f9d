"""Kinds of tags: a tag is written `kind:name`."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from tagtopics._typing import Int64

_MOST_KINDS = 12
"""With more kinds, the pages show tags without them; `data.js` has the same rule."""

_YEAR = re.compile("year:([1-9][0-9]{3})")


def kind_of(tag: str) -> str:
    """Return the kind of a tag; empty if it has none."""
    kind, colon, _ = tag.partition(":")
    return kind if colon else ""


def kind_numbers(tags: Sequence[str]) -> Int64:
    """Return (T,): equal numbers for tags that the pages show as of the same kind."""
    kinds = [kind_of(tag) if tag.partition(":")[2] else "" for tag in tags]
    number = {kind: i for i, kind in enumerate(dict.fromkeys(kinds))}
    if len(number) > _MOST_KINDS:
        return np.zeros(len(kinds), dtype=np.int64)
    return np.array([number[kind] for kind in kinds], dtype=np.int64)


def year_of(tag: str) -> int:
    """Return the year that a tag of the kind `year` names; 0 for other tags."""
    found = _YEAR.fullmatch(tag)
    return int(found.group(1)) if found else 0


def is_year(tag: str) -> bool:
    """Tell whether a tag names a year."""
    return year_of(tag) > 0
