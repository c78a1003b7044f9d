"""The loops of the map against their definition."""

from __future__ import annotations

import numpy as np
import places_reference as reference
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from tagtopics.explore.map import places_loops as compiled

seeds = st.integers(0, 2**32 - 1)
quick = settings(max_examples=min(25, settings().max_examples), deadline=None)


@quick
@given(seeds, st.integers(2, 30))
def test_attraction(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    half = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.4), 1)
    pull = sp.csr_array(half + half.T)
    places, force = rng.normal(size=(n, 2)), np.empty((n, 2))
    near = pull.indptr, pull.indices.astype(np.int32), pull.data.astype(np.float32)
    x, y = np.ascontiguousarray(places.T, dtype=np.float32)
    for first, last in ((0, n // 2), (n // 2, n)):
        compiled.attract(first, last, *near, x, y, force)
    np.testing.assert_allclose(force, reference.attraction_of(pull.toarray(), places), atol=1e-5)


@quick
@given(seeds, st.integers(1, 30), st.integers(3, 9))
def test_mass_and_fields_on_a_grid(seed: int, n_docs: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    size, low = float(rng.uniform(0.1, 3)), rng.normal(size=2)
    places = low + size * (n - 1) * rng.random((n_docs, 2))
    places[0] = low + size * (n - 1)  # the last corner
    shares = reference.corners(places, low, size, n)
    mass, felt, fields = np.zeros((n, n)), np.empty((n_docs, 3)), rng.normal(size=(3, n, n))
    compiled.add_mass(places, *low, size, mass)
    np.testing.assert_allclose(mass, shares.sum(0), atol=1e-9)
    compiled.read_fields(0, n_docs, places, *low, size, fields, felt)
    np.testing.assert_allclose(felt, np.einsum("dab,fab->df", shares, fields), atol=1e-9)


@quick
@given(seeds, st.integers(7, 20))
def test_slopes_of_a_potential(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    size, fields = float(rng.uniform(0.1, 3)), np.zeros((3, n, n), dtype=np.float32)
    fields[0] = rng.normal(size=(n, n))
    for first, last in ((0, n // 2), (n // 2, n)):
        compiled.differentiate(first, last, size, fields)
    inside = slice(compiled.EDGE, n - compiled.EDGE)
    expected = reference.slopes(fields[0].astype(np.float64), size)
    np.testing.assert_allclose(fields[1:, inside, inside], expected, atol=1e-5 / size)


def test_slopes_are_those_of_smooth_functions() -> None:
    x, y = np.meshgrid(np.arange(30) * 0.1, np.arange(30) * 0.1, indexing="ij")
    found = reference.slopes(np.sin(x) * np.exp(y), 0.1)
    expected = np.stack([np.cos(x) * np.exp(y), np.sin(x) * np.exp(y)])[:, 3:-3, 3:-3] / -2
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


@quick
@given(seeds, st.integers(1, 9))
def test_steps_downhill(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    pull, felt, places, step = rng.normal(size=(4, n, 2))
    gain, given_fields = rng.uniform(0.01, 2, (n, 2)), np.column_stack([np.ones(n), felt])
    slope = 4 * (3.0 * pull - felt / 1.7)
    expected, fresh = reference.descended(slope, 0.8, 2.5, step, gain)
    goal = places + expected
    compiled.descend(0, n, pull, given_fields, (3.0, 0.8, 2.5, 1.7), places, step, gain)
    np.testing.assert_allclose(step, expected, atol=1e-9)
    np.testing.assert_allclose(gain, fresh, atol=1e-12)
    assert places == pytest.approx(goal)
