"""Three documents in every kind of file that is read, written by other programs where there is one."""

from __future__ import annotations

import csv
import gzip
import io
import json
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROWS: list[dict[str, Any]] = [
    {
        "id": "a1",
        "title": "Bread in the oven",
        "abstract": "The naïve baker bakes bread.",
        "author": ["Ting Liu", "Wanxiang Che"],
        "keyword": ["baking"],
        "venue": "Food",
        "date": "2020-05-03",
        "url": "https://example.org/a1",
    },
    {
        "id": "a2",
        "title": "Wine and glass",
        "abstract": "A glass of wine, a café.",
        "author": ["Ting Liu"],
        "keyword": ["drinks", "wine"],
        "venue": "Food",
        "date": "2021-01-02",
        "url": "https://example.org/a2",
    },
    {
        "id": "a3",
        "title": "Trams are late",
        "abstract": "Late trams at night.",
        "author": ["Zoë Müller"],
        "keyword": ["traffic"],
        "venue": "City",
        "date": "2022-11-30",
        "url": "https://example.org/a3",
    },
]
TITLES = tuple(row["title"] for row in ROWS)
YEARS = ("2020", "2021", "2022")
KINDED = {
    "author:Ting Liu",
    "author:Wanxiang Che",
    "author:Zoë Müller",
    "keyword:baking",
    "keyword:drinks",
    "keyword:wine",
    "keyword:traffic",
    "venue:Food",
    "venue:City",
}
PLAIN = {"Ting Liu", "Wanxiang Che", "Zoë Müller"}


@dataclass(frozen=True)
class Kind:
    """How to write a kind of file, how to read it, and what must be found."""

    write: Callable[[Path], Path]  # into a folder; returns what the user names
    options: dict[str, Any] = field(default_factory=dict)  # of `read_corpus`
    tags: set[str] = field(default_factory=lambda: KINDED)
    titles: tuple[str, ...] | None = TITLES
    years: bool = True
    urls: bool = True
    notice: str = ""  # part of a notice that must be there
    suffix: str = ""  # of the file, for the tests of malformed ones
    malformed: bool = True  # whether damage can be told from content


FLAT = {"text": "abstract", "tags": "author"}


def _flat() -> list[dict[str, str]]:
    return [
        {name: "; ".join(value) if isinstance(value, list) else value for name, value in row.items()}
        for row in ROWS
    ]


def _csv(name: str, encoding: str, **dialect: Any) -> Callable[[Path], Path]:
    def write(place: Path) -> Path:
        text = io.StringIO(newline="")
        writer = csv.DictWriter(text, list(ROWS[0]), **dialect)
        writer.writeheader()
        writer.writerows(_flat())
        content = text.getvalue().encode(encoding)
        (place / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        return place / name

    return write


def _escaped(place: Path) -> Path:
    rows = [
        ["id", "text", "tags"],
        ["a1", 'bread, "fresh" bread', "x"],
        ["a2", "wine, glass", "y"],
        ["a3", "tram", "x"],
    ]
    lines = [",".join('"' + cell.replace('"', '\\"') + '"' for cell in row) for row in rows]
    (place / "a.csv").write_text("\n".join(lines), encoding="utf-8")
    return place / "a.csv"


def _unquoted(place: Path) -> Path:
    (place / "a.tsv").write_text('id\ttext\ttags\na1\t"bread\tx\na2\twine "glass\ty\na3\t"tram\tx\n')
    return place / "a.tsv"


def _frame() -> Any:
    import pandas as pd

    return pd.DataFrame(_flat())


def _pandas(name: str, method: str, **options: Any) -> Callable[[Path], Path]:
    def write(place: Path) -> Path:
        getattr(_frame(), method)(place / name, **options)
        return place / name

    return write


def _openpyxl(place: Path) -> Path:
    import datetime

    from openpyxl import Workbook

    book = Workbook()
    book.active.title = "Papers"
    book.active.append(list(ROWS[0]))
    for row in _flat():
        book.active.append([*list(row.values())[:6], datetime.date.fromisoformat(row["date"]), row["url"]])
    book.create_sheet("Notes").append(["nothing"])
    book.save(place / "a.xlsx")
    return place / "a.xlsx"


def _json(name: str, wrap: Callable[[list[Any]], Any] = lambda rows: rows) -> Callable[[Path], Path]:
    def write(place: Path) -> Path:
        (place / name).write_text(json.dumps(wrap(ROWS), indent=1), encoding="utf-8")
        return place / name

    return write


def _lines(name: str) -> Callable[[Path], Path]:
    def write(place: Path) -> Path:
        content = "\n".join(map(json.dumps, ROWS)).encode()
        (place / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        return place / name

    return write


def _karakeep(rows: list[Any]) -> Any:
    import datetime

    marks = []
    for row in rows:
        noon = datetime.datetime.fromisoformat(f"{row['date']}T12:00:00+00:00")
        content = {"type": "link", "url": row["url"]}
        mark = {"createdAt": noon.timestamp(), "title": row["title"], "tags": row["author"]}
        marks.append(mark | {"content": content, "note": row["abstract"]})
    return {"bookmarks": marks, "lists": []}


def _linkwarden(rows: list[Any]) -> Any:
    links = []
    for row in rows:
        tags = [{"id": at, "name": name} for at, name in enumerate(row["author"])]
        link = {"id": row["id"], "name": row["title"], "description": row["abstract"], "tags": tags}
        links.append(link | {"url": row["url"], "createdAt": f"{row['date']}T10:00:00.000Z"})
    return {"username": "ann", "collections": [{"name": "all", "links": links}], "pinnedLinks": []}


def _paperless(rows: list[Any]) -> Any:
    names = sorted(PLAIN)
    records: list[Any] = [
        {"model": "documents.tag", "pk": at, "fields": {"name": name}} for at, name in enumerate(names)
    ]
    for at, row in enumerate(rows):
        tags = [names.index(name) for name in row["author"]]
        fields = {"title": row["title"], "content": row["abstract"], "tags": tags, "created": row["date"]}
        records.append({"model": "documents.document", "pk": at, "fields": fields})
    return records


def _bookmarks(place: Path) -> Path:
    marks = _karakeep(ROWS)["bookmarks"]
    lines = ["<!DOCTYPE NETSCAPE-Bookmark-file-1>", "<DL><p>"]
    for mark in marks:
        given = f'HREF="{mark["content"]["url"]}" ADD_DATE="{mark["createdAt"]:.0f}"'
        lines.append(f'<DT><A {given} TAGS="{",".join(mark["tags"])}">{mark["title"]}</A>')
        lines.append(f"<DD>{mark['note']}")
    (place / "a.html").write_text("\n".join(lines), encoding="utf-8")
    return place / "a.html"


def _vault(place: Path) -> Path:
    (place / "vault").mkdir()
    for row in ROWS:
        front = f"---\ntags: [{', '.join(row['author'])}]\ndate: {row['date']}\n---\n"
        text = f"{front}# {row['title']}\n\n{row['abstract']}\n"
        (place / "vault" / f"{row['id']}.md").write_text(text, encoding="utf-8")
    return place / "vault"


def _sqlite(place: Path) -> Path:
    with sqlite3.connect(place / "a.sqlite") as connection:
        _frame().to_sql("papers", connection, index=False)
        connection.execute("CREATE TABLE other (n INTEGER)")
    connection.close()
    return place / "a.sqlite"


def _one_table(place: Path) -> Path:
    with sqlite3.connect(place / "a.db") as connection:
        _frame().to_sql("papers", connection, index=False)
    connection.close()
    return place / "a.db"


def _pybtex(place: Path) -> Path:
    from pybtex.database import BibliographyData, Entry, Person

    data = BibliographyData()
    for row in ROWS:
        fields = [
            ("title", row["title"]),
            ("abstract", row["abstract"]),
            ("keywords", ", ".join(row["keyword"])),
            ("journal", row["venue"]),
            ("year", row["date"][:4]),
            ("url", row["url"]),
        ]
        people = {"author": [Person(name) for name in row["author"]]}
        data.add_entry(row["id"], Entry("article", fields, people))
    data.to_file(str(place / "a.bib"), "bibtex")
    return place / "a.bib"


def _bibtexparser(place: Path) -> Path:
    from bibtexparser.entrypoint import write_file
    from bibtexparser.library import Library
    from bibtexparser.model import Entry, Field

    entries = []
    for row in ROWS:
        names = " and ".join(", ".join(reversed(name.split())) for name in row["author"])
        values = {
            "title": row["title"],
            "abstract": row["abstract"],
            "author": names,
            "date": row["date"],
            "keywords": "; ".join(row["keyword"]),
            "booktitle": row["venue"],
            "url": row["url"],
        }
        fields = [Field(name, value) for name, value in values.items()]
        entries.append(Entry("inproceedings", row["id"], fields))
    write_file(str(place / "a.bib"), Library(list[Any](entries)), encoding="utf-8")
    return place / "a.bib"


def _latex(place: Path) -> Path:
    text = r"""% made by hand
@string{food = "Food"}
@article{a1, title = {Bread in the {Oven}}, title2 = "x",
  abstract = {The na{\"\i}ve baker bakes bread, 5\% more.},
  author = {Liu, Ting and Che, Wanxiang}, keywords = {baking}, journal = food, year = 2020,
  month = may, doi = {10.1000/a1}}
@ARTICLE{a2, title = "Wine and glass", abstract = {A glass of wine, a caf\'e.}, author = "Ting Liu",
  keywords = {drinks, wine}, journal = food, year = "2021", url = {https://example.org/a2}}
@comment{nothing}
@article{a3, title = {Trams are late}, abstract = {Late trams at night.}, author = {M{\"u}ller, Zo{\"e}},
  keywords = {traffic}, journal = {City}, year = {2022}, url = {https://example.org/a3}}
"""
    (place / "a.bib").write_text(text, encoding="utf-8")
    return place / "a.bib"


def _rispy(place: Path) -> Path:
    import rispy

    entries = [
        {
            "type_of_reference": "JOUR",
            "id": row["id"],
            "title": row["title"],
            "abstract": row["abstract"],
            "authors": [", ".join(reversed(name.split())) for name in row["author"]],
            "keywords": row["keyword"],
            "journal_name": row["venue"],
            "date": row["date"].replace("-", "/"),
            "urls": [row["url"]],
        }
        for row in ROWS
    ]
    with (place / "a.ris").open("w", encoding="utf-8") as file:
        rispy.dump(entries, file)
    return place / "a.ris"


def _marc_records() -> list[Any]:
    from pymarc import Field, Indicators, Record, Subfield

    records = []
    for row in ROWS:
        record: Any = Record(force_utf8=True)

        def add(tag: str, record: Any = record, **codes: str) -> None:
            parts = [Subfield(code, value) for code, value in codes.items()]
            record.add_field(Field(tag, Indicators(" ", " "), parts))

        record.add_field(Field("001", data=row["id"]))
        add("245", a=f"{row['title']} /")
        add("520", a=row["abstract"])
        for at, name in enumerate(row["author"]):
            add("700" if at else "100", a=", ".join(reversed(name.split())) + ",")
        for word in row["keyword"]:
            add("650", a=f"{word}.")
        add("773", t=row["venue"])
        add("264", c=f"[{row['date'][:4]}]")
        add("856", u=row["url"])
        records.append(record)
    return records


def _marc(place: Path) -> Path:
    (place / "a.mrc").write_bytes(b"".join(record.as_marc() for record in _marc_records()))
    return place / "a.mrc"


def _marcxml(place: Path) -> Path:
    from pymarc import XMLWriter

    with (place / "a.xml").open("wb") as file:
        writer = XMLWriter(file)
        for record in _marc_records():
            writer.write(record)
        writer.close(close_fh=False)
    return place / "a.xml"


def _folder(suffix: str, metadata: bool = False, nested: bool = False) -> Callable[[Path], Path]:
    def write(place: Path) -> Path:
        folder = place / "texts"
        for row in ROWS:
            name = f"{row['author'][0]}/{row['id']}{suffix}" if nested else f"{row['id']}{suffix}"
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            start = f"# {row['title']}\n\n" if suffix == ".md" else ""
            (folder / name).write_text(start + row["abstract"], encoding="utf-8")
        if metadata:
            rows = [
                {
                    "file": f"{row['id']}{suffix}",
                    "title": row["title"],
                    "date": row["date"],
                    "url": row["url"],
                    "tags": "; ".join(row["author"]),
                }
                for row in ROWS
            ]
            with (folder / "metadata.csv").open("w", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, list(rows[0]))
                writer.writeheader()
                writer.writerows(rows)
        return folder

    return write


def _pdf(place: Path) -> Path:
    from fpdf import FPDF

    (place / "texts").mkdir()
    for row in ROWS:
        pdf = FPDF()
        pdf.set_title(row["title"])
        pdf.add_page()
        pdf.set_font("Helvetica")
        pdf.multi_cell(0, text=row["abstract"])
        pdf.output(str(place / "texts" / f"{row['id']}.pdf"))
    return place / "texts"


def _text(name: str, line: Callable[[dict[str, Any]], str]) -> Callable[[Path], Path]:
    def write(place: Path) -> Path:
        (place / name).write_text("\n".join(map(line, ROWS)) + "\n", encoding="utf-8")
        return place / name

    return write


def _subjects(row: dict[str, Any]) -> str:
    subjects = " ".join(f"<https://example.org/{name.replace(' ', '_')}>" for name in row["author"])
    return f"{row['abstract']}\t{subjects}"


URIS = {f"https://example.org/{name.replace(' ', '_')}" for name in PLAIN}
BARE: dict[str, Any] = {"titles": None, "years": False, "urls": False}
STEMS = ("a1", "a2", "a3")

KINDS: dict[str, Kind] = {
    "JSON lines": Kind(_lines("a.jsonl"), FLAT, PLAIN, suffix=".jsonl"),
    "JSON lines, gzip": Kind(_lines("a.jsonl.gz"), FLAT, PLAIN, suffix=".jsonl.gz"),
    "CSV": Kind(_csv("a.csv", "utf-8"), FLAT, PLAIN, suffix=".csv"),
    "CSV, gzip": Kind(_csv("a.csv.gz", "utf-8"), FLAT, PLAIN, suffix=".csv.gz"),
    "CSV of Excel, byte order mark": Kind(_csv("a.csv", "utf-8-sig"), FLAT, PLAIN),
    "CSV of pandas": Kind(_pandas("a.csv", "to_csv"), FLAT, PLAIN),
    "CSV, semicolons, Windows-1252": Kind(
        _csv("a.csv", "cp1252", delimiter=";"), FLAT, PLAIN, notice="cp1252"
    ),
    "CSV, Latin-1": Kind(_csv("a.csv", "latin-1", quoting=csv.QUOTE_ALL), FLAT, PLAIN, notice="not UTF-8"),
    "Unicode text of Excel, UTF-16, tabs": Kind(
        _csv("a.csv", "utf-16", delimiter="\t"), FLAT, PLAIN, notice="UTF-16"
    ),
    "CSV, vertical bars": Kind(_csv("a.csv", "utf-8", delimiter="|"), FLAT, PLAIN, notice="vertical bars"),
    "CSV, backslashes before quotes": Kind(_escaped, {}, {"x", "y"}, **BARE, notice="backslash"),
    "TSV": Kind(_csv("a.tsv", "utf-8", delimiter="\t"), FLAT, PLAIN, suffix=".tsv"),
    "TSV, stray quotes": Kind(_unquoted, {}, {"x", "y"}, **BARE, notice="ordinary"),
    "xlsx of openpyxl": Kind(_openpyxl, FLAT, PLAIN, notice="'Papers' of 2", suffix=".xlsx"),
    "xlsx of pandas": Kind(_pandas("a.xlsx", "to_excel", index=False, engine="openpyxl"), FLAT, PLAIN),
    "OpenDocument sheet of pandas and odfpy": Kind(
        _pandas("a.ods", "to_excel", index=False, engine="odf"), FLAT, PLAIN, suffix=".ods"
    ),
    "JSON array": Kind(_json("a.json"), FLAT, PLAIN, suffix=".json"),
    "JSON array of pandas": Kind(_pandas("a.json", "to_json", orient="records"), FLAT, PLAIN),
    "JSON object with an array": Kind(
        _json("a.json", lambda rows: {"total": 3, "records": rows}), FLAT, PLAIN
    ),
    "Parquet of pandas": Kind(_pandas("a.parquet", "to_parquet"), FLAT, PLAIN, suffix=".parquet"),
    "SQLite, query": Kind(_sqlite, {**FLAT, "query": "SELECT * FROM papers"}, PLAIN, suffix=".sqlite"),
    "SQLite, one table": Kind(_one_table, FLAT, PLAIN, notice="'papers'", suffix=".db"),
    "BibTeX of pybtex": Kind(_pybtex, suffix=".bib"),
    "BibTeX of bibtexparser": Kind(_bibtexparser),
    "BibTeX with LaTeX": Kind(_latex, titles=("Bread in the Oven", *TITLES[1:])),
    "RIS of rispy": Kind(_rispy, suffix=".ris"),
    "MARC 21 of pymarc": Kind(_marc, suffix=".mrc"),
    "MARCXML of pymarc": Kind(_marcxml, suffix=".xml"),
    "folder of text": Kind(_folder(".txt"), {}, set(), STEMS, False, False),
    "folder of text in sub-folders": Kind(
        _folder(".txt", nested=True), {}, {"Ting Liu", "Zoë Müller"}, STEMS, False, False, "sub-folders"
    ),
    "folder of Markdown with a table": Kind(_folder(".md", metadata=True), {}, PLAIN),
    "folder of PDF of fpdf2": Kind(_pdf, {}, set(), TITLES, False, False),
    "karakeep": Kind(_json("a.json", _karakeep), {}, PLAIN),
    "Linkwarden": Kind(_json("a.json", _linkwarden), {}, PLAIN),
    "paperless-ngx": Kind(_json("manifest.json", _paperless), {}, PLAIN, urls=False),
    "bookmarks": Kind(_bookmarks, {}, PLAIN, suffix=".html"),
    "vault of Markdown": Kind(_vault, {}, PLAIN, urls=False, notice="front matter"),
    "Annif, TSV": Kind(_text("a.tsv", _subjects), {}, URIS, **BARE),
    "one text per line": Kind(
        _text("a.txt", lambda row: row["abstract"]), {}, set(), **BARE, notice="per line"
    ),
}
"""All kinds of files, by a name for people."""
