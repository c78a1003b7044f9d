"""Credit attribution: how much of each word of a document each of its tags accounts for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tagtopics._html import html_table
from tagtopics._typing import Float64, Int64

_SHOWN_DOCS = 5  # documents that a table shows
_SHOWN_WORDS = 8
_COLUMNS = ("document", "tag", "share", "words with the most credit")


@dataclass(frozen=True, repr=False)
class CreditTable:
    """p(tag | word, document): one row for each word of each document and each tag of that document.

    Attributes:
        doc: (N,) row number of the document among those asked for.
        word: (N,) the word.
        count: (N,) how often it occurs in the document.
        tag: (N,) the tag.
        credit: (N,) how much of the word the tag accounts for; adds up to one over a document's tags.
    """

    doc: Int64
    word: npt.NDArray[Any]
    count: Float64
    tag: npt.NDArray[Any]
    credit: Float64

    def __len__(self) -> int:
        return len(self.doc)

    def to_dict(self) -> dict[str, npt.NDArray[Any]]:
        """Return the columns; `pandas.DataFrame(table.to_dict())` makes a frame of them."""
        columns = ("doc", "word", "count", "tag", "credit")
        return {name: getattr(self, name) for name in columns}

    def best(self) -> CreditTable:
        """Return for each word of each document only the tag with the most credit."""
        new_word = np.ones(len(self), dtype=bool)
        new_word[1:] = (self.doc[1:] != self.doc[:-1]) | (self.word[1:] != self.word[:-1])
        group = np.cumsum(new_word) - 1
        order = np.lexsort((-self.credit, group))
        first = np.ones(len(order), dtype=bool)
        first[1:] = group[order][1:] != group[order][:-1]
        return self._rows(order[first])

    def of_document(self, doc: int) -> CreditTable:
        """Return the rows of one document."""
        return self._rows(np.flatnonzero(self.doc == doc))

    def __repr__(self) -> str:
        rows, caption = self._summary()
        width = max((len(row[1]) for row in (_COLUMNS, *rows)), default=0)
        lines = [
            f"{doc!s:>8}  {tag:<{width}}  {share:>5}  {words}" for doc, tag, share, words in (_COLUMNS, *rows)
        ]
        return "\n".join([*lines, f"({caption})"])

    def _repr_html_(self) -> str:
        rows, caption = self._summary()
        return html_table(_COLUMNS, rows, caption)

    def _summary(self) -> tuple[list[tuple[int, str, str, str]], str]:
        """Return the tags of the first documents, with `_COLUMNS`, and what is shown."""
        docs = np.unique(self.doc)
        rows = [row for doc in docs[:_SHOWN_DOCS].tolist() for row in self._shares_of(doc)]
        shown = f", {_SHOWN_DOCS} shown" if len(docs) > _SHOWN_DOCS else ""
        return rows, f"{len(self):,} rows of {len(docs):,} documents{shown}"

    def _shares_of(self, doc: int) -> list[tuple[int, str, str, str]]:
        """Return the tags of a document, largest share first, with their words."""
        own = self.of_document(doc)
        tokens = own.count * own.credit
        rows = []
        for tag in dict.fromkeys(own.tag.tolist()):
            mine = np.flatnonzero(own.tag == tag)
            best = mine[np.argsort(-tokens[mine].round(6), kind="stable")[:_SHOWN_WORDS]]  # ties in order
            words = ", ".join(f"{own.word[i]} {own.credit[i]:.2f}" for i in best.tolist())
            rows.append((float(tokens[mine].sum() / max(tokens.sum(), 1e-12)), (tag, words)))
        rows.sort(key=lambda row: -row[0])
        return [(doc, tag, f"{share:.0%}", words) for share, (tag, words) in rows]

    def _rows(self, rows: npt.NDArray[Any]) -> CreditTable:
        return CreditTable(
            self.doc[rows], self.word[rows], self.count[rows], self.tag[rows], self.credit[rows]
        )
