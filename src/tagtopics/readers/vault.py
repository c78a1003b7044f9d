"""Folders of Markdown notes with tags in their front matter, such as vaults of Obsidian."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from tagtopics.corpus.core import FileOptions
from tagtopics.corpus.formats.tables import Table
from tagtopics.corpus.formats.text_files import open_bytes
from tagtopics.errors import InputError
from tagtopics.readers.tagged import Tagged, TagList, tagged_table, whole_text
from tagtopics.readers.text_folders import METADATA_FILES, heading_of

_FRONT = re.compile(r"---[ \t]*+\r?\n(.*?)^(?:---|\.\.\.)[ \t]*+(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_TAGS = re.compile(r"""^(?:tags|"tags"|'tags')[ \t]*+:(?=\s|\Z)""", re.MULTILINE)
_FIELD = re.compile(r"^(title|date|created):[ \t]+([^\s>|][^\r\n]*)", re.MULTILINE)
_LINE = re.compile(r"\r?\n([^\r\n]*)")
_ITEM = re.compile(r"([ \t]*+)-(?:[ \t]++([^\r\n]*))?")
_QUOTED = r'"(?:[^"\\\r\n]|\\.)*+"' + r"|'(?:[^'\r\n]|'')*+'"
_IN_BRACKETS = re.compile(
    rf"""\s*+(?:\#[^\r\n]*+\s*+)*+({_QUOTED}|[^\s,\[\]{{}}"'#&*!|>%@`](?:[^,\[\]{{}}\r\n#]|(?<!\s)\#)*+)?\s*+(,|(?=\]))"""
)
_SCALAR = re.compile(rf"\s*+({_QUOTED})\s*+(?:\#.*)?")
_COMMENT = re.compile(r"(?<!\S)#.*")
_NO_PLAIN = re.compile(r"[\[\]{},#&*!|>%@`]|[-?] |.*:(?: |$)")
_CONTINUED = re.compile(r"\r?\n[ \t]++[^\s#]")
_PLAIN = re.compile(r"[^\W\d_][\w/+.-]*(?: [\w/+.-]+)*")
_NULL = ("", "~", "null")
_WORDS = {"true", "false", "yes", "no", "on", "off", "null", "y", "n"}
_BEGINNING = 2**14


def is_vault(folder: Path) -> bool:
    """Tell whether a folder has notes with tags in their front matter, and no table of metadata."""
    if not folder.is_dir() or any((folder / f"metadata.{suffix}").is_file() for suffix in METADATA_FILES):
        return False
    return any(_begins_with_tags(path) for path in _notes(folder))


def read_vault(folder: Path, options: FileOptions) -> Table:
    """Read a folder of notes; a note is named by its path in the folder."""
    if not folder.is_dir():
        raise InputError(f"{folder}: not a folder; format vault is for folders of Markdown files")
    documents, notices = list[Tagged](), list[str]()
    for path in _notes(folder):
        text, _, guessed = whole_text(path, options.encoding)
        notices += guessed
        documents += find_note(text, str(path), path.relative_to(folder).as_posix())
    unread = [one.id for one in documents if one.tags.unread]
    said = [f"{folder.name}: tags are those of the front matter; #tags in the text are words", *notices[:1]]
    if unread:
        said.append(
            f"{len(unread):,} notes have tags that are no list and not read; the first is {unread[0]!r}"
        )
    return tagged_table(folder, documents, said)


def find_note(text: str, where: str, name: str = "") -> Iterator[Tagged]:
    """Yield the only document of a file."""
    front = _FRONT.match(text)
    fields: dict[str, str] = {}
    for field in _FIELD.finditer(text, *front.span(1)) if front else ():
        fields.setdefault(field[1], field[2].strip().strip("\"'"))
    body = text[front.end() :] if front else text
    yield Tagged(
        tags=_tag_list(text, front, where),
        id=name or None,
        title=fields.get("title") or heading_of(body) or Path(name).stem,
        text=body,
        date=fields.get("date") or fields.get("created"),
    )


def _notes(folder: Path) -> list[Path]:
    """Return the notes, without those in hidden folders, sorted by their paths."""
    found = (path for path in folder.rglob("*.md") if path.is_file() and not path.is_symlink())
    shown = (path for path in found if not re.search(r"(?:^|/)\.", path.relative_to(folder).as_posix()))
    return sorted(shown, key=lambda path: path.as_posix())


def _begins_with_tags(path: Path) -> bool:
    with open_bytes(path) as file:
        text = file.read(_BEGINNING).removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    front = _FRONT.match(text)
    return front is not None and _TAGS.search(text, *front.span(1)) is not None


# ---------------------------------------------------------------------------------------------- front matter


def _tag_list(text: str, front: re.Match[str] | None, where: str) -> TagList:
    """Return the tags of a note: a list in brackets, one per line, or words."""
    newline = "\r\n" if "\r\n" in text[: 1 + text.find("\n")] else "\n"
    write = partial(_write_item, f"{newline}  - ")
    if front is None:
        return TagList([], [], 0, 0, write, "", f"---{newline}tags:", f"{newline}---{newline}")
    key = _TAGS.search(text, *front.span(1))
    if key is None:
        return TagList([], [], front.end(1), front.end(1), write, "", "tags:", newline)
    line = text[key.end() : front.end(1)].partition("\n")[0].rstrip("\r")
    value = _without_comment(line)
    found = None
    if value.startswith("["):
        found = _in_brackets(text, text.index("[", key.end()) + 1, front.end(1))
    elif not value:
        found = _in_lines(text, key.end() + len(line), front.end(1), newline)
    elif not _CONTINUED.match(text, key.end() + len(line), front.end(1)):
        found = _in_words(value, text.index(value, key.end()))
    if found is None:  # they are left as they are
        return TagList([], [], key.end(), key.end(), partial(_refuse, where), "", unread=True)
    return found


def _in_brackets(text: str, begin: int, end: int) -> TagList | None:
    """Read `[a, "b c"]`, which may go over several lines."""
    tags, spans, at, last = list[str](), list[tuple[int, int]](), begin, ","
    while last:
        match = _IN_BRACKETS.match(text, at, end)
        if match is None:
            return None
        if (item := (match[1] or "").rstrip()) not in _NULL:
            tag = _value(item)
            if tag is None:
                return None
            tags.append(tag)
            spans.append((match.start(1), match.start(1) + len(item)))
        at, last = match.end(), match[2]
    return TagList(tags, spans, begin, at, partial(_write_item, ""), ", ")


def _in_lines(text: str, begin: int, end: int, newline: str) -> TagList | None:
    """Read a list with one tag per line, which includes the end of the line before, and comments above."""
    tags, spans, margins = list[str](), list[tuple[int, int]](), set[str]()
    for line in _LINE.finditer(text, begin, end):
        item = _ITEM.fullmatch(line[1])
        content = _without_comment(item[2] or "" if item else line[1])
        if item:
            margins.add(item[1])
            tag = "" if content in _NULL else _value(content)
            if tag is None:
                return None
            if tag:
                tags.append(tag)
                spans.append((spans[-1][1] if spans else line.start(), line.end()))
        elif content:
            if line[1][0] in " \t" or ":" not in content:  # no list
                return None
            break
    if len(margins) > 1:
        return None
    last, margin = spans[-1][1] if spans else begin, "".join(margins or "  ")
    return TagList(tags, spans, begin, last, partial(_write_item, f"{newline}{margin}- "), "")


def _in_words(value: str, begin: int) -> TagList | None:
    """Read `a, b` or `a b`, which become a list in brackets when they change."""
    whole = _value(value)
    if whole is None:
        return None
    parts = whole.split(",") if "," in whole else whole.split()
    tags = [part.strip() for part in parts if part.strip() not in _NULL]
    return TagList(tags, [], begin, begin + len(value), partial(_write_item, ""), ", ", "[", "]")


def _without_comment(line: str) -> str:
    quoted = _SCALAR.fullmatch(line)
    return quoted[1] if quoted else _COMMENT.sub("", line).strip()


def _value(item: str) -> str | None:
    """Return the text of a plain or quoted value of YAML, None for any other value."""
    if item[0] == '"':
        try:
            found = json.loads(item, strict=False)
        except ValueError:
            return None
        return found if isinstance(found, str) else None
    if item[0] == "'":
        quoted = re.fullmatch(r"'((?:[^']|'')*+)'", item)
        return quoted[1].replace("''", "'") if quoted else None
    return None if _NO_PLAIN.match(item) else item


def _write_item(before: str, tag: str) -> str:
    plain = _PLAIN.fullmatch(tag) and tag.lower() not in _WORDS
    return before + (tag if plain else json.dumps(tag, ensure_ascii=False))


def _refuse(where: str, tag: str) -> str:
    raise InputError(f"{where}: the tags in the front matter cannot be changed; write them as [a, b]")
