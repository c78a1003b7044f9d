"""The layout of the map against direct computation, its quality, and its bits."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.manifold import trustworthiness
from test_explore_years import SEEN, TO_CONES, TO_LAB, oklab

from tagtopics.explore.map import layout
from tagtopics.explore.map.layout import (
    attraction,
    document_layout,
    nearest,
    nearest_first,
    neighbours_of,
    repulsion,
)
from tagtopics.explore.map.terrain import FAMILIES, agreement_of, families_of
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
    assert pull.sum() == pytest.approx(1)
    assert (pull != pull.T).nnz == 0
    assert pull[0, 1] == pytest.approx(2 * pull[0, 2])  # a pair that is near both ways counts twice


def test_the_four_most_similar_documents_attract_four_times_as_much(theta: np.ndarray) -> None:
    roots = np.sqrt(theta[:40]).astype(np.float32)
    near = nearest(roots, 15)
    both = attraction(near, nearest_first(roots, near)).toarray()
    alike = roots @ roots.T
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


@pytest.mark.parametrize("n_topics", [2, 20, 40])
def test_large_topics_of_one_document_have_different_families(n_topics: int) -> None:
    rng = np.random.default_rng(n_topics)
    first = rng.integers(0, n_topics, 2000)
    second = (first + rng.integers(1, 6, 2000)) % n_topics  # topics that are side by side on a circle
    theta = np.full((2000, n_topics), 0.01, dtype=np.float32)
    theta[np.arange(2000), second] += 0.3
    theta[np.arange(2000), first] += 0.6
    none = np.zeros(n_topics, dtype=bool)
    family = families_of(theta, none)
    assert (family[first] == family[second])[first != second].mean() < 0.05
    assert np.bincount(family, minlength=len(FAMILIES)).max() <= n_topics // len(FAMILIES) + 4
    assert (families_of(theta, none) == family).all()
    grey = none.copy()
    grey[0] = True
    theta[:, 0] = 5.0  # largest everywhere, but background
    assert len(set(families_of(theta, grey))) == min(n_topics, len(FAMILIES))


def test_no_move_and_no_exchange_of_colours_would_be_better() -> None:
    theta = np.random.default_rng(5).dirichlet(np.full(30, 0.1), size=3000).astype(np.float32)
    family = families_of(theta, np.zeros(30, dtype=bool))
    first, second = np.argsort(-theta, axis=1, kind="stable")[:, :2].T

    def clashes(chosen: np.ndarray) -> int:
        return int((chosen[first] == chosen[second]).sum())

    for k in range(30):
        for other in range(len(FAMILIES)):
            moved = family.copy()
            moved[k] = other
            assert clashes(moved) >= clashes(family)
        for j in range(k):
            swapped = family.copy()
            swapped[[j, k]] = family[[k, j]]
            assert clashes(swapped) >= clashes(family)


def test_families_are_told_apart_by_every_reader() -> None:
    lab = np.array([(x, c * np.cos(np.radians(h)), c * np.sin(np.radians(h))) for h, x, c in FAMILIES])
    cones = (lab @ np.linalg.inv(TO_LAB).T) ** 3
    rgb = cones @ np.linalg.inv(TO_CONES).T
    assert rgb.min() > -0.03
    for seen, least in (("all", 0.18), ("without red", 0.13), ("without green", 0.13)):
        found = oklab(np.clip(rgb, 0, 1) @ SEEN[seen].T)
        apart = np.linalg.norm(found[:, np.newaxis] - found, axis=2)
        assert apart[~np.eye(len(FAMILIES), dtype=bool)].min() > least
    hues = np.sort([hue for hue, _, _ in FAMILIES])
    assert min(*np.diff(hues), 360 + hues[0] - hues[-1]) > 30
