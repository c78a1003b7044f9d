"""Changes: as a file, applied to a corpus, applied to files of all formats."""

from __future__ import annotations

import csv
import gzip
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st

import tagtopics as tt
from changed_tags import apply_changes
from tagtopics.analysis.audit.changes import Change, Finding, read_changes, write_changes
from tagtopics.analysis.audit.rewrite import TagColumns, csv_with, json_with, rewrite
from tagtopics.corpus.formats.text_files import Dialect
from tagtopics.errors import InputError

CHANGES = [
    Change("remove", "a", document="one"),
    Change("add", "d", document="two"),
    Change("merge", "b", other="B"),
    Change("drop", "c"),
]
BEFORE = {"one": ["a", "B"], "two": ["c"], "three": ["b", "B", "c"]}
AFTER = {"one": {"b"}, "two": {"d"}, "three": {"b"}}


def tags_in(corpus: tt.Corpus) -> dict[str, set[str]]:
    return {name: set(corpus.tags_of(row)) for row, name in enumerate(corpus.ids)}


def rows() -> list[dict[str, object]]:
    return [
        {"id": name, "text": f"words of {name} é", "n": 1.50, "tags": tags} for name, tags in BEFORE.items()
    ]


def test_apply_to_a_corpus() -> None:
    corpus = tt.read_corpus(rows())
    changed = apply_changes(corpus, CHANGES)
    assert tags_in(changed) == AFTER
    assert changed.tag_names == ("b", "d")
    assert tags_in(corpus) == {name: set(tags) for name, tags in BEFORE.items()}


def test_a_tag_of_a_corpus_that_no_document_has_can_be_dropped() -> None:
    corpus = tt.read_corpus(rows())
    more = replace(corpus, tags=sp.csr_array(sp.hstack([corpus.tags, sp.csr_array((3, 1), dtype=np.int8)])),
                   tag_names=(*corpus.tag_names, "none"))  # fmt: skip
    assert tags_in(apply_changes(more, [Change("drop", "none")])) == tags_in(corpus)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (Change("remove", "x", document="one"), "does not have this tag"),
        (Change("add", "a", document="one"), "already has this tag"),
        (Change("remove", "a", document="nobody"), "no document 'nobody'"),
        (Change("remove", "a", row=9), "only 3 documents"),
        (Change("remove", "a", document="one", row=1), "document 1 is 'two'"),
        (Change("drop", "x"), "no document has the tag 'x'"),
        (Change("merge", "a", other="x"), "no document has the tag 'x'"),
    ],
)
def test_changes_that_do_not_match_are_refused(change: Change, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        apply_changes(tt.read_corpus(rows()), [change])


def test_merging_in_a_circle_is_refused_and_chains_are_followed() -> None:
    corpus = tt.read_corpus(rows())
    chain = [Change("merge", "b", other="B"), Change("merge", "z", other="b")]
    assert tags_in(apply_changes(corpus, chain))["three"] == {"z", "c"}
    with pytest.raises(InputError, match="leads back"):
        apply_changes(corpus, [Change("merge", "b", other="B"), Change("merge", "B", other="b")])


def test_long_chains_and_files_take_linear_time(tmp_path: Path) -> None:
    corpus = tt.read_corpus([{"text": "bread", "tags": [f"t{i}" for i in range(5000)]}])
    chain = [Change("merge", f"t{i + 1}", other=f"t{i}") for i in range(4999)]
    assert apply_changes(corpus, chain).tag_names == ("t4999",)
    (tmp_path / "c.csv").write_text("accept,change,tag\n" + "yes,drop,x\n" * 50_000)
    accepted, n_refused = read_changes(tmp_path / "c.csv")
    assert (len(accepted), n_refused) == (50_000, 0)


def test_a_file_of_changes_is_read_back(tmp_path: Path) -> None:
    findings = [
        Finding("doubtful", 'a "quoted", tag', 0.9, "one", 0, words=("x", "y")),
        Finding("duplicate", "b", 0.4, other="B"),
        Finding("single", "c", 1.0),
    ]
    path = write_changes(findings, tmp_path / "c.csv")
    assert read_changes(path) == ([], 3)
    text = path.read_text().replace(",merge,", "Yes,merge,").replace(",drop,", "no,drop,")
    text = text.replace(",remove,", "x,remove,")
    path.write_text("\ufeff" + text.replace("\n", "\r\n"), encoding="utf-8", newline="")
    accepted, refused = read_changes(path)
    assert [(c.change, c.tag, c.row, c.other) for c in accepted] == [
        ("remove", 'a "quoted", tag', 0, None),
        ("merge", "b", None, "B"),
    ]
    assert refused == 1


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "empty"),
        ("tag,score\na,1\n", "no column 'accept'"),
        ("accept,change,tag\nyes,explode,a\n", "line 2: change must be"),
        ("accept,change,tag\nperhaps,drop,a\n", "line 2: accept must be"),
        ("accept,change,tag\nyes,drop,\n", "line 2: no tag"),
        ("accept,change,tag\nyes,merge,a\n", "line 2: merge needs"),
        ("accept,change,tag\nyes,add,a\n", "needs a document or a row"),
        ("accept,change,tag,row\nyes,add,a,-1\n", "row must be a number"),
        ('accept,change,tag\n"yes,drop,a\n', "not valid CSV"),
        ("\x00\x01", "binary"),
    ],
)
def test_malformed_files_of_changes(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "c.csv").write_text(text)
    with pytest.raises(InputError, match=problem) as error:
        read_changes(tmp_path / "c.csv")
    assert "\n" not in str(error.value)


# --------------------------------------------------------------------------------------------------- files


def test_json_lines_keep_everything_else(tmp_path: Path) -> None:
    source = tmp_path / "c.jsonl.gz"
    lines = [
        '{"id":"one","n":1.50,  "tags":["a","B"],"text":"caf\\u00e9 [x]"}\r\n',
        "\n",
        '{"tags": ["c"], "id": "two", "text": "tree"}\n',
        '{"id": "three", "text": "river", "tags": "b; B; c"}',
    ]
    source.write_bytes(gzip.compress("".join(lines).encode()))
    assert rewrite(source, tmp_path / "o.jsonl", CHANGES) == 3
    assert (tmp_path / "o.jsonl").read_bytes().decode() == (
        '{"id":"one","n":1.50,  "tags":["b"],"text":"caf\\u00e9 [x]"}\r\n'
        "\n"
        '{"tags": ["d"], "id": "two", "text": "tree"}\n'
        '{"id": "three", "text": "river", "tags": "b"}'
    )
    assert tags_in(tt.read_corpus(tmp_path / "o.jsonl")) == AFTER


def test_csv_keeps_quotes_line_ends_and_numbers(tmp_path: Path) -> None:
    source = tmp_path / "c.csv"
    text = (
        '\ufeffid,"text",n,tags\r\n"one","apple ""b"",\r\nc",1.50,a;B\r\n\r\n'
        'two,tree,007,"c"\r\nthree, river ,,b; B; c\r\n'
    )
    source.write_bytes(text.encode())
    rewrite(source, tmp_path / "o.csv", CHANGES)
    expected = text.replace("1.50,a;B", "1.50,b").replace('007,"c"', '007,"d"').replace("b; B; c", "b")
    assert (tmp_path / "o.csv").read_bytes() == expected.encode()
    assert tags_in(tt.read_corpus(tmp_path / "o.csv")) == AFTER


def test_parquet_keeps_other_columns_and_types(tmp_path: Path) -> None:
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(rows()).with_columns(pl.lit(3, dtype=pl.Int16).alias("small"))
    frame.write_parquet(tmp_path / "c.parquet")
    rewrite(tmp_path / "c.parquet", tmp_path / "o.parquet", CHANGES)
    new = pl.read_parquet(tmp_path / "o.parquet")
    assert new.schema == frame.schema
    assert new.drop("tags").equals(frame.drop("tags"))
    assert tags_in(tt.read_corpus(tmp_path / "o.parquet")) == AFTER


def test_a_matrix_folder_is_refused(tmp_path: Path) -> None:
    tt.write_matrix_folder(tt.read_corpus(rows()), tmp_path / "c")
    with pytest.raises(InputError, match=r"can be applied to jsonl, csv, .*, not to folder"):
        rewrite(tmp_path / "c", tmp_path / "o", CHANGES)


def test_kinds_go_to_their_columns(tmp_path: Path) -> None:
    line = {"id": "1", "text": "t", "author": ["Ann"], "year": 2020}
    (tmp_path / "c.jsonl").write_text(json.dumps(line) + "\n")
    changes = [Change("merge", "author:Anna", other="author:Ann"), Change("add", "year:2021", row=0)]
    rewrite(tmp_path / "c.jsonl", tmp_path / "o.jsonl", changes, TagColumns(["author", "year"]))
    assert json.loads((tmp_path / "o.jsonl").read_text()) == line | {
        "author": ["Anna"],
        "year": [2020, "2021"],
    }
    other = [Change("add", "venue:ACL", row=0)]
    with pytest.raises(InputError, match="would not be read back"):
        rewrite(tmp_path / "c.jsonl", tmp_path / "p.jsonl", other, TagColumns(["author", "year"]))


def test_a_tag_with_the_separator_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "c.csv").write_text('id,text,tags\n1,t,"a,b"\n2,u,c\n')
    for tag in ("x,y", "x;y"):
        with pytest.raises(InputError, match="would not be read back"):
            rewrite(tmp_path / "c.csv", tmp_path / "o.csv", [Change("add", tag, document="2")])
    assert not (tmp_path / "o.csv").exists()


def test_existing_files_and_other_formats_are_refused(tmp_path: Path) -> None:
    source = tmp_path / "c.jsonl"
    source.write_text('{"id": "1", "text": "t", "tags": ["a"]}\n')
    (tmp_path / "o.jsonl").write_text("mine")
    with pytest.raises(InputError, match="already exists"):
        rewrite(source, tmp_path / "o.jsonl", [])
    assert rewrite(source, tmp_path / "o.jsonl", [], overwrite=True) == 0
    assert (tmp_path / "o.jsonl").read_bytes() == source.read_bytes()
    with pytest.raises(InputError, match="separate paths"):
        rewrite(source, source, [], overwrite=True)
    (tmp_path / "c.mrc").write_text("1 1:1\n")
    with pytest.raises(InputError, match="not to marc"):
        rewrite(tmp_path / "c.mrc", tmp_path / "o.mrc", [])


WORDS = st.text(max_size=4)
VALUES = (
    WORDS
    | st.none()
    | st.integers()
    | st.lists(WORDS, max_size=2)
    | st.dictionaries(WORDS, WORDS, max_size=2)
)


@settings(max_examples=50, deadline=None)
@given(st.dictionaries(WORDS, VALUES, max_size=4), st.dictionaries(WORDS, VALUES, min_size=1, max_size=2))
def test_json_values_are_replaced_and_added(old: dict[str, object], new: dict[str, object]) -> None:
    for escape in (True, False):
        line = json.dumps(old, ensure_ascii=escape, separators=(",", " : ")) + "\n"
        assert json.loads(json_with(line, new)) == old | new


FIELDS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=6)
FORMATS: dict[str, dict[str, Any]] = {
    "doubled": {"doublequote": True},
    "backslash": {"doublequote": False, "escapechar": "\\"},
    "none": {"quoting": csv.QUOTE_NONE},
}


@settings(max_examples=100, deadline=None)
@given(st.lists(FIELDS, min_size=2, max_size=4), st.text('ab,"\\ \n', max_size=6))
def test_csv_fields_are_replaced(fields: list[str], value: str) -> None:
    for quoting in ("doubled", "backslash"):
        text = io.StringIO(newline="")
        csv.writer(text, lineterminator="\r\n", **FORMATS[quoting]).writerow(fields)
        new = csv_with(text.getvalue(), {1: value}, Dialect("utf-8", ",", quoting))
        expected = [fields[0], value, *fields[2:]]
        assert next(csv.reader(io.StringIO(new, newline=""), strict=True, **FORMATS[quoting])) == expected


@settings(max_examples=500, deadline=None)
@given(st.text('ab"\\,;\t\r\n', max_size=14), st.sampled_from(sorted(FORMATS)), st.sampled_from(",;\t"))
@example('5" photo,7" x 9,a"b', "doubled", ",")
@example('a,"b"c"d,e', "backslash", ",")
@example("a\\\nb,c", "backslash", ",")
def test_records_are_divided_as_the_csv_module_does(record: str, quoting: str, delimiter: str) -> None:
    """Each field of any record that the csv module reads is replaced, and the others keep their text."""
    arguments = FORMATS[quoting] | {"delimiter": delimiter, "strict": True}

    def read(text: str) -> list[list[str]]:
        return list(csv.reader(io.StringIO(text, newline="\n"), **arguments))

    try:
        found = read(record)
    except csv.Error:
        return
    if len(found) != 1:
        return
    for place in range(len(found[0])):
        changed = csv_with(record, {place: "new"}, Dialect("utf-8", delimiter, quoting))
        assert read(changed) == [[*found[0][:place], "new", *found[0][place + 1 :]]]
        before, after = changed.split("new")
        assert record.startswith(before.removesuffix('"'))
        assert record.endswith(after.removeprefix('"'))


@pytest.mark.parametrize(
    "tag", ["=cmd|' /C calc'!A0", "+1", "-2 degrees", "@home", "'=a", "''+b", "'90s", "a=b"]
)
def test_spreadsheets_run_no_tag_and_it_is_read_back(tag: str, tmp_path: Path) -> None:
    found = Finding("doubtful", tag, 0.5, document=tag, row=0, words=("=word",))
    path = write_changes([found], tmp_path / "changes.csv")
    with path.open(newline="") as file:
        (cells,) = csv.DictReader(file)
    assert not any(value.startswith(("=", "+", "-", "@", "\t", "\r")) for value in cells.values())
    path.write_text(path.read_text().replace("\n,", "\nyes,"))
    ((change,), _) = read_changes(path)
    assert (change.tag, change.document) == (tag, tag)
