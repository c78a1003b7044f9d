"""Folders of text files, one document per file: .txt, .md and .pdf.

What is known of the documents comes from `metadata.csv`, `.tsv`, `.jsonl`, `.json` or `.xlsx` in the folder;
else the names of sub-folders are tags.
"""

from __future__ import annotations

from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any

from tagtopics.corpus.core import FileOptions
from tagtopics.corpus.formats.registry import read_table
from tagtopics.corpus.formats.tables import Table
from tagtopics.corpus.formats.text_files import existing, read_text
from tagtopics.errors import InputError, MissingExtraError, Unusual, one_line
from tagtopics.readers.records import table_of_columns
from tagtopics.readers.sandbox import SandboxedReader
from tagtopics.readers.side_tables import FILE_COLUMNS, first_column, rows_of_files

SUFFIXES = (".txt", ".text", ".md", ".markdown", ".pdf")
METADATA_FILES = ("csv", "tsv", "jsonl", "json", "xlsx")
_OURS = ("words.npz", "model.json", "manifest.json")
_MOST_PAGES = 10_000


def holds_texts(path: Path) -> bool:
    """Tell whether a path is a folder with text files, there or in sub-folders, and no matrix folder."""
    known = not path.is_dir() or (path / "vocab.txt").exists()
    return not known and any(_is_text(file) for file in path.rglob("*"))


def _is_text(path: Path) -> bool:
    """Tell whether a path is a text file, and none of a model, a matrix folder or shards."""
    if path.suffix.lower() not in SUFFIXES or path.name.startswith(".") or not path.is_file():
        return False
    return not any((path.parent / name).exists() for name in _OURS)


def read_text_folder(folder: Path, options: FileOptions) -> Table:
    """Read a folder of text files; a document is named by its path in the folder."""
    if not folder.is_dir():
        raise InputError(f"{folder}: not a folder; format texts is for folders of .txt, .md or .pdf files")
    found = sorted((path for path in folder.rglob("*") if _is_text(path)), key=lambda path: path.as_posix())
    paths = [path for path in found if path.resolve().is_relative_to(folder.resolve())]
    if not paths:
        raise InputError(f"{folder}: no files {', '.join(SUFFIXES)}")
    names = [path.relative_to(folder).as_posix() for path in paths]
    notices, guessed, warned = list[str](), list[str](), list[str]()
    if elsewhere := len(found) - len(paths):
        warned.append(f"{folder.name}: left out {elsewhere:,} links to files elsewhere; copy the files")
    with SandboxedReader("tagtopics.readers.text_folders:pdf_text", "PDF") as process:
        texts = [_read_document(path, options, guessed, warned, process) for path in paths]
    columns: dict[str, list[Any]] = {"id": names}
    columns["text"], columns["title"] = (list(column) for column in zip(*texts, strict=True))
    metadata = (folder / f"metadata.{suffix}" for suffix in METADATA_FILES)
    if (table := existing(*metadata)) is not None:
        known, notices = _metadata(table, names)
        columns |= known
    elif any("/" in name for name in names):
        columns["tags"] = [list(PurePosixPath(name).parts[:-1]) for name in names]
        notices = [f"{folder.name}: the names of sub-folders are tags"]
    tags = "tags" if "tags" in columns else None
    if len(guessed) > 1:
        guessed = [f"{folder.name}: {len(guessed):,} files are not UTF-8; {guessed[0]}"]
    return table_of_columns(
        folder, columns, "text", tags, notices=[*notices, *guessed, *map(Unusual, warned)]
    )


def read_pdf(file: str) -> Table:
    """Read the text of one PDF file as one document; it runs in another process."""
    path = Path(file)
    text, title = pdf_text(str(path))
    return table_of_columns(path, {"text": [text], "id": [path.name], "title": [title or path.stem]}, "text")


def _read_document(
    path: Path, options: FileOptions, guessed: list[str], warned: list[str], process: SandboxedReader
) -> tuple[str, str]:
    """Return the text and the title of a file; an empty file is an empty document."""
    if path.suffix.lower() == ".pdf":
        try:
            text, title = process.read(path)
        except MissingExtraError:
            raise
        except InputError as error:
            warned.append(f"{error}; the document is empty")
            return "", path.stem
        return text, title or path.stem
    if path.stat().st_size == 0:
        return "", path.stem
    text, notices = read_text(path, options.encoding)
    guessed += notices
    marked = path.suffix.lower() in (".md", ".markdown")
    return text, (heading_of(text) if marked else None) or path.stem


def heading_of(text: str) -> str | None:
    """Return the first heading of a Markdown text, None without one."""
    lines = (line[1:].rstrip() for line in text.split("\n") if line.startswith(("# ", "#\t")))
    return next((title for line in lines if (title := line.rstrip("#").strip())), None)


def pdf_text(path: str) -> tuple[str, str | None]:
    """Return the text and the title of a PDF file; it runs in another process."""
    try:
        from pypdf import PdfReader
    except ImportError:
        raise MissingExtraError("reading PDF", "pdf") from None
    try:
        with Path(path).open("rb") as file:
            reader = PdfReader(file)
            pages = [page.extract_text() or "" for page in islice(reader.pages, _MOST_PAGES)]
            title = reader.metadata.title if reader.metadata else None
    except Exception as error:  # the parser has no common class of errors
        raise InputError(f"{path}: cannot be read as PDF ({one_line(error)})") from None
    return "\n".join(pages), title if isinstance(title, str) else None


def _metadata(path: Path, names: list[str]) -> tuple[dict[str, list[Any]], list[str]]:
    """Return the columns that a table has of the documents, and notices."""
    kind = path.suffix[1:]
    table = read_table(path, kind, read_table(path, kind, ()).names)
    key = first_column(table, FILE_COLUMNS, "files")
    firsts = [of_file[0] if of_file else None for of_file in rows_of_files(table, key, names)[0]]
    columns = {
        name: [None if row is None else cells[row] for row in firsts]
        for name, cells in table.columns.items()
        if name not in (key, "text", "id")
    }
    n_missing = firsts.count(None)
    missing = [f"{n_missing:,} files without a line in {path.name}"] if n_missing else []
    return columns, [*table.notices, *missing]
