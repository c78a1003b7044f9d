"""Replacing single values in lines of JSON and CSV; everything else keeps its bytes."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping
from json.decoder import scanstring  # type: ignore[attr-defined]
from pathlib import Path
from typing import Any

from tagtopics.corpus.formats.text_files import Dialect, text_lines

_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()

_FIELDS = {
    "doubled": r'"(?:[^"]|"")*+"|[^{delimiter}\r\n]*+',
    "backslash": r'(?:"(?:[^"\\]|\\.)*+")?+(?:[^{delimiter}\\\r\n]|\\.)*+',
    "none": r"[^{delimiter}\r\n]*+",
}
"""One field of a valid record, as `csv.reader` reads it: a quote that is not at its beginning is a letter."""

_ESCAPES: dict[str, dict[int, Any]] = {
    "doubled": str.maketrans({'"': '""'}),
    "backslash": str.maketrans({'"': r"\"", "\\": r"\\"}),
    "none": {},
}
"""How the characters that have a meaning inside quotes are written there."""


def json_with(line: str, values: Mapping[str, Any]) -> str:
    """Return a line with one JSON object, in which some values are replaced; a new key is put at the end."""
    spans, end = _json_spans(line)
    ascii_only = line.isascii()
    new = {name: json.dumps(value, ensure_ascii=ascii_only) for name, value in values.items()}
    text = line
    missing = [
        f"{json.dumps(name, ensure_ascii=ascii_only)}: {new[name]}" for name in new if name not in spans
    ]
    if missing:
        text = text[:end] + (", " if spans else "") + ", ".join(missing) + text[end:]
    for name in sorted(set(new) & set(spans), key=lambda key: -spans[key][0]):
        begin, stop = spans[name]
        text = text[:begin] + new[name] + text[stop:]
    return text


def _json_spans(line: str) -> tuple[dict[str, tuple[int, int]], int]:
    """Return where the value of each key of a JSON object begins and ends, and where its last value ends."""
    spans: dict[str, tuple[int, int]] = {}
    at = _skip(line, _skip(line, 0) + 1)
    end = at
    while line[at] != "}":
        key, at = scanstring(line, at + 1)
        begin = _skip(line, _skip(line, at) + 1)
        _, end = _DECODER.raw_decode(line, begin)
        spans[key] = (begin, end)
        at = _skip(line, end)
        if line[at] == ",":
            at = _skip(line, at + 1)
    return spans, end


def _skip(line: str, at: int) -> int:
    match = _SPACE.match(line, at)
    return match.end() if match else at


def csv_records(path: Path, dialect: Dialect) -> Iterator[tuple[str, list[str]]]:
    """Yield each record of a CSV file, header and blank lines included, as text and as fields."""
    pending: list[str] = []

    def lines() -> Iterator[str]:
        for _, line in text_lines(path, None, dialect.encoding):
            pending.append(line)
            yield line

    for fields in csv.reader(lines(), **dialect.arguments):
        yield "".join(pending), fields
        pending.clear()


def csv_with(record: str, values: Mapping[int, str], dialect: Dialect) -> str:
    """Return a record of a CSV file in which some fields, given by number, are replaced."""
    spans = _csv_spans(record, dialect)
    for place in sorted(values, reverse=True):
        begin, end = spans[place]
        new = _written(values[place], dialect, quoted=record[begin:end].startswith('"'))
        record = record[:begin] + new + record[end:]
    return record


def _csv_spans(record: str, dialect: Dialect) -> list[tuple[int, int]]:
    """Return where each field of a record begins and ends, its quotes included."""
    pattern = _FIELDS[dialect.quoting].replace("{delimiter}", re.escape(dialect.delimiter))
    field = re.compile(pattern, re.DOTALL)
    spans = []
    at = 0
    while match := field.match(record, at):
        spans.append(match.span())
        at = match.end() + 1
        if record[match.end() : at] != dialect.delimiter:
            break
    return spans


def _written(value: str, dialect: Dialect, *, quoted: bool) -> str:
    """Return a value as it is written in a field, with quotes if the old one had some or it needs them."""
    escaped = value.translate(_ESCAPES[dialect.quoting])
    special = escaped != value or any(mark in value for mark in (dialect.delimiter, "\r", "\n"))
    return f'"{escaped}"' if dialect.quoting != "none" and (quoted or special) else value
