"""Files of tables as streams: JSON lines, CSV, TSV, Parquet.

A file is read as a stream of `Table` parts of bounded size, or whole, as one part.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from tagtopics.corpus.formats.tables import Table
from tagtopics.corpus.formats.text_files import LINE_LIMIT, ROW_COST, Watch, check_expanded, text_lines
from tagtopics.errors import InputError, MissingExtraError

_FIRST_ROWS, _MOST_ROWS = 16, 4096
"""Rows in the first request to a Parquet file, when their size is unknown, and in any request of a stream."""

_SLICE = 64 * 2**20
"""Bytes of Parquet to unpack at a time."""


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
    with long_fields():
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
def long_fields() -> Iterator[None]:
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
