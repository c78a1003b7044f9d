"""`fit` and `evaluate` with learned weights and with presets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cli_running import run

import tagtopics as tt
from tagtopics.corpus.write import write_matrix_folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    corpus = tt.make_tagged_corpus(n_docs=500, n_words=300, seed=0).corpus
    write_matrix_folder(corpus, tmp_path / "corpus")
    return tmp_path / "corpus"


def test_weights_are_learned_and_printed(folder: Path, tmp_path: Path) -> None:  # needs: models
    options = ("--topics", 12, "--pairwise-weight", "auto", "--tag-pseudo-count", "auto", "--iterations", 5)
    fitted = run("fit", folder, *options, "--out", tmp_path / "m.tt", "--json").json()
    loaded: Any = tt.load(tmp_path / "m.tt")
    assert fitted["weights"] == {
        "pairwise_weight": loaded.pairwise_weight_,
        "higher_order_weight": loaded.higher_order_weight_,
        "tag_pseudo_count": loaded.tag_pseudo_count_,
    }
    assert "pairwise weight" in run("fit", folder, *options, "--out", tmp_path / "m.tt").out
    measured = run("evaluate", folder, *options, "--tags-known", "--json").json()
    assert measured["metrics"]["perplexity"] < measured["metrics"]["unigram_perplexity"]
    lda = ("--model", "lda", "--topics", 3, "--iterations", 2, "--out", tmp_path / "lda.tt")
    assert run("fit", folder, *lda, "--json").json()["weights"] is None


def test_presets_reach_the_estimator(folder: Path, tmp_path: Path) -> None:  # needs: models
    options = ("--topics", 3, "--iterations", 2, "--preset", "fast", "--doc-topic-prior", "auto")
    assert run("fit", folder, *options, "--out", tmp_path / "m.tt").code == 0
    loaded: Any = tt.load(tmp_path / "m.tt")
    assert loaded.get_params()["preset"] == "fast"
    assert loaded.get_params()["doc_topic_prior"] == "auto"


def test_a_fit_without_recommender(folder: Path, tmp_path: Path) -> None:  # needs: models
    options = ("--topics", 3, "--iterations", 2, "--no-recommender", "--out", tmp_path / "m.tt")
    assert run("fit", folder, *options).code == 0
    result = run("recommend", tmp_path / "m.tt", folder)
    assert result.code == 2
    assert "fit_recommender" in result.err
