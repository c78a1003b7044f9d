"""Small files that make parsers crash, fill the memory or run for hours: one clear line, in little time."""

from __future__ import annotations

import datetime
import gzip
import json
import os
import socket
import sqlite3
import sys
import zipfile
import zlib
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tagtopics import InputError, read_corpus
from tagtopics.corpus.formats import text_files
from tagtopics.readers import sandbox as apart
from tagtopics.readers.sandbox import SandboxedReader, read_in_sandbox
from tagtopics.subjects.thesaurus import read_thesaurus

limited = pytest.mark.skipif(sys.platform != "linux", reason="limits of memory and time are Linux's")
forked = pytest.mark.usefixtures("forked")  # the limits are the same, Python is not started for each file


def act(path: str, what: str = "") -> Any:
    """Do what the jobs of the tests below ask for, in the other process."""
    if what == "crash":
        os.kill(os.getpid(), 11)
    if what == "spin":
        while True:
            pass
    if what == "fill":
        return len([bytes(2**20) for _ in range(2**20)])
    if what == "fail":
        raise KeyError("what")
    if what == "refuse":
        raise InputError(f"{path}, line 3: no")
    sys.stdout.write("noise on the way\n")
    return [path, what, datetime.date(2020, 1, 2), datetime.datetime(2020, 1, 2, 3), "\0x", "a\ud800"]


ACT = "test_corpus_sandbox:act"


def test_values_come_back(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    found = read_in_sandbox(ACT, "a file", tmp_path / "a", "given", "")
    assert found == [
        "given", "", "2020-01-02", "2020-01-02T03:00:00", "\0x", "a\ud800"
    ]  # fmt: skip


@limited
def test_a_process_that_ends_is_one_line_and_the_next_file_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(apart, "BASE_SECONDS", 1)
    (tmp_path / "a").write_text("x")
    expected = {
        "crash": r"a: cannot be read as a file \(the reader crashed, status -11\)",
        "spin": r"a: cannot be read as a file \(it takes more than 1 s; is it damaged\?\)",
        "fill": r"a: cannot be read as a file \(it needs too much memory\)",
        "fail": r"a: cannot be read as a file \('what'\)",
        "refuse": r"^x, line 3: no$",
    }
    with SandboxedReader(ACT, "a file") as process:
        for what, message in expected.items():
            with pytest.raises(InputError, match=message):
                process.read(tmp_path / "a", "x", what)
        assert process.read(tmp_path / "a")[0] == str(tmp_path / "a")


def test_limits_grow_with_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs: list[Any] = []
    monkeypatch.setattr(SandboxedReader, "_start", lambda self: None)

    def answer(self: SandboxedReader, job: str, wait: float) -> str:
        jobs.append(json.loads(job))
        return '["value", 1]'

    monkeypatch.setattr(SandboxedReader, "_answer", answer)
    (tmp_path / "a").write_text("x")
    for size in (None, 10**6, 10**9):
        SandboxedReader(ACT, "a file").read(tmp_path / "a", size=size)
    base = apart.BASE_SECONDS
    assert [job["seconds"] for job in jobs] == [base, base + 20, base + 20_000]
    assert [job["memory"] - 2**30 for job in jobs] == [2**26, 10**8, 10**11]


def test_a_file_that_crashes_its_reader_is_one_clear_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.xlsx").write_bytes(b"x")
    monkeypatch.setattr(apart, "_CODE", "import os, sys; sys.stdin.readline(); os.kill(os.getpid(), 11)")
    with pytest.raises(InputError, match=r"a\.xlsx: cannot be read .*the reader crashed, status -11"):
        read_corpus(tmp_path / "a.xlsx")


# ------------------------------------------------------------------------------------------ workbooks

XLSX = {
    "[Content_Types].xml": "<Types xmlns='http://schemas.openxmlformats.org/package/2006/content-types'/>",
    "_rels/.rels": "<Relationships xmlns='http://schemas.openxmlformats.org/package/2006/relationships'>"
    "<Relationship Id='r1' Target='xl/workbook.xml' "
    "Type='http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument'/>"
    "</Relationships>",
    "xl/workbook.xml": "<workbook xmlns='http://schemas.openxmlformats.org/spreadsheetml/2006/main' "
    "xmlns:r='http://schemas.openxmlformats.org/officeDocument/2006/relationships'>"
    "<sheets><sheet name='a' sheetId='1' r:id='rId1'/></sheets></workbook>",
    "xl/_rels/workbook.xml.rels": "<Relationships "
    "xmlns='http://schemas.openxmlformats.org/package/2006/relationships'><Relationship Id='rId1' "
    "Type='http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet' "
    "Target='worksheets/sheet1.xml'/></Relationships>",
}


def write_xlsx(path: Path, cells: dict[str, str]) -> Path:
    """Write a workbook that has some cells, named as `B2`."""
    rows = "".join(
        f"<row r='{name.lstrip('ABCDEFGHIJKLMNOPQRSTUVWXYZ')}'>"
        f"<c r='{name}' t='inlineStr'><is><t>{text}</t></is></c></row>"
        for name, text in cells.items()
    )
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in XLSX.items():
            archive.writestr(name, content)
        archive.writestr(
            "xl/worksheets/sheet1.xml", f"<worksheet xmlns='{main}'><sheetData>{rows}</sheetData></worksheet>"
        )
    return path


@forked
@limited
def test_a_cell_far_away_takes_no_memory(tmp_path: Path) -> None:
    pytest.importorskip("python_calamine")
    near = write_xlsx(tmp_path / "near.xlsx", {"A1": "text", "A2": "bread wine"})
    assert read_corpus(near).vocabulary == ("bread", "wine")
    far = write_xlsx(tmp_path / "far.xlsx", {"A1": "text", "XFD1048576": "bread"})
    with pytest.raises(InputError, match=r"far\.xlsx: cannot be read as a workbook \(the reader crashed"):
        read_corpus(far)


@forked
def test_repeated_rows_count(tmp_path: Path) -> None:
    pytest.importorskip("python_calamine")
    office = "urn:oasis:names:tc:opendocument:xmlns"
    cell = "<table:table-cell office:value-type='string'><text:p>bread</text:p></table:table-cell>"
    with zipfile.ZipFile(tmp_path / "a.ods", "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", f"<m:manifest xmlns:m='{office}:manifest:1.0'/>")
        archive.writestr(
            "content.xml",
            f"<office:document-content xmlns:office='{office}:office:1.0' xmlns:table='{office}:table:1.0' "
            f"xmlns:text='{office}:text:1.0'><office:body><office:spreadsheet><table:table table:name='a'>"
            f"<table:table-row>{cell}</table:table-row>"
            f"<table:table-row table:number-rows-repeated='1048570'>{cell}</table:table-row>"
            "</table:table></office:spreadsheet></office:body></office:document-content>",
        )
    with pytest.raises(InputError, match=r"a\.ods: expands to more than 67,108,864 bytes"):
        read_corpus(tmp_path / "a.ods", text="bread")


# --------------------------------------------------------------------------------------------- SQLite


@forked
@pytest.mark.parametrize(
    ("column", "rows", "message"),
    [
        ("hex(zeroblob(40000000))", 1, "string or blob too big"),
        ("hex(zeroblob(30000000))", 3, "expands to more than 67,108,864 bytes"),
    ],
)
def test_computed_columns_are_bounded(tmp_path: Path, column: str, rows: int, message: str) -> None:
    connection = sqlite3.connect(tmp_path / "a.db")
    connection.execute(f"CREATE TABLE t (id INT, text TEXT GENERATED ALWAYS AS ({column}) VIRTUAL)")
    connection.executemany("INSERT INTO t (id) VALUES (?)", [(row,) for row in range(rows)])
    connection.commit()
    connection.close()
    with pytest.raises(InputError, match=message):
        read_corpus(tmp_path / "a.db")


@forked
@limited
def test_a_query_without_an_end_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "BASE_SECONDS", 1)
    connection = sqlite3.connect(tmp_path / "a.db")
    connection.execute("CREATE TABLE t (text TEXT)")
    connection.close()
    query = "WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) AS text FROM c"
    with pytest.raises(InputError, match=r"a\.db: cannot be read as SQLite \(it takes more than 1 s"):
        read_corpus(tmp_path / "a.db", query=query)


# ------------------------------------------------------------------------------------------------ PDF


def write_pdf(path: Path, content: bytes, n_pages: int) -> None:
    """Write a PDF file that shows one page many times."""
    stream = zlib.compress(content)
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[" + b"3 0 R " * n_pages + b"]/Count %d>>" % n_pages,
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>",
        b"<</Length %d/Filter/FlateDecode>>stream\n" % len(stream) + stream + b"\nendstream",
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    data, places = b"%PDF-1.5\n", []
    for number, one in enumerate(objects, start=1):
        places.append(len(data))
        data += b"%d 0 obj\n" % number + one + b"\nendobj\n"
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    data += b"xref\n0 6\n0000000000 65535 f \n" + table
    start = data.index(b"xref\n0 6")
    path.write_bytes(data + b"trailer\n<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % start)


@forked
@limited
def test_a_pdf_that_takes_too_long_is_an_empty_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pypdf")
    monkeypatch.setattr(apart, "BASE_SECONDS", 1)
    monkeypatch.setattr(apart, "SECONDS_PER_MEGABYTE", 0)
    write_pdf(tmp_path / "a.pdf", b"BT /F 12 Tf " + b"(bread bread) Tj " * 4000 + b"ET", 9000)
    write_pdf(tmp_path / "b.pdf", b"BT /F 12 Tf (wine) Tj ET", 1)
    with pytest.warns(UserWarning, match=r"a\.pdf: cannot be read as PDF \(it takes more than 1 s"):
        corpus = read_corpus(tmp_path)
    assert corpus.counts.toarray().tolist() == [[0], [1]]
    assert corpus.vocabulary == ("wine",)


# ----------------------------------------------------------------------------------------- vocabularies

RDF = (
    "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' "
    "xmlns:s='http://www.w3.org/2004/02/skos/core#'><s:Concept rdf:about='http://e/a'>"
    "<s:prefLabel>%s</s:prefLabel></s:Concept></rdf:RDF>"
)


@forked
@limited
def test_entities_within_entities_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rdflib")
    monkeypatch.setattr(apart, "BASE_SECONDS", 1)
    names = "abcdefghijkl"
    entities = [f"<!ENTITY {b} '{f'&{a};' * 10}'>" for a, b in pairwise(names)]
    head = f"<?xml version='1.0'?><!DOCTYPE r [<!ENTITY a 'aaaaaaaaaaaaaaaaaaaa'>{''.join(entities)}]>"
    (tmp_path / "a.rdf").write_text(head + RDF % "&l;")
    with pytest.raises(InputError, match=r"a\.rdf: cannot be read as xml"):
        read_thesaurus(tmp_path / "a.rdf")


@forked
def test_entities_name_no_files(tmp_path: Path) -> None:
    pytest.importorskip("rdflib")
    (tmp_path / "secret").write_text("secret")
    head = f"<!DOCTYPE r [<!ENTITY a SYSTEM '{(tmp_path / 'secret').as_uri()}'>]>"
    (tmp_path / "a.rdf").write_text(head + RDF % "x&a;y")
    assert read_thesaurus(tmp_path / "a.rdf").names == ("xy",)


@forked
def test_a_packed_vocabulary_does_not_expand_without_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("rdflib")
    monkeypatch.setattr(text_files, "FREE_EXPANSION", 2**20)
    (tmp_path / "a.ttl.gz").write_bytes(gzip.compress(b" " * 2**24))
    with pytest.raises(InputError, match=r"a\.ttl\.gz: expands to more than [\d,]+ bytes"):
        read_thesaurus(tmp_path / "a.ttl.gz")


ELSEWHERE = {
    "doctype.rdf": "<!DOCTYPE r SYSTEM '{0}'>" + RDF % "bread",
    "entity.rdf": "<!DOCTYPE r [<!ENTITY a SYSTEM '{0}'>]>" + RDF % "bread&a;",
    "parameter.rdf": "<!DOCTYPE r [<!ENTITY % a SYSTEM '{0}'> %a;]>" + RDF.replace("%s", "bread"),
    "stylesheet.rdf": "<?xml-stylesheet href='{0}'?>" + RDF % "bread",
    "include.rdf": (RDF % "bread").replace(
        "</rdf:RDF>", "<x:include xmlns:x='http://www.w3.org/2001/XInclude' rdf:about='{0}'/></rdf:RDF>"
    ),
    "imports.ttl": "@base <{0}> . <{0}> <http://www.w3.org/2002/07/owl#imports> <{0}> . "
    "<http://e/a> <http://www.w3.org/2004/02/skos/core#prefLabel> 'bread' .",
    "imports.n3": "@prefix log: <http://www.w3.org/2000/10/swap/log#> . <{0}> log:semantics <{0}> . "
    '<http://e/a> <http://www.w3.org/2004/02/skos/core#prefLabel> "bread" .',
}
"""Vocabularies that name an address in the ways of their formats."""


@forked
@pytest.mark.parametrize("name", ELSEWHERE)
def test_a_vocabulary_is_read_without_network_and_other_files(tmp_path: Path, name: str) -> None:
    pytest.importorskip("rdflib")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setblocking(False)
        os.mkfifo(tmp_path / "pipe")  # who opens it waits until the test ends
        for address in (f"http://127.0.0.1:{listening.getsockname()[1]}/c", (tmp_path / "pipe").as_uri()):
            (tmp_path / name).write_text(ELSEWHERE[name].format(address))
            assert read_thesaurus(tmp_path / name).names == ("bread",)
        with pytest.raises(BlockingIOError):
            listening.accept()


def test_a_separate_process_cannot_use_the_network(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setblocking(False)
        address = f"http://127.0.0.1:{listening.getsockname()[1]}/c"
        with pytest.raises(InputError, match=r"a: cannot be read as it \(.*nothing is read"):
            read_in_sandbox("urllib.request:urlopen", "it", tmp_path / "a", address)
        with pytest.raises(BlockingIOError):
            listening.accept()


# ------------------------------------------------------------------------------------------------ text


def test_a_heading_takes_linear_time(tmp_path: Path) -> None:
    """A regular expression took minutes for these; a test that hangs fails."""
    (tmp_path / "a.md").write_text("bread\n# a" + "#" * 10**6 + " x\n")
    (tmp_path / "b.md").write_text("# Wine and glass ##\nwine\n")
    corpus = read_corpus(tmp_path)
    assert corpus.titles is not None
    assert [str(title)[:16] for title in corpus.titles] == ["a" + "#" * 15, "Wine and glass"]
