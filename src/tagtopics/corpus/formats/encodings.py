"""Which encoding a text file has, if it is not UTF-8."""

from __future__ import annotations

import codecs
import re
from pathlib import Path

from tagtopics.corpus.formats.text_files import open_bytes, text_lines
from tagtopics.errors import InputError

_CHUNK = 2**20
_MARKS = (
    (b"\xff\xfe\0\0", "utf-32"),
    (b"\0\0\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_UNDEFINED = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")
"""Bytes that Windows-1252 does not use."""

_WIDE_SHARE = 0.3
"""UTF-16 without a mark has at least this share of zero bytes, if the text is Western."""


def find_encoding(path: Path, named: str | None = None) -> tuple[str, list[str]]:
    """Return the encoding of a text file, and a notice if it was guessed.

    The whole file is read. It is UTF-8 if it is valid UTF-8; UTF-16 or UTF-32 if it begins with their mark,
    or every other byte is zero; else Windows-1252, or Latin-1 if it has bytes that Windows-1252 does not use.
    If most letters are outside ASCII, the text is not Western, and the user must name the encoding.

    Args:
        path: the file, which may be packed with gzip.
        named: the encoding that the user named.
    """
    if named is not None:
        try:
            return codecs.lookup(named).name, []
        except (LookupError, ValueError):
            raise InputError(
                f"encoding: unknown {named[:40]!r}; use utf-8, cp1252, latin-1, utf-16 ..."
            ) from None
    decoder = codecs.getincrementaldecoder("utf-8")()
    with open_bytes(path) as file:
        first = chunk = file.read(_CHUNK)
        if wide := _wide(first):
            return wide, [f"{path.name} is {wide.upper()}"]
        try:
            while chunk:
                decoder.decode(chunk)
                chunk = file.read(_CHUNK)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return _western(path, chunk or first)
    return "utf-8", []


def encoding_as_before(path: Path, before: str) -> str:
    """Return the encoding of a text file if an earlier one had another than UTF-8, which a file may repeat.

    A file that is UTF-8, or says what it is, is read as such.
    """
    try:
        found, _ = find_encoding(path)
    except InputError:
        return before  # it is not UTF-8, and cannot be told
    return before if found in ("cp1252", "iso8859-1", "latin-1") else found


def read_text(path: Path, named: str | None = None) -> tuple[str, list[str]]:
    """Return the text of a file with line feeds as line ends, and a notice if its encoding was guessed."""
    encoding, notices = find_encoding(path, named)
    text = "".join(line for _, line in text_lines(path, None, encoding))
    return text.replace("\r\n", "\n").replace("\r", "\n"), notices


def _wide(sample: bytes) -> str | None:
    for mark, name in _MARKS:
        if sample.startswith(mark):
            return name
    if len(sample) < 32 or (len(sample) % 2 and len(sample) < _CHUNK):
        return None
    even, odd = (sample[start::2].count(0) / (len(sample) / 2) for start in (0, 1))
    if odd > _WIDE_SHARE and even < odd / 10:
        return "utf-16-le"
    return "utf-16-be" if even > _WIDE_SHARE and odd < even / 10 else None


def _western(path: Path, sample: bytes) -> tuple[str, list[str]]:
    n_ascii = sum(byte in b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" for byte in sample)
    n_other = sum(byte >= 0x80 for byte in sample)
    if n_other > n_ascii / 2 or b"\0" in sample:
        raise InputError(
            f"{path}: is not UTF-8, and the encoding cannot be told; name it with encoding= or --encoding, "
            "such as cp1251, gb18030 or shift_jis"
        )
    name = "latin-1" if _UNDEFINED.search(sample) else "cp1252"
    return name, [f"{path.name} is not UTF-8 and was read as {name}; name another encoding if this is wrong"]
