"""Text files: plain or gzip, in any encoding, which is found if it is not named; errors name the line.

Delimited text, CSV, TSV and their relatives, is read with delimiter and quoting detected and stated.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
import re
import zlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any

from tagtopics.corpus.core import FileOptions
from tagtopics.corpus.formats.tables import Table, find_repeated
from tagtopics.errors import InputError
from tagtopics.files import open_regular

LINE_LIMIT = 64 * 2**20  # bytes of the longest line of a text file

# Packed files (gzip, npz, Parquet, MATLAB) may expand to 64 MiB, or to 100 times their size on disk. Each row
# or line counts 64 bytes in addition: a short document takes memory, too.
MAX_EXPANSION, FREE_EXPANSION, ROW_COST = 100, 64 * 2**20, 64


_CHUNK = 2**20
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)  # UTF-32 begins with the first one, too
_UNDEFINED = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")  # bytes that Windows-1252 does not use

_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
_SAMPLE_LINES, _SAMPLE_CHARS = 200, 2**20
# How quotes are written: arguments of `csv.reader`.
_QUOTING: dict[str, dict[str, Any]] = {
    "doubled": {"doublequote": True}, "backslash": {"doublequote": False, "escapechar": "\\"},
    "none": {"quoting": csv.QUOTE_NONE},
}  # fmt: skip


def text_lines(path: Path, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    """Yield the number, from 1, and the text of each line of a file, line ends included.

    Memory is bounded by `LINE_LIMIT`. Anything but text in the encoding is an `InputError`, and so is an
    empty file.
    """
    encoding = _codec(encoding)
    number = 0
    with open_bytes(path) as file:
        for number, line in enumerate(_lines(file, path, encoding), start=1):
            yield number, line
    if number == 0:
        raise InputError(f"{path}: the file is empty")


def _lines(file: IO[bytes], path: Path, encoding: str) -> Iterator[str]:
    number = 0
    if is_wide(encoding):
        with io.TextIOWrapper(file, encoding=encoding, newline="\n") as text:
            try:
                while line := text.readline(LINE_LIMIT):
                    number += 1
                    yield line.removeprefix("\ufeff") if number == 1 else line
            except UnicodeError as error:
                reason = str(getattr(error, "reason", error))
                raise InputError(f"{path}, line {number + 1}: not {encoding} ({reason})") from None
        return
    while raw := file.readline(LINE_LIMIT + 1):
        number += 1
        if len(raw) > LINE_LIMIT:
            raise InputError(f"{path}, line {number}: longer than {LINE_LIMIT:,} bytes; is this a text file?")
        yield _decode(raw, path, number, encoding)


def _decode(raw: bytes, path: Path, number: int, encoding: str) -> str:
    if number == 1:
        if raw.startswith(_WIDE):
            raise InputError(f"{path}: the file is UTF-16; save it as UTF-8")
        raw = raw.removeprefix(b"\xef\xbb\xbf")
    if b"\x00" in raw:
        raise InputError(f"{path}, line {number}: contains a zero byte; this is a binary file, not text")
    try:
        return raw.decode(encoding)
    except UnicodeError as error:
        name, where = "UTF-8" if encoding == "utf-8" else encoding, ""
        if isinstance(error, UnicodeDecodeError):  # encodings written in Python raise others
            where = f"byte {error.start + 1} (0x{raw[error.start]:02x}) is "
        raise InputError(f"{path}, line {number}: {where}not {name}; save the file as UTF-8") from None


def is_wide(encoding: str) -> bool:
    """Tell whether an encoding has characters of two or four bytes: lines cannot be cut by bytes."""
    return encoding.lower().replace("_", "-").startswith(("utf-16", "utf-32"))


def find_encoding(path: Path, named: str | None = None) -> tuple[str, list[str]]:
    """Return the encoding of a text file, and a notice if the user has not named it and it was guessed.

    The whole file is read. It is UTF-8 if it is valid UTF-8; UTF-16 if it begins with its mark; else
    Windows-1252, or Latin-1 if it has bytes that Windows-1252 does not use. If most letters are outside
    ASCII, the text is not Western, and the user must name the encoding.
    """
    if named is not None:
        return _codec(named), []
    decoder = codecs.getincrementaldecoder("utf-8")()
    with open_bytes(path) as file:
        first = chunk = file.read(_CHUNK)
        if first.startswith(_WIDE):
            wide = "utf-32" if first.startswith(codecs.BOM_UTF32_LE) else "utf-16"
            return wide, [f"{path.name} is {wide.upper()}"]
        try:
            while chunk:
                decoder.decode(chunk)
                chunk = file.read(_CHUNK)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return _western(path, chunk or first)
    return "utf-8", []


def _codec(named: str) -> str:
    """Return the name of an encoding of text in Python."""
    try:
        "a".encode(named)  # what is no encoding of text, such as zlib, fails
        return codecs.lookup(named).name
    except (LookupError, ValueError):
        known = "utf-8, cp1252, latin-1, utf-16 ..."
        raise InputError(f"encoding: unknown {named[:40]!r}; use {known}") from None


def read_text(path: Path, named: str | None = None) -> tuple[str, list[str]]:
    """Return the text of a file with line feeds as line ends, and a notice if its encoding was guessed."""
    encoding, notices = find_encoding(path, named)
    text = "".join(line for _, line in text_lines(path, encoding))
    return text.replace("\r\n", "\n").replace("\r", "\n"), notices


def _western(path: Path, sample: bytes) -> tuple[str, list[str]]:
    n_ascii = sum(byte in b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" for byte in sample)
    n_other = sum(byte >= 0x80 for byte in sample)
    if n_other > n_ascii / 2 or b"\0" in sample:
        raise InputError(
            f"{path}: not UTF-8, and the encoding cannot be detected; name it with encoding= or --encoding,"
            " such as cp1251, gb18030 or shift_jis"
        )
    name = "latin-1" if _UNDEFINED.search(sample) else "cp1252"
    return name, [f"{path.name} is not UTF-8 and was read as {name}; name another encoding if this is wrong"]


def read_json(path: Path) -> Any:
    """Return the JSON value in a file; anything else is an `InputError`."""
    try:
        return json.loads("".join(line for _, line in text_lines(path)))
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not valid JSON ({str(error)[:100]})") from None


def name_lines(path: Path) -> tuple[str, ...]:
    """Return the lines of a file of names, without Windows line ends if every line has them."""
    lines = [line.removesuffix("\n") for _, line in text_lines(path)]
    if all(line.endswith("\r") for line in lines):
        lines = [line[:-1] for line in lines]
    return tuple(lines)


def distinct_names(path: Path) -> tuple[str, ...]:
    """Return the names of a file with one name per line; a repeated name is an `InputError`."""
    names = name_lines(path)
    first: dict[str, int] = {}
    for number, name in enumerate(names, start=1):
        if first.setdefault(name, number) != number:
            raise InputError(f"{path}, line {number}: {name[:60]!r} is already on line {first[name]}")
    return names


def existing(*candidates: Path) -> Path | None:
    """Return the first of some paths that is a file."""
    return next((path for path in candidates if path.is_file()), None)


def expansion_limit(path: Path) -> int:
    """Return the number of bytes that a packed file may expand to."""
    return max(FREE_EXPANSION, MAX_EXPANSION * path.stat().st_size)


def check_expansion(path: Path, n_bytes: int, n_rows: int = 0) -> None:
    """Raise `InputError` if the unpacked bytes and rows of a file are more than it may expand to."""
    most = expansion_limit(path)
    if n_bytes + ROW_COST * n_rows <= most:
        return
    raise InputError(
        f"{path}: expands to more than {most:,} bytes; the limit is {FREE_EXPANSION:,} bytes "
        f"or {MAX_EXPANSION} times the size of the file; unpack or split it if you trust it"
    )


@contextmanager
def open_bytes(path: Path) -> Iterator[IO[bytes]]:
    """Open a regular file for reading, unpacked if it is gzip; failures are an `InputError`."""
    try:
        with open_regular(path) as plain:
            packed = plain.read(2) == b"\x1f\x8b"
            plain.seek(0)
            if not packed:
                yield plain
                return
            with _BoundedGzip(path, plain) as file:
                yield file  # type: ignore[misc]
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"{path}: damaged gzip file ({error}); fetch it again") from None
    except FileNotFoundError:
        raise InputError(f"no such file: {path}") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None


class _BoundedGzip(gzip.GzipFile):
    """A gzip file that refuses to expand too far."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        super().__init__(fileobj=file)
        self._path, self._lines = path, 0
        self._limit = expansion_limit(path)

    def read(self, size: int | None = -1) -> bytes:
        """Read bytes, at most one beyond the limit."""
        wanted = self._limit + 1 if size is None or size < 0 else size
        return self._check_size(super().read(wanted))

    def readline(self, size: int | None = -1) -> bytes:
        """Read a line, or its first `LINE_LIMIT` bytes."""
        self._lines += 1
        return self._check_size(super().readline(LINE_LIMIT + 1 if size is None or size < 0 else size))

    def _check_size(self, data: bytes) -> bytes:
        if self.tell() + ROW_COST * self._lines > self._limit:
            check_expansion(self._path, self.tell(), self._lines)
        return data


# ---------------------------------------------------------------------------------------- delimited text


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


def find_dialect(path: Path, usual: str, options: FileOptions) -> Dialect:
    """Find out encoding, delimiter and quoting of a file, whose format has a usual delimiter.

    Another delimiter must give the first rows the most columns, and all of them the same number.
    """
    encoding, notices = find_encoding(path, options.encoding)
    lines, delimiter = _sample(path, encoding), options.delimiter
    if delimiter is None:
        widths = {mark: _width(lines, mark) for mark in (usual, *_DELIMITERS)}
        delimiter = usual if widths[usual] > 1 else max(widths, key=lambda mark: widths[mark])
        if delimiter != usual:
            notices.append(f"{path.name}: values are divided by {_DELIMITERS[delimiter]}")
    elif len(delimiter) != 1 or delimiter in '"\r\n':
        raise InputError(f"delimiter: expected one character, such as ';', got {delimiter[:20]!r}")
    quoting = _find_quoting(lines, delimiter)
    if quoting != "doubled":
        what = {"backslash": "quotes inside quotes are marked by a backslash"}
        notices.append(f"{path.name}: {what.get(quoting, 'quotes are ordinary characters')}")
    return Dialect(encoding, delimiter, quoting, tuple(notices))


def stream_delimited(
    path: Path, wanted: Collection[str], size: float, options: FileOptions, usual: str
) -> Iterator[Table]:
    """Yield delimited values with a header line."""
    with long_fields():
        dialect = find_dialect(path, usual, options)
        rows = _rows(path, dialect)
        _, header = next(rows, (0, []))
        if (repeated := find_repeated(header)) is not None:
            raise InputError(f"{path}, line 1: two columns are named {repeated!r}; rename one")
        keep = [i for i, name in enumerate(header) if name in wanted]
        kept, lines = list[list[str]](), list[int]()
        n_chars = n_before = 0

        def part() -> Table:
            columns = {header[i]: [row[at] for row in kept] for at, i in enumerate(keep)}
            return Table(str(path), columns, header, len(kept), lines, n_before, notices=dialect.notices)

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
                yield part()
                n_before += len(kept)
                kept, lines, n_chars = [], [], 0
        if kept or not n_before:
            yield part()


def _sample(path: Path, encoding: str) -> list[str]:
    """Return the first lines of a file that are not blank."""
    lines: list[str] = []
    n_chars = 0
    for _, line in islice(text_lines(path, encoding), _SAMPLE_LINES):
        n_chars += len(line)
        if n_chars > _SAMPLE_CHARS and lines:
            break
        if line.strip():
            lines.append(line)
    return lines


def _width(lines: Sequence[str], delimiter: str) -> int:
    """Return the columns of all rows of a sample, 0 if they differ; its last row may be cut."""
    if not lines or delimiter not in lines[0]:
        return 0
    try:
        rows = [row for row in csv.reader(lines, delimiter=delimiter) if row]
    except csv.Error:
        return 0
    widths = {len(row) for row in rows[:-1] or rows}
    return widths.pop() if len(widths) == 1 else 0


def _find_quoting(lines: Sequence[str], delimiter: str) -> str:
    """Return how quotes are written, a key of `_QUOTING`."""
    text = "".join(lines)
    likely = ["doubled", *(["backslash"] if '\\"' in text else []), *(["none"] if delimiter == "\t" else [])]
    for quoting in likely if '"' in text else ():
        widths = set()
        try:
            for row in csv.reader(lines, delimiter=delimiter, strict=True, **_QUOTING[quoting]):
                widths.add(len(row))
        except csv.Error as error:
            if len(lines) < _SAMPLE_LINES or "end of data" not in str(error):
                continue  # else the sample cuts the last row
        if len(widths - {0}) <= 1:
            return quoting
    return "doubled"


def _rows(path: Path, dialect: Dialect) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not blank, each with the line it starts on."""
    lines = (line for _, line in text_lines(path, dialect.encoding))
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


@contextmanager
def long_fields() -> Iterator[None]:
    """Let the csv module accept fields as long as a line may be; its default limit is 128 KiB."""
    before = csv.field_size_limit(LINE_LIMIT)
    try:
        yield
    finally:
        csv.field_size_limit(before)
