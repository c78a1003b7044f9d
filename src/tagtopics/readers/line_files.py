"""One document per line: plain text, and Annif's short-text corpora."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from tagtopics.corpus.core import FileOptions
from tagtopics.corpus.formats.tables import Table
from tagtopics.corpus.formats.text_files import find_encoding, open_bytes, text_lines
from tagtopics.errors import InputError
from tagtopics.readers.records import table_of_columns

_SUBJECTS = re.compile(r"\s*(?:<[^<>\s]+>\s*)+")
_SUBJECT = re.compile(r"<([^<>\s]+)>")
_SHORT_TEXT = re.compile(rf"([^\t]*)\t(\s*|{_SUBJECTS.pattern})", re.DOTALL)
_BOUNDED = 4 * 2**20


def is_annif(path: Path) -> bool:
    """Tell whether the first lines of a `.tsv` file are texts with subjects: `text TAB <uri> <uri>`."""
    if not path.is_file() or not path.name.lower().removesuffix(".gz").endswith((".tsv", ".tab")):
        return False
    with open_bytes(path) as file:
        lines = [file.readline(_BOUNDED) for _ in range(3)]
    cells = [line.decode("utf-8", "replace").rstrip("\r\n").split("\t") for line in lines if line.strip()]
    return bool(cells) and all(len(row) == 2 and _SUBJECTS.fullmatch(row[1]) for row in cells)


def read_lines(path: Path, options: FileOptions) -> Table:
    """Read a text file with one document per line."""
    lines, notices = _lines(path, options)
    notices.append(f"{path.name}: one document per line")
    texts = [line.strip() for line in lines.values()]
    return table_of_columns(path, {"text": texts}, "text", None, [*lines], notices)


def read_annif(path: Path, options: FileOptions) -> Table:
    """Read Annif's short-text corpus: a text, a tab, and the addresses of its subjects in `<>`."""
    lines, notices = _lines(path, options)
    columns: dict[str, list[Any]] = {"text": [], "tags": []}
    for number, line in lines.items():
        match = _SHORT_TEXT.fullmatch(line.rstrip("\r\n"))
        if match is None:
            raise InputError(f"{path}, line {number}: expected a text, a tab and subjects such as <uri>")
        columns["text"].append(match[1])
        columns["tags"].append(_SUBJECT.findall(match[2]))
    return table_of_columns(path, columns, "text", "tags", [*lines], notices)


def _lines(path: Path, options: FileOptions) -> tuple[dict[int, str], list[str]]:
    """Return the lines that are not blank by their numbers, and a notice if the encoding was guessed."""
    encoding, notices = find_encoding(path, options.encoding)
    lines = {number: line for number, line in text_lines(path, encoding) if line.strip()}
    if not lines:
        raise InputError(f"{path}: no documents")
    return lines, notices
