"""Tables of documents: JSON lines, CSV, TSV, Parquet, data frames, dictionaries.

A file is read as a stream of `Table` parts of bounded size, or whole, as one part. Some things cannot be told
from one cell: what divides tags, whether text is counted words. `TableLayout` decides them for all parts, so
that a table in parts gives the same documents as the table in one piece.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from tagtopics.corpus.core import Documents, ReadOptions, Where
from tagtopics.corpus.formats.text_files import LINE_LIMIT, ROW_COST, Watch, check_expanded, text_lines
from tagtopics.corpus.tags import STRONG, WEAK, TagLists, has_strong, is_missing, name_of, read_tags
from tagtopics.corpus.text import clean_text
from tagtopics.errors import InputError, MissingExtraError

_DEFAULTS = ("text", "words", "tags", "id", "label", "split")
_FIRST_ROWS, _MOST_ROWS = 16, 4096
"""Rows in the first request to a Parquet file, when their size is unknown, and in any request of a stream."""

_SLICE = 64 * 2**20
"""Bytes of Parquet to unpack at a time."""


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


def read_table(path: Path, kind: str, wanted: Collection[str]) -> Table:
    """Read a file of a kind in `TABLE_KINDS` as one table."""
    with closing(stream_table(path, kind, wanted, math.inf)) as parts:  # type: ignore[type-var]
        return next(parts)


def stream_table(
    path: Path, kind: str, wanted: Collection[str], size: float, watch: Watch | None = None
) -> Iterator[Table]:
    """Yield the wanted columns of a file in tables of about `size` characters, at least one table.

    `kind` is one of `TABLE_KINDS`; `watch` is called now and then with the bytes read so far.
    """
    return TABLE_KINDS[kind](path, wanted, size, watch)


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
        for name in ("id", "label"):
            value = getattr(options, name)
            if not (value is None or isinstance(value, str)):
                raise InputError(f"{name}: expected the name of a column, got {type(value).__name__}")
        self._text, self._tags = _listed(options.text, "text"), _listed(options.tags, "tags")
        self._options = options
        self._names: dict[str, None] = {}
        self._strong: frozenset[str] = frozenset()
        self.counted = False

    def wanted(self) -> frozenset[str]:
        """Return the names of the columns to read."""
        named = {name for name in (self._options.id, self._options.label) if name is not None}
        return frozenset({*_DEFAULTS, *named, *self._text, *self._tags})

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
        for name, what in wanted:
            if name not in self._names:
                raise _no_column(source, name, what, self._names)

    def documents(self, table: Table) -> Documents:
        """Return the documents of a part of the table."""
        ids = _names(table, self._options.id, "id") or [None] * table.n_rows
        bags = _bags(table, self._text_columns()[0]) if self.counted else None
        return Documents(
            source=table.source,
            texts=None if self.counted else self._read_texts(table),
            bags=bags,
            tags=self._read_tags(table),
            ids=[name or str(table.first_row + row) for row, name in enumerate(ids)],
            labels=_names(table, self._options.label, "label"),
            split=_split(table),
            where=table.where,
        )

    def _text_columns(self) -> tuple[str, ...]:
        if self._text:
            return self._text
        return ("words",) if "words" in self._names and "text" not in self._names else ("text",)

    def _tag_columns(self) -> tuple[str, ...]:
        return self._tags or ("tags",)

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


def _stream_jsonl(path: Path, wanted: Collection[str], size: float, watch: Watch | None) -> Iterator[Table]:
    """Yield JSON lines; a key that a line lacks is None there, and the names are those of the part alone."""
    columns: dict[str, list[Any]] = {name: [] for name in wanted}
    lines: list[int] = []
    names: dict[str, None] = {}
    n_chars = n_before = 0
    for number, line in text_lines(path, watch):
        if line.isspace():
            continue
        row = _json_object(line, path, number)
        names.update(dict.fromkeys(row))
        for name, cells in columns.items():
            cells.append(row.get(name))
        lines.append(number)
        n_chars += len(line)
        if n_chars >= size:
            yield _part(path, columns, names, lines, n_before)
            n_before += len(lines)
            columns, lines, names, n_chars = {name: [] for name in wanted}, [], {}, 0
    if lines or not n_before:
        yield _part(path, columns, names, lines, n_before)


def _part(
    path: Path, columns: Mapping[str, list[Any]], names: Mapping[str, None], lines: list[int], n_before: int
) -> Table:
    found = {name: columns[name] for name in names if name in columns}
    return Table(str(path), found, list(names), len(lines), lines, n_before)


def _json_object(line: str, path: Path, number: int) -> dict[str, Any]:
    try:
        value = from_json(line, cache_strings="keys")
    except ValueError:  # it refuses some JSON that the json module reads, and its messages differ
        value = _read_json(line, path, number)
    if not isinstance(value, dict):
        raise InputError(
            f"{path}, line {number}: expected one JSON object per line, got {type(value).__name__}; "
            "write each document on its own line"
        )
    return value


def _read_json(line: str, path: Path, number: int) -> Any:
    try:
        return json.loads(line)
    except RecursionError:
        raise InputError(f"{path}, line {number}: nested too deeply") from None
    except ValueError as error:
        raise InputError(
            f"{path}, line {number}: not valid JSON ({error}); a line must hold one whole object"
        ) from None


def _stream_delimited(
    path: Path, wanted: Collection[str], size: float, watch: Watch | None, delimiter: str
) -> Iterator[Table]:
    """Yield delimited values: a header line, quotes doubled inside quotes."""
    with _long_fields():
        rows = _csv_rows(path, delimiter, watch)
        _, header = next(rows, (0, []))
        _check_header(header, path)
        keep = [i for i, name in enumerate(header) if name in wanted]
        kept: list[list[str]] = []
        lines: list[int] = []
        n_chars = n_before = 0
        for number, row in rows:
            if len(row) != len(header):
                raise InputError(
                    f"{path}, line {number}: {len(row)} fields, but the header has {len(header)}; "
                    "put quotes around a field that contains the separator"
                )
            lines.append(number)
            kept.append([row[i] for i in keep])
            n_chars += 1 + sum(map(len, kept[-1]))
            if n_chars >= size:
                columns = {header[i]: [row[at] for row in kept] for at, i in enumerate(keep)}
                yield Table(str(path), columns, header, len(kept), lines, n_before)
                n_before += len(kept)
                kept, lines, n_chars = [], [], 0
        if kept or not n_before:
            columns = {header[i]: [row[at] for row in kept] for at, i in enumerate(keep)}
            yield Table(str(path), columns, header, len(kept), lines, n_before)


def _csv_rows(path: Path, delimiter: str, watch: Watch | None) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not blank, each with the line it starts on."""
    reader = csv.reader((line for _, line in text_lines(path, watch)), delimiter=delimiter, strict=True)
    while True:
        start = reader.line_num + 1
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise InputError(f"{path}, line {start}: not valid CSV ({error}); check the quotes") from None
        if row is None:
            return
        if row:
            yield start, row


def _check_header(header: Sequence[str], path: Path) -> None:
    seen: set[str] = set()
    for name in header:
        if name in seen:
            raise InputError(f"{path}, line 1: two columns are named {name!r}; rename one")
        seen.add(name)


@contextmanager
def _long_fields() -> Iterator[None]:
    """Let the csv module accept fields as long as a line may be; its default limit is 128 KiB."""
    before = csv.field_size_limit(LINE_LIMIT)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _stream_parquet(path: Path, wanted: Collection[str], size: float, watch: Watch | None) -> Iterator[Table]:
    """Yield the wanted columns of a Parquet file; one that expands too far is an `InputError`."""
    with _polars(path) as pl:
        names = list(pl.read_parquet_schema(path))
        n_rows = pl.scan_parquet(path).select(pl.len()).collect().item()
        keep = [name for name in names if name in wanted]
        if not (keep and n_rows):
            yield Table(str(path), {name: [] for name in keep}, names, n_rows)
            return
        whole: dict[str, list[Any]] = {name: [] for name in keep}
        n_before = 0
        for part in _parquet_slices(pl, path, keep, n_rows, size):
            columns = {name: part[name].to_list() for name in keep}
            if size == math.inf:
                for name, cells in columns.items():
                    whole[name] += cells
            else:
                yield Table(str(path), columns, names, part.height, first_row=n_before)
            n_before += part.height
            if watch is not None:
                watch(path.stat().st_size * n_before // n_rows)
        if size == math.inf:
            yield Table(str(path), whole, names, n_rows)


def _parquet_slices(pl: Any, path: Path, keep: list[str], n_rows: int, size: float) -> Iterator[Any]:
    """Yield frames of about `size` bytes, 64 MiB at most, and add up what the file expands to."""
    most = n_rows if size == math.inf else _MOST_ROWS
    n_bytes, n_before, n_next = 0, 0, _FIRST_ROWS
    while n_before < n_rows:
        part = pl.scan_parquet(path).select(keep).slice(n_before, n_next).collect()
        part_bytes = part.estimated_size() + ROW_COST * part.height
        n_bytes += part_bytes
        check_expanded(path, n_bytes)
        yield part
        n_before += n_next
        n_next = max(1, min(most, math.ceil(min(size, _SLICE) * n_next / part_bytes)))


@contextmanager
def _polars(path: Path) -> Iterator[Any]:
    """Import polars to read a Parquet file; failures are an `InputError`."""
    try:
        import polars as pl
    except ImportError:
        raise MissingExtraError("reading Parquet", "parquet") from None
    try:
        yield pl
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"{path}: cannot be read as Parquet ({reason})") from None


TABLE_KINDS: Mapping[str, Callable[[Path, Collection[str], float, Watch | None], Iterator[Table]]] = {
    "jsonl": _stream_jsonl,
    "csv": partial(_stream_delimited, delimiter=","),
    "tsv": partial(_stream_delimited, delimiter="\t"),
    "parquet": _stream_parquet,
}
"""The formats of tables, which can be read in parts."""
