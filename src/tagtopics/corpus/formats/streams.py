"""The formats: which one a file has, and the readers of tables, JSON lines and Parquet among them.

A file is read as a stream of `Table` parts of bounded size, or whole, as one part.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from tagtopics.corpus.columns import Columns
from tagtopics.corpus.core import FileOptions
from tagtopics.corpus.formats.delimited import stream_delimited
from tagtopics.corpus.formats.sandbox import read_apart
from tagtopics.corpus.formats.tables import Table
from tagtopics.corpus.formats.text_files import (
    ROW_COST,
    Watch,
    check_expanded,
    encoding_as_before,
    text_lines,
)
from tagtopics.corpus.formats.text_folders import SUFFIXES, holds_texts, read_pdf, read_text_folder
from tagtopics.corpus.formats.workbooks import read_workbook
from tagtopics.errors import InputError, MissingExtraError, json_problem
from tagtopics.images.decode import holds_images, is_image
from tagtopics.readers.bibliography import read_bibtex, read_ris
from tagtopics.readers.json_files import (
    json_kind,
    read_crossref,
    read_csl,
    read_json_table,
    read_openalex,
)
from tagtopics.readers.library_records import read_dublin_core, read_marc, read_marcxml, xml_kind
from tagtopics.readers.line_files import is_annif, read_annif, read_lines, read_mallet
from tagtopics.readers.sqlite_files import read_sqlite, read_zotero

_FIRST_ROWS, _MOST_ROWS = 16, 4096
"""Rows in the first request to a Parquet file, when their size is unknown, and in any request of a stream."""

_SLICE = 64 * 2**20
"""Bytes of Parquet to unpack at a time."""

_SAMPLE = 200_000


def read_table(path: Path, kind: str, wanted: Collection[str], options: FileOptions | None = None) -> Table:
    """Read a file of a kind in `TABLE_KINDS` as one table."""
    with closing(stream_table(path, kind, wanted, math.inf, options=options)) as parts:  # type: ignore[type-var]
        return next(parts)


def sample_table(path: Path, kind: str, wanted: Collection[str], options: FileOptions | None = None) -> Table:
    """Read the first rows of such a file, of about `_SAMPLE` characters."""
    with closing(stream_table(path, kind, wanted, _SAMPLE, None, options)) as parts:  # type: ignore[type-var]
        return next(parts)


def stream_table(
    path: Path,
    kind: str,
    wanted: Collection[str],
    size: float,
    watch: Watch | None = None,
    options: FileOptions | None = None,
) -> Iterator[Table]:
    """Yield the wanted columns of a file in tables of about `size` characters, at least one table.

    `kind` is one of `TABLE_KINDS`; `watch` is called now and then with the bytes read so far.
    """
    options = options or FileOptions()
    _check_options(path, kind, options)
    before = options.earlier and options.earlier.encoding
    if before and options.encoding is None and kind in _OPTIONS["encoding"] and path.is_file():
        options = replace(options, encoding=encoding_as_before(path, before))
    if isinstance(wanted, list | tuple):
        wanted = dict.fromkeys(wanted)  # in order; a list would be searched for each name of a header
    return TABLE_KINDS[kind](path, wanted, size, watch, options)


def _stream_jsonl(
    path: Path, wanted: Collection[str], size: float, watch: Watch | None, options: FileOptions
) -> Iterator[Table]:
    """Yield JSON lines; a key that a line lacks is None there, and the names are those of the part alone.

    Equal strings in the lists of a part are one object: most tags occur often.
    """
    columns: dict[str, list[Any]] = {}
    known: dict[str, str] = {}
    lines: list[int] = []
    names: dict[str, None] = {}
    n_chars = n_before = 0
    for number, line in text_lines(path, watch, options.encoding or "utf-8"):
        if line.isspace():
            continue
        row = _json_object(line, path, number)
        if row.keys() != names.keys():
            names.update(dict.fromkeys(row))
            for name in row.keys() - columns.keys():
                if name in wanted:
                    columns[name] = [None] * len(lines)
        for name, cells in columns.items():
            cell = row.get(name)
            if type(cell) is list:
                cell = [known.setdefault(one, one) if type(one) is str else one for one in cell]
            cells.append(cell)
        lines.append(number)
        n_chars += len(line)
        if n_chars >= size:
            yield _part(path, columns, names, lines, n_before)
            n_before += len(lines)
            columns, lines, names, known, n_chars = {}, [], {}, {}, 0
    if lines or not n_before:
        yield _part(path, columns, names, lines, n_before)


def _part(
    path: Path, columns: Mapping[str, list[Any]], names: Mapping[str, None], lines: list[int], n_before: int
) -> Table:
    found = {name: columns[name] for name in names if name in columns}
    return Table(str(path), found, list(names), len(lines), lines, n_before)


def _json_object(line: str, path: Path, number: int) -> dict[str, Any]:
    try:
        value = from_json(line, cache_strings="keys")
    except ValueError:  # it refuses some JSON that the json module reads, and its messages differ
        value = _read_json(line, path, number)
    if not isinstance(value, dict):
        raise InputError(
            f"{path}, line {number}: expected one JSON object per line, got {type(value).__name__}; "
            "write each document on its own line"
        )
    return value


def _read_json(line: str, path: Path, number: int) -> Any:
    try:
        return json.loads(line)
    except RecursionError:
        raise InputError(f"{path}, line {number}: nested too deeply") from None
    except ValueError as error:
        problem = json_problem(error)
        raise InputError(
            f"{path}, line {number}: not valid JSON ({problem}); each line must be one JSON object"
        ) from None


def _stream_parquet(
    path: Path, wanted: Collection[str], size: float, watch: Watch | None, options: FileOptions
) -> Iterator[Table]:
    """Yield the wanted columns of a Parquet file; one that expands too far is an `InputError`."""
    with _polars(path) as pl:
        names = list(pl.read_parquet_schema(path))
        n_rows = pl.scan_parquet(path).select(pl.len()).collect().item()
        keep = [name for name in names if name in wanted]
        if not (keep and n_rows):
            yield Table(str(path), {name: [] for name in keep}, names, n_rows)
            return
        whole: dict[str, list[Any]] = {name: [] for name in keep}
        n_before = 0
        for part in _parquet_slices(pl, path, keep, n_rows, size):
            columns = {name: part[name].to_list() for name in keep}
            if size == math.inf:
                for name, cells in columns.items():
                    whole[name] += cells
            else:
                yield Table(str(path), columns, names, part.height, first_row=n_before)
            n_before += part.height
            if watch is not None:
                watch(path.stat().st_size * n_before // n_rows)
        if size == math.inf:
            yield Table(str(path), whole, names, n_rows)


def _parquet_slices(pl: Any, path: Path, keep: list[str], n_rows: int, size: float) -> Iterator[Any]:
    """Yield frames of about `size` bytes, 64 MiB at most, and add up what the file expands to."""
    most = n_rows if size == math.inf else _MOST_ROWS
    n_bytes, n_before, n_next = 0, 0, _FIRST_ROWS
    while n_before < n_rows:
        part = pl.scan_parquet(path).select(keep).slice(n_before, n_next).collect()
        part_bytes = part.estimated_size() + ROW_COST * part.height
        n_bytes += part_bytes
        check_expanded(path, n_bytes)
        yield part
        n_before += n_next
        n_next = max(1, min(most, math.ceil(min(size, _SLICE) * n_next / part_bytes)))


@contextmanager
def _polars(path: Path) -> Iterator[Any]:
    """Import polars to read a Parquet file; failures are an `InputError`."""
    try:
        import polars as pl
    except ImportError:
        raise MissingExtraError("reading Parquet", "parquet") from None
    try:
        yield pl
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"{path}: cannot be read as Parquet ({reason})") from None


Stream = Callable[[Path, Collection[str], float, Watch | None, FileOptions], Iterator[Table]]


def _whole(read: Callable[[Path, FileOptions], Table]) -> Stream:
    """Return the reader of a file that is read whole, with all columns, as a stream of one part."""

    def stream(
        path: Path, wanted: Collection[str], size: float, watch: Watch | None, options: FileOptions
    ) -> Iterator[Table]:
        yield read(path, options)

    return stream


_APART: Mapping[str, tuple[str, Callable[[Path, FileOptions], Table]]] = {
    "xlsx": ("a workbook", read_workbook),
    "sqlite": ("SQLite", read_sqlite),
    "zotero": ("SQLite", read_zotero),
    "pdf": ("PDF", read_pdf),
}
"""Formats whose parsers may crash or take any memory or time, so that they run in a separate process."""


def _apart(kind: str) -> Stream:
    """Return the reader of a file that is read whole, in a separate process."""

    def read(path: Path, options: FileOptions) -> Table:
        given = (kind, str(path), json.dumps(vars(options)))
        parts = read_apart("tagtopics.corpus.formats.streams:table_as_json", _APART[kind][0], path, *given)
        roles = None if parts["roles"] is None else Columns.model_validate(parts["roles"])
        return Table(**parts | {"roles": roles})

    return _whole(read)


def table_as_json(kind: str, path: str, options: str) -> dict[str, Any]:
    """Read a table of `_APART` and return its parts; it runs in another process."""
    table = _APART[kind][1](Path(path), FileOptions(**json.loads(options)))
    roles = None if table.roles is None else table.roles.model_dump(mode="json")
    return vars(table) | {"roles": roles}


TABLE_KINDS: Mapping[str, Stream] = {
    "jsonl": _stream_jsonl,
    "csv": partial(stream_delimited, usual=","),
    "tsv": partial(stream_delimited, usual="\t"),
    "parquet": _stream_parquet,
    "xlsx": _apart("xlsx"),
    "json": _whole(read_json_table),
    "sqlite": _apart("sqlite"),
    "zotero": _apart("zotero"),
    "bibtex": _whole(read_bibtex),
    "ris": _whole(read_ris),
    "csl": _whole(read_csl),
    "openalex": _whole(read_openalex),
    "crossref": _whole(read_crossref),
    "marc": _whole(read_marc),
    "marcxml": _whole(read_marcxml),
    "dublincore": _whole(read_dublin_core),
    "lines": _whole(read_lines),
    "mallet": _whole(read_mallet),
    "annif": _whole(read_annif),
    "pdf": _apart("pdf"),
    "texts": _whole(read_text_folder),
}
"""The formats of tables; the first four are read in parts, the others whole."""

_OPTIONS = {
    "delimiter": ("csv", "tsv"),
    "query": ("sqlite",),
    "encoding": ("jsonl", "csv", "tsv", "bibtex", "ris", "lines", "mallet", "annif", "texts"),
}
"""The formats that each of `FileOptions` is for."""


def _check_options(path: Path, kind: str, options: FileOptions) -> None:
    for name, kinds in _OPTIONS.items():
        if getattr(options, name) is not None and kind not in kinds:
            raise InputError(f"{path}: {name} is an option for {', '.join(kinds)}, not for {kind}")


FORMATS = (*TABLE_KINDS, "folder", "uci", "mulan", "mat", "ldac", "svmlight", "images")
"""The names that `read_corpus` accepts as a format."""

_SUFFIXES = {
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "tsv", ".tab": "tsv",
    ".parquet": "parquet", ".pq": "parquet", ".ldac": "ldac", ".lda-c": "ldac", ".dat": "ldac",
    ".svm": "svmlight", ".svmlight": "svmlight", ".libsvm": "svmlight", ".arff": "mulan", ".mat": "mat",
    ".xlsx": "xlsx", ".xlsm": "xlsx", ".xlsb": "xlsx", ".xls": "xlsx", ".ods": "xlsx",
    ".sqlite": "sqlite", ".sqlite3": "sqlite", ".db": "sqlite", ".bib": "bibtex", ".bibtex": "bibtex",
    ".ris": "ris", ".mrc": "marc", ".marc": "marc", ".txt": "lines", ".pdf": "pdf",
}  # fmt: skip

_BY_CONTENT = {".json": json_kind, ".xml": xml_kind}
"""The suffixes of several formats, which the content tells apart."""


def find_source(source: str | Path, format: str | None) -> tuple[Path, str]:
    """Return the path that the user named, which must exist, and its format, one of `FORMATS`."""
    path = Path(source)
    try:
        exists, regular = path.exists(), path.is_file() or path.is_dir()
    except (OSError, ValueError):
        exists = regular = False
    if not exists:
        raise InputError(
            f"no such file: {str(source)[:200]!r}" if len(str(source)) > 200 else f"no such file: {source}"
        )
    if not regular:
        raise InputError(f"{path}: not a regular file; save its content to a file first")
    if format is not None and format not in FORMATS:
        raise InputError(f"format: unknown {str(format)[:40]!r}; choose from {', '.join(FORMATS)}")
    return path, format or _guess_format(path)


def _guess_format(path: Path) -> str:
    if path.is_dir():
        if any(path.glob("docword.*")):
            return "uci"
        if any(path.glob("*_wd.mat")) and not (path / "words.npz").is_file():
            return "mat"
        if holds_images(path):
            return "images"
        if not (path / "vocab.txt").exists() and holds_texts(path):
            return "texts"
        if not any((path / name).exists() for name in ("words.npz", "vocab.txt", "manifest.json")):
            raise InputError(
                f"{path}: no documents in this folder; it may hold texts ({' '.join(SUFFIXES)}), images, "
                "or a matrix (words.npz, vocab.txt)"
            )
        return "folder"
    if path.name.startswith("docword."):
        return "uci"
    bare = path.with_suffix("") if path.suffix == ".gz" else path
    suffix = bare.suffix.lower()
    if suffix in _BY_CONTENT:
        return _BY_CONTENT[suffix](path)
    kind = "images" if is_image(path) else _SUFFIXES.get(suffix)
    if kind == "tsv" and is_annif(path):
        return "annif"
    if kind is None:
        raise InputError(
            f"{path}: cannot tell the format from the name; name it with --format (format=), "
            f"one of {', '.join(FORMATS)}"
        )
    return kind
