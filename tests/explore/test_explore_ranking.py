"""The largest values of rows: the same as a full sort finds."""

from __future__ import annotations

import numpy as np
import pytest

from tagtopics.explore.page import rounded, significant
from tagtopics.explore.ranking import largest_in_rows
from tagtopics.kernels.ranking import largest


@pytest.mark.parametrize("n_columns", [1, 5, 63, 64, 65, 1000])
def test_the_largest_of_rows_are_those_of_a_sort(n_columns: int) -> None:
    rng = np.random.default_rng(n_columns)
    for values in (rng.random((20, n_columns)), rng.integers(0, 4, (20, n_columns)).astype(float)):
        narrow = values.astype(np.float32)
        found = largest_in_rows(narrow, 8)
        assert found.shape == (20, min(8, n_columns))
        for row, places in zip(narrow, found, strict=True):
            assert places.tolist() == np.argsort(-row, kind="stable")[:8].tolist()
            assert places.tolist() == largest(row, 8).tolist()


def test_numbers_are_rounded_as_text_would_be() -> None:
    rng = np.random.default_rng(0)
    values = rng.choice([-1.0, 1.0], 20_000) * 10.0 ** rng.uniform(-30, 12, 20_000)
    values = np.concatenate([values, [0.0, 1.0, 999.96, 1000.0, 0.1, 0.015625, 12345.0, 1e-25, 5e-324]])
    for digits in (3, 4, 6):
        expected = [float(f"{value:.{digits}g}") for value in values.tolist()]
        assert significant(values, digits).tolist() == expected
        assert rounded(values, digits) == expected
    grid = values[:600].reshape(20, 30)
    assert significant(grid).tolist() == [[float(f"{value:.4g}") for value in row] for row in grid.tolist()]
