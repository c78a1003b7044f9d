"""Documents that readers found, as tables whose columns have their usual roles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tagtopics.corpus.formats.tables import Table
from tagtopics.corpus.recipe import Columns
from tagtopics.errors import InputError


def table_of_columns(
    source: Path | str,
    columns: Mapping[str, Sequence[Any]],
    text: str | tuple[str, ...],
    tags: str | tuple[str, ...] | None = None,
    lines: Sequence[int] | None = None,
    notices: Sequence[str] = (),
) -> Table:
    """Return a table; columns that are named id, title, date and url are used as such."""
    used = {name: name for name in ("id", "title", "date", "url") if name in columns}
    roles = Columns(text=text, tags=tags, **used)  # type: ignore[arg-type]
    n_rows = len(next(iter(columns.values())))
    return Table(str(source), columns, list(columns), n_rows, lines, roles=roles, notices=notices)


def table_of_records(
    source: Path | str,
    records: Sequence[Mapping[str, Any]],
    text: tuple[str, ...],
    tags: str | tuple[str, ...],
    lines: Sequence[int] | None = None,
    notices: Sequence[str] = (),
) -> Table:
    """Return a table of records with the same fields, without those that are empty in all of them.

    Args:
        source: names the file in errors.
        records: one for each document.
        text: the fields that make the text.
        tags: the field with the tags, or those of several kinds of tags.
        lines: on which records begin.
        notices: what the reader decided.
    """
    if not records:
        raise InputError(f"{source}: no documents")
    names = [name for name in records[0] if name == tags or any(record[name] for record in records)]
    columns = {name: [record[name] for record in records] for name in names}
    texts = tuple(name for name in text if name in columns)
    if not texts:
        raise InputError(f"{source}: no document has {' or '.join(text)}")
    said, kinds = f"text from {' and '.join(texts)}", tags
    if not isinstance(tags, str):
        kinds = tuple(kind for kind in tags if kind in columns)
        said += f", tags from {', '.join(kinds)}" if kinds else ""
    return table_of_columns(source, columns, texts, kinds or None, lines, (*notices, said))
