"""Parts of a corpus, swept apart and added up in any order, give the bits of the whole."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from tagtopics.graph import FactorGraph, Priors, Sums, build_graph, build_part
from tagtopics.graph.structure import grid_of
from tagtopics.kernels.bp import anchors, compiled
from tagtopics.kernels.bp.words import relaxed_sums

PRIORS = Priors(np.full(7, 0.1, dtype=np.float32), 0.05, 0.1, 0.05, stride=0.5)


STARTS = {
    False: (compiled.initial_state, compiled.initial_part),
    True: (compiled.lean_initial_state, compiled.lean_initial_part),
}


def corpus(seed: int, n_docs: int = 60) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    counts = sp.csr_array(rng.poisson(0.7, (n_docs, 40)))
    return counts, sp.csr_array((rng.random((n_docs, 9)) < 0.25).astype(np.int8))


def in_parts(counts: Any, tags: Any, cuts: list[int]) -> tuple[FactorGraph, list[FactorGraph]]:
    """Return a graph whose blocks are given, and a graph for each of its blocks."""
    graph = build_graph(counts, tags)._replace(doc_blocks=np.array(cuts))
    parts = []
    for a, b in pairwise(cuts):
        edge, slot = int(graph.doc_edges[a]), int(graph.doc_slots[a])
        whole = graph.whole._replace(first_edge=edge, first_slot=slot)
        parts.append(build_part(counts[a:b], tags[a:b], whole))
    return graph, parts


@pytest.mark.parametrize("lean", [False, True])
@settings(max_examples=10, deadline=None)
@given(st.integers(0, 1000), st.lists(st.integers(1, 59), min_size=1, max_size=6, unique=True), st.randoms())
def test_parts_add_up_to_the_whole(lean: bool, seed: int, inner: list[int], order: Any) -> None:
    graph, parts = in_parts(*corpus(seed), [0, *sorted(inner), 60])
    shuffled = order.sample(range(len(parts)), len(parts))
    profiles = anchors.no_profiles(graph.n_words, 7)
    for i in shuffled:
        anchors.add_profiles(parts[i], seed, 1, profiles)
    topics = anchors.topics_around_anchors(profiles, graph.whole.word_docs, 7, 1)
    assert np.array_equal(topics, anchors.anchored_topics(graph, 7, seed, 2))

    total = Sums.zeros(graph.n_words, graph.n_tags, 7)
    begin, begin_part = STARTS[lean]
    whole = begin(graph, topics, seed, 3)
    owns = {i: begin_part(parts[i], topics, seed, 1, total) for i in shuffled}
    for _ in range(3):
        for found, expected in zip(total, whole.sums, strict=True):
            assert np.array_equal(found, expected)
        past_sums = whole.past_word_sums
        used = relaxed_sums(total.words, past_sums, PRIORS.stride, 1)
        field = compiled.field_of(total, graph.whole.tag_docs, compiled.words_of(used, PRIORS, 1), 1)
        past = compiled.words_of(past_sums if lean else used, PRIORS, 1)
        total, moves = Sums.zeros(graph.n_words, graph.n_tags, 7), 0.0
        for i in shuffled:
            if lean:
                moves += compiled.lean_sweep_part(parts[i], owns[i], field, past, PRIORS, 1, total)
            else:
                moves += compiled.sweep_part(parts[i], owns[i], field, PRIORS, 1, total)
        whole, moved = (compiled.lean_sweep if lean else compiled.sweep)(graph, whole, PRIORS, 2)
        assert moves == moved
        for name, of_whole in whole.own._asdict().items():
            of_parts = [getattr(owns[i], name) for i in range(len(parts))]
            assert np.array_equal(np.concatenate(of_parts), of_whole), name


@given(st.floats(1, 1e12), st.integers(0, 2**32 - 1))
def test_on_the_grid_adding_is_exact(bound: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    grid = grid_of(bound)
    numbers = np.rint(rng.dirichlet(np.full(50, 0.1)) * bound / grid) * grid
    assert numbers.sum() == sum(rng.permutation(numbers).tolist()) == sum(sorted(numbers.tolist()))
    assert abs(numbers.sum() - bound) <= 50 * grid
    assert grid <= bound * 2.0**-49
