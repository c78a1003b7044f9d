"""Tags in all the ways that users give them."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagtopics.corpus import read_corpus
from tagtopics.corpus.cells import MISSING, TagStyle, read_tags
from tagtopics.errors import CorpusWarning, InputError


@pytest.mark.parametrize(
    ("cell", "tags"),
    [
        (["b", "a"], ["b", "a"]),
        (("a", 3, 2.0, 2.5), ["a", "3", "2", "2.5"]),
        ({"b", "a"}, ["a", "b"]),
        (np.array(["x", "y"]), ["x", "y"]),
        ([" a\n b\0", "", None, float("nan")], ["a b"]),
        ("a, b ,,c", ["a", "b", "c"]),
        ("one tag", ["one tag"]),
        (1999, ["1999"]),
        (np.float64(1999), ["1999"]),
        (datetime.date(2020, 1, 2), ["2020-01-02"]),
        (None, []),
        (float("nan"), []),
        (pd.NA, []),
        (pd.NaT, []),
        ("", []),
        ("  ", []),
        (["Cafe\u0301"], ["Café"]),
        (["a, b"], ["a, b"]),
    ],
)
def test_cells(cell: Any, tags: list[str]) -> None:
    assert read_tags([cell]) == [tags]


def test_separator_is_chosen_for_the_whole_column() -> None:
    assert read_tags(["Doe, Jane; Roe, R", "Poe, Edgar"]) == [["Doe, Jane", "Roe, R"], ["Poe, Edgar"]]
    assert read_tags(["a|b;c", "d"]) == [["a", "b", "c"], ["d"]]
    assert read_tags(["a,b", "c"]) == [["a", "b"], ["c"]]
    assert read_tags(["a;b, c//d"], style=TagStyle(("//",))) == [["a;b, c", "d"]]
    with pytest.raises(InputError, match="tag_separator: must not be empty"):
        TagStyle.of(["a"], "")


def test_repeats_count_once() -> None:
    with pytest.warns(CorpusWarning, match="2 repeated tags within a document counted once"):
        corpus = read_corpus(["cat", "dog"], tags=["a, b, a", ["c", " c "]])
    assert [corpus.tags_of(d) for d in range(2)] == [("a", "b"), ("c",)]


def test_kinds() -> None:
    authors = read_tags([["Jane Doe"], None], kind="author")
    years = read_tags([1999.0, 2001], kind="year")
    assert authors == [["author:Jane Doe"], []]
    assert years == [["year:1999"], ["year:2001"]]


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ([["a"]], "document 1: each tag must be a string or a number, not a list"),
        ({"a": 1}, "document 1: each tag must be a string or a number, not an object"),
        ([{"name": "a"}], "document 1: .* not an object"),
        (b"a", "document 1: .* not bytes"),
        (float("inf"), "document 1: .* not float inf"),
    ],
)
def test_what_is_no_tag_names_its_document(cell: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_tags([["fine"], cell])


NAMES = st.text(st.characters(exclude_characters=";|,")).filter(lambda name: name.strip() not in MISSING)


@given(st.lists(st.lists(NAMES, max_size=4), max_size=6))
def test_a_delimited_string_is_its_list(cells: list[list[str]]) -> None:
    as_lists = read_tags(cells)
    assert read_tags(["; ".join(cell) for cell in cells], style=TagStyle((";",))) == as_lists
    assert read_tags(as_lists) == as_lists
