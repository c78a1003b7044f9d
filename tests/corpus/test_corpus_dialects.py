"""How a file was written is stored with the corpus, and later files are read the same way."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

import tagtopics as tt
from tagtopics.cli import main
from tagtopics.corpus.recipe import Columns


def read(path: Path, **options: Any) -> tt.Corpus:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tt.CorpusWarning)
        return tt.read_corpus(path, **options)


def write(folder: Path, name: str, text: str, encoding: str = "utf-8") -> Path:
    (folder / name).write_bytes(text.encode(encoding))
    return folder / name


def test_a_delimiter_is_remembered(tmp_path: Path) -> None:
    first = read(write(tmp_path, "a.csv", "text;tags\nred cars, old;x\nblue ships, new;y\n"))
    assert first.columns is not None
    assert (first.columns.delimiter, first.columns.quoting) == (";", "doubled")
    later = write(tmp_path, "b.csv", "text\nred ships, and more, and more\nblue cars\n")
    with pytest.raises(tt.InputError, match="fields"):
        read(later)
    assert read(later, columns=first.columns).n_docs == 2
    commas = read(write(tmp_path, "c.csv", "text,tags\nred ships; blue,x\n"), columns=first.columns)
    assert commas.tag_names == ("x",)
    assert any("commas" in line for line in commas.notices) is False  # the usual delimiter needs no notice


def test_an_encoding_is_remembered(tmp_path: Path) -> None:
    text = "text,tags\nморские корабли плывут,море\nгородские трамваи едут,город\n"
    first = read(write(tmp_path, "a.csv", text, "cp1251"), encoding="cp1251")
    assert first.columns is not None
    assert first.columns.encoding == "cp1251"
    later = write(tmp_path, "b.csv", "text\nморские трамваи\n", "cp1251")
    with pytest.raises(tt.InputError, match="encoding"):
        read(later)
    for name, encoding in (("c.csv", "cp1251"), ("d.csv", "utf-8"), ("e.csv", "utf-16")):
        again = read(write(tmp_path, name, "text\nморские трамваи\n", encoding), columns=first.columns)
        assert again.vocabulary == ("морские", "трамваи")
    lines = write(tmp_path, "f.jsonl", '{"text": "морские трамваи"}\n', "cp1251")
    assert read(lines, columns=first.columns).vocabulary == ("морские", "трамваи")


def test_a_named_format_is_remembered_by_suffix(tmp_path: Path) -> None:
    first = read(write(tmp_path, "a.txt", "text,tags\nred cars,x\nblue ships,y\n"), format="csv")
    assert first.columns is not None
    assert first.columns.formats == {".txt": "csv"}
    later = write(tmp_path, "b.txt", "text,tags\nred ships,y\n")
    assert read(later, columns=first.columns).tag_names == ("y",)
    assert read(later).n_docs == 2  # without: a document per line
    other = write(tmp_path, "c.jsonl", '{"text": "red ships", "tags": ["y"]}\n')
    assert read(other, columns=first.columns).tag_names == ("y",)


def test_quotes_that_are_ordinary_characters_stay_so(tmp_path: Path) -> None:
    first = read(write(tmp_path, "a.tsv", 'text\ttags\n"red" cars"\tx\nblue ships\t"y"\n'))
    assert first.columns is not None
    assert first.columns.quoting == "none"
    later = write(tmp_path, "b.tsv", 'text\ttags\nred ships\t"y"\n')
    assert read(later, columns=first.columns).tag_names == ('"y"',)
    assert read(later).tag_names == ("y",)


def test_columns_of_earlier_versions_are_read() -> None:
    old = Columns.model_validate({"text": "text", "tags": "tags", "separators": {"tags": [";"]}})
    assert (old.delimiter, old.encoding, old.formats) == (None, None, {})


def test_commands_remember_and_say_nothing_needless(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "".join(
        f"{'rote schnelle autos fahren, heute' if i % 2 else 'blaue große schiffe segeln, morgen'};"
        f"{'auto' if i % 2 else 'schiff'}\n"
        for i in range(20)
    )
    write(tmp_path, "a.csv", "text;tags\n" + rows, "cp1252")
    assert main(["fit", "a.csv", "--topics", "2", "--out", "m.tt", "--quiet"]) == 0
    write(tmp_path, "b.csv", "text\nblaue große schiffe, sehr große\n", "cp1252")
    capsys.readouterr()
    assert main(["recommend", "m.tt", "b.csv"]) == 0
    printed = capsys.readouterr()
    assert "schiff" in printed.out
    assert printed.err == "note: 1 token of words outside the vocabulary left out\n"
    assert main(["explain", "m.tt", "b.csv"]) == 2
    assert "tags" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["zlib", "bz2", "rot13", "hex", "undefined", "punycode"])
def test_what_is_no_encoding_of_text_is_one_line(name: str, tmp_path: Path) -> None:
    for file in ("a.csv", "a.jsonl"):
        path = write(tmp_path, file, 'text,tags\n"red, cars",x\n' if file == "a.csv" else '{"text": "red"}\n')
        with pytest.raises(tt.InputError, match=name):
            read(path, encoding=name)
