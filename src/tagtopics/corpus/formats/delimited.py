"""Delimited text: CSV, TSV and their relatives, with delimiter, encoding and quoting found out and stated."""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from tagtopics.corpus.core import FileOptions
from tagtopics.corpus.formats.encodings import find_encoding
from tagtopics.corpus.formats.tables import Table
from tagtopics.corpus.formats.text_files import LINE_LIMIT, Watch, text_lines
from tagtopics.errors import InputError

_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
_SAMPLE_LINES, _SAMPLE_CHARS = 200, 2**20
_QUOTED: dict[str, Any] = {"doublequote": True}
_ESCAPED: dict[str, Any] = {"doublequote": False, "escapechar": "\\"}
_PLAIN: dict[str, Any] = {"quoting": csv.QUOTE_NONE}


@dataclass(frozen=True)
class Dialect:
    """How the values of a file are divided, and what to tell the user."""

    encoding: str
    delimiter: str
    quoting: dict[str, Any] = field(default_factory=dict)  # of `csv.reader`
    notices: tuple[str, ...] = ()


def find_dialect(path: Path, usual: str, options: FileOptions) -> Dialect:
    """Find out encoding, delimiter and quoting of a file.

    Args:
        path: the file.
        usual: the delimiter of its format; another needs no notice only if the user named it.
        options: what the user named.
    """
    encoding, notices = find_encoding(path, options.encoding)
    lines = _sample(path, encoding)
    delimiter = options.delimiter
    if delimiter is None:
        delimiter = _find_delimiter(lines, usual)
        if delimiter != usual:
            notices.append(f"{path.name}: values are divided by {_DELIMITERS[delimiter]}")
    elif len(delimiter) != 1 or delimiter in '"\r\n':
        raise InputError(f"delimiter: expected one character, such as ';', got {delimiter[:20]!r}")
    quoting = _find_quoting(lines, delimiter)
    if quoting is _ESCAPED:
        notices.append(f"{path.name}: quotes inside quotes are marked by a backslash")
    if quoting is _PLAIN:
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
    return Table(str(path), columns, header, len(kept), lines, n_before, notices=dialect.notices)


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


def _find_delimiter(lines: Sequence[str], usual: str) -> str:
    """Return the delimiter that gives the first rows the most columns, and all of them the same number.

    The usual one wins if it works.
    """
    widths = {delimiter: _width(lines, delimiter) for delimiter in (usual, *_DELIMITERS)}
    if widths[usual] > 1:
        return usual
    best = max(widths, key=lambda delimiter: widths[delimiter])
    return best if widths[best] > 1 else usual


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


def _find_quoting(lines: Sequence[str], delimiter: str) -> dict[str, Any]:
    """Return how quotes are written: doubled inside quotes, after a backslash, or without a meaning."""
    text = "".join(lines)
    if '"' not in text:
        return _QUOTED
    for quoting in (_QUOTED, _ESCAPED) if '\\"' in text else (_QUOTED,):
        if _parses(lines, delimiter, quoting):
            return quoting
    return _PLAIN if delimiter == "\t" and _parses(lines, delimiter, _PLAIN) else _QUOTED


def _parses(lines: Sequence[str], delimiter: str, quoting: dict[str, Any]) -> bool:
    """Tell whether all rows of a sample have the same width; one that the sample cuts does not count."""
    reader = csv.reader(lines, delimiter=delimiter, strict=True, **quoting)
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
    reader = csv.reader(lines, delimiter=dialect.delimiter, strict=True, **dialect.quoting)
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
