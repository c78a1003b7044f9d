"""Every compiled kernel against the specification that reads like the equation."""

from __future__ import annotations

from types import ModuleType
from typing import Any
from unittest.mock import patch

import anchors_reference
import bp_reference as reference
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from specified import swept_by

from invariants import invariant_error
from tagtopics.bp import anchors
from tagtopics.bp import propagation as bp
from tagtopics.bp import sweep as compiled
from tagtopics.bp.executor import MemoryExecutor, initial_topics
from tagtopics.bp.fold_in import fold_in
from tagtopics.bp.graph import Belief, CorpusSums, FactorGraph, Priors, build_graph
from tagtopics.bp.propagation import BeliefPropagation
from tagtopics.bp.relations import Relations, nearest
from tagtopics.jit.threads import thread_limit

# One sweep in single precision against double: roundings of 6e-8, relative to the tokens of a document or
# word, where small differences of large sums are divided by each other. Each sweep starts both from the same
# state, so that they do not add up.
TOLERANCE = 1e-4
orders = pytest.mark.parametrize("order", [2, 3, 4, 5])
examples = min(25, settings().max_examples)  # fewer where kernels are not compiled
OWN_TOKENS = st.sampled_from([1e6, 2.0, 0.5])
quick = settings(max_examples=examples, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def graphs(draw: st.DrawFn) -> FactorGraph:
    """Draw a corpus of a few documents in blocks: some empty, some without tags, tags on one or on none."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    D, W, T = draw(st.integers(1, 9)), draw(st.integers(1, 12)), draw(st.integers(0, 6))
    counts = rng.poisson(draw(st.sampled_from([0.2, 0.8, 3.0])), (D, W)) * rng.integers(1, 9, (D, W))
    tags = rng.random((D, T)) < draw(st.sampled_from([0.1, 0.4, 0.8]))
    cuts = sorted(cut for cut in draw(st.sets(st.integers(1, 8))) if cut < D)
    graph = build_graph(sp.csr_array(counts), sp.csr_array(tags.astype(np.int8)))
    return graph._replace(doc_blocks=np.array([0, *cuts, D]))


def begin(kernels: ModuleType, graph: FactorGraph, topics: Any, seed: int = 1, lean: bool = False) -> Belief:
    """Return the belief before the first sweep, from p(topic | word)."""
    sums = CorpusSums.zeros(graph.n_words, graph.n_tags, topics.shape[1])
    docs = kernels.start(graph, topics, seed, lean, sums)
    previous = (sums.words if lean else sums.words[:0]).astype(np.float32)
    return Belief(0, sums, previous, priors(n_topics=topics.shape[1]), docs)


def start(graph: FactorGraph, n_topics: int = 5, seed: int = 1) -> Belief:
    topics = np.random.default_rng(seed).random((graph.n_words, n_topics), dtype=np.float32)
    return begin(compiled, graph, topics, seed)


def advance(
    kernels: ModuleType,
    graph: FactorGraph,
    belief: Belief,
    given: Priors,
    lean: bool = False,
    relations: Relations | None = None,
) -> tuple[Belief, float]:
    """Return a copy of a belief after one sweep, and how far messages moved, in tokens."""
    assert belief.docs is not None
    copy = belief._replace(
        sums=CorpusSums(*(array.copy() for array in belief.sums[:3])),
        docs=type(belief.docs)(*(array.copy() for array in belief.docs)),
        priors=given,
    )
    algorithm = BeliefPropagation(MemoryExecutor(graph, lean), given, 0, relations=relations)
    with swept_by(kernels):
        after, change = algorithm.step(copy)
    return after, change * max(graph.totals.n_tokens, 1e-300)


def error_of(graph: FactorGraph, belief: Belief) -> float:
    assert belief.docs is not None
    return invariant_error(graph, belief.sums, belief.docs)


def arrays_of(belief: Belief) -> list[Any]:
    assert belief.docs is not None
    return [*belief.sums[:3], belief.previous, *belief.docs]


def priors(order: int = 3, w1: float = 0.1, w2: float = 0.05, n_topics: int = 5) -> Priors:
    return Priors(np.linspace(0.05, 0.2, n_topics, dtype=np.float32), 0.02, w1, w2, order, 13 / 16, 0.6)


def assert_close(found: Belief, expected: Belief) -> None:
    names = ("words", "tags", "tag_squares", "previous", "messages", "doc_sums", "slot_means")
    for name, a, b in zip(names, arrays_of(found), arrays_of(expected), strict=True):
        atol = TOLERANCE * max(1.0, float(np.abs(b).sum(-1).max(initial=0.0)))
        np.testing.assert_allclose(a, b, rtol=TOLERANCE, atol=atol, err_msg=name)


@quick
@given(graphs(), st.integers(0, 2**63 - 1))
def test_initial_state(graph: FactorGraph, seed: int) -> None:
    word_topics = np.random.default_rng(0).random((graph.n_words, 4), dtype=np.float32)
    found = begin(compiled, graph, word_topics, seed)
    assert_close(found, begin(reference, graph, word_topics, seed))
    assert error_of(graph, found) < 1e-6


@orders
@quick
@given(graphs(), st.sampled_from([(0.0, 0.0), (0.2, 0.0), (0.0, 0.3), (0.1, 0.05), (0.5, 0.5)]), OWN_TOKENS)
def test_sweeps(order: int, graph: FactorGraph, weights: tuple[float, float], own_tokens: float) -> None:
    belief, given = start(graph), priors(order, *weights)._replace(own_tokens=own_tokens)
    for _ in range(3):
        slow, expected = advance(reference, graph, belief, given)
        belief, change = advance(compiled, graph, belief, given)
        assert_close(belief, slow)
        assert change == pytest.approx(expected, rel=1e-3, abs=1e-5)
        assert error_of(graph, belief) < 1e-6


@quick
@given(graphs(), st.sampled_from([(0.0, 0.0), (0.1, 0.05), (0.5, 0.5)]), OWN_TOKENS)
def test_lean_sweeps(graph: FactorGraph, weights: tuple[float, float], own_tokens: float) -> None:
    word_topics = np.random.default_rng(1).random((graph.n_words, 5), dtype=np.float32)
    belief, slow = (begin(kernels, graph, word_topics, lean=True) for kernels in (compiled, reference))
    assert_close(belief, slow)
    given = priors(3, *weights)._replace(own_tokens=own_tokens)
    for _ in range(3):
        slow, expected = advance(reference, graph, belief, given, lean=True)
        belief, change = advance(compiled, graph, belief, given, lean=True)
        assert_close(belief, slow)
        assert change == pytest.approx(expected, rel=1e-3, abs=1e-5)
        assert error_of(graph, belief) < 1e-6
        assert belief.docs is not None
        assert len(belief.docs.messages) == 0


@quick
@given(graphs(), st.sampled_from([(0.0, 0.0), (0.1, 0.05), (0.5, 0.5)]), st.booleans(), st.integers(0, 5))
def test_sweeps_with_relations(
    graph: FactorGraph, weights: tuple[float, float], lean: bool, seed: int
) -> None:
    vectors = np.random.default_rng(seed).normal(size=(graph.n_docs, 3)).astype(np.float32)
    relations = Relations(nearest(vectors, vectors, same=True), 7.0)
    word_topics = np.random.default_rng(1).random((graph.n_words, 5), dtype=np.float32)
    belief, given = begin(compiled, graph, word_topics, lean=lean), priors(3, *weights)
    for _ in range(3):
        slow, expected = advance(reference, graph, belief, given, lean, relations)
        belief, change = advance(compiled, graph, belief, given, lean, relations)
        assert_close(belief, slow)
        assert change == pytest.approx(expected, rel=1e-3, abs=1e-5)
        assert error_of(graph, belief) < 1e-6


@quick
@given(graphs(), st.booleans())
def test_sweeps_that_leave_tags_alone(graph: FactorGraph, lean: bool) -> None:
    """Tags without weight are credited in sweeps 1, 11, 21, ...; messages never see them."""
    word_topics = np.random.default_rng(1).random((graph.n_words, 5), dtype=np.float32)
    belief = begin(compiled, graph, word_topics, lean=lean)
    with patch.object(bp, "_MANY", 0):
        _check_sweeps_without_tags(graph, belief, lean)


def _check_sweeps_without_tags(graph: FactorGraph, belief: Belief, lean: bool) -> None:
    given, without = priors(3, 0.0, 0.0), graph._replace(doc_slots=np.zeros_like(graph.doc_slots))
    for number in range(9, 13):
        belief = belief._replace(sweep=number - 1)
        slow, expected = advance(reference, graph, belief, given, lean=lean)
        found, change = advance(compiled, graph, belief, given, lean=lean)
        assert_close(found, slow)
        assert change == pytest.approx(expected, rel=1e-3, abs=1e-5)
        assert error_of(graph, found) < 1e-6
        alone, _ = advance(compiled, without, belief, given, lean=lean)
        assert found.docs is not None
        assert belief.docs is not None
        assert alone.docs is not None
        np.testing.assert_array_equal(found.sums.words, alone.sums.words)
        np.testing.assert_array_equal(found.docs.doc_sums, alone.docs.doc_sums)
        if number != 11:
            np.testing.assert_array_equal(found.docs.slot_means, belief.docs.slot_means)
            np.testing.assert_array_equal(found.sums.tags, belief.sums.tags)
        belief = found


@pytest.mark.compiled
def test_lean_and_stored_converge_to_the_same_point() -> None:
    """A message that no longer moves is recalled exactly."""
    rng = np.random.default_rng(2)
    graph = build_graph(sp.csr_array(rng.poisson(0.5, (40, 30))))
    belief, _ = advance(compiled, graph, start(graph), priors())
    for _ in range(3000):
        previous = belief.sums.words.astype(np.float32)
        belief, change = advance(compiled, graph, belief, priors())
        if change < 1e-6:
            break
    inputs = (belief.sums, graph.totals.tag_docs, previous, priors())
    assert belief.docs is not None
    none = np.zeros_like(belief.docs.doc_sums)
    recalled = reference.recall(graph, belief.docs, reference.sweep_input(*inputs, True), priors(), none)
    assert np.abs(recalled - belief.docs.messages).mean() < 0.02


@quick
@given(graphs())
def test_pairwise_factors(graph: FactorGraph) -> None:
    belief = start(graph)
    assert belief.docs is not None
    inputs = (belief.sums, graph.totals.tag_docs, belief.previous, priors(), False)
    found = compiled.sweep_input(*inputs).tag_factors
    offsets, members = graph.tag_slots
    for t in range(graph.n_tags):
        rows = belief.docs.slot_means[members[offsets[t] : offsets[t + 1]]].astype(np.float64)
        np.testing.assert_allclose(found[t], reference.pairwise_factor(rows), rtol=1e-6, atol=1e-9)


@quick
@given(graphs(), st.integers(0, 20), st.booleans())
def test_fold_in(graph: FactorGraph, max_iter: int, impossible: bool) -> None:
    """A word that no topic has is spread evenly."""
    rng = np.random.default_rng(3)
    phi = rng.dirichlet(np.full(graph.n_words, 0.3), 5).T.astype(np.float32)
    phi[0] *= not impossible
    prior = rng.random((graph.n_docs, 5), dtype=np.float32) + np.float32(0.05)
    sums = fold_in(graph, phi, prior, max_iter, 0.0)
    expected = reference.fold_in(graph, phi, prior, max_iter, 0.0)
    np.testing.assert_allclose(sums, expected, rtol=1e-3, atol=1e-3)


def test_fold_in_stops_document_by_document() -> None:
    counts = sp.csr_array(np.array([[5, 0, 0], [2, 2, 2]]))
    graph = build_graph(counts)
    phi = np.array([[0.9, 0.1], [0.05, 0.5], [0.05, 0.4]], dtype=np.float32)
    prior = np.full((2, 2), 0.1, dtype=np.float32)
    loose = fold_in(graph, phi, prior, 100, 2.0)
    once = fold_in(graph, phi, prior, 1, 0.0)
    np.testing.assert_array_equal(loose, once)


def test_credit_and_slot_mean_of_a_document() -> None:
    messages = np.array([[2.0, 0.0], [0.0, 1.0]])
    shares = reference.credit(messages, np.array([[0.9, 0.1], [0.1, 0.9]]))
    np.testing.assert_allclose(shares, [[0.9, 0.1], [0.1, 0.9]])
    np.testing.assert_allclose(reference.slot_mean(messages, shares[:, 0]), [1.8 / 1.9, 0.1 / 1.9])


def test_credit_of_nothing_in_common_is_even() -> None:
    shares = reference.credit(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0], [0.0, 1.0]]))
    np.testing.assert_array_equal(shares, [[0.5, 0.5]])


@quick
@given(graphs(), st.integers(0, 2**63 - 1))
def test_cooccurrence_profiles(graph: FactorGraph, seed: int) -> None:
    sums = anchors.no_profiles(graph.n_words, 24)
    anchors.add_profiles(graph, seed, sums)
    found = anchors.scaled_profiles(sums)
    expected = anchors_reference.cooccurrence_profiles(graph, 36, seed)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@quick
@given(st.integers(0, 2**32 - 1), st.integers(1, 24))
def test_farthest_rows(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.random((60, 30), dtype=np.float32) * rng.random((60, 1), dtype=np.float32)  # short and long
    expected = anchors_reference.farthest_rows(rows, n)
    np.testing.assert_array_equal(anchors.farthest_rows(rows, n), expected)


def test_farthest_rows_stop_where_nothing_stands_out() -> None:
    rows = np.array([[1, 0], [0, 1], [0.5, 0.5], [1, 0]], dtype=np.float32)
    assert len(anchors.farthest_rows(rows, 4)) == 2


def test_decay_is_an_exponential() -> None:
    x = np.linspace(0, 10, 101)
    np.testing.assert_allclose(anchors_reference.decay(x), np.exp(-x), rtol=1e-4)


@quick
@given(st.integers(0, 2**32 - 1))
def test_mixture_weights(seed: int) -> None:
    rng = np.random.default_rng(seed)
    corners = rng.standard_normal((4, 10)).astype(np.float32)
    profiles = (rng.dirichlet(np.ones(4), 9) @ corners).astype(np.float32)
    for n_steps, close in (
        (1, 1e-4),
        (2, 1e-3),
        (anchors.WEIGHT_STEPS, 2e-2),
    ):  # each step magnifies rounding
        with patch.object(anchors, "WEIGHT_STEPS", n_steps):
            found = anchors.mixture_weights(profiles, corners)
        expected = anchors_reference.mixture_weights(profiles, corners, anchors.STEP_SIZE, n_steps)
        np.testing.assert_allclose(found, expected, atol=close)
    np.testing.assert_allclose(found.sum(1), 1, rtol=1e-5)


@pytest.mark.compiled
@pytest.mark.parametrize("n_threads", [1, 2, 3, 8])
@pytest.mark.parametrize("seed", [0, 7])
def test_same_bits_at_any_number_of_threads(n_threads: int, seed: int) -> None:
    rng = np.random.default_rng(5)
    counts = sp.csr_array(rng.poisson(0.3, (300, 80)))
    graph = build_graph(counts, sp.csr_array((rng.random((300, 20)) < 0.15).astype(np.int8)))

    def three_sweeps(threads: int) -> list[Any]:
        with thread_limit(threads):
            topics = initial_topics(MemoryExecutor(graph), 7, seed, True)
            belief = begin(compiled, graph, topics, seed)
            for _ in range(3):
                belief, _ = advance(compiled, graph, belief, priors(n_topics=7))
        return arrays_of(belief)

    for a, b in zip(three_sweeps(1), three_sweeps(n_threads), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.compiled
@pytest.mark.parametrize("n_topics", [5, 6, 12, 33])
def test_same_bits_wherever_the_arrays_lie(n_topics: int) -> None:
    """Small scratch arrays that lie close together must not change the order in which anything is summed."""
    rng = np.random.default_rng(5)
    counts = sp.csr_array(rng.poisson(0.3, (60, 40)))
    graph = build_graph(counts, sp.csr_array((rng.random((60, 10)) < 0.2).astype(np.int8)))

    def two_sweeps() -> list[Any]:
        topics = initial_topics(MemoryExecutor(graph), n_topics, 1, True)
        belief = begin(compiled, graph, topics)
        for _ in range(2):
            belief, _ = advance(compiled, graph, belief, priors(n_topics=n_topics))
        return arrays_of(belief)

    expected = two_sweeps()
    for _ in range(150):
        holes = [np.empty(rng.integers(1, 80), dtype=np.float32) for _ in range(rng.integers(50))]
        del holes[::2]
        for a, b in zip(expected, two_sweeps(), strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.compiled
def test_numbers_stay_finite_with_huge_counts_and_tiny_priors() -> None:
    counts = sp.csr_array(np.array([[2_000_000, 1, 0], [0, 1_500_000, 1], [1, 0, 1_000_000]]))
    graph = build_graph(counts, sp.csr_array(np.ones((3, 2), dtype=np.int8)))
    belief = start(graph)
    tiny = Priors(np.full(5, 1e-6, dtype=np.float32), 1e-8, 0.1, 0.05, 3)
    for _ in range(30):
        belief, _ = advance(compiled, graph, belief, tiny)
        assert error_of(graph, belief) < 1e-6
