"""Notices: what the user may not expect of a corpus, and which columns look like tags."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from tagtopics.corpus.cells import is_missing, list_in
from tagtopics.corpus.core import Corpus

SAMPLE_ROWS = 200
"""Rows of a table that are looked at."""

_LONGEST = 60
_USUAL = re.compile(
    r"(tag|keyword|author|creator|category|categorie|subject|topic|label|genre|venue|journal|mesh|year)s?"
)


@dataclass(frozen=True)
class Findings:
    """What the user may not expect of some documents; the findings of the parts of a corpus add up."""

    wordless: int = 0
    first_wordless: str | None = None  # the id of the first document without a word
    untagged: int = 0
    first_untagged: str | None = None
    unknown_words: int = 0  # tokens of words outside a given vocabulary
    unknown_tags: int = 0  # tags of documents that are not among the given ones
    repeated: int = 0  # tags that a document repeats
    rare: str | None = None  # a line on the rare words that were left out

    @classmethod
    def of(cls, corpus: Corpus, unknown_words: int, unknown_tags: int, repeated: int) -> Findings:
        """Return the findings of a corpus."""
        empty, bare = (np.flatnonzero(np.diff(m.indptr) == 0) for m in (corpus.counts, corpus.tags))
        first_empty, first_bare = (corpus.ids[rows[0]] if len(rows) else None for rows in (empty, bare))
        return cls(len(empty), first_empty, len(bare), first_bare, unknown_words, unknown_tags, repeated)

    def __add__(self, later: Findings) -> Findings:
        def total(mine: Any, others: Any) -> Any:
            return mine + others if isinstance(mine, int) else others if mine is None else mine

        return Findings(*(total(getattr(self, f.name), getattr(later, f.name)) for f in fields(self)))

    def lines(self) -> list[str]:
        """Return one line for each finding, except for missing tags."""
        lines = []
        if self.wordless:
            first = (self.first_wordless or "")[:60]
            lines.append(f"kept {number_of(self.wordless, 'document')} without words; the first is {first!r}")
        if self.unknown_words:
            lines.append(f"{number_of(self.unknown_words, 'token')} of words outside the vocabulary left out")
        if self.unknown_tags:
            lines.append(f"{number_of(self.unknown_tags, 'tagging')} with unknown tags left out")
        if self.repeated:
            lines.append(f"{number_of(self.repeated, 'repeated tag')} within a document counted once")
        return lines

    def untagged_lines(self) -> list[str]:
        """Return one line if there are documents without tags."""
        first = (self.first_untagged or "")[:60]
        what = f"kept {number_of(self.untagged, 'document')} without tags; the first is {first!r}"
        return [what] if self.untagged else []


def single_tags(tag_docs: npt.NDArray[np.integer]) -> list[str]:
    """Return one line if some of T tags, with (T,) documents each, are on a single document."""
    n_single = int((tag_docs == 1).sum())
    return [f"{n_single:,} of {number_of(len(tag_docs), 'tag')} on a single document"] if n_single else []


def repeated_ids(ids: Sequence[str]) -> list[str]:
    """Return one line if some documents have the id of an earlier one."""
    n_repeated = len(ids) - len(set(ids))
    if not n_repeated:
        return []
    seen: set[str] = set()
    first = next(name for name in ids if name in seen or seen.add(name))  # type: ignore[func-returns-value]
    return [f"{number_of(n_repeated, 'document')} with the id of an earlier one, the first is {first[:60]!r}"]


def number_of(n: int, what: str) -> str:
    """Return a number with its noun, in the plural if needed."""
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


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
