"""SQLite databases, read only: the rows of a query or of the only table."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

from tagtopics.corpus.formats.tables import Table, first_repeated
from tagtopics.corpus.formats.text_files import LINE_LIMIT, check_expanded
from tagtopics.errors import InputError, one_line
from tagtopics.files import digest_file

_ALLOWED = (
    sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE
)  # fmt: skip
_JOURNALS = ("-wal", "-journal")  # ends of the names of files that hold the latest changes of a database
_TRIES = 5  # to copy a database while another program writes it


def read_sqlite(path: Path, query: str | None = None) -> Table:
    """Read the rows of the user's query, or of the only table."""
    with _opened(path) as connection:
        notices: list[str] = []
        if query is None:
            tables = _tables(connection)
            if len(tables) != 1:
                there = ", ".join(tables)[:300] or "none"
                raise InputError(
                    f"{path}: say which rows with query= or --query, such as "
                    f"'SELECT * FROM name'; the tables are: {there}"
                )
            query = f'SELECT * FROM "{tables[0].replace(chr(34), chr(34) * 2)}"'
            notices = [f"{path.name}: read the table {tables[0]!r}"]
        names, rows = _selected(connection, path, query)
    repeated = first_repeated(names)
    if repeated is not None:
        raise InputError(f"{path}: the query selects two columns {repeated!r}; rename one with AS")
    if not rows:
        raise InputError(f"{path}: no documents; the query selects no rows")
    columns = {
        name: [None if isinstance(row[at], bytes) else row[at] for row in rows]
        for at, name in enumerate(names)
    }
    return Table(str(path), columns, names, len(rows), notices=notices)


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a database so that it cannot be changed, and other programs may have it open; errors are ours."""
    try:
        with _address(path.resolve()) as address, closing(sqlite3.connect(address, uri=True)) as connection:
            connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LINE_LIMIT)
            connection.set_authorizer(_authorize)
            yield connection
    except (sqlite3.Error, sqlite3.Warning, OverflowError) as error:
        reason = "a query may only read" if "not authorized" in str(error) else one_line(error)
        raise InputError(f"{path}: cannot be read as SQLite ({reason})") from None


@contextmanager
def _address(path: Path) -> Iterator[str]:
    """Yield the address of a database, or of a copy if it has journals.

    SQLite itself must see the journals, or rows that are committed would be missing and others half written;
    but it would lock the file, write next to it, and wait for other programs.
    """
    if not _journals(path):
        yield f"file:{quote(str(path))}?mode=ro&immutable=1"
        return
    with TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        _copy_with_journals(path, copy)
        yield f"file:{quote(str(copy))}?mode=rw"


def _copy_with_journals(path: Path, copy: Path) -> None:
    """Copy a database and its journals, which must not change meanwhile.

    While they do not, other programs change only pages that the journals have, too.
    """
    for _ in range(_TRIES):
        for end in (*_JOURNALS, ""):
            beside = copy.with_name(copy.name + end)
            beside.unlink(missing_ok=True)
            with suppress(FileNotFoundError):
                shutil.copyfile(path.with_name(path.name + end), beside)
        if _journals(copy) == _journals(path):
            return
    raise InputError(f"{path}: another program is writing it; close that program, or try again")


def _journals(path: Path) -> dict[str, str]:
    """Return digests of the journals of a database that are not empty."""
    files = {end: path.with_name(path.name + end) for end in _JOURNALS}
    return {end: digest_file(file) for end, file in files.items() if file.is_file() and file.stat().st_size}


def _authorize(action: int, *details: Any) -> int:
    """Allow what reads, and deny everything else."""
    harmless = action in _ALLOWED and "load_extension" not in details
    return sqlite3.SQLITE_OK if harmless else sqlite3.SQLITE_DENY


def _tables(connection: sqlite3.Connection) -> list[str]:
    rows = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' "
        "ORDER BY name"
    )
    return [str(name) for (name,) in rows]


def _selected(connection: sqlite3.Connection, path: Path, query: str) -> tuple[list[str], list[Any]]:
    """Return the columns and rows of a query, which may not be larger than a packed file may expand to."""
    cursor = connection.execute(query)
    if cursor.description is None:
        raise InputError(f"{path}: the query selects no rows; begin it with SELECT")
    names = [str(column[0]) for column in cursor.description]
    rows, n_bytes = [], 0
    for row in cursor:
        rows.append(row)
        n_bytes += sum(len(cell) if isinstance(cell, str | bytes) else 8 for cell in row)
        check_expanded(path, n_bytes, len(rows))
    return names, rows
