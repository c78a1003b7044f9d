"""Applying changes to the file or folder that a collection came from, in its own format.

Only the tags of changed documents are written anew. All other columns, the order of rows, quotes, line ends
and the spelling of numbers stay as they are.
"""

from __future__ import annotations

import gzip
import json
import re
import shutil
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import scipy.sparse as sp

from tagtopics._io import atomic_file, atomic_folder, check_apart, check_target
from tagtopics.analysis.changes import Change, TagEditor, apply_changes
from tagtopics.analysis.raw_text import csv_records, csv_with, json_with
from tagtopics.corpus.cells import STRONG, TagStyle, list_in
from tagtopics.corpus.core import Corpus, FileOptions
from tagtopics.corpus.formats.delimited import find_dialect
from tagtopics.corpus.formats.streams import find_source, read_table
from tagtopics.corpus.formats.tables import Table
from tagtopics.corpus.formats.text_files import open_bytes, text_lines
from tagtopics.corpus.read import read_corpus
from tagtopics.corpus.tags import distinct_tags, name_of, read_tags
from tagtopics.corpus.write import write_names
from tagtopics.errors import CorpusWarning, InputError

FORMATS = ("jsonl", "csv", "tsv", "parquet", "folder")
"""The formats that changes can be applied to."""

Cells = dict[str, dict[int, Any]]
"""The new cells of each column of tags, by row."""


@dataclass(frozen=True)
class TagColumns:
    """Where the tags of a table are.

    Attributes:
        names: the columns; None for `tags`. Several columns, or a list of one, give tags with a kind.
        separator: between the tags of one cell, None for the default.
        id: the column of ids, None for `id`.
    """

    names: str | Sequence[str] | None = None
    separator: str | None = None
    id: str | None = None

    @property
    def kinds(self) -> dict[str, str | None]:
        """The columns, and the kind of the tags of each."""
        if self.names is None or isinstance(self.names, str):
            return {self.names or "tags": None}
        return {name: name for name in self.names}


def rewrite(
    source: str | Path,
    out: str | Path,
    changes: Sequence[Change],
    columns: TagColumns = TagColumns(),
    *,
    format: str | None = None,
    overwrite: bool = False,
) -> int:
    """Write a collection with changed tags, in the format it came in; return how many documents changed.

    Args:
        source: a file of JSON lines, CSV, TSV or Parquet, or a matrix folder.
        out: the file or folder to write; compressed if a file of text and its name ends in `.gz`.
        changes: the accepted changes.
        columns: where the tags are, if the source is a table.
        format: the format, None to tell it from the name.
        overwrite: replace an existing file.

    Raises:
        InputError: if a change does not match the collection, or cannot be written; nothing is written then.
    """
    path, kind = find_source(source, format)
    if kind not in FORMATS:
        raise InputError(f"{path}: changes can be applied to {', '.join(FORMATS)}, not to {kind}")
    check_apart(out=out, input=path)
    if kind in ("csv", "tsv"):
        _require_usual(path, "," if kind == "csv" else "\t")
    if kind == "folder":
        target = check_target(out, "matrix folder", lambda _: False)
        return _rewrite_folder(path, target, changes)
    target = check_target(out, "file", None, overwrite=overwrite)
    table = read_table(path, kind, {*columns.kinds, columns.id or "id"})
    cells = _new_cells(table, changes, columns)
    with atomic_file(target) as fresh:
        if kind == "parquet":
            _write_parquet(path, fresh, cells)
        else:
            lines = _json_lines(path, cells) if kind == "jsonl" else _csv_lines(path, cells, kind)
            _write_text(path, fresh, lines, packed=target.suffix == ".gz")
    return len({row for rows in cells.values() for row in rows})


# -------------------------------------------------------------------------------------------------- tables


def _new_cells(table: Table, changes: Sequence[Change], columns: TagColumns) -> Cells:
    """Return the cells that change, after checking that they will be read as intended."""
    lists = {name: _read(table, name, table.column(name, "the tags"), columns) for name in columns.kinds}
    separators = {name: _separators(table.cells(name), columns.separator) for name in columns.kinds}
    tags_of = [[tag for tags in of_doc for tag in tags] for of_doc in zip(*lists.values(), strict=True)]
    names = table.cells(columns.id or "id")
    ids = [name_of(cell, partial(table.where, row), "id") or str(row) for row, cell in enumerate(names)]
    editor = TagEditor(changes, ids, distinct_tags(tags_of))
    cells: Cells = {name: {} for name in columns.kinds}
    wanted = []
    for row, tags in enumerate(tags_of):
        gone, fresh = editor.edit(row, tags)
        wanted.append({tag for tag in tags if tag not in gone} | set(fresh))
        for name, kind in columns.kinds.items():
            mine = [tag for tag in fresh if _belongs(tag, kind)]
            if mine or gone & set(lists[name][row]):
                cell = table.cells(name)[row]
                cells[name][row] = _edited_cell(cell, gone, mine, kind, separators[name])
    _check(table, cells, wanted, columns)
    return cells


def _read(table: Table, name: str, cells: Sequence[Any], columns: TagColumns) -> list[list[str]]:
    return read_tags(cells, separator=columns.separator, kind=columns.kinds[name], where=table.where)


def _belongs(tag: str, kind: str | None) -> bool:
    return kind is None or tag.startswith(f"{kind}:")


def _separators(cells: Sequence[Any], separator: str | None) -> tuple[str, ...]:
    """Return the strings that divide the tags of a column; the first one joins new tags."""
    return TagStyle.of(cells, separator).separators or STRONG


def _edited_cell(
    cell: Any, gone: set[str], fresh: Sequence[str], kind: str | None, separators: tuple[str, ...]
) -> Any:
    """Return a cell without some tags and with others, in the form it had."""

    def stays(value: Any) -> bool:
        name = name_of(value, str) or ""
        return (name if kind is None else f"{kind}:{name}") not in gone

    added = [tag if kind is None else tag.removeprefix(f"{kind}:") for tag in fresh]
    if isinstance(cell, list):
        return [value for value in cell if stays(value)] + added
    if cell is None:
        return added if len(added) != 1 else added[0]
    if not isinstance(cell, str):
        kept = [cell] if stays(cell) else []
        return (kept + added)[0] if len(kept + added) == 1 else kept + added
    if (values := list_in(cell)) is not None:
        return json.dumps(
            [value for value in values if value is not None and stays(value)] + added, ensure_ascii=False
        )
    divider = re.compile("|".join(map(re.escape, separators)))
    parts = [part for part in divider.split(cell) if part.strip() and stays(part)]
    found = divider.search(cell)
    mark = found.group() if found else separators[0]
    space = " " if not found or cell[found.end() : found.end() + 1] == " " else ""
    return f"{mark}{space}".join([part.strip() for part in parts] + added) if added or parts else ""


def _check(table: Table, cells: Cells, wanted: Sequence[set[str]], columns: TagColumns) -> None:
    """Raise `InputError` if the new columns would be read as other tags than those wanted."""
    found: list[set[str]] = [set() for _ in wanted]
    for name, rows in cells.items():
        new = [_as_read(rows.get(row, cell), cell) for row, cell in enumerate(table.cells(name))]
        for tags, read in zip(found, _read(table, name, new, columns), strict=True):
            tags.update(read)
    for row, (tags, expected) in enumerate(zip(found, wanted, strict=True)):
        if tags != expected:
            raise InputError(
                f"{table.where(row)}: {min(tags ^ expected)[:60]!r} would not be read back as one tag of "
                "this column; rename it, or give the separator of tags"
            )


def _as_read(cell: Any, old: Any) -> Any:
    """Return a new cell as a file of text will give it back, if the old one was text."""
    return _as_text(cell) if isinstance(old, str) else cell


def _json_lines(path: Path, cells: Cells) -> Iterator[str]:
    row = 0
    for _, line in text_lines(path):
        if line.isspace():
            yield line
            continue
        new = {name: rows[row] for name, rows in cells.items() if row in rows}
        yield json_with(line, new) if new else line
        row += 1


def _require_usual(path: Path, delimiter: str) -> None:
    """Check that a file has the encoding, delimiter and quotes in which changes are written."""
    unusual = find_dialect(path, delimiter, FileOptions()).notices
    if unusual:
        raise InputError(f"{path}: changes need UTF-8 with the usual delimiter and quotes; {unusual[0]}")


def _csv_lines(path: Path, cells: Cells, kind: str) -> Iterator[str]:
    delimiter = "," if kind == "csv" else "\t"
    header: list[str] = []
    row = 0
    for record, fields in csv_records(path, delimiter):
        if not fields or not header:
            header = fields or header
            yield record
            continue
        new = {header.index(name): _as_text(rows[row]) for name, rows in cells.items() if row in rows}
        yield csv_with(record, new, delimiter) if new else record
        row += 1


def _as_text(cell: Any) -> str:
    return cell if isinstance(cell, str) else ";".join(map(str, cell))


def _write_text(source: Path, fresh: Path, lines: Iterator[str], *, packed: bool) -> None:
    with open_bytes(source) as file:
        mark = b"\xef\xbb\xbf" if file.read(3) == b"\xef\xbb\xbf" else b""
    with fresh.open("wb") as raw, ExitStack() as stack:
        target: Any = raw
        if packed:
            target = stack.enter_context(gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0))
        target.write(mark)
        target.writelines(line.encode("utf-8") for line in lines)


def _write_parquet(path: Path, fresh: Path, cells: Cells) -> None:
    import polars as pl

    frame = pl.read_parquet(path)
    for name, rows in cells.items():
        values = frame[name].to_list()
        listed = isinstance(frame.schema[name], pl.List)
        for row, value in rows.items():
            values[row] = [value] if listed and not isinstance(value, list) else value
            if not listed and isinstance(value, list):
                values[row] = ";".join(map(str, value))
        frame = frame.with_columns(pl.Series(name, values, dtype=frame.schema[name]))
    frame.write_parquet(fresh)


# ------------------------------------------------------------------------------------------------- folders


def _rewrite_folder(path: Path, target: Path, changes: Sequence[Change]) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CorpusWarning)
        corpus = read_corpus(path, format="folder")
    changed = apply_changes(corpus, changes)
    with atomic_folder(target) as folder:
        for place in sorted(path.iterdir()):
            if place.is_file() and place.name not in ("tags.npz", "tags.txt"):
                shutil.copyfile(place, folder / place.name)
        if changed.n_tags:
            sp.save_npz(folder / "tags.npz", changed.tags)
            write_names(changed.tag_names, folder / "tags.txt")
    return _n_changed(corpus, changed)


def _n_changed(before: Corpus, after: Corpus) -> int:
    return sum(set(before.tags_of(row)) != set(after.tags_of(row)) for row in range(before.n_docs))
