"""Text files: UTF-8 or a named encoding, plain or gzip, with errors that name the line."""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from tagtopics.errors import InputError

LINE_LIMIT = 64 * 2**20
"""The longest line of a text file, in bytes."""

MAX_EXPANSION = 100
FREE_EXPANSION = 64 * 2**20
"""Packed files (gzip, npz, Parquet, MATLAB) may expand to 64 MiB, or to 100 times their size on disk."""

ROW_COST = 64
"""Bytes that each row or line of a packed file counts in addition: a short document takes memory, too."""

MAX_UNNAMED = 2**24
"""The most columns that a file may imply without naming them."""

Watch = Callable[[int], None]
"""Called with the number of bytes of a file on disk that were read."""

_WATCH_EVERY = 256
_MARKS_16 = (b"\xff\xfe", b"\xfe\xff")


def text_lines(path: Path, watch: Watch | None = None, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    """Yield the number, from 1, and the text of each line of a file, line ends included.

    Memory is bounded by `LINE_LIMIT`. Anything but text in the encoding is an `InputError`, and so is an
    empty file. `watch` is called now and then with the bytes read so far.
    """
    if is_wide(encoding):
        yield from _wide_lines(path, encoding)
        return
    number = 0
    with open_bytes(path) as file:
        while raw := file.readline(LINE_LIMIT + 1):
            number += 1
            if len(raw) > LINE_LIMIT:
                raise InputError(
                    f"{path}, line {number}: longer than {LINE_LIMIT:,} bytes; is this a text file?"
                )
            if watch is not None and number % _WATCH_EVERY == 0:
                watch(_position(file))
            yield number, _decode(raw, path, number, encoding)
    if number == 0:
        raise InputError(f"{path}: the file is empty")


def is_wide(encoding: str) -> bool:
    """Tell whether an encoding has characters of two or four bytes, so that lines cannot be cut by bytes."""
    return encoding.lower().replace("_", "-").startswith(("utf-16", "utf-32"))


def _wide_lines(path: Path, encoding: str) -> Iterator[tuple[int, str]]:
    number = 0
    with open_bytes(path) as file, io.TextIOWrapper(file, encoding=encoding, newline="\n") as text:
        try:
            while line := text.readline(LINE_LIMIT):
                number += 1
                yield number, line.removeprefix("\ufeff") if number == 1 else line
        except UnicodeError as error:
            reason = str(getattr(error, "reason", error))
            raise InputError(f"{path}, line {number + 1}: not {encoding} ({reason})") from None
    if number == 0:
        raise InputError(f"{path}: the file is empty")


def read_json(path: Path) -> Any:
    """Return the JSON value in a file; anything else is an `InputError`."""
    try:
        return json.loads("".join(line for _, line in text_lines(path)))
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not valid JSON ({str(error)[:100]})") from None


def name_lines(path: Path) -> tuple[str, ...]:
    """Return the lines of a file of names, split on line feeds alone.

    Windows line ends are removed if every line has them.
    """
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


def names_beside(path: Path, suffix: str) -> tuple[str, ...] | None:
    """Return the names of the companion of a file, None if there is none."""
    beside = companion(path, suffix)
    return None if beside is None else distinct_names(beside)


def companion(path: Path, suffix: str) -> Path | None:
    """Return the file with another suffix that belongs to a file: `a.dat` has `a.vocab` or `a.dat.vocab`."""
    bare = path.with_suffix("") if path.suffix == ".gz" else path
    return existing(bare.with_suffix(suffix), bare.with_name(bare.name + suffix))


def existing(*candidates: Path) -> Path | None:
    """Return the first of some paths that is a file."""
    return next((path for path in candidates if path.is_file()), None)


def only_file(folder: Path, pattern: str, what: str) -> Path:
    """Return the only file of a folder that matches a pattern; none or several are an `InputError`."""
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        names = ", ".join(path.name for path in found) or "none"
        raise InputError(f"{folder}: expected one {what}, found {names}; name the file itself")
    return found[0]


def max_expanded(path: Path) -> int:
    """Return the number of bytes that a packed file may expand to."""
    return max(FREE_EXPANSION, MAX_EXPANSION * path.stat().st_size)


def check_expanded(path: Path, n_bytes: int, n_rows: int = 0) -> None:
    """Raise `InputError` if the unpacked bytes and rows of a file are more than `max_expanded`."""
    if n_bytes + ROW_COST * n_rows <= max_expanded(path):
        return
    raise InputError(
        f"{path}: expands to more than {max_expanded(path):,} bytes; the limit is {FREE_EXPANSION:,} bytes "
        f"or {MAX_EXPANSION} times the size of the file; unpack or split it if you trust it"
    )


@contextmanager
def open_bytes(path: Path) -> Iterator[IO[bytes]]:
    """Open a regular file for reading, unpacked if it is gzip; failures are an `InputError`."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise InputError(f"{path}: not a regular file; save its content to a file first")
    try:
        with path.open("rb") as plain:
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
        self._limit = max_expanded(path)

    def read(self, size: int | None = -1) -> bytes:
        """Read bytes, at most so many that the limit is noticed."""
        wanted = self._limit + 1 if size is None or size < 0 else size
        return self._checked(super().read(wanted))

    def readline(self, size: int | None = -1) -> bytes:
        """Read a line, or its first `LINE_LIMIT` bytes."""
        self._lines += 1
        return self._checked(super().readline(LINE_LIMIT + 1 if size is None or size < 0 else size))

    def _checked(self, data: bytes) -> bytes:
        if self.tell() + ROW_COST * self._lines > self._limit:
            check_expanded(self._path, self.tell(), self._lines)
        return data


def _position(file: Any) -> int:
    """Return the bytes read of the file on disk; for gzip, these are the packed bytes."""
    return int(getattr(file, "fileobj", file).tell())


def _decode(raw: bytes, path: Path, number: int, encoding: str) -> str:
    if number == 1:
        if raw.startswith(_MARKS_16):
            raise InputError(f"{path}: the file is UTF-16; save it as UTF-8")
        raw = raw.removeprefix(b"\xef\xbb\xbf")
    if b"\x00" in raw:
        raise InputError(f"{path}, line {number}: contains a zero byte; this is a binary file, not text")
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        name = "UTF-8" if encoding == "utf-8" else encoding
        raise InputError(
            f"{path}, line {number}: byte {error.start + 1} (0x{raw[error.start]:02x}) is not {name}; "
            "save the file as UTF-8"
        ) from None
