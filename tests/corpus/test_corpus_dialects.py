"""Encoding, delimiter and quoting of each file are detected."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

import tagtopics as tt
from tagtopics.corpus.recipe import Columns


def read(path: Path, **options: Any) -> tt.Corpus:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tt.CorpusWarning)
        return tt.read_corpus(path, **options)


def write(folder: Path, name: str, text: str, encoding: str = "utf-8") -> Path:
    (folder / name).write_bytes(text.encode(encoding))
    return folder / name


def test_each_file_is_detected_for_itself(tmp_path: Path) -> None:
    first = read(write(tmp_path, "a.csv", "text;tags\nred cars, old;x\nblue ships, new;y\n", "cp1252"))
    assert any("semicolons" in line for line in first.notices)
    later = read(write(tmp_path, "b.csv", "text,tags\nred ships; blue,x\n", "utf-16"), columns=first.columns)
    assert (later.texts, later.tag_names) == (("red ships; blue",), ("x",))
    assert any("UTF-16" in line for line in later.notices)


def test_quotes_that_are_ordinary_characters(tmp_path: Path) -> None:
    path = write(tmp_path, "a.tsv", 'text\ttags\n"red" cars"\tx\nblue ships\t"y"\n')
    found = read(path)
    assert found.tag_names == ('"y"', "x")
    assert any("ordinary characters" in line for line in found.notices)
    assert read(write(tmp_path, "b.tsv", 'text\ttags\nred ships\t"y"\n')).tag_names == ("y",)


def test_columns_of_earlier_versions_are_read() -> None:
    old = {"text": "text", "tags": "tags", "separators": {"tags": [";"]}, "delimiter": ";", "quoting": "none"}
    assert Columns.model_validate(old).separators == {"tags": (";",)}


@pytest.mark.parametrize("name", ["zlib", "bz2", "rot13", "hex", "undefined", "punycode"])
def test_what_is_no_encoding_of_text_is_one_line(name: str, tmp_path: Path) -> None:
    for file in ("a.csv", "a.jsonl"):
        path = write(tmp_path, file, 'text,tags\n"red, cars",x\n' if file == "a.csv" else '{"text": "red"}\n')
        with pytest.raises(tt.InputError, match=name):
            read(path, encoding=name)
