"""Kinds of tags as the pages show them."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from tagtopics._typing import Int64
from tagtopics.corpus.tags import MOST_KINDS, kind_of

_YEAR = re.compile("year:([1-9][0-9]{3})")


def kind_numbers(tags: Sequence[str]) -> Int64:
    """Return (T,): equal numbers for tags that the pages show as of the same kind."""
    kinds = [kind_of(tag) for tag in tags]
    number = {kind: i for i, kind in enumerate(dict.fromkeys(kinds))}
    if len(number) > MOST_KINDS:
        return np.zeros(len(kinds), dtype=np.int64)
    return np.array([number[kind] for kind in kinds], dtype=np.int64)


def year_of(tag: str) -> int:
    """Return the year that a tag of the kind `year` names; 0 for other tags."""
    found = _YEAR.fullmatch(tag)
    return int(found.group(1)) if found else 0


def is_year(tag: str) -> bool:
    """Tell whether a tag names a year."""
    return year_of(tag) > 0
