"""One document per line: plain text, MALLET's instance lists, and Annif's short-text corpora."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tagtopics.corpus.core import FileOptions
from tagtopics.corpus.formats.tables import Table
from tagtopics.corpus.formats.text_files import find_encoding, open_bytes, text_lines
from tagtopics.corpus.recipe import Columns
from tagtopics.errors import InputError

_INSTANCE = re.compile(r"(\S+)[\s,]+(\S+)[\s,]+(.*)", re.DOTALL)
_NO_LABEL = {"x", "X", "_", "-", "none", "null"}
_SUBJECTS = re.compile(r"\s*(?:<[^<>\s]+>\s*)+")
_SUBJECT = re.compile(r"<([^<>\s]+)>")
_SHORT_TEXT = re.compile(rf"([^\t]*)\t(\s*|{_SUBJECTS.pattern})", re.DOTALL)
_BOUNDED = 4 * 2**20


def is_annif(path: Path) -> bool:
    """Tell whether the first lines of a file are texts with subjects: `text TAB <uri> <uri>`."""
    with open_bytes(path) as file:
        lines = [file.readline(_BOUNDED) for _ in range(3)]
    cells = [line.decode("utf-8", "replace").rstrip("\r\n").split("\t") for line in lines if line.strip()]
    return bool(cells) and all(len(row) == 2 and _SUBJECTS.fullmatch(row[1]) for row in cells)


def read_lines(path: Path, options: FileOptions) -> Table:
    """Read a text file with one document per line."""
    rows = _Rows(path, options, lambda line: line.strip())
    rows.notices.append(f"{path.name}: one document per line")
    return rows.table({"text": rows.values}, Columns(text="text"))


def read_mallet(path: Path, options: FileOptions) -> Table:
    """Read what `mallet import-file` reads: name, label and text on each line.

    The label is the tag and the class of the document, unless it is a placeholder such as X.
    """
    rows = _Rows(path, options, lambda line: _INSTANCE.match(line.strip()), "a name, a label and a text")
    names, labels, texts = ([match[i] for match in rows.values] for i in (1, 2, 3))
    labels = [None if label in _NO_LABEL else label for label in labels]
    columns, roles = {"id": names, "text": texts}, Columns(text="text", id="id")
    if any(labels):
        columns |= {"tags": [[label] if label else [] for label in labels], "label": labels}
        roles = Columns(text="text", id="id", tags="tags", label="label")
    return rows.table(columns, roles)


def read_annif(path: Path, options: FileOptions) -> Table:
    """Read Annif's short-text corpus: a text, a tab, and the addresses of its subjects in `<>`."""
    expected = "a text, a tab and subjects such as <uri>"
    rows = _Rows(path, options, lambda line: _SHORT_TEXT.fullmatch(line.rstrip("\r\n")), expected)
    subjects = [_SUBJECT.findall(match[2]) for match in rows.values]
    return rows.table(
        {"text": [match[1] for match in rows.values], "tags": subjects}, Columns(text="text", tags="tags")
    )


class _Rows:
    """What a function finds on the lines of a file that are not blank; None is an `InputError`."""

    def __init__(
        self, path: Path, options: FileOptions, parse: Callable[[str], Any], expected: str = ""
    ) -> None:
        encoding, self.notices = find_encoding(path, options.encoding)
        self.path, self.lines, self.values = path, list[int](), list[Any]()
        for number, line in text_lines(path, None, encoding):
            if line.strip():
                value = parse(line)
                if value is None:
                    raise InputError(f"{path}, line {number}: expected {expected}")
                self.lines.append(number)
                self.values.append(value)
        if not self.lines:
            raise InputError(f"{path}: no documents")

    def table(self, columns: dict[str, list[Any]], roles: Columns) -> Table:
        n, names = len(self.lines), list(columns)
        return Table(str(self.path), columns, names, n, self.lines, roles=roles, notices=self.notices)
