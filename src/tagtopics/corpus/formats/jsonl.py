"""JSON lines: one object for each document."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from tagtopics.corpus.core import FileOptions
from tagtopics.corpus.formats.tables import Table
from tagtopics.corpus.formats.text_files import text_lines
from tagtopics.errors import InputError, json_problem


def stream_jsonl(path: Path, wanted: Collection[str], size: float, options: FileOptions) -> Iterator[Table]:
    """Yield JSON lines; a key that a line lacks is None there, and the names are those of the part alone.

    Equal strings in the lists of a part are one object: most tags occur often.
    """
    columns: dict[str, list[Any]] = {}
    known: dict[str, str] = {}
    lines: list[int] = []
    names: dict[str, None] = {}
    n_chars = n_before = 0

    def part() -> Table:
        found = {name: columns[name] for name in names if name in columns}
        return Table(str(path), found, list(names), len(lines), lines, n_before)

    for number, line in text_lines(path, options.encoding or "utf-8"):
        if line.isspace():
            continue
        row = json_object(line, path, number)
        if row.keys() != names.keys():
            names.update(dict.fromkeys(row))
            for name in row.keys() - columns.keys():
                if name in wanted:
                    columns[name] = [None] * len(lines)
        for name, cells in columns.items():
            cell = row.get(name)
            if type(cell) is list:
                cell = [known.setdefault(one, one) if type(one) is str else one for one in cell]
            cells.append(cell)
        lines.append(number)
        n_chars += len(line)
        if n_chars >= size:
            yield part()
            n_before += len(lines)
            columns, lines, names, known, n_chars = {}, [], {}, {}, 0
    if lines or not n_before:
        yield part()


def json_object(line: str, path: Path | str, number: int) -> dict[str, Any]:
    """Return the object of one line."""
    try:
        value = from_json(line, cache_strings="keys")
    except ValueError:  # it refuses some JSON that the json module reads, and its messages differ
        try:
            value = json.loads(line)
        except RecursionError:
            raise InputError(f"{path}, line {number}: nested too deeply") from None
        except ValueError as error:
            problem = f"not valid JSON ({json_problem(error)})"
            raise InputError(f"{path}, line {number}: {problem}; each line must be one JSON object") from None
    if not isinstance(value, dict):
        raise InputError(
            f"{path}, line {number}: expected one JSON object per line, got {type(value).__name__}; "
            "write each document on its own line"
        )
    return value
