"""`--vectors`: files of vectors for `fit`, `recommend` and `related`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from cli_running import ROWS, run, write_rows

import tagtopics as tt


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_rows(tmp_path / "rows.jsonl")


def save(folder: Path, vectors: object) -> Path:
    np.save(folder / "rows.npy", np.asarray(vectors), allow_pickle=True)
    return folder / "rows.npy"


def test_fit_with_vectors(corpus: Path, tmp_path: Path) -> None:
    vectors = np.repeat(np.eye(3), 6, axis=0)
    arguments = ("fit", corpus, "--topics", 3, "--min-df", 1, "--seed", 0, "--out", tmp_path / "m.tt")
    found = run(*arguments, "--vectors", save(tmp_path, vectors), "--json").json()
    assert found["vector_strength"] == 10
    model = tt.load(tmp_path / "m.tt")
    assert model.vectors_ is not None
    np.testing.assert_array_equal(model.vectors_, vectors)
    shown = run(*arguments, "--vectors", tmp_path / "rows.npy", "--no-recommender")
    assert "10 tokens from the nearest documents" in shown.out


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        (np.ones((5, 2)), f"(5, 2) is not one row for each of {len(ROWS)} documents"),
        (np.full((len(ROWS), 2), np.inf), "row 0 has a number that is not finite"),
        (np.array([{}], dtype=object), "not a file of numpy.save with numbers"),
    ],
)
def test_wrong_vectors_are_refused(vectors: object, message: str, corpus: Path, tmp_path: Path) -> None:
    result = run("fit", corpus, "--vectors", save(tmp_path, vectors), "--out", tmp_path / "m.tt")
    assert result.code == 2
    assert message in " ".join(result.err.split())
    assert not (tmp_path / "m.tt").exists()


def test_vectors_need_a_file_and_no_edits(corpus: Path, tmp_path: Path) -> None:
    missing = run("fit", corpus, "--vectors", tmp_path / "none.npy", "--out", tmp_path / "m.tt")
    assert missing.code == 2
    assert "No such file" in missing.err
    vectors = save(tmp_path, np.ones((len(ROWS), 2)))
    guided = run("fit", corpus, "--guided", "a: b", "--vectors", vectors, "--out", tmp_path / "m.tt")
    assert guided.code == 2
    assert "--vectors needs a fit without --curation and --guided" in " ".join(guided.err.split())


def test_shards_with_vectors(corpus: Path, tmp_path: Path) -> None:
    assert run("shard", corpus, "--out", tmp_path / "shards").code == 0
    fit = ("fit", tmp_path / "shards", "--topics", 3, "--seed", 0, "--out", tmp_path / "m.tt", "--json")
    wrong = run(*fit, "--vectors", save(tmp_path, np.ones((5, 2))))
    assert wrong.code == 2
    assert f"(5, 2) is not one row for each of {len(ROWS)} documents" in " ".join(wrong.err.split())
    found = run(*fit, "--vectors", save(tmp_path, np.repeat(np.eye(3), 6, axis=0))).json()
    assert found["vector_strength"] == 10
    assert tt.load(tmp_path / "m.tt").vectors_ is not None


@pytest.mark.parametrize("command", ["recommend", "related"])
def test_questions_with_vectors(command: str, corpus: Path, tmp_path: Path) -> None:
    vectors = tmp_path / "parity.npy"
    np.save(vectors, np.tile(np.eye(2), (9, 1)))  # tells "odd" and "even", which words do not
    fit = ("fit", corpus, "--topics", 3, "--min-df", 1, "--seed", 0, "--out", tmp_path / "m.tt")
    assert run(*fit, "--vectors", vectors).code == 0
    question = (command, tmp_path / "m.tt", corpus, "--json")
    found = run(*question, "--vectors", vectors).json()
    assert len(found["documents"]) == len(ROWS)
    assert found != run(*question).json()
    for given, message in (
        (tmp_path / "none.npy", "No such file"),
        (save(tmp_path, np.eye(2)), "not one row"),
    ):
        result = run(*question, "--vectors", given)
        assert result.code == 2
        assert message in " ".join(result.err.split())
    assert run(*fit).code == 0
    refused = run(*question, "--vectors", vectors)
    assert refused.code == 2
    assert "trained without vectors; omit them" in " ".join(refused.err.split())
