"""The layout of the map against direct computation, its quality, and its bits."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.manifold import trustworthiness

from tagtopics.explore.map import layout
from tagtopics.explore.map.layout import (
    attraction,
    document_layout,
    nearest,
    nearest_first,
    neighbours_of,
    repulsion,
)
from tagtopics.explore.map.terrain import agreement_of, hues_around
from tagtopics.models.naming import distinguishing_topics


@pytest.fixture(scope="module")
def theta() -> np.ndarray:
    rng = np.random.default_rng(3)
    centres = rng.dirichlet(np.full(8, 0.2), size=6)
    rows = [rng.dirichlet(40 * centres[d % 6] + 0.05) for d in range(400)]
    return np.array(rows, dtype=np.float32)


def test_nearest_are_those_of_all_pairs(theta: np.ndarray) -> None:
    roots = np.sqrt(theta)
    alike = roots @ roots.T
    np.fill_diagonal(alike, -1)
    expected = np.sort(np.argsort(-alike, axis=1)[:, :7], axis=1)
    assert (np.sort(nearest(roots, 7), axis=1) == expected).mean() > 0.999


def test_nearest_of_many_documents_are_nearly_those_of_all_pairs(
    theta: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    roots = np.sqrt(theta)
    exact = nearest(roots, 7)
    monkeypatch.setattr(layout, "_EXACT", 100)
    found = nearest(roots, 7)
    assert not (found == np.arange(400)[:, np.newaxis]).any()
    assert np.mean([len(set(a) & set(b)) / 7 for a, b in zip(exact, found, strict=True)]) > 0.9


def test_attraction_is_symmetric_and_adds_up_to_one() -> None:
    pull = attraction(np.array([[1, 2], [0, 2], [1, 3], [2, 1]]))
    assert pull.sum() == pytest.approx(0.5)
    assert (pull.tocoo().row < pull.tocoo().col).all()
    assert pull[0, 1] == pytest.approx(2 * pull[0, 2])  # a pair that is near both ways counts twice


def test_the_four_most_similar_documents_attract_four_times_as_much(theta: np.ndarray) -> None:
    roots = np.sqrt(theta[:40]).astype(np.float32)
    near = nearest(roots, 15)
    pull = attraction(near, nearest_first(roots, near))
    both, alike = (pull + pull.T).toarray(), roots @ roots.T
    directed = np.zeros((40, 40))
    for i, row in enumerate(near):
        best = sorted(row, key=lambda j: -alike[i, j])
        directed[i, best[:4]], directed[i, best[4:]] = 4 / 27, 1 / 27
    expected = directed + directed.T
    assert both == pytest.approx(expected / expected.sum())


@pytest.mark.parametrize(
    ("scale", "cell", "error"),
    [(6.0, 0.5, 0.15), (6.0, 0.15, 0.02), (1e-2, 0.5, 0.01), (1e-5, 0.5, 0.01), (1e-8, 0.5, 0.01)],
)
def test_repulsion_on_the_grid_is_that_of_all_pairs(
    scale: float, cell: float, error: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = np.random.default_rng(0).normal(scale=scale, size=(900, 2))
    apart = places[:, np.newaxis] - places
    away = 1 / (1 + (apart**2).sum(2))
    np.fill_diagonal(away, 0)
    expected = (apart * away[:, :, np.newaxis] ** 2).sum(1) / away.sum()
    monkeypatch.setattr(layout, "_CELL", cell)
    felt, total = repulsion(places, layout._grid_for(places, None))
    found = felt[:, 1:] / total
    assert np.linalg.norm(found - expected) < error * np.linalg.norm(expected)


def test_map_keeps_neighbours_and_groups(theta: np.ndarray) -> None:
    places = document_layout(theta, neighbours_of(theta))
    assert places.shape == (400, 2)
    assert places.min() >= 0
    assert places.max() <= 1
    figures = agreement_of(theta, places, neighbours_of(theta))
    assert figures["trustworthiness"] == pytest.approx(
        trustworthiness(np.sqrt(theta), places, n_neighbors=12), abs=1e-6
    )
    assert figures["trustworthiness"] > 0.93
    near = np.argsort(((places[:, np.newaxis] - places) ** 2).sum(2), axis=1)[:, 1:16]
    true = nearest(np.sqrt(theta), 15)
    kept = np.mean([len(set(a) & set(b)) / 15 for a, b in zip(near, true, strict=True)])
    assert figures["kept"] == pytest.approx(kept, abs=1e-9)
    assert figures["kept"] > 5 * figures["chance"]


def test_equal_documents_give_equal_bits_with_any_number_of_threads(theta: np.ndarray) -> None:
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    with threadpool_limits(1):
        one = document_layout(theta, neighbours_of(theta))
    with threadpool_limits(2):
        two = document_layout(theta, neighbours_of(theta))
    assert one.tobytes() == two.tobytes()


@pytest.mark.parametrize("n", [0, 1, 3, 4, 9])
def test_few_or_equal_documents_have_places(n: int) -> None:
    theta = np.full((n, 3), 1 / 3, dtype=np.float32)
    places = document_layout(theta, neighbours_of(theta))
    assert places.shape == (n, 2)
    assert np.isfinite(places).all()


def test_region_is_the_topic_that_distinguishes_a_document() -> None:
    theta = np.array([[0.6, 0.3, 0.1], [0.7, 0.05, 0.25]], dtype=np.float32)
    share = np.array([0.65, 0.2, 0.15])
    assert distinguishing_topics(theta, share).tolist() == [1, 2]
    assert distinguishing_topics(theta, share, np.array([False, True, True])).tolist() == [0, 0]


def test_hues_follow_the_angle_around_the_centre() -> None:
    around = np.array([[1, 0.5], [0.5, 1], [0, 0.5], [0.5, 0]])
    hues = hues_around(around)
    assert sorted(np.diff(np.sort(hues)).tolist()) == [90, 90, 90]
    turn = (hues[[1, 2, 3]] - hues[[0, 1, 2]]) % 360
    assert set(turn.tolist()) == {90.0}
