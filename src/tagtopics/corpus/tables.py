"""Tables of documents, of one kind: from JSON lines, CSV, TSV, Parquet, data frames, and rows in memory."""

from __future__ import annotations

import csv
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tagtopics.corpus.files import LINE_LIMIT, text_lines
from tagtopics.errors import InputError, MissingExtraError


@dataclass(frozen=True)
class Table:
    """Some columns of a table of documents.

    Attributes:
        source: names the table in errors.
        columns: the values of each wanted column that there is.
        names: the names of all columns there are, wanted or not.
        n_rows: the number of documents.
        lines: the line of the file on which each document starts, where there are lines.
    """

    source: str
    columns: Mapping[str, Sequence[Any]]
    names: Sequence[str]
    n_rows: int
    lines: Sequence[int] | None = None

    def where(self, row: int) -> str:
        """Name a row in an error."""
        return f"{self.source}, row {row}" if self.lines is None else f"{self.source}, line {self.lines[row]}"

    def column(self, name: str, what: str) -> Sequence[Any]:
        """Return a column that must be there; `what` says what it is for."""
        if name not in self.columns:
            there = ", ".join(map(str, self.names)) or "none"
            raise InputError(f"{self.source}: no column {name!r} for {what}; the columns are: {there[:500]}")
        return self.columns[name]


def read_jsonl(path: Path, wanted: Collection[str]) -> Table:
    """Read JSON lines: one object a line; a key that a line lacks is None there."""
    rows, lines = [], []
    names: dict[str, None] = {}
    for number, line in text_lines(path):
        if line.strip():
            row = _json_object(line, path, number)
            names.update(dict.fromkeys(row))
            rows.append({name: row[name] for name in wanted if name in row})
            lines.append(number)
    return _table_of_rows(str(path), rows, list(names), wanted, lines)


def read_csv(path: Path, wanted: Collection[str]) -> Table:
    """Read comma-separated values: a header line, quotes doubled inside quotes."""
    return _read_delimited(path, wanted, ",")


def read_tsv(path: Path, wanted: Collection[str]) -> Table:
    """Read tab-separated values: a header line, quoting as in CSV."""
    return _read_delimited(path, wanted, "\t")


def read_parquet(path: Path, wanted: Collection[str]) -> Table:
    """Read the wanted columns of a Parquet file with polars."""
    try:
        import polars as pl
    except ImportError:
        raise MissingExtraError("reading Parquet", "parquet") from None
    failures = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)
    try:
        names = list(pl.read_parquet_schema(path))
        frame = pl.read_parquet(path, columns=[name for name in names if name in wanted])
        n_rows = frame.height if frame.width else pl.scan_parquet(path).select(pl.len()).collect().item()
    except failures as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"{path}: cannot be read as Parquet ({reason})") from None
    return Table(str(path), {name: frame[name].to_list() for name in frame.columns}, names, n_rows)


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
) -> Table:
    columns = {name: [row.get(name) for row in rows] for name in names if name in wanted}
    return Table(source, columns, names, len(rows), lines)


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


def _read_delimited(path: Path, wanted: Collection[str], delimiter: str) -> Table:
    lines: list[int] = []
    with _long_fields():
        rows = _csv_rows(path, delimiter)
        _, header = next(rows, (0, []))
        _check_header(header, path)
        keep = [i for i, name in enumerate(header) if name in wanted]
        columns: dict[str, list[str]] = {header[i]: [] for i in keep}
        for number, row in rows:
            if len(row) != len(header):
                raise InputError(
                    f"{path}, line {number}: {len(row)} fields, but the header has {len(header)}; "
                    "put quotes around a field that holds the separator"
                )
            lines.append(number)
            for i in keep:
                columns[header[i]].append(row[i])
    return Table(str(path), columns, header, len(lines), lines)


def _csv_rows(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not blank, each with the line it starts on."""
    reader = csv.reader((line for _, line in text_lines(path)), delimiter=delimiter, strict=True)
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
