"""Delimited text: CSV, TSV and their relatives, with delimiter, encoding and quoting detected and stated."""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from tagtopics.corpus.columns import Columns
from tagtopics.corpus.core import FileOptions
from tagtopics.corpus.formats.tables import Table
from tagtopics.corpus.formats.text_files import LINE_LIMIT, Watch, find_encoding, text_lines
from tagtopics.errors import InputError

_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
_SAMPLE_LINES, _SAMPLE_CHARS = 200, 2**20
_QUOTING: dict[str, dict[str, Any]] = {
    "doubled": {"doublequote": True},
    "backslash": {"doublequote": False, "escapechar": "\\"},
    "none": {"quoting": csv.QUOTE_NONE},
}
"""How quotes are written, as `Columns.quoting` names it: arguments of `csv.reader`."""


@dataclass(frozen=True)
class Dialect:
    """How the values of a file are divided, and what to tell the user."""

    encoding: str
    delimiter: str
    quoting: str = "doubled"  # a key of `_QUOTING`
    notices: tuple[str, ...] = ()

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of `csv.reader`."""
        return {"delimiter": self.delimiter, "strict": True, **_QUOTING[self.quoting]}

    def to_columns(self) -> dict[str, Any]:
        """Return the fields of `Columns` that later files are read with."""
        encoding = None if self.encoding == "utf-8" else self.encoding
        return {"delimiter": self.delimiter, "quoting": self.quoting, "encoding": encoding}


def find_dialect(path: Path, usual: str, options: FileOptions) -> Dialect:
    """Find out encoding, delimiter and quoting of a file.

    Args:
        path: the file.
        usual: the delimiter of its format; another needs no notice only if the user named it.
        options: what the user named.
    """
    encoding, notices = find_encoding(path, options.encoding)
    lines, before = _sample(path, encoding), options.earlier or Columns()
    delimiter = options.delimiter
    if delimiter is None:
        delimiter = _find_delimiter(lines, usual, before.delimiter)
        if delimiter not in (usual, before.delimiter):
            notices.append(f"{path.name}: values are divided by {_DELIMITERS[delimiter]}")
    elif len(delimiter) != 1 or delimiter in '"\r\n':
        raise InputError(f"delimiter: expected one character, such as ';', got {delimiter[:20]!r}")
    quoting = _find_quoting(lines, delimiter, before.quoting)
    if quoting == "backslash" != before.quoting:
        notices.append(f"{path.name}: quotes inside quotes are marked by a backslash")
    if quoting == "none" != before.quoting:
        notices.append(f"{path.name}: quotes are ordinary characters")
    return Dialect(encoding, delimiter, quoting, tuple(notices))


def stream_delimited(
    path: Path, wanted: Collection[str], size: float, watch: Watch | None, options: FileOptions, usual: str
) -> Iterator[Table]:
    """Yield delimited values with a header line."""
    with long_fields():
        dialect = find_dialect(path, usual, options)
        rows = _rows(path, dialect, watch)
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
                yield _part(path, header, keep, kept, lines, n_before, dialect)
                n_before += len(kept)
                kept, lines, n_chars = [], [], 0
        if kept or not n_before:
            yield _part(path, header, keep, kept, lines, n_before, dialect)


def _part(
    path: Path,
    header: list[str],
    keep: list[int],
    kept: list[list[str]],
    lines: list[int],
    n_before: int,
    dialect: Dialect,
) -> Table:
    columns = {header[i]: [row[at] for row in kept] for at, i in enumerate(keep)}
    found: dict[str, Any] = {"notices": dialect.notices, "dialect": dialect.to_columns()}
    return Table(str(path), columns, header, len(kept), lines, n_before, **found)


def _sample(path: Path, encoding: str) -> list[str]:
    """Return the first lines of a file that are not blank."""
    lines: list[str] = []
    n_chars = 0
    for _, line in islice(text_lines(path, None, encoding), _SAMPLE_LINES):
        n_chars += len(line)
        if n_chars > _SAMPLE_CHARS and lines:
            break
        if line.strip():
            lines.append(line)
    return lines


def _find_delimiter(lines: Sequence[str], usual: str, before: str | None = None) -> str:
    """Return the delimiter that gives the first rows the most columns, and all of them the same number.

    That of an earlier file wins if it works, then the usual one.
    """
    first = (usual,) if before is None else (before, usual)
    widths = {delimiter: _width(lines, delimiter) for delimiter in (*first, *_DELIMITERS)}
    for delimiter in first:
        if widths[delimiter] > 1:
            return delimiter
    best = max(widths, key=lambda delimiter: widths[delimiter])
    return best if widths[best] > 1 else first[0]


def _width(lines: Sequence[str], delimiter: str) -> int:
    """Return the columns of all rows of a sample, 0 if they differ."""
    if not lines or delimiter not in lines[0]:
        return 0
    try:
        rows = [row for row in csv.reader(lines, delimiter=delimiter) if row]
    except csv.Error:
        return 0
    widths = {len(row) for row in rows[:-1] or rows}
    return widths.pop() if len(widths) == 1 else 0


def _find_quoting(lines: Sequence[str], delimiter: str, before: str | None = None) -> str:
    """Return how quotes are written, a key of `_QUOTING`; as in an earlier file, if that works."""
    text = "".join(lines)
    if '"' not in text:
        return before or "doubled"
    likely = ["doubled", *(["backslash"] if '\\"' in text else []), *(["none"] if delimiter == "\t" else [])]
    for quoting in likely if before is None else [before, *likely]:
        if _parses(lines, delimiter, quoting):
            return quoting
    return "doubled"


def _parses(lines: Sequence[str], delimiter: str, quoting: str) -> bool:
    """Tell whether all rows of a sample have the same width; one that the sample cuts does not count."""
    reader = csv.reader(lines, delimiter=delimiter, strict=True, **_QUOTING[quoting])
    widths = set()
    try:
        for row in reader:
            widths.add(len(row))
    except csv.Error as error:
        if len(lines) < _SAMPLE_LINES or "end of data" not in str(error):
            return False
    return len(widths - {0}) <= 1


def _rows(path: Path, dialect: Dialect, watch: Watch | None) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not blank, each with the line it starts on."""
    lines = (line for _, line in text_lines(path, watch, dialect.encoding))
    reader = csv.reader(lines, **dialect.arguments)
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
