"""Which columns of a table hold what: from a table to documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from tagtopics.corpus.assemble import Documents
from tagtopics.corpus.tables import Table
from tagtopics.corpus.tagging import TagLists, is_missing, join_kinds, name_of, read_tags
from tagtopics.corpus.text import clean_text
from tagtopics.errors import InputError

_DEFAULTS = ("text", "words", "tags", "id", "label", "split")


@dataclass(frozen=True, kw_only=True)
class Columns:
    """The columns the user named; None for the default name, where there is such a column.

    Attributes:
        text: the column of the text (or of words with counts), or several to be joined.
        tags: the column of the tags, or several, each a kind of tag.
        id: the column of the document's name.
        label: the column of the document's class.
        separator: what divides the tags of a string.
    """

    text: str | Sequence[str] | None = None
    tags: str | Sequence[str] | None = None
    id: str | None = None
    label: str | None = None
    separator: str | None = None

    def __post_init__(self) -> None:
        for name in ("id", "label"):
            value = getattr(self, name)
            if not (value is None or isinstance(value, str)):
                raise InputError(f"{name}: expected the name of a column, got {type(value).__name__}")
        for name in ("text", "tags"):
            if not all(isinstance(value, str) for value in _listed(getattr(self, name), name)):
                raise InputError(f"{name}: expected the name of a column, or a list of names")

    def wanted(self) -> frozenset[str]:
        """Return the names of the columns to read."""
        named = {name for name in (self.id, self.label) if name is not None}
        return frozenset({*_DEFAULTS, *named, *_listed(self.text, "text"), *_listed(self.tags, "tags")})


def documents_of(table: Table, columns: Columns) -> Documents:
    """Return the documents of a table."""
    if table.n_rows == 0:
        raise InputError(f"{table.source}: no documents")
    texts, bags = _contents(table, columns.text)
    ids = _names(table, columns.id, "id")
    return Documents(
        source=table.source,
        texts=texts,
        bags=bags,
        tags=_tags(table, columns),
        ids=None if ids is None else [name or str(row) for row, name in enumerate(ids)],
        labels=_names(table, columns.label, "label"),
        split=_split(table),
        where=table.where,
    )


def texts_of(cells: Sequence[Any], table: Table, what: str) -> list[str]:
    """Return a column of text; nothing is an empty text."""
    texts = []
    for row, cell in enumerate(cells):
        if isinstance(cell, str):
            texts.append(clean_text(cell))
        elif is_missing(cell):
            texts.append("")
        else:
            raise InputError(f"{table.where(row)}: {what} must be a string, not {type(cell).__name__}")
    return texts


def _contents(
    table: Table, text: str | Sequence[str] | None
) -> tuple[list[str] | None, list[Mapping[str, Any]] | None]:
    """Return the texts, or the bags of words, of a table."""
    if text is None:
        text = "words" if "words" in table.columns and "text" not in table.columns else "text"
    names = _listed(text, "text")
    if len(names) == 1:
        cells = table.column(names[0], "the text")
        if any(isinstance(cell, Mapping) for cell in cells):
            return None, _bags(cells, table, names[0])
    parts = [texts_of(table.column(name, "the text"), table, name) for name in names]
    return ["\n".join(part) for part in zip(*parts, strict=True)], None


def _bags(cells: Sequence[Any], table: Table, what: str) -> list[Mapping[str, Any]]:
    bags: list[Mapping[str, Any]] = []
    for row, cell in enumerate(cells):
        if not (isinstance(cell, Mapping) or is_missing(cell)):
            raise InputError(
                f"{table.where(row)}: {what} must be words with counts, as before, not {type(cell).__name__}"
            )
        bags.append(
            {clean_text(str(word)): n for word, n in cell.items()} if isinstance(cell, Mapping) else {}
        )
    return bags


def _tags(table: Table, columns: Columns) -> TagLists | None:
    tags = columns.tags
    if tags is None and "tags" not in table.columns:
        return None
    if tags is None or isinstance(tags, str):
        cells = table.column(tags or "tags", "the tags")
        return read_tags(cells, separator=columns.separator, where=table.where)
    kinds = [(name, table.column(name, "the tags")) for name in tags]
    return join_kinds(
        read_tags(cells, separator=columns.separator, kind=name, where=table.where) for name, cells in kinds
    )


def _names(table: Table, column: str | None, what: str) -> list[str | None] | None:
    """Return a column of ids or labels, None where there is none."""
    if column is None and what not in table.columns:
        return None
    cells = table.column(column or what, f"the {what}s")
    return [name_of(cell, partial(table.where, row), what) for row, cell in enumerate(cells)]


def _split(table: Table) -> list[str] | None:
    """Return the column `split` if it is one of training and test documents."""
    parts = table.columns.get("split", ())
    return list(parts) if len(parts) and all(part in ("train", "test") for part in parts) else None


def _listed(names: str | Sequence[str] | None, what: str) -> Sequence[str]:
    if names is None:
        return ()
    if isinstance(names, str):
        return (names,)
    if not isinstance(names, list | tuple) or not names:
        raise InputError(f"{what}: expected the name of a column, or a list of names")
    return names
