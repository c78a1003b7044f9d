"""Which columns of a table hold what: stored with the corpus and the model, and used for later tables."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class Columns(BaseModel):
    """The columns that a corpus was read from; `read_corpus(..., columns=model.columns_)` uses them again.

    Attributes:
        text: the column of the text, or several.
        tags: the column of the tags; several if tags have kinds; None without tags.
        id: the column of the documents' names, None if there was none.
        label: the column of the classes, likewise.
        title: the column of the titles, likewise.
        date: the column of the dates, likewise.
        url: the column of the addresses, likewise.
        separators: what divides tags, by column of tags: any of these strings. A column without an entry has
            one tag per cell, or lists.
        delimiter: what divided the values of a line, if the file was delimited text.
        quoting: how quotes inside quotes were written there: "doubled", "backslash", or "none" if quotes
            are ordinary characters.
        encoding: of the file, if it was text but not UTF-8; used for later files that are not UTF-8.
        formats: formats that the user named, by the suffix of the file; used for the same suffix.
    """

    model_config = ConfigDict(frozen=True)

    text: str | tuple[str, ...] | None = None
    tags: str | tuple[str, ...] | None = None
    id: str | None = None
    label: str | None = None
    title: str | None = None
    date: str | None = None
    url: str | None = None
    separators: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    delimiter: str | None = None
    quoting: Literal["doubled", "backslash", "none"] | None = None
    encoding: str | None = None
    formats: dict[str, str] = Field(default_factory=dict)

    def separators_of(self, column: str) -> tuple[str, ...] | None:
        """Return what divides the tags of a column; a new name stands for the only column there was."""
        if column not in self.separators and len(self.separators) == 1:
            return next(iter(self.separators.values()))
        return self.separators.get(column)

    def without_tags(self) -> Columns:
        """Return the columns for a question that needs no tags: that they are missing is no notice."""
        return self.model_copy(update={"tags": None, "separators": {}})

    def used(self) -> frozenset[str]:
        """Return the columns that hold something else than tags; dates may well be tags, too."""
        text = (self.text,) if isinstance(self.text, str) else self.text or ()
        return frozenset(name for name in (*text, self.id, self.label, self.title, self.url) if name)
