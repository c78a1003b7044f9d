"""Tables of documents: files, data frames, dictionaries.

What separates tags cannot be seen in one cell. `TableLayout` decides it for all parts of a table, so that a
table in parts gives the same documents as the table in one piece.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

from tagtopics.corpus.cells import (
    METADATA,
    TagLists,
    TagStyle,
    given_separators,
    is_missing,
    is_missing_text,
    name_of,
    read_metadata,
    read_tags,
)
from tagtopics.corpus.core import Documents, ReadOptions, Where
from tagtopics.corpus.recipe import Columns
from tagtopics.corpus.text import HTML_REMOVED, clean_text, plain_texts
from tagtopics.errors import InputError, one_line, similar_names

# The columns that are used if the user names none; the first that exists.
_DEFAULTS = {
    "id": ("id",),
    "label": ("label",),
    "title": ("title",),
    "date": ("date", "year"),
    "url": ("url",),
}
_ONE_NAME = tuple(_DEFAULTS)
_USUAL_TEXTS = ("abstract", "body", "content", "description", "full_text", "message", "summary", "title")
_USUAL_TAGS = re.compile(
    r"(tag|keyword|author|people|creator|category|categorie|subject|topic|label|genre|venue|journal|mesh|year)s?"
)


@dataclass(frozen=True)
class Table:
    """Some columns of a table of documents, or of a part of it."""

    source: str  # names the table in errors
    columns: Mapping[str, Sequence[Any]]  # the values of each wanted column that exists
    names: Sequence[str]  # of all columns, wanted or not
    n_rows: int
    lines: Sequence[int] | None = None  # on which each document starts, if the file has lines
    first_row: int = 0  # the number of documents before this part
    ids: Sequence[str] | None = None  # names of the rows, used if no column has them
    roles: Columns | None = None  # which columns hold what, if the format says so
    notices: Sequence[str] = ()  # what the reader of the file decided

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


def find_repeated(names: Iterable[str]) -> str | None:
    """Return the first name that occurs twice, None if there is none."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def frame_of(source: Any) -> Any:
    """Return a pandas, polars or Arrow table as a narwhals frame, None if it is no table."""
    import narwhals as nw

    try:
        frame = nw.from_native(source, pass_through=True)
    except nw.exceptions.NarwhalsError as error:
        raise InputError(f"table: {one_line(error)}") from None
    if isinstance(frame, nw.LazyFrame):
        raise InputError("table: a lazy frame has no rows yet; call collect() on it first")
    return frame if isinstance(frame, nw.DataFrame) else None


def is_numeric(table: Any) -> bool:
    """Tell whether all columns of a pandas, polars or Arrow table hold numbers or truth values."""
    dtypes = table.dtypes if hasattr(table, "dtypes") else frame_of(table).schema.values()
    return all(
        dtype.kind in "biufc" if hasattr(dtype, "kind") else dtype.is_numeric() or str(dtype) == "Boolean"
        for dtype in dtypes
    )


def table_of_frame(frame: Any, wanted: Collection[str]) -> Table:
    """Return the wanted columns of a frame of `frame_of`; an index of distinct names has the ids."""
    import narwhals as nw

    names = list(frame.columns)
    columns = {name: frame[name].to_list() for name in names if name in wanted}
    index = nw.maybe_get_index(frame)
    ids = None if index is None or getattr(index, "nlevels", 1) > 1 else [str(value) for value in index]
    if ids is not None and (len(set(ids)) < len(ids) or ids == list(map(str, range(len(ids))))):
        ids = None  # it repeats, or only counts
    return Table("table", columns, names, len(frame), ids=ids)


def table_of_rows(rows: Sequence[Mapping[str, Any]], wanted: Collection[str], source: str = "list") -> Table:
    """Return the wanted columns of dictionaries, one per document."""
    for row, value in enumerate(rows):
        if not isinstance(value, Mapping):
            raise InputError(f"{source}, row {row}: expected a dictionary, got {type(value).__name__}")
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = {name: [row.get(name) for row in rows] for name in names if name in wanted}
    return Table(source, columns, names, len(rows))


class TableLayout:
    """Which columns of a table hold what, and how to read their cells.

    Args:
        options: names columns; a name of None stands for the column of `options.columns`, which an earlier
            table had, else for the default, if there is such a column.

    Attributes:
        names: of all columns found so far.
        columns: those that are used, for later tables.
    """

    def __init__(self, options: ReadOptions) -> None:
        for what in ("text", "tags", *_ONE_NAME):
            value = getattr(options, what)
            several = what not in _ONE_NAME and isinstance(value, list | tuple) and bool(value)
            if value is not None and not all(isinstance(one, str) for one in (value if several else [value])):
                raise InputError(f"{what}: expected the name of a column, got {type(value).__name__}")
        self._options = options
        self._earlier = options.columns or Columns()
        self._styles: dict[str, TagStyle] = {}
        self._html = False
        self._file_notices: Sequence[str] | None = None
        self.names: dict[str, None] = {}
        self.columns = Columns()

    def wanted(self) -> frozenset[str]:
        """Return the names of the columns to read."""
        usual = ("text", "tags", "split", *chain.from_iterable(_DEFAULTS.values()))
        named = (
            _list_names(getattr(given, what))
            for given in (self._options, self._earlier)
            for what in ("text", "tags", *_ONE_NAME)
        )
        return frozenset({*usual, *chain.from_iterable(named)})

    def update(self, table: Table) -> bool:
        """Take one more part of the table into account; return whether earlier parts must be read again."""
        before = self._meaning()
        self.names |= dict.fromkeys(table.names)
        if table.roles is not None and not self._any_there(self._earlier.text):
            self._earlier = table.roles
        self._file_notices = self._file_notices or table.notices
        text, tags = self._text_column(), self._tags_column()
        for name in _list_names(tags):
            given = given_separators(self._options.tag_separator) or self._earlier.separators_of(name)
            self._styles.setdefault(name, TagStyle(given)).update(table.columns.get(name, ()))
        found: dict[str, Any] = {
            "text": text[0] if len(text) == 1 else text,
            "tags": tags,
            "separators": {
                name: style.separators for name, style in self._styles.items() if style.separators
            },
        }
        used = {*_list_names(tags), *(text if len(text) == 1 else ())}
        for what in _ONE_NAME:
            usual = (name for name in _DEFAULTS[what] if name in self.names)
            default = next((name for name in usual if what not in METADATA or name not in used), None)
            found[what] = self._named_column(what) or default
        self.columns = Columns(**found)
        return before != self._meaning()

    def check(self, source: str, *, only_text: bool = False) -> None:
        """Check that the columns of the text, and all that the user named, exist."""
        fitted = self._options.text is None and self._earlier.text is not None
        wanted = [(name, "the text, as in the fit" if fitted else "the text") for name in self._text_column()]
        if not only_text:
            wanted += [(name, "the tags") for name in _list_names(self._options.tags)]
            named = [(getattr(self._options, what), METADATA.get(what, f"{what}s")) for what in _ONE_NAME]
            wanted += [(name, f"the {what}") for name, what in named if name is not None]
        for name, what in wanted:
            if name not in self.names:
                raise _no_column(source, name, what, self.names)

    def documents(self, table: Table) -> Documents:
        """Return the documents of a part of the table."""
        columns = self.columns
        ids = _names(table, columns.id, "id") or table.ids or [None] * table.n_rows
        kept = {what: getattr(columns, what) for what in METADATA if getattr(columns, what)}
        metadata, left_out = read_metadata({what: table.cells(name) for what, name in kept.items()})
        found = [f"{METADATA[what]} from {kept[what]!r}" for what in kept if not self._named_column(what)]
        by_default = [f"not tags, but kept with the documents: {', '.join(found)}"] if found else []
        split = table.columns.get("split", ())
        is_split = len(split) and all(part in ("train", "test") for part in split)
        return Documents(
            source=table.source,
            texts=self._read_texts(table),
            tags=self._read_tags(table),
            ids=[name or str(table.first_row + row) for row, name in enumerate(ids)],
            labels=_names(table, columns.label, "label"),
            split=list(split) if is_split else None,
            columns=columns,
            notices=[*by_default, *left_out],
            **metadata,  # type: ignore[arg-type]
        )

    def notices(self) -> list[str]:
        """Return lines on what was decided for all parts of the table."""
        of_tags = (style.notices(name) for name, style in self._styles.items())
        lines = [*(self._file_notices or ()), *chain.from_iterable(of_tags)]
        if self._html:
            lines.append(HTML_REMOVED)
        lost = [name for name in _list_names(self._earlier.tags) if name not in self.names]
        if lost and self._options.tags is None:
            names = ", ".join(map(repr, lost))
            lines.append(f"no column {names}, which had the tags when the model was fitted")
        if self.columns.tags is None and self._options.columns is None:
            used = self.columns.used()
            likely = [name for name in self.names if name not in used and _USUAL_TAGS.fullmatch(name.lower())]
            if likely:
                lines.append(
                    f"no column of tags was named; these look like tags: {', '.join(likely[:6])}; "
                    f"use tags={likely[0]!r} (--tags {likely[0]})"
                )
        return lines

    def _meaning(self) -> tuple[Any, ...]:
        """Return what the documents of earlier parts depend on."""
        return self.columns.text, {name: style.meaning for name, style in self._styles.items()}

    def _any_there(self, names: Any) -> bool:
        return any(name in self.names for name in _list_names(names))

    def _named_column(self, what: str) -> str | None:
        """Return the column that the user named, or that the earlier table had, if this one has it, too."""
        earlier = getattr(self._earlier, what)
        return getattr(self._options, what) or (earlier if earlier in self.names else None)

    def _text_column(self) -> tuple[str, ...]:
        named, earlier = _list_names(self._options.text), _list_names(self._earlier.text)
        if named or self._any_there(earlier):
            return named or earlier
        return ("text",) if "text" in self.names else earlier or ("text",)

    def _tags_column(self) -> str | tuple[str, ...] | None:
        """Return the column of the tags, or several if tags have kinds; None if there is none."""
        named = self._options.tags
        if named is None:
            named = self._earlier.tags if self._any_there(self._earlier.tags) else "tags"
        if not self._any_there(named):
            return None
        return named if isinstance(named, str) else tuple(named)

    def _read_texts(self, table: Table) -> list[str]:
        columns = [texts_of(table.cells(name), table.where, name) for name in _list_names(self.columns.text)]
        if self._options.recipe.strip_html:
            plain = [plain_texts(column) for column in columns]
            self._html = self._html or any(n for _, n in plain)
            columns = [texts for texts, _ in plain]
        return columns[0] if len(columns) == 1 else ["\n".join(parts) for parts in zip(*columns, strict=True)]

    def _read_tags(self, table: Table) -> TagLists | None:
        tags = self.columns.tags
        if tags is None:
            return None
        kinds = {tags: None} if isinstance(tags, str) else {name: name for name in tags}
        columns = [
            read_tags(table.cells(name), style=self._styles[name], kind=kind, where=table.where)
            for name, kind in kinds.items()
        ]
        if len(columns) == 1:
            return columns[0]
        return [list(chain.from_iterable(of_doc)) for of_doc in zip(*columns, strict=True)]


def documents_of_table(read: Callable[[Collection[str]], Table], options: ReadOptions) -> Documents:
    """Return the documents of a whole table; `read` returns it with the columns wanted."""
    layout = TableLayout(options)
    table = read(layout.wanted())
    if table.n_rows == 0:
        raise InputError(f"{table.source}: no documents; the table has no rows")
    layout.update(table)
    layout.check(table.source)
    return layout.documents(table).with_notices(layout.notices())


def texts_of(cells: Sequence[Any], where: Where, what: str) -> list[str]:
    """Return a column of text; a missing value is an empty text."""
    texts = []
    for row, cell in enumerate(cells):
        if isinstance(cell, str):
            texts.append("" if is_missing_text(cell) else clean_text(cell))
        elif is_missing(cell):
            texts.append("")
        else:
            raise InputError(f"{where(row)}: {what} must be a string, not {type(cell).__name__}")
    return texts


def _names(table: Table, column: str | None, what: str) -> list[str | None] | None:
    """Return a column of ids or labels, None if there is none."""
    if column is None:
        return None
    return [
        None if is_missing_text(cell) else name_of(cell, partial(table.where, row), what)
        for row, cell in enumerate(table.cells(column))
    ]


def _list_names(names: Any) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names or ())


def _no_column(source: str, name: str, what: str, names: Iterable[str]) -> InputError:
    names = list(map(str, names))
    advice, several = similar_names(name, names, n=1), [part.strip() for part in name.split(",")]
    if what == "the tags" and len(several) > 1 and set(several) <= set(names):
        advice = f"; name each one: {several!r}, or " + " ".join(f"--tags {part}" for part in several)
    if (name, what) == ("text", "the text"):
        by_usual = {name.lower(): name for name in reversed(names)}
        likely = next((by_usual[usual] for usual in _USUAL_TEXTS if usual in by_usual), None)
        example = f"{likely!r}) or --text {likely}" if likely else "COLUMN) or --text COLUMN"
        advice = f"; name the one with the text: read_corpus(..., text={example}"
    there = ", ".join(names) or "none"
    return InputError(f"{source}: no column {name!r} for {what}; the columns are: {there[:500]}{advice}")
