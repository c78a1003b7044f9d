"""Files of one JSON value: an array of objects, one for each document, or an object with such an array."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tagtopics.corpus.core import FileOptions
from tagtopics.corpus.formats.tables import Table, table_of_rows
from tagtopics.corpus.formats.text_files import read_json, text_lines
from tagtopics.errors import InputError
from tagtopics.readers.exports import export_kind

_LISTS = ("items", "results", "records", "documents", "docs", "data", "rows", "works")


def json_kind(path: Path) -> str:
    """Return the format of a `.json` file: JSON lines, an array of objects, or an export."""
    lines = (line for _, line in text_lines(path) if line.strip())
    first, second = next(lines, "").lstrip(), next(lines, "").lstrip()
    if first.startswith("{") and first.rstrip().endswith("}") and second.startswith("{"):
        return "jsonl"
    try:
        value = read_json(path)
    except InputError:
        return "json" if first.startswith("[") else "jsonl"
    single = isinstance(value, Mapping) and not second and not _rows_of(value)
    return export_kind(value) or ("jsonl" if single else "json")


def read_json_table(path: Path, options: FileOptions) -> Table:
    """Read an array of objects, or an object with such an array."""
    rows = _rows_of(read_json(path))
    if rows is None:
        raise InputError(f"{path}: expected a JSON array of objects, one for each document")
    if not rows:
        raise InputError(f"{path}: no documents")
    names = {str(name) for row in rows if isinstance(row, Mapping) for name in row}
    return table_of_rows(rows, names, str(path))


def _rows_of(value: Any) -> list[Any] | None:
    """Return the list of documents in a JSON value; None if there is none."""
    if isinstance(value, list):
        return value
    lists = (value.get(name) for name in _LISTS) if isinstance(value, Mapping) else ()
    return next((found for found in lists if isinstance(found, list)), None)
