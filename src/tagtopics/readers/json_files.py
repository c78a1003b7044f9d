"""Files of one JSON value: arrays of objects, CSL-JSON, and answers of OpenAlex and Crossref.

OpenAlex and Crossref also come as JSON lines, one work per line.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tagtopics.corpus.core import FileOptions
from tagtopics.corpus.formats.tables import Table, table_of_rows
from tagtopics.corpus.formats.text_files import text_lines
from tagtopics.errors import InputError, json_problem
from tagtopics.readers.bibliography import (
    Record,
    keywords_of,
    people,
    person_name,
    records_of,
    table_of_records,
    text_or_none,
)

_LISTS = ("items", "results", "records", "documents", "docs", "data", "rows", "works")
_MARKUP = re.compile(r"<[^<>]{1,200}>")
_MOST_POSITIONS = 100_000


def json_kind(path: Path) -> str:
    """Return the format of a `.json` file: JSON lines, an array of objects, or a bibliography."""
    lines = (line for _, line in text_lines(path))
    first = next((line for line in lines if line.strip()), "")
    second = next((line for line in lines if line.strip()), "")
    if first.lstrip().startswith("{") and _is_json(first) and (not second or second.lstrip().startswith("{")):
        value = json.loads(first)
        return _kind_of_row(_rows_of(value)[0]) if not second and _rows_of(value) else "jsonl"
    try:
        rows = _rows_of(_parsed(path))
    except InputError:
        return "json" if first.lstrip().startswith("[") else "jsonl"
    return _kind_of_row(rows[0]) if rows else "json"


def read_json_table(path: Path, options: FileOptions) -> Table:
    """Read an array of objects, or an object with such an array."""
    rows = _rows_of(_parsed(path))
    if rows is None:
        raise InputError(f"{path}: expected a JSON array of objects, one for each document")
    if not rows:
        raise InputError(f"{path}: no documents")
    names = {str(name) for row in rows if isinstance(row, Mapping) for name in row}
    return table_of_rows(rows, names, str(path))


def read_csl(path: Path, options: FileOptions) -> Table:
    """Read CSL-JSON, as citation managers export it."""
    return _records(path, _csl_record)


def read_openalex(path: Path, options: FileOptions) -> Table:
    """Read works of OpenAlex: an answer of its API, an array of works, or one work per line."""
    return _records(path, _openalex_record)


def read_crossref(path: Path, options: FileOptions) -> Table:
    """Read works of Crossref: an answer of its API, an array of works, or one work per line."""
    return _records(path, _crossref_record)


def _records(path: Path, make: Callable[[Mapping[str, Any]], Record]) -> Table:
    rows = _rows_of(_parsed(path))
    if rows is None:
        raise InputError(f"{path}: expected a list of works")
    return table_of_records(str(path), records_of(str(path), rows, make))


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


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _rows_of(value: Any) -> Any:
    """Return the list of documents in a JSON value; None if there is none."""
    if isinstance(value, list):
        return value
    if isinstance(value, Mapping):
        inner = value.get("message")
        if isinstance(inner, Mapping):  # of Crossref
            return _rows_of(inner) or [inner]
        found = next((value[name] for name in _LISTS if isinstance(value.get(name), list)), None)
        if found is None and (_kind_of_row(value) != "json"):
            return [value]
        return found
    return None


def _kind_of_row(row: Any) -> str:
    if not isinstance(row, Mapping):
        return "json"
    if str(row.get("id", "")).startswith("https://openalex.org/"):
        return "openalex"
    if "DOI" in row and isinstance(row.get("title"), list):
        return "crossref"
    issued = row.get("issued")
    if "type" in row and "title" in row and (isinstance(issued, Mapping) or _has_family(row)):
        return "csl"
    return "json"


def _has_family(row: Mapping[str, Any]) -> bool:
    authors = row.get("author")
    return isinstance(authors, list) and any(isinstance(a, Mapping) and "family" in a for a in authors)


def _given_family(value: Any) -> str:
    if not isinstance(value, Mapping):
        return ""
    if value.get("literal") or value.get("name"):
        return str(value.get("literal") or value.get("name"))
    parts = (value.get(name) for name in ("given", "non-dropping-particle", "family", "suffix"))
    return " ".join(str(part) for part in parts if part)


def _date_parts(value: Any) -> str | None:
    """Return the date of CSL and Crossref, `{"date-parts": [[2020, 5, 3]]}`."""
    if not isinstance(value, Mapping):
        return text_or_none(value)
    parts = value.get("date-parts")
    if isinstance(parts, list) and parts and isinstance(parts[0], list) and parts[0]:
        return "-".join(str(part) for part in parts[0][:3] if part is not None) or None
    return text_or_none(value.get("raw") or value.get("literal") or value.get("date-time"))


def _plain(value: Any) -> str | None:
    """Return text without the JATS or HTML elements that abstracts contain."""
    text = value[0] if isinstance(value, list) and value else value
    return text_or_none(html.unescape(_MARKUP.sub(" ", text))) if isinstance(text, str) else None


def _authors(row: Mapping[str, Any]) -> list[str]:
    authors = row.get("author")
    return people(map(_given_family, authors)) if isinstance(authors, list) else []


def _csl_record(row: Mapping[str, Any]) -> Record:
    return Record(
        id=text_or_none(row.get("id")) or text_or_none(row.get("citation-key")),
        title=_plain(row.get("title")),
        abstract=_plain(row.get("abstract")),
        author=_authors(row),
        keyword=keywords_of(row.get("keyword") or row.get("keywords")),
        venue=_plain(row.get("container-title")) or _plain(row.get("publisher")),
        date=_date_parts(row.get("issued")),
        url=text_or_none(row.get("URL")) or text_or_none(row.get("DOI")),
        type=text_or_none(row.get("type")),
    )


def _crossref_record(row: Mapping[str, Any]) -> Record:
    published = (row.get(name) for name in ("issued", "published", "published-online", "created"))
    return Record(
        id=text_or_none(row.get("DOI")),
        title=_plain(row.get("title")),
        abstract=_plain(row.get("abstract")),
        author=_authors(row),
        keyword=keywords_of(row.get("subject")),
        venue=_plain(row.get("container-title")) or _plain(row.get("publisher")),
        date=next((date for value in published if (date := _date_parts(value))), None),
        url=text_or_none(row.get("URL")) or text_or_none(row.get("DOI")),
        type=text_or_none(row.get("type")),
    )


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
        id=text_or_none(row.get("id")),
        title=_plain(row.get("title") or row.get("display_name")),
        abstract=_inverted(row.get("abstract_inverted_index")) or _plain(row.get("abstract")),
        author=[person_name(name) for name in names("authorships", "author", "display_name")],
        keyword=keywords_of(kinds or names("topics", "display_name") or names("concepts", "display_name")),
        venue=text_or_none(source.get("display_name")) if isinstance(source, Mapping) else None,
        date=text_or_none(row.get("publication_date")) or text_or_none(row.get("publication_year")),
        url=text_or_none(row.get("doi")) or text_or_none(row.get("id")),
        type=text_or_none(row.get("type")),
    )


def _inverted(index: Any) -> str | None:
    """Return the abstract of an index from words to their positions."""
    if not isinstance(index, Mapping):
        return None
    at: dict[int, str] = {}
    for word, places in index.items():
        for place in places if isinstance(places, list) else ():
            if isinstance(place, int) and 0 <= place < _MOST_POSITIONS:
                at[place] = str(word)
    return text_or_none(" ".join(at[place] for place in sorted(at)))
