"""SQLite databases, read only: the rows of a query or of the only table."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tagtopics.corpus.formats.tables import Table, find_repeated
from tagtopics.corpus.formats.text_files import LINE_LIMIT, check_expansion
from tagtopics.errors import InputError, one_line

_ALLOWED = (
    sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE
)  # fmt: skip


def read_sqlite(file: str, query: str | None = None) -> Table:
    """Read the rows of the user's query, or of the only table."""
    path = Path(file)
    with _open(path) as connection:
        notices: list[str] = []
        if query is None:
            listed = (
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*' ORDER BY 1"
            )
            tables = [str(name) for (name,) in connection.execute(listed)]
            if len(tables) != 1:
                there = ", ".join(tables)[:300] or "none"
                raise InputError(
                    f"{path}: say which rows with query= or --query, such as "
                    f"'SELECT * FROM name'; the tables are: {there}"
                )
            query = f'SELECT * FROM "{tables[0].replace(chr(34), chr(34) * 2)}"'
            notices = [f"{path.name}: read the table {tables[0]!r}"]
        names, rows = _select(connection, path, query)
    repeated = find_repeated(names)
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
def _open(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a database so that it cannot be changed; what goes wrong is an `InputError`.

    Without journals, nothing else is writing it: it is read without locks, also where nothing can be written.
    """
    journals = [path.with_name(path.name + end) for end in ("-wal", "-journal")]
    mode = "ro" if any(journal.is_file() for journal in journals) else "ro&immutable=1"
    address = f"file:{quote(str(path.resolve()))}?mode={mode}"

    def authorize(action: int, *details: Any) -> int:
        harmless = action in _ALLOWED and "load_extension" not in details
        return sqlite3.SQLITE_OK if harmless else sqlite3.SQLITE_DENY

    try:
        with closing(sqlite3.connect(address, uri=True)) as connection:
            connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LINE_LIMIT)
            connection.set_authorizer(authorize)
            yield connection
    except (sqlite3.Error, sqlite3.Warning, OverflowError) as error:
        reason = "a query may only read" if "not authorized" in str(error) else one_line(error)
        raise InputError(f"{path}: cannot be read as SQLite ({reason})") from None


def _select(connection: sqlite3.Connection, path: Path, query: str) -> tuple[list[str], list[Any]]:
    """Return the columns and rows of a query, which may not be larger than a packed file may expand to."""
    cursor = connection.execute(query)
    if cursor.description is None:
        raise InputError(f"{path}: the query selects no rows; begin it with SELECT")
    names = [str(column[0]) for column in cursor.description]
    rows, n_bytes = [], 0
    for row in cursor:
        rows.append(row)
        n_bytes += sum(len(cell) if isinstance(cell, str | bytes) else 8 for cell in row)
        check_expansion(path, n_bytes, len(rows))
    return names, rows
