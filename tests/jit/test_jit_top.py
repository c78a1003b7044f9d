"""The largest values of rows: the kernel finds what a full sort finds, with any number of threads."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from tagtopics.jit import top
from tagtopics.jit.threads import thread_limit


def sorted_rows(offsets: Any, values: Any, n: int) -> Any:
    """Return (R, n): the places of the n largest values of each row by a full sort, filled up with -1."""
    places = np.full((len(offsets) - 1, n), -1, dtype=np.int64)
    for row, (a, b) in zip(places, pairwise(offsets), strict=True):
        best = np.argsort(-values[a:b], kind="stable")[:n]
        row[: len(best)] = a + best
    return places


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 3, 40])
def test_the_kernel_finds_what_its_twin_finds(n: int, dtype: Any) -> None:
    rng = np.random.default_rng(n)
    sizes = rng.integers(0, 90, 400)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    n_values = int(offsets[-1])
    for values in (rng.normal(size=n_values), rng.integers(-2, 2, n_values), np.full(n_values, -np.inf)):
        given = values.astype(dtype)
        expected = sorted_rows(offsets, given, n)
        for threads in (1, 3):
            with thread_limit(threads):
                np.testing.assert_array_equal(top.largest_of_rows(offsets, given, n), expected)


def test_rows_may_begin_after_the_first_value() -> None:
    values = np.array([9.0, 1.0, 5.0, 3.0, 9.0])
    found = top.largest_of_rows(np.array([1, 4], dtype=np.int64), values, 2)
    assert found.tolist() == [[2, 3]]


@pytest.mark.parametrize("n_columns", [1, 5, 63, 64, 65, 1000, 4000])
def test_the_largest_of_rows_are_those_of_a_sort(n_columns: int) -> None:
    rng = np.random.default_rng(n_columns)
    for values in (rng.random((20, n_columns)), rng.integers(0, 4, (20, n_columns)).astype(float)):
        narrow = values.astype(np.float32)
        for n in (0, 1, 8, 70):
            found = top.largest_in_rows(narrow, n)
            assert found.shape == (20, min(n, n_columns))
            for row, places in zip(narrow, found, strict=True):
                assert places.tolist() == np.argsort(-row, kind="stable")[:n].tolist()
                assert places.tolist() == top.largest(row, n).tolist()


def test_rows_of_whole_numbers_and_of_views_are_ranked() -> None:
    counts = np.arange(24).reshape(2, 4, 3)[:, :, 1]
    assert top.largest_in_rows(counts, 2).tolist() == [[3, 2], [3, 2]]
    assert top.largest_in_rows(np.zeros((0, 5)), 2).shape == (0, 2)


@pytest.mark.parametrize("n", [65, 100, 900])
def test_many_values_of_any_sign_are_sorted(n: int) -> None:
    rng = np.random.default_rng(n)
    values = rng.normal(size=(5, 1000)).astype(np.float32)
    values[1] = rng.integers(-2, 2, 1000) * np.float32(0.0)  # zeros of both signs are equal
    values[2] = -np.inf
    values[3, ::3], values[3, 1::3] = np.inf, 1e-42
    values[4] = np.sort(values[4])
    offsets = np.arange(6) * 1000
    expected = sorted_rows(offsets, values.ravel(), n) - offsets[:-1, np.newaxis]
    np.testing.assert_array_equal(top.largest_in_rows(values, n), expected)
    np.testing.assert_array_equal(top.largest_in_rows(values.T.copy().T, n), expected)
    np.testing.assert_array_equal(top.largest_in_rows(values.astype(np.float64), n), expected)
