"""`tagtopics recommend`, from the model folder alone, and the tasks of `evaluate`."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_running import run

from benchmarks.synthetic import make_tagged_corpus
from tagtopics import write_matrix_folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    corpus = make_tagged_corpus(n_docs=120, n_words=150, n_groups=0, n_topics=6, n_tags=6, seed=3).corpus
    path = tmp_path_factory.mktemp("recommend") / "corpus"
    write_matrix_folder(corpus, path)
    return path


def test_recommend_answers_from_the_saved_model(folder: Path, tmp_path: Path) -> None:
    fitted = run("fit", folder, "--topics", 6, "--iterations", 20, "--no-corpus", "-o", tmp_path / "m.tt")
    assert fitted.code == 0, fitted.err
    answer = run("recommend", tmp_path / "m.tt", folder, "--top", 2, "--json").json()
    assert len(answer["documents"]) == 120
    for document in answer["documents"]:
        assert set(document) == {"id", "tags"}
        probabilities = [tag["probability"] for tag in document["tags"]]
        assert len(probabilities) == 2
        assert probabilities == sorted(probabilities, reverse=True)
    shown = run("recommend", tmp_path / "m.tt", folder, "--top", 1)
    assert shown.code == 0
    assert "because of" in shown.out


@pytest.mark.parametrize("command", ["recommend", "related"])
def test_a_text_without_known_words_is_told(folder: Path, tmp_path: Path, command: str) -> None:
    rows = b'{"text": "hello"}\n{"text": "red apple"}\n'
    (tmp_path / "c.jsonl").write_text('{"text": "red apple", "tags": ["food"]}\n' * 3)
    assert run("fit", tmp_path / "c.jsonl", "--topics", 2, "--out", tmp_path / "t.tt").code == 0
    answer = run(command, tmp_path / "t.tt", "-", stdin=rows)
    assert answer.code == 0, answer.err
    assert "no word that the model knows" in " ".join(answer.out.split())
    (unknown, known) = run(command, tmp_path / "t.tt", "-", "--json", stdin=rows).json()["documents"]
    assert list(unknown.values())[1] == []
    assert list(known.values())[1] != []
    alone = run(command, tmp_path / "t.tt", "-", stdin=b'{"text": "hello"}\n')
    assert alone.code == 2
    assert "has no word that the model knows" in alone.err


@pytest.mark.parametrize(
    ("task", "measures"),
    [
        ("links", {"f1"}),
        (
            "recommendation",
            {"recall", "precision", "rate_plus", "precision_at_1", "f1_at_5", "ndcg_at_20", "micro_f1"},
        ),
    ],
)
def test_evaluate_prints_the_measures_of_each_task(folder: Path, task: str, measures: set[str]) -> None:
    answer = run("evaluate", folder, "--task", task, "--topics", 6, "--iterations", 10, "--json").json()
    assert measures <= set(answer["metrics"])
    assert set(answer["seconds"]) == {"fit", "score"}
