"""Workbooks: .xlsx, .xlsm, .xlsb, .xls and .ods. The first sheet with rows is the table."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tagtopics.corpus.formats.tables import Table, find_repeated
from tagtopics.corpus.formats.text_files import check_expansion
from tagtopics.errors import InputError, MissingExtraError, one_line


def read_workbook(file: str) -> Table:
    """Read the first sheet that has rows; its first row names the columns. It runs in another process."""
    path = Path(file)
    try:
        from python_calamine import CalamineWorkbook
    except ImportError:
        raise MissingExtraError("reading workbooks", "files") from None
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                check_expansion(path, sum(member.file_size for member in archive.infolist()))
        with CalamineWorkbook.from_path(str(path)) as book:
            names = list(book.sheet_names)
            sheets = ((name, book.get_sheet_by_name(name).to_python()) for name in names)
            name, rows = next(((name, rows) for name, rows in sheets if rows), ("", []))
    except InputError:
        raise
    except BaseException as error:  # a panic of the parser is no Exception
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        raise InputError(f"{path}: cannot be read as a workbook ({one_line(error)})") from None
    n_bytes = sum(len(cell) if isinstance(cell, str) else 8 for row in rows for cell in row)
    check_expansion(path, n_bytes, len(rows))
    notices = [f"{path.name}: read the sheet {name!r} of {len(names)}"] if len(names) > 1 else []
    return _table(path, rows, notices)


def _table(path: Path, rows: Sequence[Sequence[Any]], notices: list[str]) -> Table:
    if len(rows) < 2:
        raise InputError(
            f"{path}: no documents; the first row names the columns, each further row is a document"
        )
    header = [str(name).strip() for name in rows[0]]
    named = [(at, name) for at, name in enumerate(header) if name]
    names = [name for _, name in named]
    repeated = find_repeated(names)
    if repeated is not None:
        raise InputError(f"{path}, row 1: two columns are named {repeated!r}; rename one")
    if not names:
        raise InputError(f"{path}, row 1: no column has a name; the first row names the columns")
    kept = [(number, row) for number, row in enumerate(rows[1:], start=2) if any(cell != "" for cell in row)]
    columns = {}
    for at, name in named:
        cells = [None if row[at] == "" else row[at] for _, row in kept]
        is_text = any(isinstance(cell, str) for cell in cells)  # then numbers are text, too
        columns[name] = [f"{cell:.15g}" if is_text and _is_number(cell) else cell for cell in cells]
    return Table(str(path), columns, names, len(kept), [number for number, _ in kept], notices=notices)


def _is_number(cell: Any) -> bool:
    return isinstance(cell, int | float) and not isinstance(cell, bool)
