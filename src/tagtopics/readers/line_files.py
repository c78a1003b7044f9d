"""One document per line: plain text, MALLET's instance lists, and Annif's short-text corpora."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from tagtopics.corpus.columns import Columns
from tagtopics.corpus.core import FileOptions
from tagtopics.corpus.formats.tables import Table
from tagtopics.corpus.formats.text_files import find_encoding, open_bytes, text_lines
from tagtopics.errors import InputError

_INSTANCE = re.compile(r"(\S+)[\s,]+(\S+)[\s,]+(.*)", re.DOTALL)
_NO_LABEL = {"x", "X", "_", "-", "none", "null"}
_SUBJECTS = re.compile(r"\s*(?:<[^<>\s]+>\s*)+")
_SUBJECT = re.compile(r"<([^<>\s]+)>")
_BOUNDED = 4 * 2**20


def is_annif(path: Path) -> bool:
    """Tell whether the first lines of a file are texts with subjects: `text TAB <uri> <uri>`."""
    with open_bytes(path) as file:
        lines = [file.readline(_BOUNDED) for _ in range(3)]
    cells = [line.decode("utf-8", "replace").rstrip("\r\n").split("\t") for line in lines if line.strip()]
    return bool(cells) and all(len(row) == 2 and _SUBJECTS.fullmatch(row[1]) for row in cells)


def read_lines(path: Path, options: FileOptions) -> Table:
    """Read a text file with one document per line."""
    encoding, notices = find_encoding(path, options.encoding)
    numbered = [(n, line.strip()) for n, line in text_lines(path, None, encoding) if line.strip()]
    notices.append(f"{path.name}: one document per line")
    columns = {"text": [line for _, line in numbered]}
    return _table(path, columns, [n for n, _ in numbered], Columns(text="text"), notices)


def read_mallet(path: Path, options: FileOptions) -> Table:
    """Read what `mallet import-file` reads: name, label and text on each line.

    The label is the tag and the class of the document, unless it is a placeholder such as X.
    """
    encoding, notices = find_encoding(path, options.encoding)
    rows, lines = [], []
    for number, line in text_lines(path, None, encoding):
        if not line.strip():
            continue
        match = _INSTANCE.match(line.strip())
        if match is None:
            raise InputError(f"{path}, line {number}: expected a name, a label and a text")
        rows.append(match.groups())
        lines.append(number)
    labels = [None if label in _NO_LABEL else label for _, label, _ in rows]
    columns: dict[str, list[Any]] = {"id": [row[0] for row in rows], "text": [row[2] for row in rows]}
    roles = Columns(text="text", id="id")
    if any(labels):
        columns |= {"tags": [[label] if label else [] for label in labels], "label": labels}
        roles = Columns(text="text", id="id", tags="tags", label="label")
    return _table(path, columns, lines, roles, notices)


def read_annif(path: Path, options: FileOptions) -> Table:
    """Read Annif's short-text corpus: a text, a tab, and the addresses of its subjects in `<>`."""
    encoding, notices = find_encoding(path, options.encoding)
    texts, subjects, lines = [], [], []
    for number, line in text_lines(path, None, encoding):
        if not line.strip():
            continue
        text, tab, rest = line.rstrip("\r\n").partition("\t")
        if not tab or not (_SUBJECTS.fullmatch(rest) or not rest.strip()):
            raise InputError(f"{path}, line {number}: expected a text, a tab and subjects such as <uri>")
        texts.append(text)
        subjects.append(_SUBJECT.findall(rest))
        lines.append(number)
    columns: dict[str, list[Any]] = {"text": texts, "tags": subjects}
    return _table(path, columns, lines, Columns(text="text", tags="tags"), notices)


def _table(
    path: Path, columns: dict[str, list[Any]], lines: list[int], roles: Columns, notices: list[str]
) -> Table:
    if not lines:
        raise InputError(f"{path}: no documents")
    return Table(str(path), columns, list(columns), len(lines), lines, roles=roles, notices=notices)
