"""Parts of a corpus, swept apart and added up in any order, give the bits of the whole."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from tagtopics.bp import anchors
from tagtopics.bp import sweep as compiled
from tagtopics.bp.executor import MemoryExecutor
from tagtopics.bp.graph import CorpusSums, FactorGraph, Priors, build_graph, grid_of, wire

PRIORS = Priors(np.full(7, 0.1, dtype=np.float32), 0.05, 0.1, 0.05, relaxation=0.5)


def corpus(seed: int, n_docs: int = 60) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    counts = sp.csr_array(rng.poisson(0.7, (n_docs, 40)))
    return counts, sp.csr_array((rng.random((n_docs, 9)) < 0.25).astype(np.int8))


def in_parts(counts: Any, tags: Any, cuts: list[int]) -> tuple[FactorGraph, list[FactorGraph]]:
    """Return a graph whose blocks are given, and a graph for each of its blocks."""
    graph = build_graph(counts, tags)._replace(doc_blocks=np.array(cuts))
    parts = []
    for a, b in pairwise(cuts):
        block, first_edge = np.array([0, b - a]), int(graph.doc_edges[a])
        parts.append(wire(counts[a:b], tags[a:b], block, graph.totals, first_edge))
    return graph, parts


@pytest.mark.compiled
@pytest.mark.parametrize("lean", [False, True])
@settings(max_examples=10, deadline=None)
@given(st.integers(0, 1000), st.lists(st.integers(1, 59), min_size=1, max_size=6, unique=True), st.randoms())
def test_parts_add_up_to_the_whole(lean: bool, seed: int, inner: list[int], order: Any) -> None:
    graph, parts = in_parts(*corpus(seed), [0, *sorted(inner), 60])
    shuffled = order.sample(range(len(parts)), len(parts))
    profiles = anchors.no_profiles(graph.n_words, 7)
    for i in shuffled:
        anchors.add_profiles(parts[i], seed, profiles)
    assert np.array_equal(profiles, MemoryExecutor(graph).profiles(7, seed))
    topics = anchors.anchored_topics(profiles, graph.totals.word_docs, 7)

    total, expected = (CorpusSums.zeros(graph.n_words, graph.n_tags, 7) for _ in range(2))
    whole = compiled.start(graph, topics, seed, lean, expected)
    docs = {i: compiled.start(parts[i], topics, seed, lean, total) for i in shuffled}
    previous = (total.words if lean else total.words[:0]).astype(np.float32)
    for _ in range(3):
        for a, b in zip(total[:3], expected[:3], strict=True):
            assert np.array_equal(a, b)
        given = compiled.sweep_input(total, graph.totals.tag_docs, previous, PRIORS, lean)
        total.clear()
        expected.clear()
        moves = sum(compiled.sweep(parts[i], docs[i], given, PRIORS, total) for i in shuffled)
        assert moves == compiled.sweep(graph, whole, given, PRIORS, expected)
        previous = given.words.sums
        for name, of_whole in whole._asdict().items():
            joined = np.concatenate([getattr(docs[i], name) for i in range(len(parts))])
            assert np.array_equal(joined, of_whole), name


@given(st.floats(1, 1e12), st.integers(0, 2**32 - 1))
def test_on_the_grid_adding_is_exact(bound: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    grid = grid_of(bound)
    numbers = np.rint(rng.dirichlet(np.full(50, 0.1)) * bound / grid) * grid
    assert numbers.sum() == sum(rng.permutation(numbers).tolist()) == sum(sorted(numbers.tolist()))
    assert abs(numbers.sum() - bound) <= 50 * grid
    assert grid <= bound * 2.0**-49
