"""A sweep beside the sums of earlier documents does what a sweep of all documents does to the others."""

from __future__ import annotations

from typing import Any

import bp_reference as reference
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from specified import swept_by

from tagtopics.bp.executor import MemoryExecutor
from tagtopics.bp.graph import Belief, CorpusSums, DocState, Priors, build_graph, group_by
from tagtopics.bp.propagation import BeliefPropagation, Start
from tagtopics.jit.threads import thread_limit

K = 4
TOLERANCE = 1e-4
examples = min(40, settings().max_examples)  # fewer where kernels are not compiled
quick = settings(max_examples=examples, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def collections(draw: st.DrawFn) -> tuple[Any, Any, int]:
    """Draw counts, tags, and how many documents are outside the graph; some have no words or no tags."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    D, W, T = draw(st.integers(1, 9)), draw(st.integers(1, 12)), draw(st.integers(0, 6))
    counts = rng.poisson(draw(st.sampled_from([0.2, 0.8, 3.0])), (D, W)) * rng.integers(1, 9, (D, W))
    tags = (rng.random((D, T)) < draw(st.sampled_from([0.1, 0.4, 0.8]))).astype(np.int8)
    return sp.csr_array(counts), sp.csr_array(tags), draw(st.integers(0, D))


def part(counts: Any, tags: Any, belief: Belief, docs: slice) -> tuple[Any, Belief]:
    """Return the graph and the belief of some documents of a collection."""
    assert belief.docs is not None
    graph = build_graph(counts[docs], tags[docs])
    edges = slice(counts.indptr[docs.start], counts.indptr[docs.stop])
    slots = slice(tags.indptr[docs.start], tags.indptr[docs.stop])
    state = DocState(*(a[rows].copy() for a, rows in zip(belief.docs, (edges, docs, slots), strict=True)))
    by_word = group_by(graph.edge_word, graph.n_words)
    squares = state.slot_means.astype(np.float64) ** 2
    sums = CorpusSums(
        reference.group_sums(by_word, state.messages),
        reference.group_sums(graph.tag_slots, state.slot_means),
        reference.group_sums(graph.tag_slots, squares),
    )
    return graph, belief._replace(sums=sums, docs=state)


@quick
@given(collections(), st.sampled_from([(0.0, 0.0), (0.2, 0.0), (0.0, 0.3), (0.1, 0.05), (0.5, 0.5)]))
def test_a_sweep_beside_earlier_documents(
    collection: tuple[Any, Any, int], weights: tuple[float, float]
) -> None:
    counts, tags, n_earlier = collection
    D = counts.shape[0]
    priors = Priors(np.linspace(0.05, 0.2, K, dtype=np.float32), 0.02, *weights)
    whole = build_graph(counts, tags)
    everything = BeliefPropagation(MemoryExecutor(whole), priors, 1, anchored=False)
    with swept_by(reference):
        belief = everything.init()
    old_graph, old = part(counts, tags, belief, slice(0, n_earlier))
    graph, mine = part(counts, tags, belief, slice(n_earlier, D))
    with swept_by(reference):
        after, _ = everything.step(belief)
    _, expected = part(counts, tags, after, slice(n_earlier, D))

    earlier = old.sums._replace(tag_docs=old_graph.totals.tag_docs.astype(float))
    batch = BeliefPropagation(MemoryExecutor(graph), priors, 1, first=Start(earlier=earlier))
    found, _ = batch.step(mine)
    assert found.docs is not None
    assert expected.docs is not None
    pairs: Any = zip((*found.sums[:3], *found.docs), (*expected.sums[:3], *expected.docs), strict=True)
    for a, b in pairs:
        atol = TOLERANCE * max(1.0, float(np.abs(b).sum(-1).max(initial=0.0)))
        np.testing.assert_allclose(a, b, rtol=TOLERANCE, atol=atol)


@pytest.mark.compiled
@pytest.mark.parametrize("n_threads", [2, 3, 8])
def test_the_same_bits_at_any_number_of_threads(n_threads: int) -> None:
    rng = np.random.default_rng(3)
    counts = sp.csr_array(rng.poisson(0.6, (1800, 40)))
    tags = sp.csr_array((rng.random((1800, 9)) < 0.2).astype(np.int8))
    graph = build_graph(counts, tags)
    assert len(graph.doc_blocks) > 3
    earlier = CorpusSums(
        rng.random((40, K)) * 50, rng.random((9, K)), rng.random((9, K)) / 9, np.full(9, 5.5)
    )
    priors = Priors(np.full(K, 0.1, dtype=np.float32), 0.05, 0.1, 0.05, relaxation=0.8)

    def swept(threads: int) -> Belief:
        batch = BeliefPropagation(MemoryExecutor(graph), priors, 1, first=Start(earlier=earlier))
        with thread_limit(threads):
            belief = batch.init()
            for _ in range(3):
                belief, _ = batch.step(belief)
        return belief

    found, expected = swept(n_threads), swept(1)
    assert found.docs is not None
    assert expected.docs is not None
    for a, b in zip((*found.sums[:3], *found.docs), (*expected.sums[:3], *expected.docs), strict=True):
        np.testing.assert_array_equal(a, b)
