"""What the user may not expect of a corpus, as lines to show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from tagtopics.corpus.core import Corpus


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
            lines.append(f"{number_of(self.wordless, 'document')} with no word kept, the first is {first!r}")
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
        what = f"{number_of(self.untagged, 'document')} with no tag kept, the first is {first!r}"
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
