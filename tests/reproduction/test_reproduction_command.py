"""`python -m reproduction`: what it runs, writes, prints and refuses."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from benchmarks.synthetic import make_tagged_corpus
from reproduction.__main__ import main
from reproduction.page import check_page_target, write_page
from reproduction.spec import read_records
from tagtopics import InputError, write_matrix_folder

ROOT = Path(__file__).resolve().parents[2]


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
    code, out, err = run("--out", data / "out", *only)
    assert code == 0, err
    answer = json.loads(out)
    assert answer["records"] == 9
    assert {claim["status"] for claim in answer["claims"]} >= {"not measured"}
    page = data / "out" / "reproduction.md"
    assert answer["page"] == str(page)
    assert "Top words" in page.read_text()
    assert "9/9" in err
    lines = (data / "out" / "records.jsonl").read_bytes()
    code, out, err = run("--out", data / "out", *only)
    assert code == 0
    assert (data / "out" / "records.jsonl").read_bytes() == lines
    code, out, err = run("--page-only", "--out", data / "out", "--page", data / "docs" / "p.md")
    assert code == 0
    assert (data / "docs" / "p.md").read_text() == page.read_text()
    assert [line for line in out.splitlines() if "not measured" in line] == [out.splitlines()[-2]]
    assert out.endswith(f"9 records; written to {data / 'docs' / 'p.md'}\n")


def test_data_that_is_missing_is_a_note(data: Path) -> None:
    only = ("cora", "corel5k", "--only", "statistics/cora", "--only", "recommendation")
    code, _, err = run("--quick", "--jobs", 1, "--out", data / "out", *only)
    assert code == 0
    assert "note: corel5k-images: not available, skipped" in err
    assert "were not run; repeat to continue" in err


def test_without_any_data_the_reason_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Offline, as a newcomer may be: not advice about an option that was not given."""
    monkeypatch.delenv("TAGTOPICS_DATA", raising=False)
    monkeypatch.setenv("TAGTOPICS_CACHE", str(tmp_path / "cache"))

    def offline(*args: object, **options: object) -> None:
        raise InputError("cora: cannot be downloaded (no network)")

    monkeypatch.setattr("tagtopics.datasets.load.fetch_dataset", offline)
    code, _, err = run("cora", "--quick", "--jobs", 1, "--out", tmp_path / "out")
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
    code, out, err = run("--quick", "--out", data / "out", *arguments)
    assert code == 2
    assert out == ""
    assert len(err.splitlines()) == 1
    assert words in err


@pytest.mark.parametrize("option", ["--out", "--page"])
def test_what_is_not_ours_is_refused_before_anything_runs(
    data: Path, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    monkeypatch.setattr("reproduction.__main__.run_grid", lambda *a, **k: pytest.fail("a run was started"))
    mine = data / "mine.md"
    mine.write_text("years of work")
    code, _, err = run("--quick", "--out", data / "out", option, mine)
    assert code == 2
    assert "this file is not a" in err
    assert mine.read_text() == "years of work"


def test_a_page_of_others_stays(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("years of work")
    with pytest.raises(InputError, match="not a page of results"):
        write_page([], tmp_path / "page.md")
    assert (tmp_path / "page.md").read_text() == "years of work"


def test_figures_of_others_stay(tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "reproduction-perplexity.svg").write_text("<svg>mine</svg>")
    with pytest.raises(InputError, match="not a figure written by tagtopics"):
        check_page_target(tmp_path / "page.md")


def test_a_file_that_is_no_record_is_not_cut(tmp_path: Path) -> None:
    """An incomplete last line is removed; one that never was a record is an error."""
    (tmp_path / "records.jsonl").write_text('{"my": "only line"}')
    with pytest.raises(InputError, match="line 1: not a record"):
        read_records(tmp_path / "records.jsonl")
    (tmp_path / "records.jsonl").write_text('{"key": "abc", "spe')
    assert read_records(tmp_path / "records.jsonl") == []


def test_the_module_is_the_command(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "reproduction", "--page-only", "--out", str(tmp_path / "none")]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert found.returncode == 2
    assert "no records yet" in found.stderr
