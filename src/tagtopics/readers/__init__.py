"""Readers of workbooks, databases, text folders, bibliographies, library records, bookmarks, notes.

Importing this package registers them.
"""

from __future__ import annotations

from functools import partial

from tagtopics.corpus.formats.registry import BY_CONTENT, Format, register
from tagtopics.readers.bibliography import read_bibtex, read_ris
from tagtopics.readers.bookmarks import find_bookmarks
from tagtopics.readers.exports import (
    find_karakeep,
    find_linkwarden,
    find_paperless,
    json_kind,
    read_json_table,
    write_paperless,
)
from tagtopics.readers.library_records import read_marc, read_marcxml
from tagtopics.readers.line_files import is_annif, read_annif, read_lines
from tagtopics.readers.sandbox import sandboxed
from tagtopics.readers.tagged import read_tagged, write_tagged
from tagtopics.readers.text_folders import holds_texts, read_text_folder
from tagtopics.readers.vault import find_note, is_vault, read_vault

_TEXT = ("encoding",)
_BOOKS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
_read_workbook = sandboxed("tagtopics.readers.workbooks:read_workbook", "a workbook")
register("xlsx", Format(table=_read_workbook, suffixes=_BOOKS))
register("pdf", Format(table=sandboxed("tagtopics.readers.text_folders:read_pdf", "PDF"), suffixes=(".pdf",)))
register("texts", Format(table=read_text_folder, options=_TEXT, holds=holds_texts))
_DATABASES = (".sqlite", ".sqlite3", ".db")
_read_sqlite = sandboxed("tagtopics.readers.sqlite_files:read_sqlite", "SQLite")
register("sqlite", Format(table=_read_sqlite, suffixes=_DATABASES, options=("query",)))
register("json", Format(table=read_json_table))
register("bibtex", Format(table=read_bibtex, suffixes=(".bib", ".bibtex"), options=_TEXT))
register("ris", Format(table=read_ris, suffixes=(".ris",), options=_TEXT))
register("marc", Format(table=read_marc, suffixes=(".mrc", ".marc")))
register("marcxml", Format(table=read_marcxml, suffixes=(".xml",)))
register("lines", Format(table=read_lines, suffixes=(".txt",), options=_TEXT))
register("annif", Format(table=read_annif, suffixes=(".tsv", ".tab"), options=_TEXT, holds=is_annif))
for name, find, suffixes in (
    ("karakeep", find_karakeep, ()),
    ("linkwarden", find_linkwarden, ()),
    ("paperless", find_paperless, ()),
    ("bookmarks", find_bookmarks, (".html", ".htm")),
):
    write = write_paperless if name == "paperless" else partial(write_tagged, find)
    reads = partial(read_tagged, find)
    register(name, Format(table=reads, suffixes=suffixes, options=_TEXT, write_tags=write))
_write_note = partial(write_tagged, find_note)
register("vault", Format(table=read_vault, options=_TEXT, holds=is_vault, write_tags=_write_note))
BY_CONTENT[".json"] = json_kind
