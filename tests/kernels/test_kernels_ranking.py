"""The largest values of rows: the kernel finds what a full sort finds, with any number of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tagtopics.kernels import ranking, ranking_reference


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 3, 40])
def test_the_kernel_finds_what_its_twin_finds(n: int, dtype: Any) -> None:
    rng = np.random.default_rng(n)
    sizes = rng.integers(0, 90, 400)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    n_values = int(offsets[-1])
    for values in (rng.normal(size=n_values), rng.integers(-2, 2, n_values), np.full(n_values, -np.inf)):
        given = values.astype(dtype)
        expected = ranking_reference.largest_of_rows(offsets, given, n)
        for threads in (1, 3):
            np.testing.assert_array_equal(ranking.largest_of_rows(offsets, given, n, threads), expected)


def test_rows_may_begin_after_the_first_value() -> None:
    values = np.array([9.0, 1.0, 5.0, 3.0, 9.0])
    found = ranking.largest_of_rows(np.array([1, 4], dtype=np.int64), values, 2, 1)
    assert found.tolist() == [[2, 3]]
