"""`tagtopics reproduce`, from the shell's side."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from tagtopics import InputError, make_tagged_corpus, write_matrix_folder
from tagtopics.cli import main


def run(*arguments: object) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main([str(argument) for argument in arguments])
    return code, out.getvalue(), err.getvalue()


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    corpus = make_tagged_corpus(n_docs=120, n_words=150, n_groups=0, n_topics=6, n_tags=6, seed=3).corpus
    write_matrix_folder(corpus, tmp_path / "data" / "cora")
    monkeypatch.setenv("TAGTOPICS_DATA", str(tmp_path / "data"))
    return tmp_path


def test_measures_writes_and_goes_on(data: Path) -> None:
    only = ("--quick", "--jobs", 1, "--only", "topics/cora", "--only", "statistics/cora", "--json")
    code, out, err = run("reproduce", "--out", data / "out", *only)
    assert code == 0, err
    answer = json.loads(out)
    assert answer["records"] == 9
    assert {claim["status"] for claim in answer["claims"]} >= {"not measured"}
    page = data / "out" / "reproduction.md"
    assert answer["page"] == str(page)
    assert "Top words" in page.read_text()
    assert "9/9" in err
    lines = (data / "out" / "records.jsonl").read_bytes()
    code, out, err = run("reproduce", "--out", data / "out", *only)
    assert code == 0
    assert (data / "out" / "records.jsonl").read_bytes() == lines
    code, out, err = run("reproduce", "--page-only", "--out", data / "out", "--page", data / "docs" / "p.md")
    assert code == 0
    assert (data / "docs" / "p.md").read_text() == page.read_text()
    assert "not measured" in out


def test_data_that_is_missing_is_a_note(data: Path) -> None:
    only = ("cora", "corel5k", "--only", "statistics/cora", "--only", "recommendation")
    code, _, err = run("reproduce", "--quick", "--jobs", 1, "--out", data / "out", *only)
    assert code == 0
    assert "note: corel5k-images: not available, skipped" in err
    assert "were not run; repeat the command to continue" in err


def test_without_any_data_the_reason_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Offline, as a newcomer may be: not advice about an option that was not given."""
    monkeypatch.delenv("TAGTOPICS_DATA", raising=False)
    monkeypatch.setenv("TAGTOPICS_CACHE", str(tmp_path / "cache"))

    def offline(*args: object, **options: object) -> None:
        raise InputError("cora: cannot be downloaded (no network)")

    monkeypatch.setattr("tagtopics.datasets.load.fetch_dataset", offline)
    code, _, err = run("reproduce", "cora", "--quick", "--jobs", 1, "--out", tmp_path / "out")
    assert code == 2
    last = err.splitlines()[-1]
    assert "no experiment was run: cora: not available, skipped (cora: cannot be downloaded" in last
    assert "--page-only" not in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--page-only",), "no records yet"),
        (("--only", "juggling"), "--only 'juggling'"),
        (("mars",), "'mars'"),
        (("--jobs", 0), "--jobs"),
        (("--minutes", -1), "--minutes"),
        (("--splits", 0), "--splits"),
        (("--minutes", "nan"), "--minutes"),
        (("corel5k", "--from-pixels"), "--from-pixels"),
    ],
)
def test_wrong_input_is_one_line(data: Path, arguments: tuple[object, ...], words: str) -> None:
    code, out, err = run("reproduce", "--quick", "--out", data / "out", *arguments)
    assert code == 2
    assert out == ""
    assert len(err.splitlines()) == 1
    assert words in err


def test_out_must_be_a_folder(data: Path) -> None:
    (data / "file").write_text("")
    code, _, err = run("reproduce", "--quick", "--out", data / "file")
    assert code == 2
    assert "this file is not a folder of records" in err
