"""Tables of documents: files (see `streams`), data frames, dictionaries.

Some things cannot be told from one cell: what divides tags, whether text is counted words. `TableLayout`
decides them for all parts of a table, so that a table in parts gives the same documents as the table in one
piece.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

from tagtopics.corpus.core import Documents, ReadOptions, Where
from tagtopics.corpus.metadata import DEFAULT_COLUMNS, METADATA, read_metadata
from tagtopics.corpus.tags import STRONG, WEAK, TagLists, has_strong, is_missing, name_of, read_tags
from tagtopics.corpus.text import clean_text
from tagtopics.errors import InputError

_DEFAULTS = ("text", "words", "tags", "id", "label", "split")


@dataclass(frozen=True)
class Table:
    """Some columns of a table of documents, or of a part of it."""

    source: str  # names the table in errors
    columns: Mapping[str, Sequence[Any]]  # the values of each wanted column that exists
    names: Sequence[str]  # of all columns, wanted or not
    n_rows: int
    lines: Sequence[int] | None = None  # on which each document starts, if the file has lines
    first_row: int = 0  # the number of documents before this part

    def where(self, row: int) -> str:
        """Name a row in an error."""
        if self.lines is None:
            return f"{self.source}, row {self.first_row + row}"
        return f"{self.source}, line {self.lines[row]}"

    def cells(self, name: str) -> Sequence[Any]:
        """Return a column; None for every document if this part of a table lacks it."""
        return self.columns.get(name, [None] * self.n_rows)

    def column(self, name: str, what: str) -> Sequence[Any]:
        """Return a column that must exist; `what` says what it is for."""
        if name not in self.columns:
            raise _no_column(self.source, name, what, self.names)
        return self.columns[name]


def frame_of(source: Any) -> Any:
    """Return a pandas, polars or Arrow table as a narwhals frame, None if it is no table."""
    import narwhals as nw

    try:
        frame = nw.from_native(source, pass_through=True)
    except nw.exceptions.NarwhalsError as error:
        raise InputError(f"table: {' '.join(str(error).split())}") from None
    if isinstance(frame, nw.LazyFrame):
        raise InputError("table: a lazy frame has no rows yet; call collect() on it first")
    return frame if isinstance(frame, nw.DataFrame) else None


def table_of_frame(frame: Any, wanted: Collection[str]) -> Table:
    """Return the wanted columns of a frame of `frame_of`."""
    names = list(frame.columns)
    columns = {name: frame[name].to_list() for name in names if name in wanted}
    return Table("table", columns, names, len(frame))


def table_of_rows(rows: Sequence[Mapping[str, Any]], wanted: Collection[str], source: str = "list") -> Table:
    """Return the wanted columns of dictionaries, one per document."""
    for row, value in enumerate(rows):
        if not isinstance(value, Mapping):
            raise InputError(f"{source}, row {row}: expected a dictionary, got {type(value).__name__}")
    names = list(dict.fromkeys(name for row in rows for name in row))
    return Table(source, _columns_of_rows(rows, names, wanted), names, len(rows))


class TableLayout:
    """Which columns of a table hold what, and how to read their cells.

    Args:
        options: names columns; a name of None stands for the default, if there is such a column.

    Attributes:
        counted: whether the text is words with counts.
    """

    def __init__(self, options: ReadOptions) -> None:
        metadata = options.metadata or {}
        for name, value in {"id": options.id, "label": options.label, **metadata}.items():
            if not (value is None or isinstance(value, str)):
                raise InputError(f"{name}: expected the name of a column, got {type(value).__name__}")
        self._text, self._tags = _listed(options.text, "text"), _listed(options.tags, "tags")
        self._options = options
        self._names: dict[str, None] = {}
        self._strong: frozenset[str] = frozenset()
        self.counted = False

    def wanted(self) -> frozenset[str]:
        """Return the names of the columns to read."""
        metadata = self._options.metadata
        named = {self._options.id, self._options.label, *(metadata or {}).values()} - {None}
        defaults = () if metadata is None else chain.from_iterable(DEFAULT_COLUMNS.values())
        return frozenset({*_DEFAULTS, *defaults, *named, *self._text, *self._tags})

    def update(self, table: Table) -> bool:
        """Take one more part of the table into account; return whether earlier parts must be read anew."""
        before = self._text_columns(), self.counted, self._strong
        self._names |= dict.fromkeys(table.names)
        text = self._text_columns()
        cells = table.columns.get(text[0], ()) if len(text) == 1 else ()
        self.counted = self.counted or any(isinstance(cell, Mapping) for cell in cells)
        self._strong |= {name for name in self._tag_columns() if has_strong(table.columns.get(name, ()))}
        return before != (text, self.counted, self._strong)

    def check(self, source: str, *, only_text: bool = False) -> None:
        """Check that the columns of the text, and all that the user named, exist."""
        wanted = [(name, "the text") for name in self._text_columns()]
        if not only_text:
            wanted += [(name, "the tags") for name in self._tags]
            wanted += [(self._options.id, "the ids")] if self._options.id else []
            wanted += [(self._options.label, "the labels")] if self._options.label else []
            metadata = self._options.metadata or {}
            wanted += [(name, f"the {METADATA[what]}") for what, name in metadata.items() if name]
        for name, what in wanted:
            if name not in self._names:
                raise _no_column(source, name, what, self._names)

    def documents(self, table: Table) -> Documents:
        """Return the documents of a part of the table."""
        ids = _names(table, self._options.id, "id") or [None] * table.n_rows
        bags = _bags(table, self._text_columns()[0]) if self.counted else None
        columns, by_default = self._metadata_columns()
        metadata, left_out = read_metadata({what: table.cells(name) for what, name in columns.items()})
        return Documents(
            source=table.source,
            texts=None if self.counted else self._read_texts(table),
            bags=bags,
            tags=self._read_tags(table),
            ids=[name or str(table.first_row + row) for row, name in enumerate(ids)],
            labels=_names(table, self._options.label, "label"),
            split=_split(table),
            where=table.where,
            warnings=left_out,
            notices=[*by_default, *left_out],
            **metadata,  # type: ignore[arg-type]
        )

    def _text_columns(self) -> tuple[str, ...]:
        if self._text:
            return self._text
        return ("words",) if "words" in self._names and "text" not in self._names else ("text",)

    def _tag_columns(self) -> tuple[str, ...]:
        return self._tags or ("tags",)

    def _metadata_columns(self) -> tuple[dict[str, str], list[str]]:
        """Return the columns of titles, dates and addresses, and a line on those that the user did not name.

        A column of the tags, or the only one of the text, is not taken up unless the user says so.
        """
        if self._options.metadata is None:
            return {}, []
        text = self._text_columns()
        used = {*self._tag_columns(), *(text if len(text) == 1 else ())}
        columns, found = dict[str, str](), list[str]()
        for what, defaults in DEFAULT_COLUMNS.items():
            named = self._options.metadata.get(what)
            default = next((name for name in defaults if name in self._names and name not in used), None)
            if named or default:
                columns[what] = str(named or default)
            if default and not named:
                found.append(f"{METADATA[what]} from {default!r}")
        return columns, [f"not tags, but kept with the documents: {', '.join(found)}"] if found else []

    def _read_texts(self, table: Table) -> list[str]:
        columns = [texts_of(table.cells(name), table.where, name) for name in self._text_columns()]
        return columns[0] if len(columns) == 1 else ["\n".join(parts) for parts in zip(*columns, strict=True)]

    def _read_tags(self, table: Table) -> TagLists | None:
        tags, separator = self._options.tags, self._options.separator
        if tags is None and "tags" not in self._names:
            return None
        with_kind = not (isinstance(tags, str) or tags is None)
        columns = [
            read_tags(
                table.cells(name),
                separator=(STRONG if name in self._strong else WEAK) if separator is None else separator,
                kind=name if with_kind else None,
                where=table.where,
            )
            for name in self._tag_columns()
        ]
        if len(columns) == 1:
            return columns[0]
        return [list(chain.from_iterable(of_doc)) for of_doc in zip(*columns, strict=True)]


def documents_of_table(table: Table, layout: TableLayout) -> Documents:
    """Return the documents of a whole table."""
    if table.n_rows == 0:
        raise InputError(f"{table.source}: no documents")
    layout.update(table)
    layout.check(table.source)
    return layout.documents(table)


def texts_of(cells: Sequence[Any], where: Where, what: str) -> list[str]:
    """Return a column of text; a missing value is an empty text."""
    texts = []
    for row, cell in enumerate(cells):
        if isinstance(cell, str):
            texts.append(clean_text(cell))
        elif is_missing(cell):
            texts.append("")
        else:
            raise InputError(f"{where(row)}: {what} must be a string, not {type(cell).__name__}")
    return texts


def _bags(table: Table, what: str) -> list[Mapping[str, Any]]:
    bags: list[Mapping[str, Any]] = []
    for row, cell in enumerate(table.cells(what)):
        if not (isinstance(cell, Mapping) or is_missing(cell)):
            raise InputError(
                f"{table.where(row)}: {what} must be words with counts, as before, not {type(cell).__name__}"
            )
        words = cell.items() if isinstance(cell, Mapping) else ()
        bags.append({clean_text(str(word)): n for word, n in words})
    return bags


def _names(table: Table, column: str | None, what: str) -> list[str | None] | None:
    """Return a column of ids or labels, None if there is none."""
    if column is None and what not in table.columns:
        return None
    cells = table.cells(column or what)
    return [name_of(cell, partial(table.where, row), what) for row, cell in enumerate(cells)]


def _split(table: Table) -> list[str] | None:
    """Return the column `split` if it divides documents into training and test documents."""
    parts = table.columns.get("split", ())
    return list(parts) if len(parts) and all(part in ("train", "test") for part in parts) else None


def _listed(names: Any, what: str) -> tuple[str, ...]:
    if names is None:
        return ()
    if isinstance(names, str):
        return (names,)
    if not isinstance(names, list | tuple) or not names or not all(isinstance(name, str) for name in names):
        raise InputError(f"{what}: expected the name of a column, or a list of names")
    return tuple(names)


def _no_column(source: str, name: str, what: str, names: Iterable[str]) -> InputError:
    there = ", ".join(map(str, names)) or "none"
    return InputError(f"{source}: no column {name!r} for {what}; the columns are: {there[:500]}")


def _columns_of_rows(
    rows: Sequence[Mapping[str, Any]], names: Iterable[str], wanted: Collection[str]
) -> dict[str, list[Any]]:
    return {name: [row.get(name) for row in rows] for name in names if name in wanted}
