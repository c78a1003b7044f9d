"""No number that is not finite is saved, and whatever is saved can be loaded."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tagtopics as tt


@pytest.fixture(scope="module")
def model() -> Any:
    rows = [("red apple pie", ["food"]), ("blue sky sea", ["nature", "far"]), ("red sky pie", ["food"])]
    corpus = tt.read_corpus([text for text, _ in rows], tags=[tags for _, tags in rows])
    return tt.TTM(2, max_iter=3, random_state=0).fit(corpus)


def _spoilt(matrix: Any) -> Any:
    spoilt = matrix.copy()
    spoilt.data[0] = np.nan
    return spoilt


SPOILT: dict[str, Callable[[Any], None]] = {
    "coefficients": lambda m: _replace_part(m, coefficients=m.recommender_.coefficients * np.float32("nan")),
    "counts": lambda m: _replace_part(m, counts=_spoilt(m.recommender_.counts)),
    "bandwidth": lambda m: _replace_part(m, bandwidth=float("inf")),
    "tag_words_": lambda m: setattr(m, "tag_words_", _spoilt(m.tag_words_)),
    "tag_docs_": lambda m: setattr(m, "tag_docs_", -1 - m.tag_docs_),
    "components_": lambda m: setattr(m, "components_", m.components_ * np.float32(1e-38)),
    "topic_word_prior_": lambda m: setattr(m, "topic_word_prior_", float("nan")),
    "change": lambda m: setattr(m, "history_", [{"iteration": 1, "change": np.nan, "seconds": 0.1}]),
}


def _replace_part(model: Any, **parts: Any) -> None:
    model.recommender_ = replace(model.recommender_, **parts)


@pytest.mark.parametrize("part", SPOILT)
def test_what_load_refuses_is_not_saved(part: str, model: Any, tmp_path: Path) -> None:
    model = copy.copy(model)
    model.save(tmp_path / "good")
    SPOILT[part](model)
    with pytest.raises(tt.InputError, match=rf"^save: .*{part}.*; the model cannot be saved$"):
        model.save(tmp_path / "bad")
    assert [path.name for path in tmp_path.iterdir()] == ["good"]


@pytest.mark.parametrize("weights", [(1e-45,), (1e-46,), (5e-324,), (1e-38,), (2e9, 1e-38), (1e-45, 1.0)])
def test_tiny_weights_give_finite_probabilities_and_a_model_that_loads(
    weights: tuple[float, ...], tmp_path: Path
) -> None:
    """One over 1e-45 is infinite in single precision, and 1e-46 is zero; so is the share 1e-38 / 2e9."""
    X = np.random.default_rng(0).poisson(0.4, (60, 40)).astype(np.float64)
    X[:2] = 0
    X[:2, : len(weights)] = weights
    fitted = tt.TTM(3, max_iter=5, random_state=0, n_jobs=1).fit(X, [f"t{i % 4}" for i in range(60)])
    assert fitted.recommender_ is not None
    assert np.isfinite(fitted.tag_probabilities(X)).all()
    found = fitted.recommend(X.astype(np.float32), n_words=5)
    assert all(np.isfinite(weight) for tags in found for tag in tags for _, weight in tag.words)
    fitted.save(tmp_path / "m")
    loaded: Any = tt.load(tmp_path / "m")
    np.testing.assert_array_equal(loaded.tag_probabilities(X), fitted.tag_probabilities(X))
