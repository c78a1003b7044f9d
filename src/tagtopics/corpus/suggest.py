"""Which columns of a table look like tags: said to users who named none."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from tagtopics.corpus.cells import list_in
from tagtopics.corpus.tags import is_missing

SAMPLE_ROWS = 200
"""Rows of a table that are looked at."""

_LONGEST = 60
_USUAL = re.compile(
    r"(tag|keyword|author|creator|category|categorie|subject|topic|label|genre|venue|journal|mesh|year)s?"
)


def tag_like(columns: Mapping[str, Sequence[Any]], used: Collection[str] = ()) -> list[str]:
    """Return the columns that may hold tags, in their order, without those that are used for something else.

    A column may if its cells are lists, or short strings or numbers of which some have separators or
    occur again.
    """
    return [name for name, cells in columns.items() if name not in used and _is_tag_like(name, cells)]


def no_tags(columns: Mapping[str, Sequence[Any]], used: Collection[str]) -> list[str]:
    """Return one line for a table without a column of tags that has columns like it."""
    names = tag_like(columns, used)
    if not names:
        return []
    shown = ", ".join(names[:6])
    example = f"tags={names[0]!r} (--tags {names[0]})"
    return [f"no column of tags was named; these look like tags: {shown}; use {example}"]


def _is_tag_like(name: str, cells: Sequence[Any]) -> bool:
    values = [cell for cell in cells[:SAMPLE_ROWS] if not (is_missing(cell) or cell == "")]
    if not values or any(isinstance(value, Mapping) for value in values):
        return False
    lists = [value if isinstance(value, list | tuple | set) else _listed(value) for value in values]
    if any(items is not None for items in lists):
        return all(len(str(item)) <= _LONGEST for items in lists if items for item in items)
    texts = [str(value) for value in values]
    divided = [text for text in texts if ";" in text or "|" in text]
    if max(len(text) for text in texts) > _LONGEST * (1 + 10 * bool(divided)):
        return False
    if _USUAL.fullmatch(name.lower()) or divided:
        return True
    return len(texts) >= 10 and len(set(texts)) <= len(texts) / 2


def _listed(value: Any) -> list[Any] | None:
    return list_in(value) if isinstance(value, str) else None
