"""Files of one JSON value: arrays of objects, and answers of OpenAlex.

Works of OpenAlex also come as JSON lines.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tagtopics.corpus.core import FileOptions
from tagtopics.corpus.formats.tables import Table, table_of_rows
from tagtopics.corpus.formats.text_files import text_lines
from tagtopics.errors import InputError, json_problem
from tagtopics.readers.bibliography import (
    Record,
    first_text,
    keywords_of,
    person_name,
    table_of_records,
    text_or_none,
)
from tagtopics.readers.exports import export_kind

_LISTS = ("items", "results", "records", "documents", "docs", "data", "rows", "works")
_MARKUP = re.compile(r"<[^<>]{1,200}>")


def json_kind(path: Path) -> str:
    """Return the format of a `.json` file: JSON lines, an array of objects, an export, or a bibliography."""
    lines = (line for _, line in text_lines(path) if line.strip())
    first, second = next(lines, "").lstrip(), next(lines, "").lstrip()
    if first.startswith("{") and first.rstrip().endswith("}") and second.startswith("{"):
        return "jsonl"
    try:
        value = _parsed(path)
    except InputError:
        return "json" if first.startswith("[") else "jsonl"
    rows = _rows_of(value)
    if rows:
        return export_kind(value) or ("openalex" if _is_openalex(rows[0]) else "json")
    return export_kind(value) or ("jsonl" if isinstance(value, Mapping) and not second else "json")


def read_json_table(path: Path, options: FileOptions) -> Table:
    """Read an array of objects, or an object with such an array."""
    rows = _rows_of(_parsed(path))
    if rows is None:
        raise InputError(f"{path}: expected a JSON array of objects, one for each document")
    if not rows:
        raise InputError(f"{path}: no documents")
    names = {str(name) for row in rows if isinstance(row, Mapping) for name in row}
    return table_of_rows(rows, names, str(path))


def read_openalex(path: Path, options: FileOptions) -> Table:
    """Read works of OpenAlex: an answer of its API, an array of works, or one work per line."""
    rows = _rows_of(_parsed(path))
    if rows is None or not all(isinstance(row, Mapping) for row in rows):
        raise InputError(f"{path}: expected a list of works, each an object")
    return table_of_records(str(path), [_openalex_record(row) for row in rows])


def _parsed(path: Path) -> Any:
    """Return the JSON value of a file, or the list of values if there is one per line."""
    text = "".join(line for _, line in text_lines(path))
    try:
        return json.loads(text)
    except RecursionError:
        raise InputError(f"{path}: nested too deeply") from None
    except ValueError as error:
        if not text.lstrip().startswith("{"):
            raise InputError(f"{path}: not valid JSON ({error})") from None
    values = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            try:
                values.append(json.loads(line))
            except (ValueError, RecursionError) as error:
                raise InputError(f"{path}, line {number}: not valid JSON ({json_problem(error)})") from None
    return values


def _rows_of(value: Any) -> Any:
    """Return the list of documents in a JSON value; None if there is none."""
    if isinstance(value, list):
        return value
    if isinstance(value, Mapping):
        found = next((value[name] for name in _LISTS if isinstance(value.get(name), list)), None)
        return [value] if found is None and _is_openalex(value) else found
    return None


def _is_openalex(row: Any) -> bool:
    return isinstance(row, Mapping) and str(row.get("id", "")).startswith("https://openalex.org/")


def _plain(value: Any) -> str | None:
    """Return text without the JATS or HTML elements that abstracts contain."""
    text = value[0] if isinstance(value, list) and value else value
    return text_or_none(html.unescape(_MARKUP.sub(" ", text))) if isinstance(text, str) else None


def _openalex_record(row: Mapping[str, Any]) -> Record:
    def names(field: str, *path: str) -> list[str]:
        found = []
        for value in row.get(field) or () if isinstance(row.get(field), list) else ():
            for key in path:
                value = value.get(key) if isinstance(value, Mapping) else None
            if isinstance(value, str):
                found.append(value)
        return found

    place = row.get("primary_location")
    source = place.get("source") if isinstance(place, Mapping) else None
    kinds = names("keywords", "display_name") or names("keywords", "keyword")
    return Record(
        id=first_text(row, "id"),
        title=_plain(row.get("title") or row.get("display_name")),
        abstract=_inverted(row.get("abstract_inverted_index")) or _plain(row.get("abstract")),
        author=[person_name(name) for name in names("authorships", "author", "display_name")],
        keyword=keywords_of(kinds or names("topics", "display_name") or names("concepts", "display_name")),
        venue=first_text(source, "display_name") if isinstance(source, Mapping) else None,
        date=first_text(row, "publication_date", "publication_year"),
        url=first_text(row, "doi", "id"),
        type=first_text(row, "type"),
    )


def _inverted(index: Any) -> str | None:
    """Return the abstract of an index from words to their positions."""
    found = index.items() if isinstance(index, Mapping) else ()
    lists = [(word, places) for word, places in found if isinstance(places, list)]
    words = [(place, word) for word, places in lists for place in places if isinstance(place, int)]
    return text_or_none(" ".join(word for _, word in sorted(words)))
