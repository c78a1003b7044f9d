"""Files of one JSON value: an array of objects, one for each document, or an export.

The tags of exports of karakeep, Linkwarden and paperless-ngx can be written back.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tagtopics.corpus.core import FileOptions
from tagtopics.corpus.formats.tables import Table, table_of_rows
from tagtopics.corpus.formats.text_files import read_json, text_lines
from tagtopics.corpus.text import clean_name
from tagtopics.errors import InputError, json_problem
from tagtopics.readers.tagged import Tagged, TagList, day_of, lines_of, write_tagged

_LISTS = ("items", "results", "records", "documents", "docs", "data", "rows", "works")
_MARK = re.compile(r"[ \t\r\n]*+[\[{,:]?+[ \t\r\n]*+")
_decode = json.JSONDecoder().raw_decode


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
    return _export_kind(value) or ("jsonl" if single else "json")


def read_json_table(path: Path, options: FileOptions) -> Table:
    """Read an array of objects, or an object with such an array."""
    rows = _rows_of(read_json(path))
    if not rows:
        raise InputError(f"{path}: no documents; expected a JSON array of objects, one for each document")
    names = {str(name) for row in rows if isinstance(row, Mapping) for name in row}
    return table_of_rows(rows, names, str(path))


def _rows_of(value: Any) -> list[Any]:
    """Return the list of documents in a JSON value, empty if there is none."""
    lists = [value.get(name) for name in _LISTS] if isinstance(value, Mapping) else [value]
    return next((found for found in lists if isinstance(found, list)), [])


def _export_kind(value: Any) -> str | None:
    """Return the format of a JSON value that is an export of one of these programs, None for others."""
    if isinstance(value, Mapping):
        if isinstance(value.get("bookmarks"), list):
            return "karakeep"
        parts = value.get("collections")
        linked = isinstance(parts, list) and any(
            isinstance(part, Mapping) and "links" in part for part in parts
        )
        return "linkwarden" if linked else None
    rows = value if isinstance(value, list) else ()
    models = (row.get("model") for row in rows if isinstance(row, Mapping) and "pk" in row)
    return "paperless" if any(str(model).startswith("documents.") for model in models) else None


# ------------------------------------------------------------------------------------------- exports


def json_members(text: str, at: int) -> Iterator[tuple[str | int, int, int]]:
    """Yield the key or number of each value in an object or array of valid JSON, and where it is.

    `at` is where the object or array begins; any other value has no members.
    """
    keyed = text[at] == "{"
    if not keyed and text[at] != "[":
        return
    at, n = _skip(text, at), 0
    while text[at] not in "}]":
        key: str | int = n
        if keyed:
            key, at = _decode(text, at)
            at = _skip(text, at)
        _, end = _decode(text, at)
        yield key, at, end
        at, n = _skip(text, end), n + 1


def _skip(text: str, at: int) -> int:
    """Return where the next key or value begins, after one bracket, comma or colon."""
    match = _MARK.match(text, at)
    return match.end() if match else at


class _Known(dict[str, str]):
    """How each tag is written in a file; one that the file does not have, as `dump` writes it."""

    def __init__(self, dump: Callable[[Any], str]) -> None:
        self._dump = dump

    def __missing__(self, tag: str) -> str:
        return self._dump(tag)


def find_karakeep(text: str, where: str) -> Iterator[Tagged]:
    """Yield the bookmarks of an export of karakeep, formerly hoarder."""
    known = _Known(_dumper(text))
    for n, (row, at) in enumerate(_objects(text, _start(text, where), ("bookmarks", None), where)):
        content, url = row.get("content"), _text(_of(row.get("content"), "url"))
        yield Tagged(
            tags=_tag_list(text, at, lambda tag: tag, known, f"{where}, bookmark {n}"),
            id=url,
            title=_text(row.get("title")),
            text=lines_of(_of(content, "text"), row.get("note")),
            date=day_of(row.get("createdAt")),
            url=url,
        )


def find_linkwarden(text: str, where: str) -> Iterator[Tagged]:
    """Yield the links of an export of Linkwarden, of all collections."""
    dump = _dumper(text)
    known = _Known(lambda tag: dump({"name": tag}))
    path = ("collections", None, "links", None)
    for n, (row, at) in enumerate(_objects(text, _start(text, where), path, where)):
        named, url = row.get("id"), _text(row.get("url"))
        yield Tagged(
            tags=_tag_list(text, at, lambda tag: _of(tag, "name"), known, f"{where}, link {n}"),
            id=url if named is None else str(named),
            title=_text(row.get("name")),
            text=lines_of(row.get("description"), row.get("textContent")),
            date=_text(row.get("createdAt")),
            url=url,
        )


def find_paperless(text: str, where: str) -> Iterator[Tagged]:
    """Yield the documents of `manifest.json` in an export of paperless-ngx."""
    records = list(_objects(text, _start(text, where), (None,), where))
    names = {json.dumps(row.get("pk")): _of(row.get("fields"), "name") for row, _ in records if _is_tag(row)}
    known = _Known(json.dumps)
    known.update((clean_name(name), number) for number, name in names.items() if isinstance(name, str))

    def name_of(number: Any) -> Any:
        return names.get(json.dumps(number), json.dumps(number))

    found = [(row, at) for row, at in records if row.get("model") == "documents.document"]
    if not found:
        raise InputError(f"{where}: no documents in this manifest; export it without --split-manifest")
    for row, at in found:
        fields, place = row.get("fields"), f"{where}, document {str(row.get('pk'))[:40]}"
        if not isinstance(fields, Mapping):
            raise InputError(f"{place}: fields must be an object")
        holder = next(begin for key, begin, _ in json_members(text, at) if key == "fields")
        yield Tagged(
            tags=_tag_list(text, holder, name_of, known, place),
            id=str(row.get("pk")),
            title=_text(fields.get("title")),
            text=_text(fields.get("content")),
            date=_text(fields.get("created")),
        )


def write_paperless(text: str, where: str, lists: Mapping[int, Sequence[str]]) -> str:
    """Return a manifest in which some documents have other tags; a new tag gets a record of its own."""
    begin, dump = _start(text, where), _dumper(text)
    records = list(_objects(text, begin, (None,), where))
    tags = [row for row, _ in records if _is_tag(row)]
    known = {clean_name(str(_of(row.get("fields"), "name"))) for row in tags}
    known.update(clean_name(tag) for one in find_paperless(text, where) for tag in one.tags.tags)
    wanted = dict.fromkeys(tag for of_doc in lists.values() for tag in of_doc)
    new = [tag for tag in wanted if clean_name(tag) not in known]
    number = max((row["pk"] for row in tags if isinstance(row.get("pk"), int)), default=0)
    at = records[0][1]
    fresh = ""
    for tag in new:
        number += 1
        fresh += dump({"model": "documents.tag", "pk": number, "fields": {"name": tag}})
        fresh += "," + text[begin + 1 : at]
    return write_tagged(find_paperless, text[:at] + fresh + text[at:], where, lists)


def _start(text: str, where: str) -> int:
    """Return where the JSON value of a file begins; what is not valid is an `InputError`."""
    try:
        json.loads(text)
    except RecursionError:
        raise InputError(f"{where}: nested too deeply") from None
    except ValueError as error:
        raise InputError(f"{where}: not valid JSON ({json_problem(error)})") from None
    return len(text) - len(text.lstrip())


def _objects(
    text: str, at: int, path: tuple[str | None, ...], where: str
) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield the objects at a path of keys, in which None stands for every element, and where they begin."""
    if path:
        for key, begin, _ in json_members(text, at):
            if path[0] in (None, key):
                yield from _objects(text, begin, path[1:], where)
        return
    value, _ = _decode(text, at)
    if not isinstance(value, dict):
        raise InputError(f"{where}: each document must be an object, not {type(value).__name__}")
    yield value, at


def _tag_list(text: str, at: int, name_of: Callable[[Any], Any], known: _Known, where: str) -> TagList:
    """Return the list `tags` of the object that begins at a place; `known` gets its tags."""
    places = {key: (begin, end) for key, begin, end in json_members(text, at)}
    write = known.__getitem__
    if "tags" not in places:
        last = max((end for _, end in places.values()), default=at + 1)
        return TagList([], [], last, last, write, ", ", f'{", " if places else ""}"tags": [', "]")
    begin, end = places["tags"]
    if text[begin:end] == "null":
        return TagList([], [], begin, end, write, ", ", "[", "]")
    spans = [(first, last) for _, first, last in json_members(text, begin)]
    tags = [name_of(_decode(text, first)[0]) for first, _ in spans]
    if text[begin] != "[" or not all(isinstance(tag, str) for tag in tags):
        raise InputError(f"{where}: tags must be a list of tags with names")
    for tag, (first, last) in zip(tags, spans, strict=True):
        known.setdefault(clean_name(tag), text[first:last])
    margin = text[begin + 1 : spans[0][0]] if spans else ""
    return TagList(tags, spans, begin + 1, end - 1, write, f",{margin}")


def _dumper(text: str) -> Callable[[Any], str]:
    return partial(json.dumps, ensure_ascii=text.isascii())


def _of(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else None


def _is_tag(row: Mapping[str, Any]) -> bool:
    return row.get("model") == "documents.tag"


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
