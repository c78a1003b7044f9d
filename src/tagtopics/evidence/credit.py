"""Credit attribution: how much of each word of a document each of its tags accounts for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tagtopics._html import html_table
from tagtopics._typing import Float64, Int64

_SHOWN = 50
"""Rows that a notebook shows."""


@dataclass(frozen=True)
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

    def _repr_html_(self) -> str:
        rows = self._rows(np.lexsort((-self.credit * self.count, self.doc))[:_SHOWN])
        caption = f"{len(self):,} rows" + (f", {_SHOWN} shown" if len(self) > _SHOWN else "")
        return html_table(list(self.to_dict()), zip(*map(list, rows._plain().values()), strict=True), caption)

    def _plain(self) -> dict[str, list[Any]]:
        return {name: values.tolist() for name, values in self.to_dict().items()}

    def _rows(self, rows: npt.NDArray[Any]) -> CreditTable:
        return CreditTable(
            self.doc[rows], self.word[rows], self.count[rows], self.tag[rows], self.credit[rows]
        )
