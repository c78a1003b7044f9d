"""Tables of documents, of one kind: from JSON lines, CSV, TSV, Parquet, data frames, and rows in memory.

A file is read whole, or as a stream of parts: tables of a bounded size, one after the other.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tagtopics.corpus.files import LINE_LIMIT, Watch, text_lines
from tagtopics.errors import InputError, MissingExtraError

_FIRST_ROWS, _MOST_ROWS = 16, 4096
"""Rows of a Parquet file that are asked for at first, until their size is known, and at the most."""


@dataclass(frozen=True)
class Table:
    """Some columns of a table of documents.

    Attributes:
        source: names the table in errors.
        columns: the values of each wanted column that there is.
        names: the names of all columns there are, wanted or not.
        n_rows: the number of documents.
        lines: the line of the file on which each document starts, where there are lines.
        first_row: the documents before this table, where it is a part of one.
    """

    source: str
    columns: Mapping[str, Sequence[Any]]
    names: Sequence[str]
    n_rows: int
    lines: Sequence[int] | None = None
    first_row: int = 0

    def where(self, row: int) -> str:
        """Name a row in an error."""
        if self.lines is None:
            return f"{self.source}, row {self.first_row + row}"
        return f"{self.source}, line {self.lines[row]}"

    def cells(self, name: str) -> Sequence[Any]:
        """Return a column; where this part of a table lacks it, nothing for every document."""
        return self.columns.get(name, [None] * self.n_rows)

    def column(self, name: str, what: str) -> Sequence[Any]:
        """Return a column that must be there; `what` says what it is for."""
        if name not in self.columns:
            raise no_column(self.source, name, what, self.names)
        return self.columns[name]


def no_column(source: str, name: str, what: str, names: Iterable[str]) -> InputError:
    """Return the error that a column is not there; `what` says what it is for."""
    there = ", ".join(map(str, names)) or "none"
    return InputError(f"{source}: no column {name!r} for {what}; the columns are: {there[:500]}")


def read_jsonl(path: Path, wanted: Collection[str]) -> Table:
    """Read JSON lines: one object a line; a key that a line lacks is None there."""
    return _whole(stream_jsonl(path, wanted, math.inf))


def read_csv(path: Path, wanted: Collection[str]) -> Table:
    """Read comma-separated values: a header line, quotes doubled inside quotes."""
    return _whole(stream_csv(path, wanted, math.inf))


def read_tsv(path: Path, wanted: Collection[str]) -> Table:
    """Read tab-separated values: a header line, quoting as in CSV."""
    return _whole(stream_tsv(path, wanted, math.inf))


def read_parquet(path: Path, wanted: Collection[str]) -> Table:
    """Read the wanted columns of a Parquet file with polars."""
    with _polars(path) as pl:
        names = list(pl.read_parquet_schema(path))
        frame = pl.read_parquet(path, columns=[name for name in names if name in wanted])
        n_rows = frame.height if frame.width else pl.scan_parquet(path).select(pl.len()).collect().item()
    return Table(str(path), {name: frame[name].to_list() for name in frame.columns}, names, n_rows)


def stream_parquet(
    path: Path, wanted: Collection[str], size: float, watch: Watch | None = None
) -> Iterator[Table]:
    """Yield the wanted columns of a Parquet file in tables of about `size` bytes."""
    with _polars(path) as pl:
        names = list(pl.read_parquet_schema(path))
        n_rows = pl.scan_parquet(path).select(pl.len()).collect().item()
        keep = [name for name in names if name in wanted]
        if not (keep and n_rows):
            yield Table(str(path), {name: [] for name in keep}, names, n_rows)
            return
        on_disk, n_before, n_next = path.stat().st_size, 0, _FIRST_ROWS
        while n_before < n_rows:
            part = pl.scan_parquet(path).select(keep).slice(n_before, n_next).collect()
            columns = {name: part[name].to_list() for name in keep}
            yield Table(str(path), columns, names, part.height, first_row=n_before)
            n_before += n_next
            n_next = min(_MOST_ROWS, math.ceil(size * n_next / (part.estimated_size() + 1)))
            if watch is not None:
                watch(on_disk * min(n_before, n_rows) // n_rows)


@contextmanager
def _polars(path: Path) -> Iterator[Any]:
    """Give polars to read a Parquet file with; what goes wrong is an `InputError`."""
    try:
        import polars as pl
    except ImportError:
        raise MissingExtraError("reading Parquet", "parquet") from None
    try:
        yield pl
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"{path}: cannot be read as Parquet ({reason})") from None


def stream_jsonl(
    path: Path, wanted: Collection[str], size: float, watch: Watch | None = None
) -> Iterator[Table]:
    """Yield JSON lines in tables of about `size` characters; the names are those of the part alone."""
    rows: list[dict[str, Any]] = []
    lines: list[int] = []
    names: dict[str, None] = {}
    n_chars = n_before = 0
    for number, line in text_lines(path, watch):
        if not line.strip():
            continue
        row = _json_object(line, path, number)
        names.update(dict.fromkeys(row))
        rows.append({name: row[name] for name in wanted if name in row})
        lines.append(number)
        n_chars += len(line)
        if n_chars >= size:
            yield _table_of_rows(str(path), rows, list(names), wanted, lines, n_before)
            n_before += len(rows)
            rows, lines, names, n_chars = [], [], {}, 0
    if rows or not n_before:
        yield _table_of_rows(str(path), rows, list(names), wanted, lines, n_before)


def stream_csv(
    path: Path, wanted: Collection[str], size: float, watch: Watch | None = None
) -> Iterator[Table]:
    """Yield comma-separated values in tables of about `size` characters."""
    return _stream_delimited(path, wanted, size, watch, ",")


def stream_tsv(
    path: Path, wanted: Collection[str], size: float, watch: Watch | None = None
) -> Iterator[Table]:
    """Yield tab-separated values in tables of about `size` characters."""
    return _stream_delimited(path, wanted, size, watch, "\t")


def frame_of(source: Any) -> Any:
    """Return a pandas, polars or Arrow table as a narwhals frame, None where it is no table."""
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


def table_of_rows(rows: Sequence[Mapping[str, Any]], wanted: Collection[str]) -> Table:
    """Return the wanted columns of dictionaries, one a document."""
    for row, value in enumerate(rows):
        if not isinstance(value, Mapping):
            raise InputError(f"list, row {row}: expected a dictionary, got {type(value).__name__}")
    names = list(dict.fromkeys(name for row in rows for name in row))
    return _table_of_rows("list", rows, names, wanted, None)


def _table_of_rows(
    source: str,
    rows: Sequence[Mapping[str, Any]],
    names: Sequence[str],
    wanted: Collection[str],
    lines: Sequence[int] | None,
    first_row: int = 0,
) -> Table:
    columns = {name: [row.get(name) for row in rows] for name in names if name in wanted}
    return Table(source, columns, names, len(rows), lines, first_row)


def _whole(parts: Iterator[Table]) -> Table:
    """Return the first part of a stream, which is all of it where the size of a part is infinite."""
    with closing(parts):  # type: ignore[type-var]
        return next(parts)


def _json_object(line: str, path: Path, number: int) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except RecursionError:
        raise InputError(f"{path}, line {number}: nested too deeply") from None
    except ValueError as error:
        raise InputError(
            f"{path}, line {number}: not valid JSON ({error}); a line must hold one whole object"
        ) from None
    if not isinstance(value, dict):
        raise InputError(
            f"{path}, line {number}: expected one JSON object a line, got {type(value).__name__}; "
            "write each document on a line of its own"
        )
    return value


def _stream_delimited(
    path: Path, wanted: Collection[str], size: float, watch: Watch | None, delimiter: str
) -> Iterator[Table]:
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
                    "put quotes around a field that holds the separator"
                )
            lines.append(number)
            kept.append([row[i] for i in keep])
            n_chars += 1 + sum(map(len, kept[-1]))
            if n_chars >= size:
                yield _table_of_fields(str(path), header, keep, kept, lines, n_before)
                n_before += len(kept)
                kept, lines, n_chars = [], [], 0
        if kept or not n_before:
            yield _table_of_fields(str(path), header, keep, kept, lines, n_before)


def _table_of_fields(
    source: str,
    header: Sequence[str],
    keep: Sequence[int],
    rows: Sequence[Sequence[str]],
    lines: Sequence[int],
    first_row: int,
) -> Table:
    columns = {header[i]: [row[place] for row in rows] for place, i in enumerate(keep)}
    return Table(source, columns, header, len(rows), lines, first_row)


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
    repeated = next((name for i, name in enumerate(header) if name in header[:i]), None)
    if repeated is not None:
        raise InputError(f"{path}, line 1: two columns are named {repeated!r}; rename one")


@contextmanager
def _long_fields() -> Iterator[None]:
    """Let the csv module take fields as long as a line may be; its own limit is 128 KiB."""
    before = csv.field_size_limit(LINE_LIMIT)
    try:
        yield
    finally:
        csv.field_size_limit(before)
