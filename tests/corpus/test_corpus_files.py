"""Files as people have them: every kind is read end to end, and damaged ones give one line."""

from __future__ import annotations

import gzip
import json
import re
import sqlite3
import warnings
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from files_support import KINDS, ROWS, YEARS

import tagtopics as tt
from tagtopics.readers.bibliography import person_name, plain_latex

pytestmark = pytest.mark.usefixtures("forked")

PLAIN_WORDS = {"oven", "bread", "wine", "tram", "trams", "baker", "glass"}


def read(path: Path, options: dict[str, Any]) -> tt.Corpus:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tt.CorpusWarning)
        return tt.read_corpus(path, **options)


@pytest.mark.compiled
@pytest.mark.parametrize("name", KINDS)
def test_every_kind_of_file_is_read_end_to_end(name: str, tmp_path: Path) -> None:
    kind = KINDS[name]
    corpus = read(kind.write(tmp_path), kind.options)
    assert corpus.n_docs == 3
    assert set(corpus.tag_names) == kind.tags
    assert set(corpus.vocabulary) & PLAIN_WORDS
    assert any(kind.notice in line for line in (*corpus.notices, ""))
    assert not kind.notice or any(kind.notice in line for line in corpus.notices)
    assert corpus.titles == kind.titles
    if kind.years:
        assert tuple(date[:4] for date in corpus.dates or () if date) == YEARS
    if kind.urls:
        assert all(url is not None and url.startswith("https://") for url in corpus.urls or (None,))
    model = tt.LDA(2, random_state=0, max_iter=2).fit_topics(corpus)
    model.save(tmp_path / "m.tt", corpus=corpus)
    assert tt.load(tmp_path / "m.tt").doc_ids_ == corpus.ids


def test_texts_are_what_was_written(tmp_path: Path) -> None:
    for number, (name, kind) in enumerate(KINDS.items()):
        (tmp_path / str(number)).mkdir()
        corpus = read(kind.write(tmp_path / str(number)), {**kind.options, "recipe": tt.TextRecipe(min_df=1)})
        text = (corpus.texts or ("",))[0]
        if kind.options.get("text") == "abstract":
            assert text == ROWS[0]["abstract"], name
        elif "naïve" in " ".join(corpus.texts or ()):
            assert "baker bakes bread" in text, name


def test_one_author_whatever_the_order_of_names() -> None:
    assert person_name("Liu, Ting") == person_name("Ting Liu") == "Ting Liu"
    assert person_name("King, Jr., Martin") == "Martin King Jr."
    assert person_name("ACL, the, association, of") == "ACL, the, association, of"


def test_latex_becomes_text() -> None:
    assert plain_latex(r"M{\"u}ller, 5\% of {BERT} \emph{tests}") == "Müller, 5% of BERT tests"
    assert plain_latex(r"a~b {\bf c") == "a b c"


def test_columns_can_be_named_in_a_bibliography(tmp_path: Path) -> None:
    path = KINDS["BibTeX of pybtex"].write(tmp_path)
    corpus = read(path, {"text": "abstract", "tags": "keyword"})
    assert corpus.tag_names == ("baking", "drinks", "traffic", "wine")
    assert read(path, {"tags": ["venue"]}).tag_names == ("venue:City", "venue:Food")
    with pytest.raises(tt.InputError, match="no column 'subject' for the tags; the columns are: id, title"):
        read(path, {"tags": "subject"})


def test_unreadable_entries_are_left_out_and_repeated_keys_stay(tmp_path: Path) -> None:
    good = KINDS["BibTeX of pybtex"].write(tmp_path).read_text(encoding="utf-8")
    (tmp_path / "b.bib").write_text(
        good + "\n@article{bad, title = {never closed\n\n" + good, encoding="utf-8"
    )
    with pytest.warns(tt.CorpusWarning, match="unreadable entries left out, the first on line"):
        corpus = tt.read_corpus(tmp_path / "b.bib")
    assert corpus.n_docs >= 6


def test_a_database_is_never_changed(tmp_path: Path) -> None:
    path = KINDS["SQLite, query"].write(tmp_path)
    before = path.read_bytes()
    for query in ("DELETE FROM papers", "CREATE TABLE x (y)", "ATTACH 'o.db' AS o", "PRAGMA user_version=3",
                  "SELECT load_extension('x')", "VACUUM", "SELECT 1; SELECT 2", "nonsense"):  # fmt: skip
        with pytest.raises(tt.InputError, match=r"a\.sqlite: cannot be read as SQLite"):
            read(path, {"query": query, "text": "abstract"})
    endless = (
        "WITH RECURSIVE n(abstract) AS (SELECT 'a' UNION ALL SELECT abstract || 'a' FROM n) SELECT * FROM n"
    )
    with pytest.raises(tt.InputError, match="expands to more than"):
        read(path, {"query": endless, "text": "abstract"})
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.sqlite"]
    with pytest.raises(tt.InputError, match="the tables are: other, papers"):
        read(path, {"text": "abstract"})


def _rows_of_papers(first: int, stop: int) -> list[tuple[str]]:
    return [(f"bread wine number{i}",) for i in range(first, stop)]


def test_rows_in_a_write_ahead_log_are_read(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "a.db")) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("CREATE TABLE papers (abstract)")
        writer.executemany("INSERT INTO papers VALUES (?)", _rows_of_papers(0, 5))
        writer.commit()
        writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        writer.executemany("INSERT INTO papers VALUES (?)", _rows_of_papers(5, 105))
        writer.commit()
        writer.executemany("INSERT INTO papers VALUES (?)", _rows_of_papers(105, 110))  # not committed
        before = {entry.name: entry.read_bytes() for entry in tmp_path.iterdir() if "shm" not in entry.name}
        assert len(before["a.db-wal"]) > 0
        assert tt.read_corpus(tmp_path / "a.db", text="abstract").n_docs == 105
        after = {entry.name: entry.read_bytes() for entry in tmp_path.iterdir() if "shm" not in entry.name}
        assert after == before


def test_a_database_in_the_middle_of_a_change_is_refused(tmp_path: Path) -> None:
    """A large transaction writes to the file before it ends; a journal has what was there."""
    with closing(sqlite3.connect(tmp_path / "a.db")) as writer:
        writer.execute("CREATE TABLE papers (abstract)")
        writer.executemany("INSERT INTO papers VALUES (?)", _rows_of_papers(0, 2_000))
        writer.commit()
        writer.execute("PRAGMA cache_size = 1")
        writer.execute("UPDATE papers SET abstract = 'tram ' || abstract")
        assert b"tram" in (tmp_path / "a.db").read_bytes()
        with pytest.raises(tt.InputError, match=r"a\.db: cannot be read as SQLite"):
            tt.read_corpus(tmp_path / "a.db", text="abstract")
        writer.rollback()
        assert tt.read_corpus(tmp_path / "a.db", text="abstract").n_docs == 2_000


def test_options_that_do_not_fit_the_format(tmp_path: Path) -> None:
    path = KINDS["CSV"].write(tmp_path)
    for options, message in (
        ({"query": "SELECT 1"}, "query is an option for sqlite, not for csv"),
        ({"delimiter": ";;"}, "delimiter: expected one character"),
        ({"encoding": "klingon"}, "encoding: unknown 'klingon'"),
        ({"encoding": "ascii"}, r"line 2: byte \d+ \(0xc3\) is not ascii"),
    ):
        with pytest.raises(tt.InputError, match=message):
            read(path, {"text": "abstract", **options})
    (tmp_path / "r.csv").write_bytes("id,text\n1,Москва и Волга\n".encode("cp1251"))
    with pytest.raises(tt.InputError, match="the encoding cannot be detected; name it"):
        read(tmp_path / "r.csv", {})
    assert read(tmp_path / "r.csv", {"encoding": "cp1251"}).texts == ("Москва и Волга",)
    with pytest.raises(tt.InputError, match="delimiter is an option for csv, tsv, not for folder"):
        read(tt.write_matrix_folder(read(path, {"text": "abstract"}), tmp_path / "f"), {"delimiter": ";"})


def test_numbers_among_the_texts_of_a_workbook(tmp_path: Path) -> None:
    from openpyxl import Workbook

    book = Workbook()
    for row in (["text", "tags", "year"], ["bread oven", "a", 2020], [1984, 7, 2021.0], [None, None, None]):
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    corpus = read(tmp_path / "a.xlsx", {})
    assert corpus.texts == ("bread oven", "1984")
    assert corpus.tag_names == ("7", "a")
    assert corpus.dates == ("2020", "2021")
    again = read(tmp_path / "a.xlsx", {"columns": corpus.columns})
    assert again.texts == corpus.texts
    assert again.tag_names == corpus.tag_names


def test_xml_that_defines_entities_is_refused(tmp_path: Path) -> None:
    bomb = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]>'
    bomb += '<dc xmlns:d="http://purl.org/dc/elements/1.1/"><d:title>&b;</d:title></dc>'
    (tmp_path / "a.xml").write_text(bomb)
    with pytest.raises(tt.InputError, match="defines XML entities"):
        read(tmp_path / "a.xml", {})


def _damaged(content: bytes, rng: np.random.Generator) -> list[bytes]:
    """Return variants of a file that are not what its name says."""
    noise = rng.bytes(500)
    return [
        b"",
        b"\n\n",
        b"\0" * 200,
        noise,
        content[: len(content) // 3] + noise,
        noise + content,
        b"\x1f\x8b" + noise,
        b"\x1f\x8b\x08\0\0\0\0\0" + content,
        b"PK\x03\x04" + noise,
        b"\xff\xfe" + noise[:99],
        b"%PDF-1.7\n" + noise,
        b"{" * 500,
        b"[" * 100_000,
        b'{"a": ',
        b"<!DOCTYPE html><html><body>404</body></html>\xff\xfe\xfd",
        b"SQLite format 3\0" + noise,
    ]


@pytest.mark.slow
def test_damaged_files_give_one_line(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    n_refused = n_read = 0
    for name, kind in KINDS.items():
        if not kind.suffix:
            continue
        place = tmp_path / str(n_refused + n_read)
        place.mkdir()
        content = kind.write(place).read_bytes()
        for at, damaged in enumerate(_damaged(content, rng)):
            path = place / f"damaged{at}{kind.suffix}"
            path.write_bytes(damaged)
            try:
                corpus = read(path, kind.options)
            except tt.InputError as error:
                n_refused += 1
                message = str(error)
                assert "\n" not in message, (name, at)
                assert len(message) < 800, (name, at)
                assert path.name in message, (name, at, message)
            else:
                n_read += 1
                assert corpus.n_docs >= 1, (name, at)
    assert n_refused >= 200, (n_refused, n_read)
    assert n_refused > 9 * n_read, (n_refused, n_read)


@pytest.mark.real_data
def test_a_real_bibliography(data_directory: Path, tmp_path: Path) -> None:
    """Every fourth paper of anthology, written as BibTeX by bibtexparser, comes back with everything."""
    from bibtexparser.entrypoint import write_file
    from bibtexparser.library import Library
    from bibtexparser.model import Entry, Field

    with gzip.open(data_directory / "anthology" / "papers.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in islice(file, 0, None, 4)]
    assert len(rows) == 2249
    entries: list[Any] = []
    for row in rows:
        values = {name: str(row[name]) for name in ("title", "abstract", "year", "url")}
        values |= {"booktitle": row["venue"], "author": " and ".join(row["authors"])}
        safe = {
            name: re.sub(r"([{}%&#_$~\\\\])", " ", value) for name, value in values.items() if name != "url"
        }
        fields = [Field(name, value) for name, value in {**safe, "url": values["url"]}.items()]
        entries.append(Entry("inproceedings", row["id"], fields))
    write_file(str(tmp_path / "a.bib"), Library(entries), encoding="utf-8")
    corpus = read(tmp_path / "a.bib", {})
    assert corpus.ids == tuple(row["id"] for row in rows)
    assert corpus.dates == tuple(str(row["year"]) for row in rows)
    assert corpus.urls == tuple(row["url"] for row in rows)
    assert corpus.titles is not None
    assert sum(t == " ".join(row["title"].split()) for t, row in zip(corpus.titles, rows, strict=True)) > 2175
    kinds = {name.partition(":")[0] for name in corpus.tag_names}
    assert kinds == {"author", "venue"}
    n_authors = sum(len(set(row["authors"])) for row in rows)
    authors = [name.startswith("author:") for name in corpus.tag_names]
    assert abs(int(corpus.tags[:, np.flatnonzero(authors)].nnz) - n_authors) <= 0.001 * n_authors


@pytest.mark.parametrize("suffix", ["csv", "tsv", "json", "jsonl"])
def test_metadata_of_a_folder_of_texts(tmp_path: Path, suffix: str) -> None:
    """Rows name files with or without folder and suffix."""
    for name in ("a.txt", "deep/b.md", "c.txt", "deep/c.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("bread wine")
    rows = [{"file": name, "tags": f"of {name}"} for name in ("a", "b.md", "c", "deep/c")]
    lines = [json.dumps(row) for row in rows]
    mark = "\t" if suffix == "tsv" else ","
    (tmp_path / f"metadata.{suffix}").write_text(
        {"json": f"[{', '.join(lines)}]", "jsonl": "\n".join(lines)}.get(
            suffix, "\n".join(mark.join(row) for row in [["file", "tags"], *([*r.values()] for r in rows)])
        )
    )
    corpus = tt.read_corpus(tmp_path)
    tags = {name: corpus.tags_of(d) for d, name in enumerate(corpus.ids)}
    assert tags == {
        "a.txt": ("of a",),
        "c.txt": ("of c",),
        "deep/b.md": ("of b.md",),
        "deep/c.txt": ("of deep/c",),
    }


def test_links_out_of_a_folder_of_texts_are_left_out(tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    (folder / "more").mkdir(parents=True)
    (tmp_path / "secret.txt").write_text("password")
    (folder / "a.txt").write_text("bread oven")
    (folder / "b.txt").symlink_to(folder / "a.txt")
    (folder / "c.txt").symlink_to(tmp_path / "secret.txt")
    with pytest.warns(tt.CorpusWarning, match="texts: left out 1 links to files elsewhere"):
        corpus = tt.read_corpus(folder)
    assert corpus.ids == ("a.txt", "b.txt")
    assert "password" not in corpus.vocabulary
