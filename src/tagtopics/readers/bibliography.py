"""Bibliographies: records of title, abstract, authors, keywords, venue, date and address; BibTeX and RIS.

The text of a record is its title and its abstract. Authors, keywords and venue are tags of three kinds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from tagtopics.corpus.core import FileOptions
from tagtopics.corpus.formats.tables import Table
from tagtopics.corpus.formats.text_files import read_text
from tagtopics.corpus.text import clean_name
from tagtopics.errors import InputError, MissingExtraError, Unusual, one_line
from tagtopics.readers.records import table_of_records

_KINDS = ("author", "keyword", "venue")
_ESCAPE = re.compile(r"\\([%&_#$ {}])")
_COMMAND = re.compile(
    r"""\{?\\(?:["'`^~=.]\s*(?:\{[^{}]*\}|\\?[a-zA-Z])"""  # an accent over one letter
    r"""|[a-zA-Z]+\s*(?:\{[^{}]*\}|\\?[a-zA-Z](?![a-zA-Z]))?)\}?"""
)
_BARE = str.maketrans({"{": None, "}": None, "$": None, "~": " "})
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


@dataclass(frozen=True, kw_only=True)
class Record:
    """One publication."""

    id: str | None = None
    title: str | None = None
    abstract: str | None = None
    author: Sequence[str] = ()
    keyword: Sequence[str] = ()
    venue: str | None = None
    date: str | None = None
    url: str | None = None
    type: str | None = None


def table_of_bibliography(
    path: Path, records: Sequence[Record], lines: Sequence[int] | None = None, notices: Sequence[str] = ()
) -> Table:
    """Return records as a table whose columns have their usual roles."""
    return table_of_records(path, list(map(vars, records)), ("title", "abstract"), _KINDS, lines, notices)


@lru_cache(maxsize=100_000)
def person_name(name: str) -> str:
    """Return a person's name with the given names first: `Liu, Ting` and `Ting Liu` are one author."""
    parts = [clean_name(part) for part in name.split(",")]
    if len(parts) == 2 and all(parts):
        return f"{parts[1]} {parts[0]}"
    if len(parts) == 3 and all(parts):  # Last, Jr., First
        return f"{parts[2]} {parts[0]} {parts[1]}"
    return clean_name(name)


def people(names: Iterable[str]) -> list[str]:
    """Return the names of people, without empty ones."""
    return [found for name in names if (found := person_name(name))]


def _keywords(values: str | Sequence[str]) -> list[str]:
    """Return keywords of a list, or of a string that divides them by semicolons, else by commas."""
    if isinstance(values, str):
        values = values.split(";" if ";" in values else ",")
    return [found for word in values if (found := clean_name(word))]


def text_or_none(value: Any) -> str | None:
    """Return a value as text on one line, None if it is empty or no text."""
    return (clean_name(value) or None) if isinstance(value, str) else None


def _first_text(fields: Mapping[str, Any], read: Callable[[Any], str | None], *names: str) -> str | None:
    """Return the text of the first field that has any."""
    return next((found for name in names if (found := read(fields.get(name)))), None)


# -------------------------------------------------------------------------------------------- BibTeX


def read_bibtex(path: Path, options: FileOptions) -> Table:
    """Read a BibTeX or BibLaTeX file; entries that cannot be parsed are left out with a warning."""
    try:
        from bibtexparser.entrypoint import parse_string
        from bibtexparser.middlewares import RemoveEnclosingMiddleware, ResolveStringReferencesMiddleware
    except ImportError:
        raise MissingExtraError("reading BibTeX", "files") from None
    text, notices = read_text(path, options.encoding)
    stack = [ResolveStringReferencesMiddleware(), RemoveEnclosingMiddleware()]
    months = "".join(f'@string{{{month} = "{month}"}} ' for month in _MONTHS)  # on the first line
    try:
        library = parse_string(months + text, parse_stack=stack)
    except Exception as error:  # the parser has no common class of errors
        raise InputError(f"{path}: cannot be read as BibTeX ({one_line(error)})") from None
    entries = list(library.entries)
    failed = []
    for block in library.failed_blocks:
        inner = getattr(block, "ignore_error_block", None)
        if inner is not None and hasattr(inner, "fields_dict"):
            entries.append(inner)  # a repeated key: both entries stay
        else:
            failed.append((block.start_line or 0) + 1)
    if not entries:
        where = f", line {failed[0]}" if failed else ""
        raise InputError(f"{path}{where}: no BibTeX entry can be read; check its braces and commas")
    entries.sort(key=lambda entry: entry.start_line or 0)
    records = [_bibtex_record(entry) for entry in entries]
    left = f"{len(failed):,} unreadable entries left out, the first on line {failed[0]}" if failed else ""
    unusual = [Unusual(f"{path.name}: {left}")] if failed else []
    lines = [(entry.start_line or 0) + 1 for entry in entries]
    return table_of_bibliography(path, records, lines, [*notices, *unusual])


def _bibtex_record(entry: Any) -> Record:
    from bibtexparser.middlewares.names import split_multiple_persons_names

    raw = {name.lower(): field.value for name, field in entry.fields_dict.items()}
    fields = {name: value for name, value in raw.items() if isinstance(value, str)}
    first = partial(_first_text, fields, lambda value: plain_latex(value or "") or None)
    names = split_multiple_persons_names(fields.get("author") or fields.get("editor") or "")
    year, month = first("year"), first("month")
    date = first("date") or (f"{month} {year}" if year and month and month.isalpha() else year)
    return Record(
        id=str(entry.key) or None,
        title=first("title"),
        abstract=first("abstract"),
        author=people(plain_latex(name) for name in names if name.lower() != "others"),
        keyword=_keywords(first("keywords", "keyword") or ""),
        venue=first("journal", "journaltitle", "booktitle", "series", "school", "institution", "publisher"),
        date=date,
        url=_first_text(fields, lambda value: (value or "").strip(), "url", "doi"),
        type=str(entry.entry_type).lower() or None,
    )


def plain_latex(value: str) -> str:
    """Return LaTeX as plain text on one line: accents as characters, commands and braces removed."""
    if "\\" in value:
        value = _ESCAPE.sub(r"\1", _COMMAND.sub(lambda match: _command_to_text(match[0]), value))
    return clean_name(value.translate(_BARE))


@lru_cache(maxsize=10_000)
def _command_to_text(command: str) -> str:
    """Return the text of one command with its argument; whole texts would take too long."""
    try:
        from pylatexenc.latex2text import LatexNodes2Text

        return str(LatexNodes2Text(math_mode="text").latex_to_text(command, tolerant_parsing=True))
    except Exception:  # hostile or broken LaTeX stays as it is
        return command


# ----------------------------------------------------------------------------------------------- RIS


def read_ris(path: Path, options: FileOptions) -> Table:
    """Read a RIS file, as reference managers export it."""
    try:
        import rispy
    except ImportError:
        raise MissingExtraError("reading RIS", "files") from None
    text, notices = read_text(path, options.encoding)
    first = next((number for number, line in enumerate(text.split("\n"), 1) if line.strip()), 1)
    if not re.match(r"\s*(\d+\.\s*)?TY  -", text.lstrip("\ufeff")):
        raise InputError(f"{path}, line {first}: not RIS; a record begins with 'TY  - '")
    try:
        entries = rispy.loads(text)
    except Exception as error:  # the parser has no common class of errors
        raise InputError(f"{path}: cannot be read as RIS ({one_line(error)})") from None
    return table_of_bibliography(path, [_ris_record(entry) for entry in entries], None, notices)


def _ris_record(entry: Mapping[str, Any]) -> Record:
    first = partial(_first_text, entry, text_or_none)
    urls = entry.get("urls") or [entry.get("url")]
    date = (first("date", "year", "publication_year") or "").rstrip("/")
    return Record(
        id=first("id", "accession_number"),
        title=first("title", "primary_title", "translated_title"),
        abstract=first("abstract", "notes_abstract"),
        author=people(entry.get("authors") or entry.get("first_authors") or ()),
        keyword=_keywords(entry.get("keywords") or ()),
        venue=first("journal_name", "secondary_title", "alternate_title3", "alternate_title1", "publisher"),
        date=re.sub(r"/+", "/", date) or None,
        url=next((str(url) for url in urls if url), None) or first("doi"),
        type=first("type_of_reference"),
    )
