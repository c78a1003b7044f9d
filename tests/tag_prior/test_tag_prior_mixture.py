"""The kernels of documents that mix topics with the words of their tags, against their specification."""

from __future__ import annotations

from typing import Any, NamedTuple

import mixture_reference as reference
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tagtopics.bp.graph import FactorGraph, build_graph
from tagtopics.jit.threads import thread_limit
from tagtopics.tag_prior import mixture_loops as mixture
from tagtopics.tag_prior import tag_word_loops as tag_words
from tagtopics.tag_prior.mixture_loops import Pairs

# Single precision against double: roundings of 6e-8 where small differences of sums of tokens are taken.
CLOSE: dict[str, Any] = {"rtol": 2e-4, "atol": 2e-5}
examples = min(25, settings().max_examples)  # fewer where kernels are not compiled
quick = settings(max_examples=examples, deadline=None, suppress_health_check=[HealthCheck.too_slow])
N_TAGS = 6


class Case(NamedTuple):
    """Documents, topics and tag words to compute with."""

    graph: FactorGraph
    pairs: Pairs
    profiles: Any  # (T, K)
    phi: Any  # (W, K)
    prior: Any  # (D, K)
    slot_prior: Any  # (S,)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Draw documents: some without words, some without tags, a tag on one of them, words that no tag has."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    D, W, K = draw(st.integers(1, 9)), draw(st.integers(1, 12)), draw(st.sampled_from([1, 2, 5]))
    counts = rng.poisson(draw(st.sampled_from([0.2, 0.8, 3.0])), (D, W)) * rng.integers(1, 9, (D, W))
    weights = draw(st.sampled_from([1.0, 0.3])) * (
        rng.random((D, N_TAGS)) < draw(st.sampled_from([0.1, 0.6]))
    )
    weights[:, 0] = 0
    weights[rng.integers(D), 0] = 1
    return case_of(counts, weights, K, rng)


def case_of(counts: Any, weights: Any, n_topics: int, rng: Any) -> Case:
    counts, tags = sp.csr_array(counts), sp.csr_array(weights)
    W, K = counts.shape[1], n_topics
    phi = np.ascontiguousarray(rng.dirichlet(np.full(W, 0.3), K).T + 1e-4, dtype=np.float32)
    phi /= phi.sum(0)
    profiles = rng.dirichlet(np.full(K, 0.5), tags.shape[1]).astype(np.float32)
    profiles[-1] = 0
    prior = rng.gamma(1.0, 0.3, (counts.shape[0], K)).astype(np.float32) + np.float32(1e-3)
    slot_prior = (tags.data * rng.gamma(1.0, 2.0, tags.nnz)).astype(np.float32)
    return Case(build_graph(counts, tags), pairs_of(counts, tags, rng), profiles, phi, prior, slot_prior)


def pairs_of(counts: Any, tags: Any, rng: Any) -> Pairs:
    """Return the pairs of documents, with any number of tokens."""
    occurs = sp.csr_array((tags > 0).T.astype(np.float64) @ (counts > 0).astype(np.float64))
    occurs.sort_indices()
    tokens = rng.gamma(0.5, 4.0, occurs.nnz).astype(np.float32)
    own = sp.csr_array((tokens, occurs.indices, occurs.indptr), occurs.shape)
    return Pairs(
        occurs.indptr.astype(np.int64),
        occurs.indices.astype(np.int32),
        tokens,
        rng.dirichlet(np.ones(occurs.nnz)).astype(np.float32) if occurs.nnz else np.empty(0, np.float32),
        np.asarray(own.sum(1), dtype=np.float32).ravel(),
        rng.choice([0.5, 10.0, 300.0], tags.shape[1]).astype(np.float32),
    )


def large_case() -> Case:
    """Return enough documents for several threads to take part."""
    rng = np.random.default_rng(5)
    return case_of(rng.poisson(0.5, (400, 60)), rng.random((400, N_TAGS)) < 0.4, 8, rng)


def claims_of(case: Case, kernels: Any = mixture) -> Any:
    return kernels.claim_probabilities(case.graph, case.pairs, case.profiles, case.phi)


@quick
@given(cases())
def test_probabilities_of_claims(case: Case) -> None:
    np.testing.assert_allclose(claims_of(case), claims_of(case, reference), **CLOSE)


def test_the_words_of_a_tag_add_up_to_one() -> None:
    """A document with every word, and every tag: its claims are all of psi."""
    case = large_case()
    W = case.graph.n_words
    everything = build_graph(sp.csr_array(np.ones((1, W))), sp.csr_array(np.ones((1, N_TAGS))))
    profiles = case.profiles.copy()
    profiles[-1] = 1 / profiles.shape[1]
    psi = claims_of(case._replace(graph=everything, profiles=profiles)).reshape(W, N_TAGS)
    np.testing.assert_allclose(psi.sum(0, dtype=np.float64), 1.0, atol=1e-5)


@quick
@given(cases(), st.sampled_from([0, 1, 30]))
def test_new_documents(case: Case, max_iter: int) -> None:
    given = (case.graph, case.phi, claims_of(case), case.prior, case.slot_prior, max_iter, 0.0)
    found, expected = mixture.fold_in_mixture(*given), reference.fold_in_mixture(*given)
    sizes = np.diff(np.concatenate([[0], np.cumsum(case.graph.edge_count)])[case.graph.doc_edges])
    scale = max(1.0, float(sizes.max(initial=1)))
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-3 * scale)
    docs = np.repeat(np.arange(case.graph.n_docs), np.diff(case.graph.doc_slots))
    totals = found[0].sum(1) + np.bincount(docs, found[1], case.graph.n_docs)
    np.testing.assert_allclose(totals, sizes, rtol=1e-4)


@quick
@given(st.integers(0, 2**32 - 1), st.integers(0, 400), st.sampled_from([1, 7, 50]))
def test_expected_tokens(seed: int, n: int, n_topics: int) -> None:
    rng = np.random.default_rng(seed)
    sums, phi = (rng.random((rows, n_topics), dtype=np.float32) for rows in (5, 9))
    doc, word = rng.integers(5, size=n), rng.integers(9, size=n).astype(np.int32)
    with thread_limit(1):
        one = mixture.expected_tokens(doc, word, sums, phi)
    with thread_limit(2):
        np.testing.assert_array_equal(one, mixture.expected_tokens(doc, word, sums, phi))
    np.testing.assert_allclose(one, reference.expected_tokens(doc, word, sums, phi), rtol=1e-12)


def test_a_word_that_no_component_knows_is_divided_evenly() -> None:
    graph = build_graph(sp.csr_array([[4]]), sp.csr_array([[1.0]]))
    phi, prior = np.zeros((1, 3), np.float32), np.ones((1, 3), np.float32)
    given = (graph, phi, np.zeros(1, np.float32), prior, np.ones(1, np.float32), 5, 0.0)
    for kernels in (mixture, reference):
        sums, slot_sums = kernels.fold_in_mixture(*given)
        np.testing.assert_allclose(sums, [[1.0, 1.0, 1.0]])
        np.testing.assert_allclose(slot_sums, [1.0])


@quick
@given(cases())
def test_credit(case: Case) -> None:
    weights = case.slot_prior + np.float32(0.1)
    given = (case.graph, case.phi, claims_of(case), case.prior, weights, case.profiles)
    found, expected = mixture.credit_claims(*given), reference.credit_claims(*given)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, **CLOSE)
    for doc in reference.documents(case.graph):
        if len(doc.tags):
            shares = found[0][doc.claims].reshape(doc.shape)
            np.testing.assert_allclose(shares.sum(1), 1.0, atol=1e-5)
    assert (found[1] <= found[0] + 1e-6).all()


@quick
@given(cases())
def test_what_topics_say(case: Case) -> None:
    pairs, phi = case.pairs, case.phi
    found = tag_words.pair_predictions(pairs.offsets, pairs.words, case.profiles, phi)
    expected = reference.pair_predictions(pairs.offsets, pairs.words, case.profiles, phi)
    np.testing.assert_allclose(found, expected, **CLOSE)
    rng = np.random.default_rng(0)
    doc_sums = (5 * rng.random(case.prior.shape)).astype(np.float32)
    given = (case.graph, phi, doc_sums, case.prior[0])
    values = tag_words.topic_probabilities(*given)
    np.testing.assert_allclose(values, reference.topic_probabilities(*given), rtol=1e-3)


@pytest.mark.parametrize("prior", [1e-9, 0.1])
def test_a_document_of_one_token_has_a_probability(prior: float) -> None:
    """Without its own part only the prior is left of the document."""
    graph = build_graph(sp.csr_array([[1, 0], [0, 1]]))
    phi = np.array([[0.75, 0.5], [0.25, 0.5]], np.float32)
    doc_sums = np.array([[1.0, 0.0], [0.0, 1.0]], np.float32)
    given = (graph, phi, doc_sums, np.full(2, prior, np.float32))
    values = tag_words.topic_probabilities(*given)
    np.testing.assert_allclose(values, reference.topic_probabilities(*given), rtol=1e-5)
    assert np.isfinite(values).all()
    assert (values > 0).all()


@quick
@given(cases(), st.integers(0, 2**32 - 1))
def test_tag_words(case: Case, seed: int) -> None:
    """Crediting words to tags, and adding up what was credited, twice in turn."""
    rng = np.random.default_rng(seed)
    graph, topics = case.graph, rng.uniform(0.01, 0.5, case.graph.n_edges).astype(np.float32)
    occurs = np.zeros((graph.n_tags, graph.n_words), dtype=bool)
    for doc in reference.documents(graph):
        occurs[np.ix_(doc.tags, doc.words)] = True
    offsets, words, numbers = tag_words.number_pairs(graph)
    np.testing.assert_array_equal(offsets, [0, *np.cumsum(occurs.sum(1))])
    np.testing.assert_array_equal(words, np.nonzero(occurs)[1])
    np.testing.assert_array_equal(numbers, reference.claim_pairs(graph, offsets, words))
    shares = np.zeros(len(numbers), np.float32)
    pairs = tag_words.collect_claims(graph, numbers, case.pairs, shares)
    assert not pairs.tokens.any()
    for _ in range(2):
        expected = shares.astype(np.float64)
        reference.share_claims(graph, numbers, pairs, topics, 3.0, case.slot_prior, expected, 3)
        tag_words.share_claims(graph, numbers, pairs, topics, 3.0, case.slot_prior, shares, 3)
        np.testing.assert_allclose(shares, expected, **CLOSE)
        slow = reference.collect_claims(graph, numbers, pairs, shares)
        pairs = tag_words.collect_claims(graph, numbers, pairs, shares)
        np.testing.assert_allclose(pairs.tokens, slow.tokens, **CLOSE)
        np.testing.assert_allclose(pairs.totals, slow.totals, **CLOSE)
    assert (shares >= 0).all()


@quick
@given(cases(), st.integers(0, 100))
def test_tokens_credited_to_tags(case: Case, seed: int) -> None:
    n_claims = int(mixture.first_claims(case.graph)[-1])
    shares = np.random.default_rng(seed).random(n_claims, dtype=np.float32)
    offsets, words, tokens = tag_words.credited_tokens(case.graph, shares)
    found = sp.csr_array((tokens, words, offsets), (case.graph.n_tags, case.graph.n_words))
    assert found.has_canonical_format or found.nnz == len(set(zip(*found.nonzero(), strict=True)))
    np.testing.assert_allclose(found.toarray(), reference.credited_tokens(case.graph, shares), rtol=1e-6)


@pytest.mark.compiled
@pytest.mark.parametrize("threads", [2, 3])
def test_the_same_bits_at_any_number_of_threads(threads: int) -> None:
    case = large_case()

    def everything() -> list[Any]:
        graph, pairs, phi, profiles = case.graph, case.pairs, case.phi, case.profiles
        said = claims_of(case)
        folded = mixture.fold_in_mixture(graph, phi, said, case.prior, case.slot_prior, 20, 1e-3)
        credit = mixture.credit_claims(graph, phi, said, case.prior, case.slot_prior, profiles)
        predicted = tag_words.pair_predictions(pairs.offsets, pairs.words, profiles, phi)
        topics = tag_words.topic_probabilities(graph, phi, folded[0], case.prior[0])
        shares = np.zeros(len(said), np.float32)
        numbers = tag_words.number_pairs(graph)[2]
        tag_words.share_claims(graph, numbers, pairs, topics, 2.0, case.slot_prior, shares, 4)
        collected = tag_words.collect_claims(graph, numbers, pairs, shares)
        return [
            said,
            *folded,
            *credit,
            predicted,
            topics,
            shares,
            collected.tokens,
            collected.totals,
            *tag_words.credited_tokens(graph, shares),
        ]

    with thread_limit(1):
        expected = everything()
    with thread_limit(threads):
        found = everything()
    for one, many in zip(expected, found, strict=True):
        np.testing.assert_array_equal(one, many)
        assert np.isfinite(one).all()
