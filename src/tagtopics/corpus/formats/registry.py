"""The formats: which one a file has, and how it is read.

A format reads tables of documents, as a stream of `Table` parts or whole, or it reads `Documents` directly:
counts or images. The common ones are here; `tagtopics.readers` and `tagtopics.images` add theirs with
`register` when a file is first looked for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path

from tagtopics.corpus.core import Documents, FileOptions, ReadOptions
from tagtopics.corpus.formats.jsonl import stream_jsonl
from tagtopics.corpus.formats.matrix_folder import read_folder
from tagtopics.corpus.formats.parquet import stream_parquet
from tagtopics.corpus.formats.tables import Table
from tagtopics.corpus.formats.text_files import stream_delimited
from tagtopics.errors import InputError

LAYERS = ("tagtopics.readers", "tagtopics.images.folder")  # they register formats when they are imported

# Yields the wanted columns of a file in tables of about N characters, its third argument.
Stream = Callable[[Path, Collection[str], float, FileOptions], Iterator[Table]]


@dataclass(frozen=True, kw_only=True)
class Format:
    """A format of files or folders. One of `stream`, `table` and `documents` reads it.

    Attributes:
        stream: yields tables of bounded size.
        table: returns the whole table.
        documents: returns documents that are no table: counts, or images.
        suffixes: of the files that have this format.
        options: names of the `FileOptions` that apply.
        holds: tells whether a folder has this format, or a file with such a suffix or one that is unknown.
        takes_values: whether tags, ids and labels of `documents` are values that the user gives.
        write_tags: returns the text of a file with other tags, from the text, its name for errors, and the
            new list of each document that changes, by number; of a folder, it takes the file of a document.
    """

    stream: Stream | None = None
    table: Callable[[Path, FileOptions], Table] | None = None
    documents: Callable[[Path, ReadOptions], Documents] | None = None
    suffixes: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    holds: Callable[[Path], bool] | None = None
    takes_values: bool = True
    write_tags: Callable[[str, str, Mapping[int, Sequence[str]]], str] | None = None


FORMATS: dict[str, Format] = {}  # by name, as `read_corpus` accepts them
BY_CONTENT: dict[str, Callable[[Path], str]] = {}  # for a suffix of several formats: returns that of a file


def register(name: str, format: Format) -> None:
    """Add a format; if several hold the same folder, the last one reads it."""
    FORMATS[name] = format


register("jsonl", Format(stream=stream_jsonl, suffixes=(".jsonl", ".ndjson"), options=("encoding",)))
for _name, _usual, _suffixes in (("csv", ",", (".csv",)), ("tsv", "\t", (".tsv", ".tab"))):
    _stream = partial(stream_delimited, usual=_usual)
    register(_name, Format(stream=_stream, suffixes=_suffixes, options=("delimiter", "encoding")))
register("parquet", Format(stream=stream_parquet, suffixes=(".parquet", ".pq")))
register("folder", Format(documents=read_folder))


def is_table(name: str) -> bool:
    """Tell whether a format is one of tables."""
    return FORMATS[name].documents is None


def read_table(
    path: Path,
    kind: str,
    wanted: Collection[str],
    options: FileOptions | None = None,
    size: float = math.inf,
) -> Table:
    """Read a file of a format of tables as one table, or its first rows of about `size` characters."""
    with closing(stream_table(path, kind, wanted, size, options=options)) as parts:
        return next(parts)


def stream_table(
    path: Path,
    kind: str,
    wanted: Collection[str],
    size: float,
    options: FileOptions | None = None,
) -> Generator[Table, None, None]:
    """Yield the wanted columns of a file in tables of about `size` characters, at least one table.

    `kind` is a format of tables.
    """
    options, format = options or FileOptions(), FORMATS[kind]
    check_options(path, kind, options)
    if isinstance(wanted, list | tuple):
        wanted = dict.fromkeys(wanted)  # in order; a list would be searched for each name of a header
    if format.stream is not None:
        yield from format.stream(path, wanted, size, options)
    else:
        assert format.table is not None
        yield format.table(path, options)


def check_options(path: Path, kind: str, options: FileOptions) -> None:
    """Raise `InputError` if an option is given that is not one of a format."""
    for name in ("delimiter", "query", "encoding"):
        if getattr(options, name) is not None and name not in FORMATS[kind].options:
            kinds = [other for other, its in FORMATS.items() if name in its.options]
            raise InputError(f"{path}: {name} is an option for {', '.join(kinds)}, not for {kind}")


def find_source(source: str | Path, format: str | None) -> tuple[Path, str]:
    """Return the path that the user named, which must exist, and the name of its format."""
    for layer in LAYERS:
        import_module(layer)
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
    bare = path.with_suffix("") if path.suffix == ".gz" else path
    suffix = "" if path.is_dir() else bare.suffix.lower()
    if suffix in BY_CONTENT:
        return BY_CONTENT[suffix](path)
    likely = [name for name, format in FORMATS.items() if suffix in format.suffixes]
    for name in likely or [*reversed(FORMATS)]:
        holds = FORMATS[name].holds
        if holds is not None and holds(path):
            return name
    if likely:
        return likely[0]
    if not path.is_dir():
        raise InputError(
            f"{path}: cannot tell the format from the name; name it with --format (format=), "
            f"one of {', '.join(FORMATS)}"
        )
    if not any((path / name).exists() for name in ("words.npz", "vocab.txt", "manifest.json")):
        raise InputError(
            f"{path}: no documents in this folder; it may hold texts (.txt .md .pdf), images, "
            "or a matrix (words.npz, vocab.txt)"
        )
    return "folder"
