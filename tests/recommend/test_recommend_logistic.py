"""Logistic regression finds the weights that scikit-learn finds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from tagtopics.recommend.logistic import logistic_regression


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.sampled_from([0.1, 1.0, 10.0]), st.booleans())
@settings(max_examples=30, deadline=None)
def test_weights_are_those_of_scikit_learn(
    seed: int, n_columns: int, inverse_penalty: float, weighted: bool
) -> None:
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(200, n_columns)) * rng.uniform(0.1, 3, n_columns)
    outcomes = rng.random(200) < 1 / (1 + np.exp(-(columns @ rng.normal(size=n_columns) - 1)))
    outcomes[:2] = [True, False]
    weight = rng.integers(1, 9, 200).astype(float) if weighted else None
    twin = LogisticRegression(C=inverse_penalty, solver="newton-cholesky", tol=1e-10)
    twin.fit(columns, outcomes, sample_weight=weight)
    found = logistic_regression(columns, outcomes, weight, inverse_penalty)
    np.testing.assert_allclose(found, [*twin.intercept_, *twin.coef_[0]], rtol=1e-6, atol=1e-7)


def test_outcomes_that_a_column_tells_apart_have_finite_weights() -> None:
    columns = np.linspace(-1, 1, 50)[:, np.newaxis] * 1e3
    found = logistic_regression(columns, columns[:, 0] > 0)
    assert np.isfinite(found).all()
    assert found[1] > 0


@pytest.mark.parametrize("constant", [0.0, 5.0])
def test_a_column_of_equal_values_is_no_obstacle(constant: float) -> None:
    rng = np.random.default_rng(0)
    columns = np.column_stack([rng.normal(size=100), np.full(100, constant)])
    outcomes = columns[:, 0] + rng.normal(size=100) > 0
    with_it = logistic_regression(columns, outcomes)
    without = logistic_regression(columns[:, :1], outcomes)
    assert np.isfinite(with_it).all()
    assert with_it[1] == pytest.approx(without[1], rel=1e-4)


def test_the_start_does_not_change_the_weights() -> None:
    generator = np.random.default_rng(0)
    columns = generator.normal(size=(500, 3))
    outcomes = generator.random(500) < 1 / (1 + np.exp(-columns[:, 0]))
    some = logistic_regression(columns[:100], outcomes[:100])
    found = logistic_regression(columns, outcomes, start=some)
    assert found == pytest.approx(logistic_regression(columns, outcomes), abs=1e-6)
