"""Tables of documents: files (see `streams`), data frames, dictionaries.

Some things cannot be seen in one cell: what separates tags, whether text is counted words. `TableLayout`
decides them for all parts of a table, so that a table in parts gives the same documents as the table in one
piece.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Any

from tagtopics.corpus.cells import TagStyle, given_separators, is_missing, is_missing_text
from tagtopics.corpus.columns import Columns
from tagtopics.corpus.core import Documents, ReadOptions, Where
from tagtopics.corpus.markup import HTML_REMOVED, plain_texts
from tagtopics.corpus.metadata import DEFAULT_COLUMNS, METADATA, read_metadata
from tagtopics.corpus.tags import TagLists, name_of, read_tags
from tagtopics.corpus.text import clean_text
from tagtopics.errors import InputError, similar_names

_DEFAULTS = ("text", "words", "tags", "id", "label", "split")
_NAMED = ("id", "label")
_USUAL_TEXTS = ("abstract", "body", "content", "description", "full_text", "message", "summary", "title")


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
    warnings: Sequence[str] = ()  # those of them that the user may not expect
    dialect: Mapping[str, Any] = field(default_factory=dict)  # fields of `Columns` about the file

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


def first_repeated(names: Iterable[str]) -> str | None:
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
        raise InputError(f"table: {' '.join(str(error).split())}") from None
    if isinstance(frame, nw.LazyFrame):
        raise InputError("table: a lazy frame has no rows yet; call collect() on it first")
    return frame if isinstance(frame, nw.DataFrame) else None


def table_of_frame(frame: Any, wanted: Collection[str]) -> Table:
    """Return the wanted columns of a frame of `frame_of`."""
    names = list(frame.columns)
    columns = {name: frame[name].to_list() for name in names if name in wanted}
    return Table("table", columns, names, len(frame), ids=_index_of(frame))


def _index_of(frame: Any) -> list[str] | None:
    """Return the index of a pandas table as names of its rows; None if it only counts them, or repeats."""
    import narwhals as nw

    index = nw.maybe_get_index(frame)
    if index is None or getattr(index, "nlevels", 1) > 1:
        return None
    names = [str(value) for value in index]
    return None if len(set(names)) < len(names) or names == list(map(str, range(len(names)))) else names


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
        options: names columns; a name of None stands for the column of `options.columns`, which an earlier
            table had, else for the default, if there is such a column.

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
        self._earlier = options.columns or Columns()
        self._names: dict[str, None] = {}
        self._styles: dict[str, TagStyle] = {}
        self._html = False
        self._file_notices: tuple[list[str], list[str]] | None = None
        self._dialect: dict[str, Any] = {"encoding": options.file.encoding}
        self.counted = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all columns found so far."""
        return tuple(self._names)

    def wanted(self) -> frozenset[str]:
        """Return the names of the columns to read."""
        metadata = self._options.metadata
        named = {self._options.id, self._options.label, *(metadata or {}).values()}
        named |= {getattr(self._earlier, name) for name in (*_NAMED, *METADATA)}
        earlier = {*_listed(self._earlier.text, "text"), *_listed(self._earlier.tags, "tags")}
        defaults = () if metadata is None else chain.from_iterable(DEFAULT_COLUMNS.values())
        return frozenset({*_DEFAULTS, *defaults, *named, *self._text, *self._tags, *earlier} - {None})

    def update(self, table: Table) -> bool:
        """Take one more part of the table into account; return whether earlier parts must be read again."""
        before = self._text_columns(), self.counted, self._meanings()
        self._names |= dict.fromkeys(table.names)
        earlier = _listed(self._earlier.text, "text")
        if table.roles is not None and not any(name in self._names for name in earlier):
            self._earlier = table.roles
        self._file_notices = self._file_notices or (list(table.notices), list(table.warnings))
        self._dialect |= table.dialect
        text = self._text_columns()
        cells = table.columns.get(text[0], ()) if len(text) == 1 else ()
        self.counted = self.counted or any(isinstance(cell, Mapping) for cell in cells)
        for name in self._tag_columns():
            style = self._styles.get(name) or TagStyle(self._given(name))
            self._styles[name] = style.updated(table.columns.get(name, ()))
        after = text, self.counted, self._meanings()
        return before != after

    def check(self, source: str, *, only_text: bool = False) -> None:
        """Check that the columns of the text, and all that the user named, exist."""
        texts = "the text" if self._text or self._earlier.text is None else "the text, as in the fit"
        wanted = [(name, texts) for name in self._text_columns()]
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
        ids = _names(table, self._column("id"), "id") or table.ids or [None] * table.n_rows
        bags = _bags(table, self._text_columns()[0]) if self.counted else None
        columns, by_default = self._metadata_columns()
        metadata, left_out = read_metadata({what: table.cells(name) for what, name in columns.items()})
        return Documents(
            source=table.source,
            texts=None if self.counted else self._read_texts(table),
            bags=bags,
            tags=self._read_tags(table),
            ids=[name or str(table.first_row + row) for row, name in enumerate(ids)],
            labels=_names(table, self._column("label"), "label"),
            split=_split(table),
            where=replace(table, columns={}).where,  # the cells are not needed any more
            columns=self.columns(),
            warnings=left_out,
            notices=[*by_default, *left_out],
            **metadata,  # type: ignore[arg-type]
        )

    def columns(self) -> Columns:
        """Return the columns that were used, for later tables."""
        tags = self._tags_named() if self._tagged() else None
        divided = {name: style.separators for name, style in self._styles.items() if style.separators}
        names: dict[str, Any] = {
            name: self._column(name) or (name if name in self._names else None) for name in _NAMED
        }
        names |= self._metadata_columns()[0]
        text = self._text_columns()
        return Columns(
            text=text[0] if len(text) == 1 else text,
            tags=tags if tags is None or isinstance(tags, str) else tuple(tags),
            separators=divided if tags is not None else {},
            formats={**self._options.file.formats},
            **names,
            **self._dialect,
        )

    def notices(self) -> tuple[list[str], list[str]]:
        """Return lines on what was decided for all parts of the table, and those of them to warn of."""
        styles = self._styles.items() if self._tagged() else ()
        warned = [line for name, style in styles for line in style.commas(name)]
        lines = [line for name, style in styles for line in style.notices(name)]
        if self._html:
            lines.append(HTML_REMOVED)
        lost = [name for name in _listed(self._earlier.tags, "tags") if name not in self._names]
        if lost and self._options.tags is None:
            names = ", ".join(map(repr, lost))
            lines.append(f"no column {names}, which had the tags when the model was fitted")
        of_file, warned_of_file = self._file_notices or ([], [])
        return [*of_file, *warned, *lines], [*warned_of_file, *warned]

    def _text_columns(self) -> tuple[str, ...]:
        earlier = _listed(self._earlier.text, "text")
        if self._text or any(name in self._names for name in earlier):
            return self._text or earlier
        if "words" in self._names and "text" not in self._names:
            return ("words",)
        return ("text",) if "text" in self._names else earlier or ("text",)

    def _tag_columns(self) -> tuple[str, ...]:
        return _listed(self._tags_named(), "tags")

    def _tags_named(self) -> Any:
        """Return the columns of the tags in the form that the user named them: one, or several with kinds."""
        if self._options.tags is not None:
            return self._options.tags
        earlier = self._earlier.tags
        there = any(name in self._names for name in _listed(earlier, "tags"))
        return earlier if there else "tags"

    def _tagged(self) -> bool:
        return any(name in self._names for name in self._tag_columns())

    def _column(self, what: str) -> str | None:
        """Return the column of the ids or labels that was named, now or before; None for the default."""
        return getattr(self._options, what) or self._before(what)

    def _before(self, what: str) -> str | None:
        """Return the column that the earlier table had, if this one has it, too."""
        earlier: str | None = getattr(self._earlier, what)
        return earlier if earlier in self._names else None

    def _given(self, name: str) -> tuple[str, ...] | None:
        """Return what divides the tags of a column, None if that is to be found."""
        return given_separators(self._options.separator) or self._earlier.separators_of(name)

    def _meanings(self) -> dict[str, tuple[bool, bool]]:
        """Return what parts of the table read before depend on; for a new column, on nothing."""
        return {name: style.meaning for name, style in self._styles.items()}

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
            named = self._options.metadata.get(what) or self._before(what)
            default = next((name for name in defaults if name in self._names and name not in used), None)
            if named or default:
                columns[what] = str(named or default)
            if default and not named:
                found.append(f"{METADATA[what]} from {default!r}")
        return columns, [f"not tags, but kept with the documents: {', '.join(found)}"] if found else []

    def _read_texts(self, table: Table) -> list[str]:
        columns = [texts_of(table.cells(name), table.where, name) for name in self._text_columns()]
        if self._options.recipe.strip_html:
            plain = [plain_texts(column) for column in columns]
            self._html = self._html or any(n for _, n in plain)
            columns = [texts for texts, _ in plain]
        return columns[0] if len(columns) == 1 else ["\n".join(parts) for parts in zip(*columns, strict=True)]

    def _read_tags(self, table: Table) -> TagLists | None:
        if not self._tagged():
            return None
        named = self._tags_named()
        columns = [
            read_tags(
                table.cells(name),
                style=self._styles[name],
                kind=None if isinstance(named, str) else name,
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
        raise InputError(f"{table.source}: no documents; the table has no rows")
    layout.update(table)
    layout.check(table.source)
    documents = layout.documents(table)
    return documents.noting(*layout.notices())


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
    return [
        None if is_missing_text(cell) else name_of(cell, partial(table.where, row), what)
        for row, cell in enumerate(cells)
    ]


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
    names = list(map(str, names))
    there = ", ".join(names) or "none"
    is_default = (name, what) == ("text", "the text")
    advice = _name_the_text(names) if is_default else similar_names(name, names, n=1)
    return InputError(f"{source}: no column {name!r} for {what}; the columns are: {there[:500]}{advice}")


def _name_the_text(names: Iterable[str]) -> str:
    """Return how to name the column of the text, with one that is likely to have it as an example."""
    by_usual = {name.lower(): name for name in reversed(list(names))}
    likely = next((by_usual[usual] for usual in _USUAL_TEXTS if usual in by_usual), None)
    return f"; name the one with the text, such as text={likely!r} (--text {likely})" if likely else ""


def _columns_of_rows(
    rows: Sequence[Mapping[str, Any]], names: Iterable[str], wanted: Collection[str]
) -> dict[str, list[Any]]:
    return {name: [row.get(name) for row in rows] for name in names if name in wanted}
