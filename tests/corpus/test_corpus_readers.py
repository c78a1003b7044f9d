"""`read_corpus` on tables, texts and matrices: what it reads, what it notices, what it refuses."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import tagtopics.corpus.formats.text_files
from tagtopics.corpus import Corpus, TextRecipe, read_corpus
from tagtopics.corpus.formats.jsonl import json_object
from tagtopics.errors import CorpusWarning, InputError, MissingExtraError

ROWS: list[dict[str, Any]] = [
    {"id": "p1", "text": "Cats chase mice", "tags": ["animals", "home"], "label": "x"},
    {"id": "p2", "text": "Mice eat cheese, cheese", "tags": ["animals"], "label": "y"},
]


def save(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def jsonl(rows: Sequence[Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def check(corpus: Corpus) -> None:
    assert corpus.vocabulary == ("cats", "chase", "cheese", "eat", "mice")
    assert corpus.counts.toarray().tolist() == [[1, 1, 0, 0, 1], [0, 0, 2, 1, 1]]
    assert corpus.tag_names == ("animals", "home")
    assert [corpus.tags_of(d) for d in range(2)] == [("animals", "home"), ("animals",)]
    assert corpus.ids == ("p1", "p2")
    assert corpus.labels == ("x", "y")
    assert corpus.texts == ("Cats chase mice", "Mice eat cheese, cheese")
    assert corpus.recipe == TextRecipe(min_df=1)
    split = [line for line in corpus.notices if "tags are split at" in line]
    assert set(corpus.notices) == {"1 of 2 tags on one document only: too few to learn from", *split}


CSV = 'id,text,tags,label\np1,Cats chase mice,animals;home,x\n\np2,"Mice eat cheese, cheese",animals,y\n'
TSV = "id\ttext\ttags\tlabel\np1\tCats chase mice\tanimals|home\tx\np2\tMice eat cheese, cheese\tanimals\ty\n"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", jsonl(ROWS)),
        ("a.ndjson", "\ufeff\n" + jsonl(ROWS)),
        ("a.jsonl.gz", gzip.compress(jsonl(ROWS).encode(), mtime=0)),
        ("a.csv", CSV),
        ("a.CSV", "\ufeff" + CSV.replace("\n", "\r\n")),
        ("a.csv.gz", gzip.compress(CSV.encode(), mtime=0)),
        ("a.tsv", TSV),
    ],
)
def test_text_files(tmp_path: Path, name: str, content: str | bytes) -> None:
    check(read_corpus(save(tmp_path / name, content)))


def test_parquet(tmp_path: Path) -> None:
    pl.DataFrame(ROWS).write_parquet(tmp_path / "a.parquet")
    check(read_corpus(tmp_path / "a.parquet"))
    check(read_corpus(str(tmp_path / "a.parquet"), format="parquet", tags="tags"))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.Table.from_pylist, list, tuple])
def test_tables_in_memory(make: Any) -> None:
    check(read_corpus(make(ROWS)))


@pytest.mark.parametrize("make", [list, tuple, pd.Series, pl.Series, iter, np.array])
def test_lists_of_texts(make: Any) -> None:
    texts = make([row["text"] for row in ROWS])
    tags = [["home", "animals"], "animals"]
    check(read_corpus(texts, tags=tags, id=["p1", "p2"], label=["x", "y"]))


@pytest.mark.parametrize("make", [np.array, sp.csr_array, sp.csc_matrix, sp.coo_array])
def test_matrices(make: Any) -> None:
    corpus = read_corpus(make([[1, 0], [2, 3]]), tags=make([[1, 1], [0, 1]]), vocabulary=["a", "b"])
    assert corpus.counts.toarray().tolist() == [[1, 0], [2, 3]]
    assert corpus.tags.toarray().tolist() == [[1, 1], [0, 1]]
    assert (corpus.vocabulary, corpus.tag_names, corpus.ids) == (("a", "b"), ("tag0", "tag1"), ("0", "1"))
    named = read_corpus(make([[1, 0], [2, 3]]), tags=[["x"], ["x", "y"]])
    assert (named.vocabulary, named.tag_names) == (("word0", "word1"), ("x", "y"))


def test_named_columns_kinds_and_joined_text() -> None:
    rows = [
        {"title": "Cats", "abstract": "purr", "author": "Doe, J; Roe, R", "year": 1999},
        {"title": "Dogs", "abstract": None, "author": "Doe, J", "year": 2001},
    ]
    corpus = read_corpus(rows, text=["title", "abstract"], tags=["author", "year"], id="title")
    assert corpus.vocabulary == ("cats", "dogs", "purr")
    assert corpus.tag_names == ("author:Doe, J", "author:Roe, R", "year:1999", "year:2001")
    assert corpus.ids == ("Cats", "Dogs")
    plain = read_corpus(rows, text="title", tags="author", tag_separator=",")
    assert plain.tag_names == ("Doe", "J", "J; Roe", "R")


def test_split_column() -> None:
    assert read_corpus([{"text": "cat", "split": "train"}, {"text": "dog", "split": "test"}]).split == (
        "train",
        "test",
    )
    assert read_corpus([{"text": "cat", "split": "pea"}]).split is None


def test_known_vocabulary_and_tags() -> None:
    with pytest.warns(CorpusWarning) as caught:
        corpus = read_corpus(ROWS, vocabulary=["mice", "dog"], tag_names=["home", "away"])
    assert corpus.vocabulary == ("mice", "dog")
    assert corpus.counts.toarray().tolist() == [[1, 0], [1, 0]]
    assert corpus.tags.toarray().tolist() == [[1, 0], [0, 0]]
    expected = (
        "5 tokens of words outside the vocabulary left out; 2 taggings with unknown tags left out; "
        "kept 1 document without tags; the first is 'p2'"
    )
    assert [str(warning.message) for warning in caught] == [expected]
    assert caught[0].filename == __file__


def test_every_odd_thing_is_noticed_in_one_warning() -> None:
    rows = [
        {"id": "a", "text": "cat", "tags": ["x", "x"], "label": ""},
        {"id": "a", "text": "12", "tags": "x", "label": "k"},
        {"id": "b", "text": None, "tags": None},
    ]
    odd = (
        "kept 2 documents without words; the first is 'a'",
        "1 repeated tag within a document counted once",
        "kept 1 document without tags; the first is 'b'",
        "1 document with the id of an earlier one, the first is 'a'",
    )
    with pytest.warns(CorpusWarning) as caught:
        corpus = read_corpus(rows)
    assert [str(warning.message) for warning in caught] == ["; ".join(odd)]
    assert corpus.notices == (*odd, "2 documents with a blank label")


def test_missing_tags_are_no_news_where_no_document_has_any() -> None:
    corpus = read_corpus(["cat", "dog"])
    assert corpus.notices == ()
    assert corpus.tags.shape == (2, 0)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", "", "a.jsonl: the file is empty"),
        ("a.csv", b"", "a.csv: the file is empty"),
        ("a.jsonl", "\n\n", "a.jsonl: no documents"),
        ("a.csv", "text,tags\n", "a.csv: no documents"),
        ("a.jsonl", '{"text": "a"}\n{"text"\n', "a.jsonl, line 2: not valid JSON"),
        ("a.jsonl", "\n[1]\n", "a.jsonl, line 2: expected one JSON object per line, got list"),
        ("a.jsonl", '{"text": ' + "[" * 100_000, "a.jsonl, line 1: nested too deeply"),
        ("a.jsonl", '{"text": ' + "1" * 5000 + "}", "a.jsonl, line 1: not valid JSON"),
        (
            "a.jsonl",
            '{"body": "a", "who": 1}\n',
            "a.jsonl: no column 'text' for the text; the columns are: body, who; "
            r"name the one with the text: read_corpus\(\.\.\., text='body'\) or --text body$",
        ),
        (
            "a.csv",
            "Title,Abstract\nb,c\n",
            "no column 'text' for the text; the columns are: Title, Abstract; "
            r"name the one with the text: read_corpus\(\.\.\., text='Abstract'\) or --text Abstract$",
        ),
        (
            "a.csv",
            "Titel;Autor\nb;c\n",
            "the columns are: Titel, Autor; "
            r"name the one with the text: read_corpus\(\.\.\., text=COLUMN\) or --text COLUMN$",
        ),
        ("a.jsonl", '{"text": "a"}\n\n{"text": 5}\n', "a.jsonl, line 3: text must be a string, not int"),
        (
            "a.jsonl",
            '{"text": "a", "tags": {"b": 1}}\n',
            "a.jsonl, line 1: each tag must be a string or a number",
        ),
        (
            "a.jsonl",
            '{"text": "a", "id": [1]}\n',
            "a.jsonl, line 1: each id must be a string or a number, not a list",
        ),
        ("a.csv", "text,tags\na,b\nc\n", "a.csv, line 3: 1 fields, but the header has 2"),
        ("a.csv", "text,tags\na,b,c\n", "a.csv, line 2: 3 fields, but the header has 2; put quotes"),
        ("a.csv", 'text,tags\na,b\n"c,d\n', "a.csv, line 3: not valid CSV"),
        ("a.csv", 'text\n"a"b\n', "a.csv, line 2: not valid CSV"),
        ("a.csv", "text,text\na,b\n", "a.csv, line 1: two columns are named 'text'"),
        (
            "a.jsonl",
            "{}\ncaf\xe9\n".encode("latin-1"),
            r"a.jsonl, line 2: byte 4 \(0xe9\) is not UTF-8; save",
        ),
        ("a.jsonl", "{}\n".encode("utf-16"), "a.jsonl: the file is UTF-16; save it as UTF-8"),
        ("a.csv", b"text\n\x00\x01\n", "a.csv, line 2: contains a zero byte; this is a binary file"),
        ("a.jsonl.gz", gzip.compress(b'{"text": "abc"}' * 9, mtime=0)[:-9], "a.jsonl.gz: damaged gzip file"),
        ("a.parquet", b"PAR1 no", "a.parquet: cannot be read as Parquet"),
        (
            "a.docx",
            "hello",
            "a.docx: cannot tell the format from the name; name it with --format",
        ),
    ],
)
def test_bad_files_are_one_clear_line(tmp_path: Path, name: str, content: str | bytes, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read_corpus(save(tmp_path / name, content))
    assert "\n" not in str(caught.value)


def test_long_lines_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tagtopics.corpus.formats.text_files, "LINE_LIMIT", 30)
    path = save(tmp_path / "a.jsonl", '{"text": "short"}\n{"text": "' + "a" * 100 + '"}\n')
    with pytest.raises(InputError, match=r"a.jsonl, line 2: longer than 30 bytes"):
        read_corpus(path)


def test_long_fields_are_read(tmp_path: Path) -> None:
    corpus = read_corpus(save(tmp_path / "a.csv", "text\n" + "word " * 50_000 + "\n"))
    assert corpus.counts.sum() == 50_000


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        ("nowhere.jsonl", {}, "no such file: nowhere.jsonl"),
        ("word " * 1000, {}, "no such file: 'word word"),
        ("a\0b", {}, "no such file"),
        (".", {"format": "xml"}, "format: unknown 'xml'; choose from jsonl"),
        ([], {}, "list: no documents"),
        ([{}], {}, "no column 'text' for the text; the columns are: none"),
        ([{"text": "a"}, "b"], {}, "list, row 1: expected a dictionary, got str"),
        (["a", 3], {}, "list, row 1: a text must be a string, not int"),
        (["cat"], {"text": "body"}, "text: names a column, but the source is a list of texts"),
        (["cat"], {"id": "name"}, "id: 'name' names a column, but the source is not a table"),
        (["cat"], {"tags": np.eye(2)}, "tags: for a list of texts, give a list of tags for each text"),
        (["cat"], {"tags": [["a"], ["b"]]}, "tags have 2 rows, counts have 1"),
        (["cat"], {"id": ["a", "b"]}, "ids has 2 entries for 1 documents"),
        (5, {}, "cannot read a corpus from int; give a path, a table"),
        ({"text": ["a"]}, {}, "cannot read a corpus from dict"),
        (pl.LazyFrame({"text": ["a"]}), {}, "call collect"),
        (pd.DataFrame([["a", "b"]], columns=["text", "text"]), {}, "table: Expected unique column names"),
        (pd.DataFrame({"text": ["a"]}), {"tags": 5}, "tags: expected the name of a column"),
        (pd.DataFrame({"text": ["a"]}), {"tags": [5]}, "tags: expected the name of a column"),
        (
            pd.DataFrame({"text": ["a"]}),
            {"tags": "who"},
            "no column 'who' for the tags; the columns are: text",
        ),
        (pd.DataFrame({"text": ["a"]}), {"id": 5}, "id: expected the name of a column, got int"),
        (np.zeros((0, 3)), {}, "counts: no documents"),
        (np.zeros((3, 0)), {}, "counts: no words"),
        (np.array([[0.5]]), {}, "counts: row 0, column 0, value 0.5 is fractional"),
        (np.array([[1, 2]]), {"vocabulary": ["a"]}, "counts: vocabulary has 1 names for 2 columns"),
        (
            np.array([[1]]),
            {"tags": np.array([[1]]), "tag_names": ["a", "b"]},
            "tag_names has 2 names for 1 col",
        ),
    ],
)
def test_bad_sources_are_one_clear_line(source: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_corpus(source, **options)


def test_parquet_needs_polars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MissingExtraError, match=r"reading Parquet needs an extra: pip install"):
        read_corpus(save(tmp_path / "a.parquet", "x"))


def test_lone_surrogates_do_no_harm() -> None:
    corpus = read_corpus([{"text": "cat \ud800", "tags": ["a\udfff"], "id": "\ud800"}])
    assert corpus.texts == ("cat ?",)
    assert corpus.tag_names == ("a?",)


def test_import_is_light() -> None:
    heavy = {"sklearn", "polars", "pandas", "narwhals"}
    code = f"import tagtopics.corpus, sys; sys.exit(str({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == "set()"


def test_real_texts_give_the_counts_of_their_folder(data_directory: Path) -> None:
    folder = read_corpus(data_directory / "reuters")
    recipe = TextRecipe(token_pattern=r"\b[a-z]{2,}\b", min_df=5)
    again = read_corpus(data_directory / "reuters" / "texts.jsonl.gz", recipe=recipe)
    assert again.vocabulary == folder.vocabulary
    assert again.tag_names == folder.tag_names
    assert (again.counts != folder.counts).nnz == 0
    assert (again.tags != folder.tags).nnz == 0
    assert again.texts == folder.texts
    assert again.ids == folder.ids


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["\\ud800", "é", "0" * 30]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(JSON, st.booleans(), st.integers(0), st.text(max_size=2))
def test_lines_are_read_as_the_json_module_reads_them(
    value: Any, ascii_only: bool, at: int, put: str
) -> None:
    line = json.dumps({"a": value}, ensure_ascii=ascii_only)
    for text in (line, line[: at % len(line)] + put + line[at % len(line) :]):
        try:
            expected = repr(json.loads(text))
        except ValueError:
            with pytest.raises(InputError, match="line 7"):
                json_object(text, Path("x.jsonl"), 7)
        else:
            assert repr(json_object(text, Path("x.jsonl"), 7)) == expected


@pytest.mark.parametrize(
    "text",
    [
        '{"a": -0, "b": -0.0, "c": 1e400, "d": 5e-324}',
        '{"a": 2.2250738585072011e-308, "b": 9007199254740993.0}',
        '{"a": 123456789012345678901234567890, "b": NaN, "c": -Infinity}',
        '{"a": 1, "b": 2, "a": 3}',
        '{"a": "\\ud800", "b": "\\ud83d\\ude00", "c": "\\udc00\\ud800"}',
        '{"a": ' + "[" * 300 + "]" * 300 + "}",
        '\t{"a": "\x7f"} \r\n',
    ],
)
def test_unusual_json(text: str) -> None:
    assert repr(json_object(text, Path("x"), 1)) == repr(json.loads(text))
