"""Which format a file or folder has, by its name and, where that is not enough, by its content."""

from __future__ import annotations

from pathlib import Path

from tagtopics.corpus.formats.json_files import json_kind
from tagtopics.corpus.formats.library_records import xml_kind
from tagtopics.corpus.formats.line_files import is_annif
from tagtopics.corpus.formats.streams import TABLE_KINDS
from tagtopics.corpus.formats.text_folders import holds_texts
from tagtopics.corpus.images.decode import holds_images, is_image
from tagtopics.errors import InputError

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
        raise InputError(f"format: unknown {str(format)[:40]!r}; known are {', '.join(FORMATS)}")
    return path, format or _guess_format(path)


def _guess_format(path: Path) -> str:
    if path.is_dir():
        if any(path.glob("docword.*")):
            return "uci"
        if any(path.glob("*_wd.mat")) and not (path / "words.npz").is_file():
            return "mat"
        if holds_images(path):
            return "images"
        return "texts" if not (path / "vocab.txt").exists() and holds_texts(path) else "folder"
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
