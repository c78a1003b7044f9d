"""Two models side by side."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tagtopics as tt
from benchmarks.synthetic import make_tagged_corpus
from tagtopics.cli import main
from tagtopics.errors import InputError


@pytest.fixture(scope="module")
def models() -> tuple[tt.LDA, tt.LDA]:
    corpus = make_tagged_corpus(n_docs=300, n_words=200, n_topics=6, n_tags=10, seed=3).corpus
    return (
        tt.LDA(6, random_state=0).fit_topics(corpus),
        tt.LDA(8, random_state=1).fit_topics(corpus.select(np.arange(200))),
    )


def test_a_model_equals_itself(models: tuple[tt.LDA, tt.LDA]) -> None:
    found = tt.compare(models[0], models[0])
    assert [(pair.first, pair.second) for pair in found.pairs] == [
        (pair.first, pair.first) for pair in found.pairs
    ]
    assert found.similarity == pytest.approx(1)
    assert found.only_first == found.only_second == ()
    assert all(pair.gained == pair.lost == () for pair in found.pairs)


def test_topics_without_a_match_are_listed(models: tuple[tt.LDA, tt.LDA]) -> None:
    found = tt.compare(*models, n_words=5)
    assert len(found.pairs) + len(found.only_first) == 6
    assert len(found.pairs) + len(found.only_second) == 8
    assert len(found.pairs) >= 4
    first, second = (model.components_.astype(float) for model in models)
    for pair in found.pairs:
        a, b = first[pair.first], second[pair.second]
        assert pair.similarity == pytest.approx(a @ b / np.sqrt((a @ a) * (b @ b)))
        top = [
            {word for word, _ in models[i].top_words(5)[k]} for i, k in enumerate((pair.first, pair.second))
        ]
        assert set(pair.words) == top[0] & top[1]
        assert set(pair.gained) == top[1] - top[0]
        assert set(pair.lost) == top[0] - top[1]


def test_words_are_matched_by_name(models: tuple[tt.LDA, tt.LDA]) -> None:
    corpus = make_tagged_corpus(n_docs=300, n_words=200, n_topics=6, n_tags=10, seed=3).corpus
    order = np.random.default_rng(0).permutation(150)
    smaller = tt.read_corpus(corpus.counts[:, order])
    from dataclasses import replace

    smaller = replace(smaller, vocabulary=tuple(corpus.vocabulary[w] for w in order))
    found = tt.compare(models[0], tt.LDA(6, random_state=0).fit_topics(smaller))
    assert (found.words_first, found.words_second) == (50, 0)
    assert found.similarity > 0.5


def test_wrong_arguments(models: tuple[tt.LDA, tt.LDA]) -> None:
    with pytest.raises(InputError, match="threshold"):
        tt.compare(*models, threshold=2)
    with pytest.raises(InputError, match="n_words"):
        tt.compare(*models, n_words=0)


def test_command(models: tuple[tt.LDA, tt.LDA], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, model in zip("ab", models, strict=True):
        model.save(tmp_path / name)
    arguments = ["compare", str(tmp_path / "a"), str(tmp_path / "b")]
    assert main([*arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["pairs"]) + len(found["only_first"]) == 6
    assert main(arguments) == 0
    assert "similarity" in capsys.readouterr().out
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "none")]) == 2
