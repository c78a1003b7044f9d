"""Planted topics, credits and groups are found; limits hold."""

from __future__ import annotations

import warnings
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone

import tagtopics as tt
from benchmarks.synthetic import SyntheticCorpus, make_tagged_corpus
from invariants import invariant_error
from tagtopics.bp.callbacks import Callback, Step
from tagtopics.bp.graph import Belief, Totals, build_graph

Floats = npt.NDArray[np.float64]
every_seed = pytest.mark.parametrize("seed", [0, *(pytest.param(s, marks=pytest.mark.slow) for s in (1, 2))])


def matched(truth: Floats, found: Any) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Return the cosine of each true topic with the one it is matched with, and which one that is."""

    def unit(rows: Any) -> Any:
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    cosine = unit(truth) @ unit(found).T
    rows, columns = linear_sum_assignment(-cosine)
    return cosine[rows, columns], columns


@lru_cache
def fitted(kind: type, seed: int) -> tuple[SyntheticCorpus, Any]:
    """Return a planted corpus and a model of it, once for all tests; none may change them."""
    truth = make_tagged_corpus(seed=seed)
    return truth, kind(12, random_state=seed).fit_topics(truth.corpus)


@every_seed
@pytest.mark.parametrize("kind", [tt.LDA, tt.MarkovTTM])
def test_planted_topics_are_found(kind: type, seed: int) -> None:
    truth, model = fitted(kind, seed)
    cosines, _ = matched(truth.topics, model.components_)
    ordinary = np.setdiff1d(np.arange(12), [group.topic for group in truth.groups])
    assert cosines.mean() > 0.95
    assert cosines[ordinary].min() > 0.95
    # Tags carry a little of their joint topic to documents with only one of them: that is what tags do.
    assert cosines.min() > (0.94 if isinstance(model, tt.LDA) else 0.9)


def test_lighter_words_find_planted_topics_nearly() -> None:
    """Words drawn independently deserve their full weight; a lower one is meant for real words."""
    truth = make_tagged_corpus(seed=0)
    model = tt.LDA(12, preset=tt.Preset(word_exponent=0.8125), random_state=0).fit_topics(truth.corpus)
    cosines, _ = matched(truth.topics, model.components_)
    assert cosines.mean() > 0.97
    assert cosines.min() > 0.9


@every_seed
def test_planted_credits_are_found(seed: int) -> None:
    truth = make_tagged_corpus(n_tags=12, n_groups=0, own_topic=0.95, seed=seed)
    table = tt.TTM(12, random_state=seed).fit_topics(truth.corpus).explain(truth.corpus)
    best: dict[tuple[int, str], tuple[float, str]] = {}
    for doc, word, tag, credit in zip(table.doc, table.word, table.tag, table.credit, strict=True):
        best[doc, word] = max(best.get((doc, word), (0.0, "")), (credit, tag))
    names, tokens = truth.corpus.tag_names, truth.tokens
    own = [names[t] for t in truth.corpus.tags.indices[tokens.slots]]
    words = [truth.corpus.vocabulary[w] for w in tokens.words]
    right = [best[d, word][1] == tag for d, word, tag in zip(tokens.docs, words, own, strict=True)]
    assert np.mean(right) > 0.9


@every_seed
def test_a_group_of_tags_means_more_than_its_parts(seed: int) -> None:
    """The joint topic is what the three tags share, not what any of them, or all mixed, stand for."""
    truth, model = fitted(tt.MarkovTTM, seed)
    _, topic_of = matched(truth.topics, model.components_)
    names = truth.corpus.tag_names
    for group in truth.groups:
        tags = [names[t] for t in group.tags]
        joint = topic_of[group.topic]
        together = model.tag_profile(*tags).topics
        pairs = [model.tag_profile(a, b).topics for a in tags for b in tags if a < b]
        mixture = np.mean([model.tag_profile(tag).topics for tag in tags], axis=0)
        assert together.argmax() == joint
        assert together[joint] > 0.75
        assert together[joint] > max(pair[joint] for pair in pairs)
        assert together[joint] > mixture[joint] + 0.2


def assert_equal_topics(model: Any, other: Any, corpus: tt.Corpus) -> None:
    for name in ("components_", "doc_topic_", "topic_sums_", "doc_topic_prior_"):
        np.testing.assert_array_equal(getattr(model, name), getattr(other, name), err_msg=name)
    changes = [[step["change"] for step in one.history_] for one in (model, other)]
    assert changes[0] == changes[1]
    np.testing.assert_array_equal(model.transform(corpus), other.transform(corpus))


@pytest.mark.parametrize("preset", ["default", "fast", tt.Preset(word_exponent=0.75, init="random")])
def test_topics_of_ttm_are_those_of_lda_bit_for_bit(planted: SyntheticCorpus, preset: Any) -> None:
    lda, ttm = (
        model(8, preset=preset, random_state=3).fit_topics(planted.corpus) for model in (tt.LDA, tt.TTM)
    )
    assert_equal_topics(ttm, lda, planted.corpus)


def test_without_weights_the_papers_model_is_lda_bit_for_bit(planted: SyntheticCorpus) -> None:
    lda = tt.LDA(8, preset="paper", random_state=3).fit_topics(planted.corpus)
    markov = tt.MarkovTTM(8, pairwise_weight=0, higher_order_weight=0, random_state=3)
    assert_equal_topics(markov.fit_topics(planted.corpus), lda, planted.corpus)
    higher = tt.MarkovTTM(8, random_state=3).fit_topics(planted.corpus)
    assert not np.array_equal(higher.components_, lda.components_)


def test_defaults_are_the_papers() -> None:
    p, h = tt.MarkovTTM.pairwise(7), tt.MarkovTTM(7)
    assert (p.n_topics, p.pairwise_weight, p.higher_order_weight) == (7, 0.2, 0.0)
    settings = h.topic_settings()
    priors = settings.priors(Totals(50, 1000.0, np.ones(40, dtype=np.int64), np.ones(3, dtype=np.int64)))
    assert (priors.doc_topic[0], priors.topic_word, priors.relaxation) == (np.float32(0.1), 0.05, 0)
    assert settings.most_sweeps() == 200
    assert (priors.pairwise_weight, priors.higher_order_weight, priors.order) == (0.1, 0.05, 3)


@pytest.mark.parametrize(
    "estimator", [tt.LDA(6), tt.TTM(6), tt.MarkovTTM(6)], ids=["LDA", "TTM", "MarkovTTM"]
)
def test_equal_seeds_give_equal_bits(estimator: Any, planted: SyntheticCorpus) -> None:
    corpus = planted.corpus.select(range(400))

    def fit(threads: int) -> Any:
        few = {"random_state": 1, "max_iter": 8, "n_jobs": threads}
        return clone(estimator).set_params(**few).fit_topics(corpus)

    expected = fit(1)
    components, proportions = expected.components_.copy(), expected.transform(corpus)
    for n_jobs in (2, 3, 8):
        model = fit(n_jobs)
        np.testing.assert_array_equal(model.components_, components, err_msg=f"{n_jobs} threads")
        np.testing.assert_array_equal(model.transform(corpus), proportions)


def test_known_tags_help_short_documents(planted: SyntheticCorpus) -> None:
    corpus = planted.corpus
    train, test = corpus.select(np.arange(800)), corpus.select(np.arange(800, 1000))
    model = tt.TTM(12, random_state=0).fit_topics(train)
    short = test.counts.copy()
    short.data = np.minimum(short.data, 1).astype(np.int32)
    assert model.perplexity(short, tags=test.tags) < model.perplexity(short)


def _error(graph: Any, belief: Belief) -> float:
    assert belief.docs is not None
    return invariant_error(graph, belief.sums, belief.docs)


class _CheckEachSweep(Callback[Belief]):
    def __init__(self, counts: Any, tags: Any) -> None:
        self.graph = build_graph(counts, tags)
        self.worst = 0.0

    def on_iteration(self, step: Step, state: Belief) -> bool:
        self.worst = max(self.worst, _error(self.graph, state))
        return False


@pytest.mark.parametrize("name", ["cora", "corel5k-images"])
def test_counts_are_conserved_on_real_data(name: str, data_directory: Path) -> None:
    """54 million tokens of photographs: where single-precision running sums drift and end in NaN."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tt.CorpusWarning)
        corpus = tt.read_corpus(data_directory / name)
    check = _CheckEachSweep(corpus.counts, corpus.tags)
    model = tt.MarkovTTM(30, max_iter=12, random_state=0).fit_topics(corpus, callbacks=[check])
    assert check.worst < 1e-6
    assert np.isfinite(model.components_).all()
    assert np.isfinite(model.transform(corpus.select(np.arange(100)))).all()


def test_visual_words_are_predicted_better_if_few_of_their_tokens_are_excluded(data_directory: Path) -> None:
    folder = data_directory / "corel5k-images"
    if not folder.is_dir():
        pytest.skip("needs the photographs of Corel")
    corpus = tt.read_corpus(folder)
    train, test = corpus.select(np.arange(0, 2400, 2)), corpus.select(np.arange(1, 801, 2))
    ours, papers = (
        tt.LDA(30, preset=tt.Preset(own_tokens=tokens, word_exponent=1.0), random_state=0, max_iter=50)
        .fit_topics(train)
        .perplexity(test)
        for tokens in (32.0, 1e6)
    )
    assert ours < 0.985 * papers


def test_words_of_a_text_are_left_out_of_their_own_messages(planted: SyntheticCorpus) -> None:
    counts = np.minimum(20 * planted.corpus.counts.toarray(), 32)
    one, other = (
        tt.LDA(5, preset=tt.Preset(own_tokens=tokens), random_state=0, max_iter=5).fit_topics(counts)
        for tokens in (32.0, 1e6)
    )
    np.testing.assert_array_equal(one.components_, other.components_)
