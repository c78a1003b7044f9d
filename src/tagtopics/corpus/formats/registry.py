"""The formats: which one a file has, and how it is read.

A format reads tables of documents, as a stream of `Table` parts or whole, or it reads `Documents` directly:
counts or images. The common ones are here; `tagtopics.readers` and `tagtopics.images` add theirs with
`register` when a file is first looked for.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any

from tagtopics.corpus.columns import Columns
from tagtopics.corpus.core import Documents, FileOptions, ReadOptions
from tagtopics.corpus.formats.delimited import stream_delimited
from tagtopics.corpus.formats.jsonl import stream_jsonl
from tagtopics.corpus.formats.parquet import stream_parquet
from tagtopics.corpus.formats.sandbox import read_in_sandbox
from tagtopics.corpus.formats.tables import Table
from tagtopics.corpus.formats.text_files import Watch, encoding_as_before
from tagtopics.corpus.formats.text_folders import SUFFIXES, holds_texts, read_pdf, read_text_folder
from tagtopics.corpus.formats.workbooks import read_workbook
from tagtopics.errors import InputError

LAYERS = ("tagtopics.readers", "tagtopics.images")
"""Packages that register formats when they are imported."""

_SAMPLE = 200_000
"""Characters of a sample."""

Stream = Callable[[Path, Collection[str], float, Watch | None, FileOptions], Iterator[Table]]
"""Yields the wanted columns of a file in tables of about N characters, its third argument."""


@dataclass(frozen=True, kw_only=True)
class Format:
    """A format of files or folders. One of `stream`, `table` and `documents` reads it.

    Attributes:
        stream: yields tables of bounded size.
        table: returns the whole table.
        documents: returns documents that are no table: counts, or images.
        sandbox: what the format is called, if `table` runs in a separate process because its parser may crash
            or take any memory or time.
        suffixes: of the files that have this format.
        options: names of the `FileOptions` that apply.
        holds: tells whether a file or folder has this format, whatever its suffix.
        takes_values: whether tags, ids and labels of `documents` are values that the user gives.
    """

    stream: Stream | None = None
    table: Callable[[Path, FileOptions], Table] | None = None
    documents: Callable[[Path, ReadOptions], Documents] | None = None
    sandbox: str | None = None
    suffixes: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    holds: Callable[[Path], bool] | None = None
    takes_values: bool = True


FORMATS: dict[str, Format] = {}
"""The formats by name, as `read_corpus` accepts them."""

BY_CONTENT: dict[str, Callable[[Path], str]] = {}
"""For a suffix that several formats share: returns the name of the format of a file."""


def register(name: str, format: Format) -> None:
    """Add a format."""
    FORMATS[name] = format


def _read_folder(path: Path, options: ReadOptions) -> Documents:
    from tagtopics.corpus.formats.matrix_folder import read_folder  # it reads its texts with `read_table`

    return read_folder(path, options)


_TEXT = ("encoding",)
register("jsonl", Format(stream=stream_jsonl, suffixes=(".jsonl", ".ndjson"), options=_TEXT))
for _name, _usual, _suffixes in (("csv", ",", (".csv",)), ("tsv", "\t", (".tsv", ".tab"))):
    _stream = partial(stream_delimited, usual=_usual)
    register(_name, Format(stream=_stream, suffixes=_suffixes, options=("delimiter", "encoding")))
register("parquet", Format(stream=stream_parquet, suffixes=(".parquet", ".pq")))
_BOOKS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
register("xlsx", Format(table=read_workbook, sandbox="a workbook", suffixes=_BOOKS))
register("pdf", Format(table=read_pdf, sandbox="PDF", suffixes=(".pdf",)))
register("texts", Format(table=read_text_folder, options=_TEXT))
register("folder", Format(documents=_read_folder))


@cache
def load_layers() -> None:
    """Import the layers that register formats."""
    for name in LAYERS:
        import_module(name)


def is_table(name: str) -> bool:
    """Tell whether a format is one of tables."""
    return FORMATS[name].documents is None


def read_table(path: Path, kind: str, wanted: Collection[str], options: FileOptions | None = None) -> Table:
    """Read a file of a format of tables as one table."""
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

    `kind` is a format of tables; `watch` is called now and then with the bytes read so far.
    """
    options, format = options or FileOptions(), FORMATS[kind]
    _check_options(path, kind, options)
    before = options.earlier and options.earlier.encoding
    if before and options.encoding is None and "encoding" in format.options and path.is_file():
        options = replace(options, encoding=encoding_as_before(path, before))
    if isinstance(wanted, list | tuple):
        wanted = dict.fromkeys(wanted)  # in order; a list would be searched for each name of a header
    if format.stream is not None:
        return format.stream(path, wanted, size, watch, options)
    return _one_part(path, kind, options)


def _one_part(path: Path, kind: str, options: FileOptions) -> Iterator[Table]:
    """Yield a file with all its columns as one table."""
    yield _whole_table(path, kind, options)


def _whole_table(path: Path, kind: str, options: FileOptions) -> Table:
    """Read a file with all its columns, in a separate process if its parser is not safe."""
    format = FORMATS[kind]
    assert format.table is not None
    if format.sandbox is None:
        return format.table(path, options)
    given = (kind, str(path), json.dumps(vars(options)))
    parts = read_in_sandbox("tagtopics.corpus.formats.registry:table_as_json", format.sandbox, path, *given)
    roles = None if parts["roles"] is None else Columns.model_validate(parts["roles"])
    return Table(**parts | {"roles": roles})


def table_as_json(kind: str, path: str, options: str) -> dict[str, Any]:
    """Read a table and return its parts; it runs in another process."""
    load_layers()
    read = FORMATS[kind].table
    assert read is not None
    table = read(Path(path), FileOptions(**json.loads(options)))
    roles = None if table.roles is None else table.roles.model_dump(mode="json")
    return vars(table) | {"roles": roles}


def _check_options(path: Path, kind: str, options: FileOptions) -> None:
    for name in ("delimiter", "query", "encoding"):
        if getattr(options, name) is not None and name not in FORMATS[kind].options:
            kinds = [other for other, format in FORMATS.items() if name in format.options]
            raise InputError(f"{path}: {name} is an option for {', '.join(kinds)}, not for {kind}")


def find_source(source: str | Path, format: str | None) -> tuple[Path, str]:
    """Return the path that the user named, which must exist, and the name of its format."""
    load_layers()
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
    """Return the name of the format of a file or folder."""
    for name, format in FORMATS.items():
        if format.holds is not None and format.holds(path):
            return name
    if path.is_dir():
        if not (path / "vocab.txt").exists() and holds_texts(path):
            return "texts"
        if not any((path / name).exists() for name in ("words.npz", "vocab.txt", "manifest.json")):
            raise InputError(
                f"{path}: no documents in this folder; it may hold texts ({' '.join(SUFFIXES)}), images, "
                "or a matrix (words.npz, vocab.txt)"
            )
        return "folder"
    bare = path.with_suffix("") if path.suffix == ".gz" else path
    suffix = bare.suffix.lower()
    if suffix in BY_CONTENT:
        return BY_CONTENT[suffix](path)
    for name, format in FORMATS.items():
        if suffix in format.suffixes:
            return name
    raise InputError(
        f"{path}: cannot tell the format from the name; name it with --format (format=), "
        f"one of {', '.join(FORMATS)}"
    )
