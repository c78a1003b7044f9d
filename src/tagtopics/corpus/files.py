"""Text files, line by line: UTF-8 with or without a mark, plain or gzip, with errors that name the line."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from tagtopics.errors import InputError

LINE_LIMIT = 64 * 2**20
"""The longest line, in bytes, that a text file may have."""

Watch = Callable[[int], None]
"""Is told how many bytes of a file on disk were read."""

_WATCH_EVERY = 256
_MARKS_16 = (b"\xff\xfe", b"\xfe\xff")


def text_lines(path: Path, watch: Watch | None = None) -> Iterator[tuple[int, str]]:
    """Yield each line of a text file with its number, from 1, its line end included.

    Memory stays bounded by `LINE_LIMIT`. What is no UTF-8 text is an `InputError`, and so is an empty file.
    `watch` is told now and then how far the reading got.
    """
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
            yield number, _decode(raw, path, number)
    if number == 0:
        raise InputError(f"{path}: the file is empty")


def name_lines(path: Path) -> tuple[str, ...]:
    """Return the lines of a file of names, one a line, split on the line feed alone.

    Line ends of Windows are dropped if every line has them.
    """
    lines = [line.removesuffix("\n") for _, line in text_lines(path)]
    if all(line.endswith("\r") for line in lines):
        lines = [line[:-1] for line in lines]
    return tuple(lines)


@contextmanager
def open_bytes(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for reading, unpacked if it is gzip; what goes wrong is an `InputError`."""
    try:
        with path.open("rb") as plain:
            packed = plain.read(2) == b"\x1f\x8b"
            plain.seek(0)
            if not packed:
                yield plain
                return
            with gzip.GzipFile(fileobj=plain) as file:
                yield file  # type: ignore[misc]
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"{path}: damaged gzip file ({error}); fetch it again") from None
    except FileNotFoundError:
        raise InputError(f"no such file: {path}") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None


def existing(*candidates: Path) -> Path | None:
    """Return the first of some paths that is a file."""
    return next((path for path in candidates if path.is_file()), None)


def _position(file: Any) -> int:
    """Return the bytes read of the file on disk, which of a gzip file are the packed ones."""
    return int(getattr(file, "fileobj", file).tell())


def _decode(raw: bytes, path: Path, number: int) -> str:
    if number == 1:
        if raw.startswith(_MARKS_16):
            raise InputError(f"{path}: the file is UTF-16; save it as UTF-8")
        raw = raw.removeprefix(b"\xef\xbb\xbf")
    if b"\x00" in raw:
        raise InputError(f"{path}, line {number}: holds a zero byte; this is a binary file, not text")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}, line {number}: byte {error.start + 1} (0x{raw[error.start]:02x}) is not UTF-8; "
            "save the file as UTF-8"
        ) from None
