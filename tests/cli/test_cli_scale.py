"""Shards and long fits from the shell."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_running import FIT, ROWS, arrays, run, shard_small, write_rows


@pytest.fixture
def shards(tmp_path: Path) -> Path:
    return shard_small(tmp_path)


def test_fit_to_shards(shards: Path, tmp_path: Path) -> None:
    answer = run("fit", shards, *FIT, "--out", tmp_path / "m.tt", "--json").json()
    assert (answer["n_docs"], answer["iterations"], answer["stop_reason"]) == (len(ROWS), 8, "max_iter")
    assert not (tmp_path / "m.tt.run").exists()
    for threads in (1, 3):
        assert run("fit", shards, *FIT, "--threads", threads, "--out", tmp_path / "n.tt").code == 0
        assert arrays(tmp_path / "n.tt") == arrays(tmp_path / "m.tt")
    assert run("tags", tmp_path / "m.tt", "--json").code == 0
    advice = run("recommend", tmp_path / "m.tt", tmp_path / "a.jsonl", "--json")
    assert advice.code == 0, advice.err


def test_without_ray_nothing_stays(shards: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    before = sorted(path.name for path in tmp_path.iterdir())
    result = run("fit", shards, "--engine", "ray", "--out", tmp_path / "new.tt")
    assert result.code == 2
    assert "pip install 'tagtopics[ray]'" in result.err
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def corpus(folder: Path) -> Path:
    return write_rows(folder / "b.jsonl")


def without(folder: Path, name: str) -> Path:
    (folder / name).unlink()
    return folder


BAD: dict[str, tuple[Callable[[Path, Path], list[object]], str]] = {
    "unknown engine": (lambda s, _: [s, "--engine", "spark"], "choose from local, ray"),
    "ray without shards": (lambda _, t: [corpus(t), "--engine", "ray"], "needs shards"),
    "no workers": (lambda s, _: [s, "--engine", "ray", "--workers", 0], "--workers must be greater"),
    "resume without shards": (lambda _, t: [corpus(t), "--resume"], "--resume needs shards"),
    "checkpoint without shards": (lambda _, t: [corpus(t), "--checkpoint", t], "--checkpoint needs shards"),
    "a model that needs all documents": (lambda s, _: [s, "--model", "atm"], "LDA and TTM"),
    "the folder of the fit is something else": (lambda s, t: [s, "--checkpoint", t], "choose"),
    "a shard is missing": (
        lambda s, _: [without(s, "shard-00001.safetensors")],
        "shard-00001.safetensors: missing",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line(case: str, shards: Path, tmp_path: Path) -> None:
    arguments, message = BAD[case]
    result = run("fit", *arguments(shards, tmp_path), "--out", tmp_path / "new.tt")
    assert result.code == 2, result.err
    errors = [line for line in result.err.splitlines() if line.startswith("tagtopics: error")]
    assert len(errors) == 1
    assert message in errors[0]
    assert not (tmp_path / "new.tt").exists()
    assert (tmp_path / "a.jsonl").exists()
