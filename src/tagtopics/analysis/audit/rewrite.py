"""Applying changes to the file or folder that a collection came from, in its own format.

Only the tags of changed documents are written anew. All other columns, the order of rows, quotes, line ends
and the spelling of numbers stay as they are. The result is read back and compared with the source before it
is moved to its place.
"""

from __future__ import annotations

import codecs
import gzip
import json
import re
import shutil
import warnings
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

import scipy.sparse as sp

from tagtopics.analysis.audit.changes import Change, TagEditor, apply_changes
from tagtopics.analysis.audit.raw_text import csv_records, csv_with, json_with
from tagtopics.corpus.cells import STRONG, TagStyle, list_in
from tagtopics.corpus.core import Corpus, FileOptions
from tagtopics.corpus.formats.delimited import Dialect, find_dialect, long_fields
from tagtopics.corpus.formats.registry import find_source, read_table, stream_table
from tagtopics.corpus.formats.tables import Table
from tagtopics.corpus.formats.text_files import is_wide, open_bytes, text_lines
from tagtopics.corpus.read import read_corpus
from tagtopics.corpus.tags import distinct_tags, name_of, read_tags
from tagtopics.corpus.write import write_names
from tagtopics.errors import CorpusWarning, InputError
from tagtopics.files import atomic_file, atomic_folder, check_apart, check_target

FORMATS = ("jsonl", "csv", "tsv", "parquet", "folder")
"""The formats that changes can be applied to."""

Cells = dict[str, dict[int, Any]]
"""The new cells of each column of tags, by row."""

Rows = Generator[dict[str, Any], None, None]

_PART = 2**18
"""Characters of a file of text to compare at a time."""


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
    file: FileOptions = FileOptions(),
) -> int:
    """Write a collection with changed tags, in the format it came in; return how many documents changed.

    Args:
        source: a file of JSON lines, CSV, TSV or Parquet, or a matrix folder.
        out: the file or folder to write; compressed if a file of text and its name ends in `.gz`.
        changes: the accepted changes.
        columns: where the tags are, if the source is a table.
        format: the format, None to tell it from the name.
        overwrite: replace an existing file.
        file: how to read the source, if it is a table.

    Raises:
        InputError: if a change does not match the collection, or the result is not read back as intended;
            nothing is written then.
    """
    path, kind = find_source(source, format)
    if kind not in FORMATS:
        raise InputError(f"{path}: changes can be applied to {', '.join(FORMATS)}, not to {kind}")
    check_apart(out=out, input=path)
    if kind == "folder":
        target = check_target(out, "matrix folder", lambda _: False)
        return _rewrite_folder(path, target, changes)
    target = check_target(out, "file", None, overwrite=overwrite)
    table = read_table(path, kind, {*columns.kinds, columns.id or "id"}, file)
    cells, wanted = _new_cells(table, changes, columns)
    with atomic_file(target, like=path) as fresh, long_fields():
        try:
            if kind == "parquet":
                _write_parquet(path, fresh, cells)
            else:
                _write_text(path, kind, fresh, cells, file, packed=target.suffix == ".gz")
            before, after = (_rows(place, kind, table.names, file) for place in (path, fresh))
            with closing(before), closing(after):
                written = _compare(table, before, after, cells)
            _check_tags(written, wanted, columns)
        except InputError as error:
            raise InputError(f"{error}; nothing was written".replace(str(fresh), str(target))) from None
    return len({row for rows in cells.values() for row in rows})


# -------------------------------------------------------------------------------------------------- tables


def _new_cells(table: Table, changes: Sequence[Change], columns: TagColumns) -> tuple[Cells, list[set[str]]]:
    """Return the cells that change, and the tags that each document is to have."""
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
    return cells, wanted


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


def _rows(path: Path, kind: str, names: Sequence[str], file: FileOptions) -> Rows:
    """Yield the cells of each document of a file that are not empty, by column."""
    if kind == "parquet":
        import polars as pl

        yield from pl.read_parquet(path).iter_rows(named=True)
        return
    for part in stream_table(path, kind, names, _PART, options=file):
        if other := set(part.names).difference(names):
            raise InputError(f"{path}: would have a new column {min(other)!r}")
        for row in range(part.n_rows):
            yield {name: cells[row] for name, cells in part.columns.items() if cells[row] is not None}


def _compare(table: Table, before: Rows, after: Rows, cells: Cells) -> Table:
    """Return the columns of tags of the result; any other difference is an `InputError`."""
    columns: dict[str, list[Any]] = {name: [] for name in cells}
    for row, (old, new) in enumerate(zip_longest(before, after)):
        if old is None or new is None:
            raise InputError(f"{table.source}: the result would have another number of documents")
        for name, column in columns.items():
            column.append(new.get(name))
        for name in () if old == new else sorted({*old, *new}):
            one, other = old.get(name), new.get(name)
            differ = one != other and repr(one) != repr(other)  # NaN differs from itself
            if differ and row not in cells.get(name, ()):
                raise InputError(f"{table.where(row)}: {name!r} would be read differently in the result")
    return replace(table, columns=columns)


def _check_tags(table: Table, wanted: Sequence[set[str]], columns: TagColumns) -> None:
    """Raise `InputError` if documents have other tags than those wanted."""
    found: list[set[str]] = [set() for _ in wanted]
    for name in columns.kinds:
        for tags, read in zip(found, _read(table, name, table.cells(name), columns), strict=True):
            tags.update(read)
    for row, (tags, expected) in enumerate(zip(found, wanted, strict=True)):
        if tags != expected:
            raise InputError(
                f"{table.where(row)}: {min(tags ^ expected)[:60]!r} would not be read back as one tag of "
                "this column; rename it, or give the separator of tags"
            )


def _write_text(
    source: Path, kind: str, fresh: Path, cells: Cells, file: FileOptions, *, packed: bool
) -> None:
    if kind == "jsonl":
        dialect = Dialect(file.encoding or "utf-8", "")
        lines = _json_lines(source, dialect.encoding, cells)
    else:
        dialect = find_dialect(source, "," if kind == "csv" else "\t", file)
        lines = _csv_lines(source, dialect, cells)
    encoding = codecs.lookup(dialect.encoding).name.removesuffix("-sig")  # the mark is copied
    if is_wide(encoding):
        raise InputError(f"{source}: changes cannot be written in {encoding.upper()}; save it as UTF-8")
    with open_bytes(source) as content:
        mark = codecs.BOM_UTF8 if content.read(3) == codecs.BOM_UTF8 else b""
    with fresh.open("wb") as raw, ExitStack() as stack:
        target: Any = raw
        if packed:
            target = stack.enter_context(gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0))
        target.write(mark)
        try:
            target.writelines(line.encode(encoding) for line in lines)
        except UnicodeEncodeError as error:
            character = error.object[error.start]
            raise InputError(
                f"{source}: {character!r} cannot be written in {encoding}; save it as UTF-8"
            ) from None


def _json_lines(path: Path, encoding: str, cells: Cells) -> Iterator[str]:
    row = 0
    for _, line in text_lines(path, None, encoding):
        if line.isspace():
            yield line
            continue
        new = {name: rows[row] for name, rows in cells.items() if row in rows}
        yield json_with(line, new) if new else line
        row += 1


def _csv_lines(path: Path, dialect: Dialect, cells: Cells) -> Iterator[str]:
    header: list[str] = []
    row = 0
    for record, fields in csv_records(path, dialect):
        if not fields or not header:
            header = fields or header
            yield record
            continue
        new = {header.index(name): rows[row] for name, rows in cells.items() if row in rows}
        yield csv_with(record, new, dialect) if new else record
        row += 1


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
        try:
            column = pl.Series(name, values, dtype=frame.schema[name])
        except (TypeError, pl.exceptions.PolarsError):
            problem = f"the column {name!r} of type {frame.schema[name]} cannot hold the new tags"
            raise InputError(f"{path}: {problem}; convert it to text") from None
        frame = frame.with_columns(column)
    described = pl.read_parquet_metadata(path)
    described.pop("ARROW:schema", None)  # polars writes its own
    frame.write_parquet(fresh, metadata=described)


# ------------------------------------------------------------------------------------------------- folders


def _rewrite_folder(path: Path, target: Path, changes: Sequence[Change]) -> int:
    corpus = _read_folder(path)
    changed = apply_changes(corpus, changes)
    with atomic_folder(target) as folder:
        folder.chmod(0o700)  # until its files have their permissions
        for place in sorted(path.iterdir()):
            if place.is_file() and place.name not in ("tags.npz", "tags.txt"):
                shutil.copy(place, folder / place.name)
        if changed.n_tags:
            sp.save_npz(folder / "tags.npz", changed.tags)
            write_names(changed.tag_names, folder / "tags.txt")
            for name in ("tags.npz", "tags.txt"):
                like = path / name if (path / name).exists() else path / "words.npz"
                shutil.copymode(like, folder / name)
        if _n_changed(_read_folder(folder), changed):
            raise InputError(f"{target}: the tags would not be read back; nothing was written")
        shutil.copymode(path, folder)
    return _n_changed(corpus, changed)


def _read_folder(path: Path) -> Corpus:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CorpusWarning)
        return read_corpus(path, format="folder")


def _n_changed(before: Corpus, after: Corpus) -> int:
    return sum(set(before.tags_of(row)) != set(after.tags_of(row)) for row in range(before.n_docs))
