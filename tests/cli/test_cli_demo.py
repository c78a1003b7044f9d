"""The demonstration: every part of it, and that it fits the page."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest
from cli_running import run

from tagtopics import Corpus, load
from tagtopics.cli.sources import load_named
from tagtopics.datasets import commands


@pytest.fixture(scope="module")
def answer(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    out = tmp_path_factory.mktemp("demo") / "demo.tt"
    result = run("demo", "--out", out, "--topics", 6)
    assert result.code == 0, result.err
    return out, result.out


def test_it_shows_everything(answer: tuple[Path, str]) -> None:
    _, text = answer
    for title in (
        "What is the collection about?",
        "What do tags stand for?",
        "Which tag accounts for which word?",
        "How well are held-out words predicted?",
        "Try next:",
    ):
        assert title in text


def test_it_fits_the_page(answer: tuple[Path, str]) -> None:
    out, text = answer
    lines = [line.rstrip() for line in text.splitlines() if str(out) not in line]
    assert max(map(len, lines)) <= 100


def test_it_suggests_a_report(answer: tuple[Path, str]) -> None:
    out, text = answer
    line = next(line for line in text.splitlines() if "tagtopics report" in line)
    assert run(*shlex.split(line)[1:]).code == 0
    assert out.with_suffix(".html").exists()


def test_it_saves_the_model(answer: tuple[Path, str]) -> None:
    out, text = answer
    assert str(out) in text
    assert load(out).n_topics == 6


def test_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def part(name: str, output: Any) -> Corpus:
        corpus = load_named(name, output)
        return corpus.select(range(0, corpus.n_docs, 4))

    monkeypatch.setattr(commands, "load_named", part)
    payload = run("demo", "--out", tmp_path / "demo.tt", "--topics", 3, "--json").json()
    assert payload["metrics"]["perplexity"] < payload["metrics"]["unigram_perplexity"]
    assert len(payload["topics"]) == 3
    assert {"tags", "document", "path", "seconds"} <= set(payload)
