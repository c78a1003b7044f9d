"""What strings in columns mean: separators, lists written as text, missing values; columns used again."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagtopics.corpus import Corpus, read_corpus
from tagtopics.corpus.cells import MISSING, list_in, read_tags
from tagtopics.corpus.recipe import Columns
from tagtopics.errors import CorpusWarning, InputError
from tagtopics.scale import shard_corpus

AUTHORS = [["Ting Liu", "Wanxiang Che"], [], ["Jean O'Hara"], ['Ann "Bo" Lee', "x; y"]]


def tags_of(corpus: Corpus) -> list[tuple[str, ...]]:
    return [corpus.tags_of(d) for d in range(corpus.n_docs)]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("['a', 'b']", ["a", "b"]),
        ('["a", "b\\u00e9"]', ["a", "bé"]),
        (" ['a' 'b'\n 'c'] ", ["a", "b", "c"]),
        ("[' ' \"'\\t'\" 'it\\'s ' '']", [" ", "'\t'", "it's ", ""]),
        ('["\x85", " "]', ["\x85", " "]),
        ("('a',)", ["a"]),
        ("{'a', 'b'}", ["a", "b"]),
        ("[1999, 2.5, 2000.]", [1999, 2.5, 2000.0]),
        ("['a', None]", ["a", None]),
        ('["a", null]', ["a", None]),
        ("(2020)", None),
        ("['nan']", ["nan"]),
        ("[]", []),
        ("[sic]", None),
        ("[a, b]", None),
        ("['a'", None),
        ("['a'b]", None),
        ("[['a']]", None),
        ("{'a': 1}", None),
        ("{}", None),
        ("()", None),
        ("['\\N{no such name}']", None),
        ("plain", None),
        ("", None),
    ],
)
def test_lists_in_text(text: str, values: list[Any] | None) -> None:
    assert list_in(text) == values


@given(st.lists(st.text(max_size=8), min_size=1, max_size=5))
def test_a_list_that_python_or_json_wrote_is_read_again(values: list[str]) -> None:
    import json

    assert list_in(repr(values)) == values
    assert list_in(json.dumps(values)) == values
    assert list_in(json.dumps(values, ensure_ascii=False)) == values


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_lists_that_pandas_writes_as_text_are_lists(tmp_path: Path, suffix: str) -> None:
    frame = pd.DataFrame({"text": ["cat dog", "dog", "cat", "dog cat"], "tags": AUTHORS})
    path = tmp_path / f"a.{suffix}"
    if suffix == "csv":
        frame.to_csv(path, index=False)
    else:
        frame.assign(tags=frame["tags"].map(str)).to_json(path, orient="records", lines=True)
    with pytest.warns(CorpusWarning, match="1 document without tags"):
        corpus = read_corpus(path)
    assert tags_of(corpus) == [tuple(sorted(names)) for names in AUTHORS]
    assert "read as lists of tags" in corpus.notices[0]
    assert corpus.columns is not None
    assert corpus.columns.separators == {}


def test_numpy_arrays_written_as_text_are_lists() -> None:
    cells = [str(np.array(["a b", "c"])), str(np.array(["c"], dtype=object))]
    assert read_tags(cells) == [["a b", "c"], ["c"]]


def test_commas_are_split_with_a_warning_and_other_separators_with_a_notice() -> None:
    with pytest.warns(CorpusWarning, match=r"tags are split at commas, such as 'Smith | John'"):
        commas = read_corpus(["cat", "dog"], tags=["Smith, John", "Smith, John"])
    assert tags_of(commas)[0] == ("John", "Smith")
    strong = read_corpus(["cat", "dog"], tags=["Smith, John; Roe, R", "Roe, R"])
    assert "tags: tags are split at ';'" in strong.notices
    named = read_corpus(["cat", "dog"], tags=["a, b", "b"], tag_separator=",")
    assert not any("split" in line for line in named.notices)
    whole = read_corpus(["cat", "dog"], tags=["a", "b"])
    assert not any("split" in line for line in whole.notices)


def test_the_separator_of_the_first_table_is_that_of_the_next() -> None:
    rows = [{"text": "cat", "by": "Liu, Ting; Che, Wanxiang"}, {"text": "dog", "by": "Liu, Ting"}]
    first = read_corpus(rows, tags="by")
    assert first.columns == Columns(text="text", tags="by", separators={"by": (";",)})
    later = read_corpus([{"text": "cow", "by": "Zhang, Yue"}], columns=first.columns)
    assert tags_of(later) == [("Zhang, Yue",)]
    renamed = read_corpus([{"text": "cow", "who": "Zhang, Yue"}], tags="who", columns=first.columns)
    assert tags_of(renamed) == [("Zhang, Yue",)]
    bars = read_corpus([{"text": "cow", "by": "a|b"}], columns=first.columns)
    assert tags_of(bars) == [("a|b",)]
    assert "by: tags contain '|', but are split at ';'" in bars.notices
    explicit = read_corpus([{"text": "cow", "by": "a|b"}], columns=first.columns, tag_separator="|")
    assert tags_of(explicit) == [("a", "b")]


def test_columns_of_an_earlier_table() -> None:
    rows = [{"key": "p", "abstract": "cat", "by": ["a"], "year": 1999, "text": "cow"} for _ in range(2)]
    with pytest.warns(CorpusWarning, match="id of an earlier one"):
        first = read_corpus(rows, text="abstract", tags=["by", "year"], id="key")
    later = read_corpus([{**rows[0], "key": "q"}], columns=first.columns)
    assert (later.ids, later.texts, tags_of(later)) == (("q",), ("cat",), [("by:a", "year:1999")])
    explicit = read_corpus([rows[0]], text="text", columns=first.columns)
    assert explicit.texts == ("cow",)
    without_year = read_corpus([{"abstract": "cat", "by": ["a"]}], columns=first.columns)
    assert tags_of(without_year) == [("by:a",)]
    assert "no column 'year', which had the tags when the model was fitted" in without_year.notices
    default = read_corpus([{"text": "dog"}], columns=first.columns)
    assert default.texts == ("dog",)
    with pytest.raises(InputError, match="no column 'abstract' for the text, as in the fit; the columns are"):
        read_corpus([{"title": "dog"}], columns=first.columns)


def test_missing_values_written_as_text() -> None:
    cells = ["a; nan", "None", " NaN ", "<NA>", "null", "b"]
    assert read_tags(cells) == [["a"], [], [], [], [], ["b"]]
    assert read_tags([["nan"]]) == [["nan"]]
    rows = [{"text": "nan", "tags": "a", "label": "None"}, {"text": "nano cat", "tags": "NaN", "label": "x"}]
    with pytest.warns(CorpusWarning):
        corpus = read_corpus(rows)
    assert (corpus.texts, corpus.labels, tags_of(corpus)) == (("", "nano cat"), (None, "x"), [("a",), ()])
    assert "tags: 'NaN' is read as a missing value" in corpus.notices
    assert "NA" not in MISSING  # it may be a country


def test_whole_numbers_lose_their_decimal_point_if_all_are_whole() -> None:
    assert read_tags(["1999.0", "nan", "2001", ""]) == [["1999"], [], ["2001"], []]
    assert read_tags(["2.0", "3.1"]) == [["2.0"], ["3.1"]]
    assert read_tags(["2.0", "python"]) == [["2.0"], ["python"]]


@pytest.mark.parametrize(
    ("name", "clean"),
    [
        ("\u200bdata\u200b mining\u2060", "data mining"),
        ("\u200edata\u00ad mining\u200d", "data mining"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("👩\u200d🔬", "👩\u200d🔬"),
        ("a\u200cb", "ab"),
    ],
)
def test_invisible_characters_make_no_other_tag(name: str, clean: str) -> None:
    assert read_tags([[name]]) == [[clean]]


def test_parts_of_a_table_are_read_like_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tagtopics.scale.ingest.PART_SIZE", 40)
    cells = ["1999.0", "a, b", "['c', 'd']", "e; f, g", "nan", "2001.0"]
    lines = [f'{row},"<b>cat</b> dog{row}","{cell}"\n' for row, cell in enumerate(cells)]
    path = tmp_path / "a.csv"
    path.write_text("id,text,tags\n" + "".join(lines), encoding="utf-8")
    with pytest.warns(CorpusWarning):
        whole = read_corpus(path)
    folder = shard_corpus(path, tmp_path / "shards")
    assert (
        tags_of(folder.corpus())
        == tags_of(whole)
        == [("1999.0",), ("a, b",), ("c", "d"), ("e", "f, g"), (), ("2001.0",)]
    )
    assert folder.corpus().columns == whole.columns
    assert set(whole.notices[:4]) <= set(folder.manifest.notices)


def test_open_files_are_read_as_their_path(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("text,tags\ncat dog,a;b\n", encoding="utf-8")
    expected = read_corpus(path)
    for mode in ("r", "rb"):
        with path.open(mode) as file:
            found = read_corpus(file)
        assert (found.texts, tags_of(found)) == (expected.texts, tags_of(expected))
    for memory in (io.StringIO("text\ncat"), io.BytesIO(b"text\ncat")):
        with pytest.raises(InputError, match="which is not a file on disk"):
            read_corpus(memory)


def test_the_index_of_a_data_frame_names_its_documents() -> None:
    frame = pd.DataFrame({"text": ["cat", "dog", "cow"]}, index=["x", "y", "z"])
    assert read_corpus(frame).ids == ("x", "y", "z")
    assert read_corpus(frame.reset_index(drop=True)).ids == ("0", "1", "2")
    assert read_corpus(frame.reset_index(drop=True).iloc[[2, 0]]).ids == ("2", "0")
    assert read_corpus(frame.assign(id=[7, 8, 9])).ids == ("7", "8", "9")
    assert read_corpus(frame.set_axis(["x", "x", "z"])).ids == ("0", "1", "2")


def test_columns_that_look_like_tags_are_named(tmp_path: Path) -> None:
    words = ["apple", "bread", "chair", "door", "egg", "fish", "goat", "house", "ink", "jam"]
    rows = [
        {"id": f"p{i}", "body": f"{word} " * 30, "authors": ["Ann", f"A{i}"], "venue": "ACL", "n": i * 1.5}
        for i, word in enumerate(words)
    ]
    line = "these look like tags: authors, venue; use tags='authors' (--tags authors)"
    path = tmp_path / "a.jsonl"
    path.write_text("".join(pd.Series(row).to_json() + "\n" for row in rows), encoding="utf-8")
    for source in (rows, pd.DataFrame(rows), path):
        found = read_corpus(source, text="body").notices
        assert any(line in notice for notice in found), found
    assert not any("look like" in notice for notice in read_corpus(rows, text="body", tags="venue").notices)
    assert not any("look like" in notice for notice in read_corpus([{"text": "cat dog"}]).notices)
