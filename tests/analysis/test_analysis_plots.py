"""Figures of `choose`, `effects` and `trends`."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import tagtopics as tt
from tagtopics.cli import main

pytest.importorskip("matplotlib")

PAPERS = Path(__file__).resolve().parents[2] / "docs" / "examples" / "papers.csv"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A model whose words and tags would be errors as formulas."""
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(40, 0.1), size=3)
    counts = np.array([rng.multinomial(40, topics[d % 3]) for d in range(60)])
    words = [f"$\\frac{w}" for w in range(40)]
    tags = [[f"year:{2000 + d % 5}", f"venue:${'ab'[d % 2]}_"] for d in range(60)]
    corpus = tt.read_corpus(counts, vocabulary=words, tags=tags)
    place = tmp_path_factory.mktemp("plots") / "m.tt"
    tt.LDA(3, random_state=0).fit_topics(corpus).save(place, corpus=corpus)
    return str(place)


COMMANDS = {
    "choose": [
        "choose",
        str(PAPERS),
        "--text",
        "abstract",
        "--tags",
        "authors",
        "--topics",
        "2,3",
        "--restarts",
        "2",
    ],
    "effects": ["effects", "MODEL", "--on", "year", "--kind", "venue", "--refits", "10"],
    "trends": ["trends", "MODEL", "--refits", "10", "--min-docs", "5"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_figures_are_written(
    folder: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [folder if part == "MODEL" else part for part in COMMANDS[name]]
    for suffix, mark in ((".svg", b"<?xml"), (".png", b"\x89PNG"), (".pdf", b"%PDF")):
        figures = [tmp_path / f"{i}{suffix}" for i in range(2)]
        for figure in figures if suffix == ".svg" else figures[:1]:
            assert main([*command, "--plot", str(figure)]) == 0
        assert figures[0].read_bytes().startswith(mark)
    assert (tmp_path / "0.svg").read_bytes() == (tmp_path / "1.svg").read_bytes()
    capsys.readouterr()


@pytest.mark.parametrize("name", COMMANDS)
def test_a_wrong_file_is_refused_before_any_work(
    folder: str,
    name: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "mine.svg").write_text("mine")
    command = [folder if part == "MODEL" else part for part in COMMANDS[name]]
    for file in ("mine.svg", "x.gif"):
        assert main([*command, "--plot", str(tmp_path / file)]) == 2
        out, err = capsys.readouterr()
        assert (out, err.count("\n")) == ("", 1)
    assert (tmp_path / "mine.svg").read_text() == "mine"
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert main([*command, "--plot", str(tmp_path / "x.svg")]) == 2
    assert "tagtopics[plot]" in capsys.readouterr().err
