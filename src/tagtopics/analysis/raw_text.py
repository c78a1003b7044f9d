"""Replacing single values in lines of JSON and CSV; everything else keeps its bytes."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping
from json.decoder import scanstring  # type: ignore[attr-defined]
from pathlib import Path
from typing import Any

from tagtopics.corpus.formats.streams import long_fields
from tagtopics.corpus.formats.text_files import text_lines

_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


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


def csv_records(path: Path, delimiter: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each record of a CSV file, header and blank lines included, as text and as fields."""
    pending: list[str] = []

    def lines() -> Iterator[str]:
        for _, line in text_lines(path):
            pending.append(line)
            yield line

    with long_fields():
        for fields in csv.reader(lines(), delimiter=delimiter, strict=True):
            yield "".join(pending), fields
            pending.clear()


def csv_with(record: str, values: Mapping[int, str], delimiter: str) -> str:
    """Return a record of a CSV file in which some fields, given by number, are replaced."""
    body = record.rstrip("\r\n")
    fields = _csv_fields(body, delimiter)
    for place, value in values.items():
        fields[place] = _quoted(value, delimiter, fields[place].startswith('"'))
    return delimiter.join(fields) + record[len(body) :]


def _csv_fields(body: str, delimiter: str) -> list[str]:
    """Return the fields of a record as they are written, with their quotes."""
    fields, begin, quoted = [], 0, False
    for at, character in enumerate(body):
        if character == '"':
            quoted = not quoted
        elif character == delimiter and not quoted:
            fields.append(body[begin:at])
            begin = at + 1
    return [*fields, body[begin:]]


def _quoted(value: str, delimiter: str, always: bool) -> str:
    if always or any(c in value for c in (delimiter, '"', "\n", "\r")):
        return '"' + value.replace('"', '""') + '"'
    return value
