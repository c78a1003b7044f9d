"""The compiled loops of the baselines against their slow twins."""

from __future__ import annotations

from typing import Any
from unittest import mock

import gibbs_reference
import labeled_reference
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tagtopics.baselines.atm import AuthorSampling, with_private_authors
from tagtopics.baselines.gibbs import GibbsSampling, Links, link_probabilities
from tagtopics.baselines.labeled_lda import LabeledPropagation
from tagtopics.bp.graph import Priors, build_graph

examples = min(20, settings().max_examples)  # fewer where kernels are not compiled
quick = settings(max_examples=examples, deadline=None, suppress_health_check=[HealthCheck.too_slow])
PRIORS = Priors(np.linspace(0.05, 0.2, 4, dtype=np.float32), 0.02)
GIBBS = "tagtopics.baselines.gibbs.gibbs_loops"
CHAIN: dict[str, Any] = {"priors": PRIORS, "max_iter": 4, "anchored": False, "averaged": 0.5}


@st.composite
def corpora(draw: st.DrawFn) -> tuple[Any, Any]:
    """Draw counts and tags of a few documents: some empty, some untagged, some counts not whole."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    D, W, T = draw(st.integers(1, 8)), draw(st.integers(1, 10)), draw(st.integers(0, 5))
    counts = rng.poisson(draw(st.sampled_from([0.3, 1.5])), (D, W)) * draw(st.sampled_from([1, 2, 0.75]))
    tags = rng.random((D, T)) < draw(st.sampled_from([0.2, 0.7]))
    return sp.csr_array(counts), sp.csr_array(tags.astype(np.int8))


def after(algorithm: Any, sweeps: int) -> tuple[Any, list[float]]:
    state, changes = algorithm.init(), []
    for _ in range(sweeps):
        state, change = algorithm.step(state)
        changes.append(change)
    return algorithm.learned(state), changes


def assert_twins(algorithm: Any, kernels: str, reference: Any, sweeps: int, tolerance: float) -> None:
    found, changes = after(algorithm, sweeps)
    with mock.patch(kernels, reference):
        expected, slow_changes = after(algorithm, sweeps)
    np.testing.assert_allclose(changes, slow_changes, rtol=tolerance, atol=tolerance)
    for name in ("word_sums", "doc_topic", "doc_topic_prior"):
        a, b = getattr(found, name), getattr(expected, name)
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance, err_msg=name)
    for name, value in expected.more.items():
        np.testing.assert_allclose(found.more[name], value, rtol=tolerance, atol=tolerance, err_msg=name)


@quick
@given(corpora(), st.integers(0, 2**31), st.booleans())
def test_sampling_topics(corpus: tuple[Any, Any], seed: int, linked: bool) -> None:
    """The same random numbers draw the same topics, with links and without."""
    counts, tags = corpus
    shared = (tags.astype(float) @ tags.T.astype(float)).toarray() * (1 - np.eye(tags.shape[0]))
    links = Links(sp.csr_array((shared > 0).astype(float)), 3.0) if linked else None
    chain = GibbsSampling(graph=build_graph(counts), tags=tags, links=links, **CHAIN, seed=seed)
    assert_twins(chain, GIBBS, gibbs_reference, 4, 1e-9)


@quick
@given(corpora(), st.integers(0, 2**31))
def test_sampling_authors(corpus: tuple[Any, Any], seed: int) -> None:
    counts, tags = corpus
    chain = AuthorSampling(graph=build_graph(counts), tags=tags, **CHAIN, seed=seed)
    assert_twins(chain, GIBBS, gibbs_reference, 4, 1e-6)


@quick
@given(corpora(), st.integers(0, 2**31))
def test_labelled_sweeps(corpus: tuple[Any, Any], seed: int) -> None:
    counts, tags = corpus
    algorithm = LabeledPropagation(build_graph(counts, tags), 0.1, 0.02, seed)
    assert_twins(algorithm, "tagtopics.baselines.labeled_lda.labeled_loops", labeled_reference, 3, 1e-4)


def test_sampling_draws_from_the_posterior() -> None:
    """Two tokens of two words, two topics: the share of sweeps with equal topics is what counting says.

    p(equal) : p(different) = (1 + alpha) beta / (1 + 2 beta) : alpha beta / (2 beta), per pair of topics.
    """
    alpha, beta = 0.3, 0.4
    graph = build_graph(sp.csr_array([[1, 1]]))
    priors = Priors(np.full(2, alpha, dtype=np.float32), beta)
    none = sp.csr_array((1, 0))
    chain = GibbsSampling(graph=graph, tags=none, priors=priors, seed=7, max_iter=1, anchored=False)
    state, equal, sweeps = chain.init(), 0, 20000
    for _ in range(sweeps):
        state, _ = chain.step(state)
        equal += state.drawn[0] == state.drawn[1]
    together = (1 + alpha) * beta / (1 + 2 * beta)
    expected = together / (together + alpha * beta / (2 * beta))
    assert equal / sweeps == pytest.approx(expected, abs=4 * 0.5 / np.sqrt(sweeps / 3))  # draws correlate


def test_link_probabilities_maximise_the_likelihood() -> None:
    """Chang and Blei's closed form is where the gradient of its own objective vanishes."""
    rng = np.random.default_rng(0)
    means = rng.dirichlet(np.full(3, 0.3), size=12)
    upper = np.triu(rng.random((12, 12)) < 0.4, 1)
    links = Links(sp.csr_array((upper | upper.T).astype(float)), 2.0)
    alpha = np.array([0.1, 0.2, 0.3], dtype=np.float32)
    found = link_probabilities(links, means, alpha)
    a, b = np.nonzero(upper)
    shared = means[a] * means[b]
    shared = np.column_stack([shared, 1 - shared.sum(1)])
    prior = (alpha / alpha.sum()) ** 2.0
    prior = np.append(prior, 1 - prior.sum())

    def objective(log_probability: Any) -> float:
        linked = ((shared.sum(0) + prior) * log_probability).sum()
        negatives = (2.0 * len(a) + 1) * prior
        return float(linked + (negatives * np.log(-np.expm1(log_probability))).sum())

    best = objective(np.log(found))
    for k in range(4):
        for step in (-0.01, 0.01):
            moved = np.log(found)
            moved[k] += step
            assert objective(moved) < best


def test_private_authors_are_for_documents_without_tags() -> None:
    tags = sp.csr_array(np.array([[1, 0], [0, 0], [1, 1], [0, 0]], dtype=np.int8))
    expected = [[1, 0, 0, 0], [0, 0, 1, 0], [1, 1, 0, 0], [0, 0, 0, 1]]
    assert with_private_authors(tags).toarray().tolist() == expected
