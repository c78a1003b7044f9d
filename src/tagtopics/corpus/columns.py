"""Which columns of a table hold what: from a table to documents.

Some things no cell can tell alone: what divides tags, whether text is counted words. The `Layout` of the
whole table decides them, so that a table in parts gives the same documents as the table in one piece.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from tagtopics.corpus.assemble import Documents
from tagtopics.corpus.formats.tables import Table, no_column
from tagtopics.corpus.tags import (
    STRONG,
    WEAK,
    TagLists,
    has_strong,
    is_missing,
    join_kinds,
    name_of,
    read_tags,
)
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


@dataclass(frozen=True)
class Layout:
    """What the whole of a table decides about each of its cells.

    Attributes:
        names: the names of all columns, in order.
        text: the columns of the text.
        counted: whether the text is words with counts.
        strong: the columns of tags that hold `;` or `|` somewhere.
    """

    names: dict[str, None] = field(default_factory=dict, compare=False)
    text: tuple[str, ...] = ()
    counted: bool = False
    strong: frozenset[str] = frozenset()

    def widened(self, table: Table, columns: Columns) -> Layout:
        """Return the layout of a table of which one part more is known; equal where nothing changed."""
        names = self.names | dict.fromkeys(table.names)
        text = tuple(_listed(columns.text, "text"))
        if not text:
            text = ("words",) if "words" in names and "text" not in names else ("text",)
        cells = table.columns.get(text[0], ()) if len(text) == 1 else ()
        tags = _listed(columns.tags, "tags") or ("tags",)
        strong = {name for name in tags if has_strong(table.columns.get(name, ()))}
        return Layout(
            names=names,
            text=text,
            counted=self.counted or any(isinstance(cell, Mapping) for cell in cells),
            strong=self.strong | strong,
        )


def check_columns(source: str, layout: Layout, columns: Columns, *, only_text: bool = False) -> None:
    """Check that the columns that the user named, and that of the text, are there."""
    wanted = [(name, "the text") for name in layout.text]
    if not only_text:
        wanted += [(name, "the tags") for name in _listed(columns.tags, "tags")]
        wanted += [(columns.id, "the ids")] if columns.id else []
        wanted += [(columns.label, "the labels")] if columns.label else []
    for name, what in wanted:
        if name not in layout.names:
            raise no_column(source, name, what, layout.names)


def documents_of(table: Table, columns: Columns) -> Documents:
    """Return the documents of a table."""
    if table.n_rows == 0:
        raise InputError(f"{table.source}: no documents")
    layout = Layout().widened(table, columns)
    check_columns(table.source, layout, columns)
    return documents_of_part(table, columns, layout)


def documents_of_part(table: Table, columns: Columns, layout: Layout) -> Documents:
    """Return the documents of a part of a table, whose layout is that of the whole."""
    texts, bags = _contents(table, layout)
    ids = _names(table, columns.id, "id")
    return Documents(
        source=table.source,
        texts=texts,
        bags=bags,
        tags=_tags(table, columns, layout),
        ids=None if ids is None else [name or str(table.first_row + row) for row, name in enumerate(ids)],
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


def _contents(table: Table, layout: Layout) -> tuple[list[str] | None, list[Mapping[str, Any]] | None]:
    """Return the texts, or the bags of words, of a table."""
    if layout.counted:
        (name,) = layout.text
        return None, _bags(table.cells(name), table, name)
    parts = [texts_of(table.cells(name), table, name) for name in layout.text]
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


def _tags(table: Table, columns: Columns, layout: Layout) -> TagLists | None:
    tags = columns.tags
    if tags is None and "tags" not in layout.names:
        return None
    one = isinstance(tags, str) or tags is None
    separator = columns.separator
    return join_kinds(
        read_tags(
            table.cells(name),
            separator=(STRONG if name in layout.strong else WEAK) if separator is None else separator,
            kind=None if one else name,
            where=table.where,
        )
        for name in _listed(tags, "tags") or ("tags",)
    )


def _names(table: Table, column: str | None, what: str) -> list[str | None] | None:
    """Return a column of ids or labels, None where there is none."""
    if column is None and what not in table.columns:
        return None
    cells = table.cells(column or what)
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
