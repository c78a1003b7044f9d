"""Thesauri: tables and SKOS, malformed ones, cycles, many names, and how they meet the tags of documents."""

from __future__ import annotations

from pathlib import Path

import pytest

import tagtopics as tt
from tagtopics.corpus.recipe import LANGUAGES, language_code
from tagtopics.subjects.stems import RULES, stem_word
from tagtopics.subjects.thesaurus import in_tags, thesaurus_of

pytestmark = pytest.mark.usefixtures("forked")

TURTLE = """
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix x: <http://example.org/> .
x:a a skos:Concept ; skos:prefLabel "Tram"@en, "Straßenbahn"@de ; skos:altLabel "Streetcar"@en .
x:a skos:broader x:b .
x:b a skos:Concept ; skos:prefLabel "Vehicle"@en ; skos:narrower x:c .
x:c a skos:Concept ; skos:prefLabel "Bus"@en .
x:d a skos:Concept ; skos:altLabel "nameless"@en .
"""
XML = """<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:skos="http://www.w3.org/2004/02/skos/core#">
<skos:Concept rdf:about="http://example.org/a"><skos:prefLabel xml:lang="en">Tram</skos:prefLabel>
<skos:altLabel xml:lang="en">Streetcar</skos:altLabel>
<skos:broader rdf:resource="http://example.org/b"/></skos:Concept>
<skos:Concept rdf:about="http://example.org/b"><skos:prefLabel>Vehicle</skos:prefLabel></skos:Concept>
</rdf:RDF>"""


def written(tmp_path: Path, name: str, content: str) -> Path:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    return path


def test_a_table_has_tags_names_and_alternatives(tmp_path: Path) -> None:
    found = tt.read_thesaurus(
        written(tmp_path, "n.tsv", "id\tname\n1\tTram\tStreetcar\tTrolley\n2\tBus\n\n1\tTramway\n3\t\n")
    )
    assert (found.ids, found.names) == (("1", "2"), ("Tram", "Bus"))
    assert found.alternatives == (("Streetcar", "Trolley", "Tramway"), ())
    assert len(found.notices) == 1
    assert "1 line(s)" in found.notices[0]


@pytest.mark.parametrize(("name", "content"), [("s.ttl", TURTLE), ("s.rdf", XML)])
def test_skos_in_two_notations(tmp_path: Path, name: str, content: str) -> None:
    pytest.importorskip("rdflib")
    found = tt.read_thesaurus(written(tmp_path, name, content))
    names = dict(zip(found.ids, found.names, strict=True))
    assert names["http://example.org/a"] == "Tram"
    assert "Streetcar" in found.alternatives[found.row["http://example.org/a"]]
    relations = {(found.names[a], found.names[b]) for a, b in found.broader}
    assert ("Tram", "Vehicle") in relations
    if name == "s.ttl":
        assert relations == {("Tram", "Vehicle"), ("Bus", "Vehicle")}
        assert "Straßenbahn" in found.alternatives[found.row["http://example.org/a"]]
        assert "1 concept(s) without skos:prefLabel" in found.notices[0]


@pytest.mark.parametrize(
    ("name", "content", "part"),
    [
        ("n.tsv", "no tab here\nnor here\n", "line 1: expected a tag, a tab"),
        ("n.tsv", "\t\n\n", "no names"),
        ("n.tsv", "", "empty"),
        ("n.pdf", "x", "unknown kind"),
        ("s.ttl", "@prefix broken", "cannot be read as turtle"),
        ("s.rdf", "<rdf", "cannot be read as xml"),
        ("s.ttl", "<http://a> <http://b> <http://c> .", "no skos:prefLabel"),
    ],
)
def test_a_malformed_thesaurus_is_one_line(tmp_path: Path, name: str, content: str, part: str) -> None:
    if name.startswith("s."):
        pytest.importorskip("rdflib")
    with pytest.raises(tt.InputError, match=part) as caught:
        tt.read_thesaurus(written(tmp_path, name, content))
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(tt.InputError, match="no such file"):
        tt.read_thesaurus(tmp_path / "none.tsv")


def test_cycles_end(tmp_path: Path) -> None:
    pytest.importorskip("rdflib")
    found = tt.read_thesaurus(written(tmp_path, "s.ttl", TURTLE + "x:b skos:broader x:a .\n"))
    a, b = ("http://example.org/a", "http://example.org/b")
    assert [found.names[v] for v in found.broader[:, 0]] == ["Tram", "Vehicle", "Bus"]
    assert (len(found.path_of(a)), len(found.path_of(b))) == (2, 2)


def test_many_names_are_read(tmp_path: Path) -> None:
    lines = "".join(f"{i}\tname {i} of many\n" for i in range(100_000))
    found = tt.read_thesaurus(written(tmp_path, "n.tsv", lines))
    assert len(found) == 100_000
    assert found.names[-1] == "name 99999 of many"


@pytest.mark.parametrize(
    "tags",
    [
        ["http://example.org/1", "http://example.org/2"],
        ["<http://example.org/1>"],
        ["1", "2"],
        ["Tram", "Bus"],
        ["subject:1", "author:Ines", "author:Ruth"],
    ],
)
def test_tags_are_ids_uris_ends_or_names(tags: list[str]) -> None:
    known = thesaurus_of([("http://example.org/1", "Tram"), ("http://example.org/2", "Bus")])
    found = in_tags(known, tags)
    assert tags[0] in found.ids
    assert found.names == ("Tram", "Bus")


def test_ids_of_concepts_are_written_as_tags_are(tmp_path: Path) -> None:
    pytest.importorskip("rdflib")
    content = XML.replace("http://example.org/b", "http://example.org/b&#9;c&#10;")
    found = tt.read_thesaurus(written(tmp_path, "s.rdf", content))
    assert found.ids == ("http://example.org/a", "http://example.org/b c")
    assert found.broader.tolist() == [[0, 1]]


def test_tags_of_a_thesaurus_stay_different() -> None:
    known = thesaurus_of([("1", "3"), ("2", "Bus"), ("3", "3"), ("4", "3"), ("5", "3 2")])
    found = in_tags(known, ["Bus", "3", "3 2"])
    assert found.ids == ("3", "Bus", "3 2", "4", "5")
    assert in_tags(thesaurus_of([("//", "Tram"), ("x/a", "Bus")]), ["a"]).ids == ("//", "a")


def test_a_foreign_thesaurus_is_refused() -> None:
    with pytest.raises(tt.InputError, match="no tag of the documents"):
        in_tags(thesaurus_of([("1", "Tram")]), ["x", "y"])
    counts = tt.Corpus(
        counts=tt.read_corpus(["a tram"], tags=[["1"]]).counts,
        tags=tt.read_corpus(["a tram"], tags=[["1"]]).tags,
        vocabulary=("tram",),
        tag_names=("1",),
        ids=("0",),
    )
    with pytest.raises(tt.InputError, match="only counts"):
        tt.with_thesaurus(counts, {"1": "Tram"})


@pytest.mark.parametrize(
    ("language", "forms"),
    [
        ("en", ["policies", "policy"]),
        ("en", ["analyses", "analysis"]),
        ("en", ["classes", "class"]),
        ("de", ["Häuser".lower(), "haus"]),
        ("de", ["bibliotheken", "bibliothek"]),
        ("fr", ["journaux", "journal"]),
        ("fr", ["économiques", "économique"]),
        ("es", ["naciones", "nación"]),
        ("it", ["biblioteche", "biblioteca"]),
        ("pt", ["ações", "ação"]),
        ("nl", ["boeken", "boek"]),
        ("sv", ["biblioteken", "bibliotek"]),
    ],
)
def test_inflected_forms_have_one_stem(language: str, forms: list[str]) -> None:
    assert len({stem_word(form, language) for form in forms}) == 1
    assert RULES[language]
    assert language in LANGUAGES.values()


def test_unlike_words_keep_their_stems() -> None:
    assert len({stem_word(word, "en") for word in ("news", "new", "bus", "gas", "physics", "physic")}) >= 4
    assert stem_word("trams", "xx") == "trams"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The history of the library and its readers is told in this book", "en"),
        ("Die Geschichte der Bibliothek und ihrer Leser wird in diesem Buch erzählt", "de"),
        ("L'histoire de la bibliothèque et des lecteurs est dans le livre", "fr"),
        ("La historia de la biblioteca y de los lectores en el libro que se lee", "es"),
        ("", "en"),
    ],
)
def test_the_language_is_recognised(text: str, language: str) -> None:
    assert language_code([text]) == language
