"""Similar training documents: which they are, what they are worth, and what is predicted with them."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp

import tagtopics as tt
from tagtopics.corpus.splits import seen_part, train_test
from tagtopics.evaluation import evaluate_perplexity
from tagtopics.recommend import reference
from tagtopics.recommend.ridge import TOPIC_WEIGHT, documents_of, nearest_documents
from tagtopics.tag_prior.neighbours import NEAREST, SimilarStrengths, trusted
from tagtopics.tag_prior.prior import Strengths
from tagtopics.tag_prior.strengths import NEVER


class Fitted(NamedTuple):
    train: tt.Corpus
    test: tt.Corpus
    model: Any


def in_groups(n_groups: int = 80, copies: int = 5) -> tt.Corpus:
    """Return documents in groups that share words: each has about half of the tokens of a longer document."""
    long = tt.make_tagged_corpus(n_docs=n_groups, n_words=300, doc_length=60, seed=0).corpus
    rows = np.repeat(np.arange(n_groups), copies)
    counts = np.random.default_rng(0).binomial(long.counts[rows].toarray(), 0.5).astype(np.int32)
    ids = tuple(map(str, range(len(rows))))
    return tt.Corpus(
        counts=sp.csr_array(counts),
        tags=long.tags[rows],
        vocabulary=long.vocabulary,
        tag_names=long.tag_names,
        ids=ids,
    )


def fitted(corpus: tt.Corpus, n_jobs: int = 1) -> Fitted:
    train, test = (corpus.select(rows) for rows in train_test(corpus, 0))
    return Fitted(train, test, tt.TTM(6, max_iter=10, random_state=0, n_jobs=n_jobs).fit(train))


@pytest.fixture(scope="module")
def groups() -> Fitted:
    return fitted(in_groups())


@pytest.mark.parametrize("tags", [False, True], ids=["hidden", "known"])
@pytest.mark.parametrize("seen", [0.2, 0.8])
def test_words_are_predicted_by_similar_documents(groups: Fitted, tags: bool, seen: float) -> None:
    model, given = groups.model, groups.test if tags else None
    assert min(model.settings_.similar[:2]) > 0
    alone = model.perplexity(groups.test, given, seen=seen)
    most = 0.9 if seen > 0.5 else 1.0
    assert model.perplexity(groups.test, given, seen=seen, similar=True) < most * alone


def test_without_words_nothing_is_similar(groups: Fitted) -> None:
    for tags in (None, groups.test):
        alone = groups.model.perplexity(groups.test, tags, seen=0)
        with_similar = groups.model.perplexity(groups.test, tags, seen=0, similar=True)
        assert with_similar == pytest.approx(alone, rel=1e-6)


@pytest.mark.parametrize("how", [None, "known", "inferred"])
def test_probabilities_add_up_and_are_those_of_the_likelihood(groups: Fitted, how: str | None) -> None:
    seen, held_out = seen_part(groups.test.counts, 0, 0.4)
    tags: Any = groups.test.tags if how == "known" else how
    words = groups.model.predict_words(seen, tags, similar=True)
    np.testing.assert_allclose(words.sum(1, dtype=np.float64), 1, rtol=1e-5)
    found = groups.model.log_likelihood(seen, held_out, tags, similar=True)
    logs = np.log(words.astype(np.float64))
    np.testing.assert_allclose(found, np.asarray((held_out.toarray() * logs).sum(1)), rtol=1e-4)


def test_a_mixture_reads_like_its_definition(groups: Fitted) -> None:
    """p(w | d) adds up topics, tags and documents; a document is its words and M words of its topics."""
    model, (seen, _) = groups.model, seen_part(groups.test.counts, 0, 0.4)
    near, M = model._near(seen), model.settings_.similar.shrinkage
    wide, found = model.tag_prior_.infer_near(seen, groups.test.tags, near)
    T, phi = len(model.tag_names_), model.components_.astype(np.float64)
    own, of_tag = model.tag_words_.toarray(), model.settings_.shrinkage
    of_tags = (own + of_tag * model.tag_means() @ phi) / (own.sum(1, keepdims=True) + of_tag)
    counts = near.counts.toarray()
    documents = (counts + M * near.topics @ phi) / (counts.sum(1, keepdims=True) + M)
    weights = found.tags.toarray().astype(np.float64)
    values = found.topics @ phi + weights[:, :T] @ of_tags + weights[:, T:] @ documents
    expected = values / values.sum(1, keepdims=True)
    np.testing.assert_allclose(wide.word_probabilities(found), expected, rtol=1e-4)
    tokens = found.topics.sum(1) + weights.sum(1) - np.asarray(seen.sum(1)).ravel()
    prior = model.tag_prior_.infer(sp.csr_array(seen.shape), groups.test.tags)
    given = prior.topics.sum(1) + np.asarray(prior.tags.sum(1)).ravel()
    strength = model.settings_.similar.known * np.asarray(near.weights.sum(1)).ravel()
    np.testing.assert_allclose(tokens, given + strength, rtol=1e-3)


def test_the_most_similar_documents_are_those_of_the_kernel(groups: Fitted) -> None:
    rng, counts = np.random.default_rng(0), groups.train.counts.astype(np.float32)
    topics = rng.dirichlet(np.ones(4), counts.shape[0]).astype(np.float32)
    new, index = counts[:7], counts[7:]
    near = nearest_documents(new, topics[:7], documents_of(index, topics[7:]), (index, topics[7:]))
    shares = counts.toarray().astype(np.float64) / counts.sum(1).reshape(-1, 1)
    roots = np.sqrt(topics)
    alike = reference.similarities(shares[:7], shares[7:], roots[:7], roots[7:], float(TOPIC_WEIGHT))
    for d in range(7):
        of_document = near.counts[near.weights[d : d + 1].indices].toarray()
        best = np.sort(np.argsort(-alike[d], kind="stable")[:NEAREST])
        np.testing.assert_array_equal(of_document, index[best].toarray())
    np.testing.assert_allclose(near.weights.sum(1), 1)


def test_few_words_count_little(groups: Fitted) -> None:
    near = groups.model._near(groups.test.counts[:3])
    near = near._replace(weights=sp.csr_array(np.full((3, 2), 0.5)))
    few = trusted(near, np.array([0.0, 4.0, 4000.0]), Strengths(0.5, 0.5))
    np.testing.assert_allclose(few.weights.sum(1), [0, 0.5, 1], atol=1e-6)


def test_similar_documents_count_from_a_number_of_words_on(groups: Fitted) -> None:
    strengths = SimilarStrengths(2.0, 1.0, 10.0, hidden_words=3.0, known_words=8.0)
    found = strengths.of(np.array([2.0, 3.0, 7.0, 8.0, 8.0]), np.array([0.0, 0.0, 1.0, 1.0, 0.5]))
    np.testing.assert_allclose(found, [0, 2, 0, 1, 1.5])
    model = copy(groups.model)
    never = model.settings_.similar._replace(hidden_words=NEVER)
    model.settings_ = model.settings_._replace(similar=never)
    model.refresh_tag_prior()
    alone = model.predict_words(groups.test)
    np.testing.assert_allclose(model.predict_words(groups.test, similar=True), alone, atol=1e-4)
    assert abs(groups.model.predict_words(groups.test, similar=True) - alone).max() > 1e-3


def test_shuffled_tags_leave_similar_documents_as_they_are() -> None:
    corpus = in_groups()
    order = np.random.default_rng(1).permutation(corpus.n_docs)
    found = fitted(replace(corpus, tags=corpus.tags[order]))
    assert found.model.settings_.known == found.model.settings_.hidden
    assert found.model.settings_.similar.known == found.model.settings_.similar.hidden > 0
    hidden = found.model.perplexity(found.test, similar=True)
    assert found.model.perplexity(found.test, found.test, similar=True) == pytest.approx(hidden, rel=1e-6)


def test_the_same_bits_at_any_number_of_threads(groups: Fitted) -> None:
    two = fitted(in_groups(), n_jobs=2).model
    assert two.settings_ == groups.model.settings_
    for tags in (None, groups.test):
        found = [model.predict_words(groups.test, tags, similar=True) for model in (groups.model, two)]
        np.testing.assert_array_equal(*found)


def test_strengths_are_saved(groups: Fitted, tmp_path: Path) -> None:
    groups.model.save(tmp_path / "m.tt")
    loaded: Any = tt.load(tmp_path / "m.tt")
    assert loaded.settings_ == groups.model.settings_
    found = [model.predict_words(groups.test, similar=True) for model in (loaded, groups.model)]
    np.testing.assert_array_equal(*found)


def test_where_there_is_no_strength(groups: Fitted) -> None:
    untrained = tt.TTM(3, max_iter=3, random_state=0).fit_topics(groups.train)
    with pytest.raises(tt.InputError, match="similar documents need a recommender: call fit"):
        untrained.perplexity(groups.test, similar=True)
    for kind in (tt.LDA, tt.MarkovTTM):
        other = kind(3, max_iter=3, random_state=0).fit(groups.train)
        says = f"{kind.__name__} does not learn how much similar documents say; TTM does"
        with pytest.raises(tt.InputError, match=says):
            other.perplexity(groups.test, similar=True)


def test_a_curve_with_similar_documents() -> None:
    corpus, names = in_groups(), ("known", "hidden+similar", "known+similar")
    curve = evaluate_perplexity(corpus, tt.TTM(6, max_iter=10, random_state=0), seen=(20, 80), tags=names)[
        "curve"
    ]
    assert [(row["tags"], row["seen"]) for row in curve] == [(name, n) for name in names for n in (20, 80)]
    found = {(row["tags"], row["seen"]): row["perplexity"] for row in curve}
    assert found["known+similar", 80] < found["known", 80]
    ignored = evaluate_perplexity(
        corpus, tt.LDA(6, max_iter=3, random_state=0), tags=("hidden", "known+similar")
    )
    assert len({row["perplexity"] for row in ignored["curve"]}) == 1
