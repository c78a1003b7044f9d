"""Applying changes to the file or folder of notes that a collection came from, in its own format.

Only the tags of changed documents are written anew. All other columns, the order of rows, quotes, line ends
and the spelling of numbers stay as they are. The result is read back and compared with the source before it
is moved to its place.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import json
import re
import shutil
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

from tagtopics.analysis.audit.changes import Change, edit_tags
from tagtopics.corpus.cells import STRONG, TagStyle, divider, list_in, name_of, read_tags
from tagtopics.corpus.core import FileOptions
from tagtopics.corpus.formats.registry import FORMATS, find_source, read_table, stream_table
from tagtopics.corpus.formats.tables import Table
from tagtopics.corpus.formats.text_files import (
    Dialect,
    find_dialect,
    is_wide,
    long_fields,
    open_bytes,
    text_lines,
)
from tagtopics.errors import InputError
from tagtopics.files import atomic_file, atomic_folder, check_apart, check_target
from tagtopics.readers.exports import json_members
from tagtopics.readers.tagged import whole_text

_TABLES = ("jsonl", "csv", "tsv", "parquet")
Cells = dict[str, dict[int, Any]]  # the new cells of each column of tags, by row

_PART = 2**18  # characters of a file to compare at a time

_FIELDS = {
    "doubled": r'"(?:[^"]|"")*+"|[^{delimiter}\r\n]*+',
    "backslash": r'(?:"(?:[^"\\]|\\.)*+")?+(?:[^{delimiter}\\\r\n]|\\.)*+',
    "none": r"[^{delimiter}\r\n]*+",
}
"""One field of a valid record, as `csv.reader` reads it: a quote that is not at its beginning is a letter."""

_ESCAPES: dict[str, dict[int, Any]] = {
    "doubled": str.maketrans({'"': '""'}),
    "backslash": str.maketrans({'"': r"\"", "\\": r"\\"}),
    "none": {},
}
"""How the characters that have a meaning inside quotes are written there."""


@dataclass(frozen=True)
class TagColumns:
    """Where the tags of a table are. Several columns, or a list of one, give tags with a kind."""

    names: str | Sequence[str] | None = None  # None for `tags`
    separator: str | None = None  # between the tags of one cell, None for the default
    id: str | None = None  # the column of ids, None for `id`

    @property
    def kinds(self) -> dict[str, str | None]:
        """The columns, and the kind of the tags of each."""
        if self.names is None or isinstance(self.names, str):
            return {self.names or "tags": None}
        return {name: name for name in self.names}

    def read(self, table: Table) -> dict[str, list[list[str]]]:
        """Return the tags in the cells of each column."""
        return {
            name: read_tags(cells, style=TagStyle.of(cells, self.separator), kind=kind, where=table.where)
            for name, kind in self.kinds.items()
            for cells in [table.cells(name)]
        }


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

    A file of text is compressed if the name of `out` ends in `.gz`. Nothing is written if a change does not
    match the collection, or the result is not read back as intended.
    """
    path, kind = find_source(source, format)
    known = [*_TABLES, *(name for name, one in FORMATS.items() if one.write_tags)]
    if kind not in known:
        raise InputError(f"{path}: changes can be applied to {', '.join(known)}, not to {kind}")
    if kind not in _TABLES and list(columns.kinds.items()) != [("tags", None)]:
        raise InputError(f"{path}: of {kind}, only the column 'tags' can be changed; leave --tags out")
    check_apart(out=out, input=path)
    if is_vault := path.is_dir():
        target = check_target(out, "folder", lambda _: False)
    else:
        target = check_target(out, "file", None, overwrite=overwrite)
    table = read_table(path, kind, {*columns.kinds, columns.id or "id"}, file)
    cells, wanted = _new_cells(table, changes, columns)
    place = atomic_folder(target) if is_vault else atomic_file(target, like=path)
    with place as fresh, long_fields():
        try:
            if is_vault:
                _write_vault(path, kind, fresh, cells, table.cells("id"), file)
            elif kind == "parquet":
                _write_parquet(path, fresh, cells)
            else:
                _write_text(path, kind, fresh, cells, file, packed=target.suffix == ".gz")
            _check_other_cells(table, path, fresh, kind, cells, file)
            _check_tags(read_table(fresh, kind, columns.kinds, file), wanted, columns)
        except InputError as error:
            raise InputError(f"{error}; nothing was written".replace(str(fresh), str(target))) from None
    return len({row for rows in cells.values() for row in rows})


# --------------------------------------------------------------------------------------------------- cells


def _new_cells(table: Table, changes: Sequence[Change], columns: TagColumns) -> tuple[Cells, list[set[str]]]:
    """Return the cells that change, and the tags that each document is to have."""
    for name in columns.kinds:
        table.column(name, "the tags")
    lists = columns.read(table)
    styles = {name: TagStyle.of(table.cells(name), columns.separator) for name in columns.kinds}
    tags_of = [[tag for tags in of_doc for tag in tags] for of_doc in zip(*lists.values(), strict=True)]
    names = table.cells(columns.id or "id")
    ids = [name_of(cell, partial(table.where, row), "id") or str(row) for row, cell in enumerate(names)]
    cells: Cells = {name: {} for name in columns.kinds}
    wanted = []
    for row, (gone, fresh) in enumerate(edit_tags(changes, ids, tags_of)):
        wanted.append(set(tags_of[row]) - gone | set(fresh))
        for name, kind in columns.kinds.items():
            prefix = "" if kind is None else f"{kind}:"
            mine = [tag.removeprefix(prefix) for tag in fresh if tag.startswith(prefix)]
            if mine or gone & set(lists[name][row]):
                separators = styles[name].separators or STRONG
                cells[name][row] = _edit_cell(table.cells(name)[row], gone, mine, prefix, separators)
    return cells, wanted


def _edit_cell(cell: Any, gone: set[str], added: list[str], prefix: str, separators: tuple[str, ...]) -> Any:
    """Return a cell without some tags and with others, in the form it had; the first separator joins tags."""

    def keep(values: Sequence[Any]) -> list[Any]:
        return [value for value in values if prefix + (name_of(value, str) or "") not in gone]

    if isinstance(cell, list):
        return keep(cell) + added
    if not isinstance(cell, str):
        values = keep([] if cell is None else [cell]) + added
        return values[0] if len(values) == 1 else values
    if (listed := list_in(cell)) is not None:
        values = keep([value for value in listed if value is not None]) + added
        return json.dumps(values, ensure_ascii=False)
    dividing = divider(separators)
    parts = keep([part.strip() for part in dividing.split(cell) if part.strip()])
    found = dividing.search(cell)
    mark = found.group() if found else separators[0]
    space = " " if not found or cell[found.end() : found.end() + 1] == " " else ""
    return f"{mark}{space}".join(parts + added)


# ---------------------------------------------------------------------------------------------------- files


def _write_text(
    source: Path, kind: str, fresh: Path, cells: Cells, file: FileOptions, *, packed: bool
) -> None:
    if kind == "jsonl":
        dialect = Dialect(file.encoding or "utf-8", "")
        lines = _json_lines(source, dialect.encoding, cells)
    elif (write_tags := FORMATS[kind].write_tags) is not None:
        text, encoding, _ = whole_text(source, file.encoding)
        dialect = Dialect(encoding, "")
        lines = iter([write_tags(text, str(source), cells["tags"])])
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


def _write_vault(
    folder: Path, kind: str, fresh: Path, cells: Cells, names: Sequence[str], file: FileOptions
) -> None:
    """Copy a folder of documents; those with other tags are written anew."""
    fresh.chmod(0o700)  # until its files have their permissions
    shutil.copytree(folder, fresh, symlinks=True, dirs_exist_ok=True)
    for row, tags in cells["tags"].items():
        _write_text(folder / names[row], kind, fresh / names[row], {"tags": {0: tags}}, file, packed=False)


def _json_lines(path: Path, encoding: str, cells: Cells) -> Iterator[str]:
    row = 0
    for _, line in text_lines(path, encoding):
        if line.isspace():
            yield line
            continue
        new = {name: rows[row] for name, rows in cells.items() if row in rows}
        yield json_with(line, new) if new else line
        row += 1


def json_with(line: str, values: Mapping[str, Any]) -> str:
    """Return a line with one JSON object, in which some values are replaced; a new key is put at the end."""
    dump = partial(json.dumps, ensure_ascii=line.isascii())
    pieces, keys, done = list[str](), set[str | int](), 0
    start = line.index("{")
    last = start + 1
    for key, begin, last in json_members(line, start):
        if key in values:
            pieces += [line[done:begin], dump(values[str(key)])]
            done = last
        keys.add(key)
    added = [f"{dump(name)}: {dump(value)}" for name, value in values.items() if name not in keys]
    pieces += [line[done:last], ", " if keys and added else "", ", ".join(added), line[last:]]
    return "".join(pieces)


def _csv_lines(path: Path, dialect: Dialect, cells: Cells) -> Iterator[str]:
    pending: list[str] = []  # the lines of a record

    def lines() -> Iterator[str]:
        for _, line in text_lines(path, dialect.encoding):
            pending.append(line)
            yield line

    header: list[str] = []
    row = 0
    for fields in csv.reader(lines(), **dialect.arguments):
        record = "".join(pending)
        pending.clear()
        if not fields or not header:
            header = fields or header
            yield record
            continue
        new = {header.index(name): rows[row] for name, rows in cells.items() if row in rows}
        yield csv_with(record, new, dialect) if new else record
        row += 1


def csv_with(record: str, values: Mapping[int, str], dialect: Dialect) -> str:
    """Return a record of a CSV file in which some fields, given by number, are replaced.

    A new value has quotes if the old one had some, or if it needs them.
    """
    field = re.compile(_FIELDS[dialect.quoting].format(delimiter=re.escape(dialect.delimiter)), re.DOTALL)
    fields, end = [], -1
    for place in range(max(values) + 1):
        match = field.match(record, end + 1)
        assert match is not None  # a field may be empty
        old, end = match.group(), match.end()
        new = values.get(place, old)
        escaped = new.translate(_ESCAPES[dialect.quoting])
        special = escaped != new or any(mark in new for mark in (dialect.delimiter, "\r", "\n"))
        quoted = dialect.quoting != "none" and (old.startswith('"') or special)
        fields.append(f'"{escaped}"' if place in values and quoted else new)
    return dialect.delimiter.join(fields) + record[end:]


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


# ----------------------------------------------------------------------------------------------- read back


def _rows(path: Path, kind: str, names: Sequence[str], file: FileOptions) -> Generator[dict[str, Any]]:
    """Yield the cells of each document of a file that are not empty, by column."""
    for part in stream_table(path, kind, names, _PART, options=file):
        if other := set(part.names).difference(names):
            raise InputError(f"{path}: would have a new column {min(other)!r}")
        for row in range(part.n_rows):
            yield {name: cells[row] for name, cells in part.columns.items() if cells[row] is not None}


def _check_other_cells(
    table: Table, source: Path, fresh: Path, kind: str, cells: Cells, file: FileOptions
) -> None:
    """Raise `InputError` if a result differs from its source in other cells than those given."""
    before, after = (_rows(place, kind, table.names, file) for place in (source, fresh))
    with closing(before), closing(after):
        for row, (old, new) in enumerate(zip_longest(before, after)):
            if old is None or new is None:
                raise InputError(f"{table.source}: the result would have another number of documents")
            for name in () if old == new else sorted({*old, *new}):
                one, other = old.get(name), new.get(name)
                differ = one != other and repr(one) != repr(other)  # NaN differs from itself
                if differ and row not in cells.get(name, ()):
                    raise InputError(f"{table.where(row)}: {name!r} would be read differently in the result")


def _check_tags(table: Table, wanted: Sequence[set[str]], columns: TagColumns) -> None:
    """Raise `InputError` if documents of a result have other tags than those wanted."""
    for row, (expected, *lists) in enumerate(zip(wanted, *columns.read(table).values(), strict=True)):
        if wrong := expected.symmetric_difference(tag for tags in lists for tag in tags):
            raise InputError(
                f"{table.where(row)}: {min(wrong)[:60]!r} would not be read back as one tag of this column; "
                "rename it, or give the separator of tags"
            )
