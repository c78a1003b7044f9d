"""Logistic regression: its optimum, its degenerate cases, and the same bits at any number of threads."""

import numpy as np
import pytest
import threadpoolctl  # type: ignore[import-untyped]
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from tagtopics.recommend.logistic import logistic_weights


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.sampled_from([0.1, 1.0, 10.0]), st.booleans())
@settings(max_examples=30, deadline=None)
def test_the_gradient_is_zero_at_the_weights(
    seed: int, n_columns: int, inverse_penalty: float, weighted: bool
) -> None:
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(200, n_columns)) * rng.uniform(0.1, 3, n_columns)
    outcomes = rng.random(200) < expit(columns @ rng.normal(size=n_columns) - 1)
    outcomes[:2] = [True, False]
    weight = rng.integers(1, 9, 200).astype(float) if weighted else np.ones(200)
    constant, *slopes = logistic_weights(columns, outcomes, weight if weighted else None, inverse_penalty)
    error = weight * (expit(constant + columns @ slopes) - outcomes)
    gradient = [error.sum(), *(columns.T @ error + np.array(slopes) / inverse_penalty)]
    assert np.abs(gradient).max() / weight.sum() < 2e-8


@pytest.mark.parametrize("outcome", [True, False])
def test_outcomes_of_one_kind_have_a_smoothed_share(outcome: bool) -> None:
    weights = logistic_weights(np.ones((50, 3)), np.full(50, outcome))
    assert expit(weights[0]) == pytest.approx(50.5 / 51 if outcome else 0.5 / 51)
    assert weights[1:].tolist() == [0, 0, 0]


@pytest.mark.parametrize("n_threads", [2, 4])
def test_weights_have_the_same_bits_at_any_number_of_threads(n_threads: int) -> None:
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(20_000, 60))
    outcomes = rng.random(20_000) < expit(columns[:, 0])
    with threadpoolctl.threadpool_limits(1):
        alone = logistic_weights(columns, outcomes)
    with threadpoolctl.threadpool_limits(n_threads):
        np.testing.assert_array_equal(logistic_weights(columns, outcomes), alone)


def test_outcomes_that_a_column_tells_apart_have_finite_weights() -> None:
    columns = np.linspace(-1, 1, 50)[:, np.newaxis] * 1e3
    found = logistic_weights(columns, columns[:, 0] > 0)
    assert np.isfinite(found).all()
    assert found[1] > 0


@pytest.mark.parametrize("constant", [0.0, 5.0])
def test_a_column_of_equal_values_is_no_obstacle(constant: float) -> None:
    rng = np.random.default_rng(0)
    columns = np.column_stack([rng.normal(size=100), np.full(100, constant)])
    outcomes = columns[:, 0] + rng.normal(size=100) > 0
    with_it = logistic_weights(columns, outcomes)
    without = logistic_weights(columns[:, :1], outcomes)
    assert np.isfinite(with_it).all()
    assert with_it[1] == pytest.approx(without[1], rel=1e-4)
