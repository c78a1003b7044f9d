"""Learning alpha and the weights of tags on documents set aside."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import tagtopics as tt
from tagtopics.corpus.splits import train_test
from tagtopics.datasets.synthetic import SyntheticCorpus
from tagtopics.graph import Priors
from tagtopics.inference import learn_priors
from tagtopics.inference.learn_priors import SHARES, alpha_step, largest_within, weights_holdout

pytestmark = pytest.mark.compiled  # fits to a thousand documents

AUTO = tt.Preset(tag_pseudo_count="auto")


def parts(seed: int, shuffled: bool = False) -> tuple[Any, Any]:
    """Return training and test documents of a planted corpus, its tags shuffled over the documents or not."""
    corpus = tt.make_tagged_corpus(n_docs=600, n_words=300, seed=seed).corpus
    if shuffled:
        corpus = replace(corpus, tags=corpus.tags[np.random.default_rng(seed).permutation(corpus.n_docs)])
    train, test = train_test(corpus, seed)
    return corpus.select(train), corpus.select(test)


def learned(corpus: Any, seed: int, **parameters: Any) -> Any:
    return tt.TTM(12, pairwise_weight="auto", random_state=seed, **parameters).fit_topics(corpus)


@pytest.mark.parametrize("seed", range(3))
def test_tags_that_tell_something_get_weight_and_cost_no_words(seed: int) -> None:
    train, test = parts(seed)
    model = learned(train, seed)
    assert model.pairwise_weight_ > 0
    assert model.higher_order_weight_ == pytest.approx(model.pairwise_weight_ / 2)
    hand_tuned = tt.TTM(12, random_state=seed).fit_topics(train)
    without = tt.LDA(12, random_state=seed).fit_topics(train)
    best = min(hand_tuned.perplexity(test), without.perplexity(test))
    assert model.perplexity(test) <= 1.01 * best


@pytest.mark.parametrize("seed", range(3))
def test_tags_that_tell_nothing_get_next_to_none(seed: int) -> None:
    train, test = parts(seed, shuffled=True)
    model = learned(train, seed, preset=AUTO)
    assert model.pairwise_weight_ <= 0.1 / 4
    assert model.tag_pseudo_count_ <= 2
    hand_tuned = tt.TTM(12, random_state=seed).fit_topics(train)
    assert model.perplexity(test) < hand_tuned.perplexity(test)
    assert model.perplexity(test, tags=test) < hand_tuned.perplexity(test, tags=test)


def test_a_learned_count_of_short_documents_uses_their_tags() -> None:
    corpus = tt.make_tagged_corpus(n_docs=600, n_words=300, doc_length=10, seed=0).corpus
    train, test = (corpus.select(rows) for rows in train_test(corpus, 0))
    model = tt.TTM(12, preset=AUTO, random_state=0).fit_topics(train)
    assert model.tag_pseudo_count_ >= 5
    assert model.pairwise_weight_ == 0.1
    assert model.perplexity(test, tags=test) < model.perplexity(test)


def test_the_largest_value_that_costs_next_to_nothing() -> None:
    assert largest_within([(1.0, 101.0), (0.5, 100.1), (0.0, 100.0)], tolerance=0.002) == 0.5
    assert largest_within([(1.0, 100.3), (0.5, 100.3), (0.0, 100.0)], tolerance=0.002) == 0.0
    assert largest_within([(1.0, 99.0), (0.0, 100.0)], tolerance=0.0) == 1.0


def test_documents_set_aside_take_no_part_in_learning(planted: Any) -> None:
    corpus = planted.corpus
    data = weights_holdout(corpus.counts, corpus.tags, seed=4)
    aside = 200
    assert data.graph.n_docs == corpus.n_docs - aside
    assert data.seen.shape[0] == data.tags.shape[0] == 3 * aside
    tokens = (data.seen + data.hidden)[:aside].sum()
    assert tokens + data.graph.edge_count.sum() == corpus.counts.sum()
    tripled = data.seen.sum() + data.hidden.sum()
    assert tripled == 3 * tokens


def test_the_same_bits_at_any_number_of_threads() -> None:
    train, test = parts(1)
    models = [learned(train, 5, preset=AUTO, max_iter=10, n_jobs=n_jobs) for n_jobs in (1, 3)]
    for name in ("pairwise_weight_", "higher_order_weight_", "tag_pseudo_count_"):
        assert getattr(models[0], name) == getattr(models[1], name)
    np.testing.assert_array_equal(models[0].components_, models[1].components_)
    np.testing.assert_array_equal(models[0].transform(test, test), models[1].transform(test, test))


def test_learned_weights_are_those_of_the_fit() -> None:
    train, _ = parts(2, shuffled=True)
    model = learned(train, 2, max_iter=10)
    weights = {"pairwise_weight": model.pairwise_weight_, "higher_order_weight": model.higher_order_weight_}
    assert model.pairwise_weight_ in [0.1 * share for share in SHARES]
    given = tt.TTM(12, random_state=2, max_iter=10, **weights).fit_topics(train)
    np.testing.assert_array_equal(given.components_, model.components_)
    assert given.pairwise_weight_ == model.pairwise_weight_


def test_learned_numbers_are_saved(tmp_path: Path) -> None:
    train, test = parts(1)
    model = learned(train, 1, preset=AUTO, max_iter=5)
    model.save(tmp_path / "m.tt")
    loaded: Any = tt.load(tmp_path / "m.tt")
    assert loaded.get_params() == model.get_params()
    for name in ("pairwise_weight_", "higher_order_weight_", "tag_pseudo_count_"):
        assert getattr(loaded, name) == getattr(model, name)
    np.testing.assert_array_equal(loaded.transform(test, test), model.transform(test, test))


@pytest.mark.parametrize(
    ("counts", "tags"),
    [
        (np.eye(5, dtype=int) * 3, list("ababa")),
        (np.eye(250, dtype=int) * 3, None),
        (np.full((250, 4), 0.5), ["a"] * 250),
        (np.eye(250, dtype=int), ["a"] * 250),
    ],
    ids=["few documents", "no tags", "no whole counts", "no token to hide"],
)
def test_where_nothing_can_be_learned_weights_stay_as_given(counts: Any, tags: Any) -> None:
    model = tt.TTM(2, pairwise_weight="auto", preset=AUTO, max_iter=2, random_state=0).fit_topics(
        counts, tags
    )
    assert (model.pairwise_weight_, model.higher_order_weight_, model.tag_pseudo_count_) == (0.1, 0.05, 5.0)


def test_the_fixed_point_is_where_the_held_out_likelihood_peaks() -> None:
    rng = np.random.default_rng(0)
    W, K, D = 40, 6, 60
    phi = rng.dirichlet(np.full(W, 0.2), K).T
    theta = rng.dirichlet(np.full(K, 0.3), D)
    doc_sums = np.array([rng.multinomial(15, row) for row in theta]).astype(float)
    hidden = sp.csr_array(np.array([rng.multinomial(8, phi @ row) for row in theta]))
    docs = np.repeat(np.arange(D), np.diff(hidden.indptr))

    def likelihood(alpha: float) -> float:
        raised = doc_sums[docs] + alpha
        probability = (raised * phi[hidden.indices]).sum(1) / raised.sum(1)
        return float(hidden.data @ np.log(probability))

    alpha = 0.1
    for _ in range(500):
        alpha = alpha_step(alpha, phi, doc_sums, hidden)
    grid = np.geomspace(0.01, 5, 400)
    assert likelihood(alpha) >= max(likelihood(a) for a in grid) - 1e-3


def test_a_tenth_is_set_aside_for_alpha_but_never_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen: list[Any] = []

    class EnoughError(Exception):
        pass

    def note(counts: Any, tags: Any, docs: Any, seed: int) -> None:
        chosen.append(docs)
        raise EnoughError

    monkeypatch.setattr(learn_priors, "set_aside", note)
    priors = Priors(np.full(3, 0.1, dtype=np.float32), 0.05)
    for n_docs, expected in ((1000, 100), (1000, 100), (20_000, 500)):
        counts = sp.csr_array(np.ones((n_docs, 1), dtype=int))
        with pytest.raises(EnoughError):
            learn_priors.learn_alpha(counts, counts, priors, 3, 1, True)
        assert len(np.unique(chosen[-1])) == expected
    np.testing.assert_array_equal(chosen[0], chosen[1])


def test_learned_alpha_is_used_and_the_same_at_any_number_of_threads(planted: SyntheticCorpus) -> None:
    models = []
    for n_jobs in (1, 3):
        model = tt.TTM(8, doc_topic_prior="auto", max_iter=5, random_state=2, n_jobs=n_jobs)
        models.append(model.fit_topics(planted.corpus))
    assert models[0].doc_topic_prior_[0] != np.float32(0.1)
    np.testing.assert_array_equal(models[0].doc_topic_prior_, models[1].doc_topic_prior_)
    np.testing.assert_array_equal(models[0].components_, models[1].components_)


def test_small_corpora_keep_the_prior_they_start_from() -> None:
    model = tt.LDA(2, doc_topic_prior="auto", max_iter=3, random_state=0).fit_topics(np.eye(5, dtype=int) * 3)
    np.testing.assert_allclose(model.doc_topic_prior_, 0.1)


def test_samplers_take_numbers_only() -> None:
    with pytest.raises(tt.InputError, match="doc_topic_prior must be a number from 1e-09"):
        tt.ATM(2).set_params(doc_topic_prior="auto").fit_topics(np.eye(5, dtype=int), list("ababa"))
