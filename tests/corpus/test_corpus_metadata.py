"""Titles, dates and addresses: read from every source, kept with the documents, never tags."""

from __future__ import annotations

import datetime
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tagtopics as tt
from tagtopics.corpus.align import join_corpora
from tagtopics.corpus.cells import iso_date, link_of, title_of
from tagtopics.models.persistence import load_with_corpus

ROWS: list[dict[str, Any]] = [
    {"text": "bread oven", "tags": ["a"], "title": "On  bread\n", "year": 2020.0, "url": "10.1000/x(1)"},
    {"text": "wine glass", "tags": ["b"], "title": None, "year": None, "url": "https://example.org/b"},
    {"text": "bread wine", "tags": ["a"], "title": "Both", "year": "soon", "url": "javascript:alert(1)"},
]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (2020, "2020"), (2020.0, "2020"), ("2020.0", "2020"), (np.float32(1999), "1999"), ("2020", "2020"),
        ("2020-5", "2020-05"), ("2020-05-03", "2020-05-03"), ("2020-05-03T10:00:00Z", "2020-05-03"),
        ("2020-05-03 10:00:00+02:00", "2020-05-03"), ("2020/05/03", "2020-05-03"), (20200503, "2020-05-03"),
        ("20200503", "2020-05-03"), ("3.5.2020", "2020-05-03"), ("13/05/2020", "2020-05-13"),
        ("05/13/2020", "2020-05-13"), ("03/05/2020", "2020"), ("05/05/2020", "2020-05-05"),
        ("May 2020", "2020-05"), ("3 May 2020", "2020-05-03"), ("Sept. 3, 2020", "2020-09-03"),
        ("Sun, 03 May 2020 10:00:00 GMT", "2020-05-03"), ("[c1998]", "1998"), ("Spring 2020", "2020"),
        ("2020 May 3", "2020-05-03"), ("3-May-2020", "2020-05-03"), ("1998 Dec", "1998-12"),
        ("1st of May", None),
        (datetime.date(2020, 5, 3), "2020-05-03"), (datetime.datetime(2020, 5, 3, 12), "2020-05-03"),
        (pd.Timestamp("2020-05-03"), "2020-05-03"), (np.datetime64("2020-05-03"), "2020-05-03"),
        (np.datetime64("2020-05-03T10:00:00.123456789"), "2020-05-03"), ("2020-13", None),
        ("2020-02-30", None),
        ("1999-2000", None), ("soon", None), (True, None), (12, None), (2020.5, None), ("", None), ([], None),
        (None, None), (float("nan"), None), (pd.NaT, None), ("9999999999", None), ("١٩٩٩", "1999"),
    ],
)  # fmt: skip
def test_dates(given: Any, expected: str | None) -> None:
    assert iso_date(given) == expected


@settings(deadline=None)
@given(st.dates(datetime.date(1000, 1, 1), datetime.date(2999, 12, 31)))
def test_dates_in_all_forms_are_the_same(day: datetime.date) -> None:
    forms = ["%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d %B %Y", "%B %d, %Y", "%a, %d %b %Y %H:%M:%S", "%Y%m%d"]
    for form in forms:
        assert iso_date(day.strftime(form)) == day.isoformat(), form
    assert iso_date(iso_date(day)) == day.isoformat()


@settings(deadline=None)
@given(st.one_of(st.text(), st.text("0123456789-/.,T: MayJun"), st.floats(), st.integers(), st.none()))
def test_any_value_is_a_date_or_none(value: Any) -> None:
    found = iso_date(value)
    assert found is None or iso_date(found) == found


def test_links_and_titles() -> None:
    assert link_of(" doi:10.1000/x ") == "https://doi.org/10.1000/x"
    assert link_of("http://dx.doi.org/10.1000/x") == "https://doi.org/10.1000/x"
    assert link_of("www.example.org/a") == "https://www.example.org/a"
    assert link_of("HTTP://example.org") == "HTTP://example.org"
    for bad in (
        "javascript:alert(1)",
        "https://a b",
        'https://a"onclick=',
        "data:x",
        "",
        None,
        3,
        "https://",
    ):
        assert link_of(bad) is None, bad
    assert title_of(["First", "Second"]) == "First"
    assert title_of(1984) == "1984"
    assert title_of({"a": 1}) is None


def test_default_columns_are_taken_up_and_stated() -> None:
    with pytest.warns(tt.CorpusWarning, match="1 dates that cannot be read"):
        corpus = tt.read_corpus(ROWS)
    assert corpus.titles == ("On bread", None, "Both")
    assert corpus.dates == ("2020", None, None)
    assert corpus.urls == ("https://doi.org/10.1000/x(1)", "https://example.org/b", None)
    assert corpus.tag_names == ("a", "b")
    assert corpus.notices[:3] == (
        "not tags, but kept with the documents: titles from 'title', dates from 'year', urls from 'url'",
        "1 dates that cannot be read left out, the first is 'soon'",
        "1 addresses that are no http link left out, the first is 'javascript:alert(1)'",
    )


def test_columns_in_use_are_not_taken_up() -> None:
    rows = [{"title": "tram delays", "year": 2020, "abstract": "late"}, {"title": "bus", "year": 2021}]
    corpus = tt.read_corpus(rows, text="title", tags=["year"])
    assert corpus.titles is None
    assert corpus.dates is None
    named = tt.read_corpus(rows, text="title", tags=["year"], title="title", date="year")
    assert (named.titles, named.dates) == (("tram delays", "bus"), ("2020", "2021"))
    assert not any("kept with" in line for line in named.notices)
    joined = tt.read_corpus(rows, text=["title", "abstract"])
    assert joined.titles == ("tram delays", "bus")


def test_a_named_column_must_exist() -> None:
    with pytest.raises(tt.InputError, match="no column 'when' for the dates"):
        tt.read_corpus(ROWS, date="when")
    with pytest.raises(tt.InputError, match="url: expected the name of a column, got int"):
        tt.read_corpus(ROWS, url=3)
    with pytest.raises(tt.InputError, match="title: 'x' names a column, but the source is not a table"):
        tt.read_corpus(["bread", "wine"], title="x")


def test_values_beside_texts_and_counts(tmp_path: Path) -> None:
    texts = tt.read_corpus(["bread", "wine"], title=["A", "B"], date=[2020, "5 May 2021"])
    counts = tt.read_corpus(np.eye(2, dtype=int), title=["A", "B"], date=[2020, "5 May 2021"])
    assert texts.titles == counts.titles == ("A", "B")
    assert texts.dates == counts.dates == ("2020", "2021-05-05")
    with pytest.raises(tt.InputError, match="titles has 1 entries for 2 documents"):
        tt.read_corpus(["bread", "wine"], title=["A"])
    tt.write_matrix_folder(texts, tmp_path / "f")
    assert tt.read_corpus(tmp_path / "f").dates == texts.dates
    (tmp_path / "f" / "dates.txt").write_text("2020\nsoon\n")
    with pytest.warns(tt.CorpusWarning, match="1 dates that cannot be read"):
        assert tt.read_corpus(tmp_path / "f").dates == ("2020", None)


@pytest.mark.filterwarnings("ignore::tagtopics.CorpusWarning")
def test_they_stay_with_their_documents(tmp_path: Path) -> None:
    corpus = tt.read_corpus(ROWS)
    assert corpus.select([2, 0]).titles == ("Both", "On bread")
    bare = replace(corpus, titles=None, dates=None, urls=None)
    joined = join_corpora(corpus, bare)
    assert joined.titles == ("On bread", None, "Both", None, None, None)
    assert join_corpora(bare, bare).dates is None
    lines = tt.read_corpus(tt.write_jsonl(corpus, tmp_path / "a.jsonl"))
    again = tt.read_corpus(tt.write_matrix_folder(corpus, tmp_path / "a"))
    for name in ("titles", "dates", "urls"):
        assert getattr(lines, name) == getattr(again, name) == getattr(corpus, name)


@pytest.mark.compiled
def test_a_model_stores_them(tmp_path: Path) -> None:
    lines = [json.dumps(row) for row in ROWS[:2] * 6]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    corpus = tt.read_corpus(tmp_path / "a.jsonl")
    tt.LDA(2, random_state=0, max_iter=2).fit_topics(corpus).save(tmp_path / "m.tt", corpus=corpus)
    _, stored = load_with_corpus(tmp_path / "m.tt")
    assert stored is not None
    assert stored.titles == corpus.titles
    assert stored.dates == corpus.dates
    assert stored.urls == corpus.urls
