"""Tables beside files: which of their rows are about which file."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import PurePosixPath

from tagtopics.corpus.cells import name_of
from tagtopics.corpus.formats.tables import Table
from tagtopics.errors import InputError

FILE_COLUMNS = ("file", "filename", "file_name", "path", "document", "image", "photo", "name", "id")
"""The columns that name files; the first that exists is used."""


def first_column(table: Table, candidates: Sequence[str], what: str) -> str:
    """Return the first of some columns that a table has."""
    name = next((name for name in candidates if name in table.columns), None)
    if name is None:
        there = ", ".join(map(str, table.names))[:300] or "none"
        raise InputError(
            f"{table.source}: no column for the {what}; call it {candidates[0]!r}; the columns are: {there}"
        )
    return name


def rows_of_files(table: Table, column: str, names: Sequence[str]) -> tuple[list[list[int]], list[str]]:
    """Return the rows of a table about each file, and the names in the table that no file has.

    Rows name a file by its path, its name, or these without the suffix, if only one file has it.

    Args:
        table: the table.
        column: with the names of files.
        names: paths of the files, with `/`.
    """
    place: dict[str, int] = {}
    forms = [_forms(name) for name in names]
    for of_kind in zip(*forms, strict=True):
        count = Counter(of_kind)
        for at, form in enumerate(of_kind):
            if count[form] == 1:
                place.setdefault(form, at)
    rows: list[list[int]] = [[] for _ in names]
    strangers = list[str]()
    for row, value in enumerate(table.columns[column]):
        name = name_of(value, partial(table.where, row), "file") or ""
        found = [place[form] for form in _forms(name) if form in place]
        if found:
            rows[found[0]].append(row)
        else:
            strangers.append(name or table.where(row))
    return rows, strangers


def _forms(name: str) -> tuple[str, ...]:
    """Return a path, its name, and both without suffix."""
    path = PurePosixPath(unicodedata.normalize("NFC", name.replace("\\", "/")))
    return str(path), path.name, str(path.with_suffix("")) if path.name else "", path.stem
