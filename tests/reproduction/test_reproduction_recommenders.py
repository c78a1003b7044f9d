"""The recommenders of Table III: what they regress on, and whether they find planted tags."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks.synthetic import make_tagged_corpus
from reproduction.recommenders import SYSTEMS, measure_system, regressed_tags, two_stage_scores
from tagtopics import TTM, InputError
from tagtopics.evaluation.recommendation import evaluate_recommendation
from tagtopics.recommend.ridge import RIDGE


@pytest.mark.parametrize("system", [name for name in SYSTEMS if name != "scores"])
def test_every_system_finds_planted_tags(system: str) -> None:
    corpus = make_tagged_corpus(n_docs=300, n_words=200, n_topics=8, n_tags=8, n_groups=0, seed=3).corpus
    model = TTM(8, random_state=0, max_iter=30)
    result = measure_system(corpus, model, system)
    assert result["metrics"]["precision_at_1"] > 0.85
    assert set(result["seconds"]) == {"fit", "score"}
    ours = evaluate_recommendation(corpus, model)["metrics"]
    assert set(ours) - set(result["metrics"]) == {"calibration_error"}


def test_only_some_models_have_scores_of_their_own() -> None:
    corpus = make_tagged_corpus(n_docs=60, n_words=80, n_topics=3, n_tags=4, n_groups=0, seed=0).corpus
    with pytest.raises(InputError, match="no tag scores of its own"):
        measure_system(corpus, TTM(3, random_state=0, max_iter=2), "scores")


def test_training_documents_are_regressed_without_themselves() -> None:
    rng = np.random.default_rng(0)
    train, test = (rng.random((n, 4)).astype(np.float32) for n in (15, 3))
    tags = (rng.random((15, 5)) < 0.4).astype(np.int8)
    first, second = regressed_tags(train, sp.csr_array(tags), test)
    gamma, share = 1 / (4 * train.var(dtype=np.float64)), tags.mean(0)

    def kernel(a: np.ndarray, b: np.ndarray) -> Any:
        return np.exp(-gamma * np.square(a[:, np.newaxis].astype(np.float64) - b).sum(2))

    def answer(document: np.ndarray, others: np.ndarray) -> Any:
        ridged = kernel(train[others], train[others]) + RIDGE * np.eye(len(others))
        return kernel(document, train[others]) @ np.linalg.solve(ridged, tags[others] - share) + share

    everything = np.arange(15)
    np.testing.assert_allclose(second, answer(test, everything), atol=1e-4)
    for d in everything:
        np.testing.assert_allclose(first[d], answer(train[d : d + 1], np.delete(everything, d))[0], atol=1e-4)


def test_the_two_stages_find_planted_tags() -> None:
    rng = np.random.default_rng(1)
    tag_of = rng.integers(4, size=(80, 1))
    topics = (0.1 * rng.random((80, 4)) + (tag_of == np.arange(4))).astype(np.float32)
    topics /= topics.sum(1, keepdims=True)
    tags = sp.csr_array((tag_of == np.arange(5)).astype(np.int8))  # nobody carries the fifth
    scores = two_stage_scores(topics[:60], tags[:60], topics[60:])
    assert (scores.argmax(1) == tag_of[60:, 0]).all()
    assert np.isfinite(scores).all()
