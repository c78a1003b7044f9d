"""A sweep beside documents known by their sums does what a sweep of all documents does to the others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tagtopics.graph import PastSums, Priors, TopicState, build_graph
from tagtopics.kernels.bp import compiled, reference

K = 4
TOLERANCE = 1e-4
quick = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def collections(draw: st.DrawFn) -> tuple[Any, Any, int]:
    """Draw counts, tags, and how many documents are outside the graph; some have no words or no tags."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    D, W, T = draw(st.integers(1, 9)), draw(st.integers(1, 12)), draw(st.integers(0, 6))
    counts = rng.poisson(draw(st.sampled_from([0.2, 0.8, 3.0])), (D, W)) * rng.integers(1, 9, (D, W))
    tags = (rng.random((D, T)) < draw(st.sampled_from([0.1, 0.4, 0.8]))).astype(np.int8)
    return sp.csr_array(counts), sp.csr_array(tags), draw(st.integers(0, D))


def part(counts: Any, tags: Any, state: TopicState, docs: slice) -> tuple[Any, TopicState]:
    """Return the graph and the state of some documents of a collection."""
    graph = build_graph(counts[docs], tags[docs])
    edges = slice(counts.indptr[docs.start], counts.indptr[docs.stop])
    slots = slice(tags.indptr[docs.start], tags.indptr[docs.stop])
    rows = (state.messages[edges], state.doc_sums[docs], state.slot_means[slots])
    return graph, reference.summed(graph, *(array.copy() for array in rows))


@quick
@given(collections(), st.sampled_from([(0.0, 0.0), (0.2, 0.0), (0.0, 0.3), (0.1, 0.05), (0.5, 0.5)]))
def test_sweep_beside(collection: tuple[Any, Any, int], weights: tuple[float, float]) -> None:
    counts, tags, n_outside = collection
    D = counts.shape[0]
    word_topics = np.random.default_rng(1).random((counts.shape[1], K), dtype=np.float32)
    priors = Priors(np.linspace(0.05, 0.2, K, dtype=np.float32), 0.02, *weights)
    whole = build_graph(counts, tags)
    state = compiled.initial_state(whole, word_topics, 1, 1)
    old_graph, old = part(counts, tags, state, slice(0, n_outside))
    graph, mine = part(counts, tags, state, slice(n_outside, D))
    past = PastSums(old.word_sums, old.tag_sums, old.tag_squares, old_graph.whole.tag_docs.astype(float))
    after, _ = reference.sweep(whole, state, priors, 1)
    _, expected = part(counts, tags, after, slice(n_outside, D))
    found, _ = compiled.sweep_beside(graph, mine, past, priors, 2)
    for name in TopicState._fields:
        a, b = getattr(found, name), getattr(expected, name)
        atol = TOLERANCE * max(1.0, float(np.abs(b).sum(-1).max(initial=0.0)))
        np.testing.assert_allclose(a, b, rtol=TOLERANCE, atol=atol, err_msg=name)


@pytest.mark.parametrize("n_threads", [2, 3, 8])
def test_the_same_bits_at_any_number_of_threads(n_threads: int) -> None:
    rng = np.random.default_rng(3)
    counts = sp.csr_array(rng.poisson(0.6, (1800, 40)))
    tags = sp.csr_array((rng.random((1800, 9)) < 0.2).astype(np.int8))
    graph = build_graph(counts, tags)
    assert len(graph.doc_blocks) > 3
    past = PastSums(rng.random((40, K)) * 50, rng.random((9, K)), rng.random((9, K)) / 9, np.full(9, 5.5))
    priors = Priors(np.full(K, 0.1, dtype=np.float32), 0.05, 0.1, 0.05)

    def swept(threads: int) -> TopicState:
        word_topics = np.ones((40, K), dtype=np.float32)
        state = compiled.initial_state(graph, word_topics, 1, 1)
        for _ in range(3):
            state, _ = compiled.sweep_beside(graph, state, past, priors, threads)
        return state

    for found, expected in zip(swept(n_threads), swept(1), strict=True):
        np.testing.assert_array_equal(found, expected)
