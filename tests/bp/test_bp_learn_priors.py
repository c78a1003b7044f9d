"""Default priors, and those chosen on documents set aside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import tagtopics as tt
from benchmarks.synthetic import SyntheticCorpus
from tagtopics.bp import learn_priors
from tagtopics.bp import propagation as bp
from tagtopics.bp.executor import MemoryExecutor
from tagtopics.bp.graph import Priors, build_graph
from tagtopics.bp.loop import run
from tagtopics.bp.propagation import BeliefPropagation
from tagtopics.corpus.splits import train_test
from tagtopics.errors import InputError

pytestmark = pytest.mark.compiled  # fits to a thousand documents


@pytest.mark.parametrize("model", [tt.ATM(2), tt.LDA(2)])
def test_the_prior_is_a_number(model: tt.LDA) -> None:
    with pytest.raises(tt.InputError, match="doc_topic_prior must be a number from 1e-09"):
        model.set_params(doc_topic_prior="auto").fit_topics(np.eye(5, dtype=int), list("ababa"))


def test_default_priors_are_the_papers_for_few_topics_and_smaller_for_many() -> None:
    rng = np.random.default_rng(0)
    counts = sp.csr_array(rng.poisson(0.3, (80, 60)).astype(np.int32))
    tokens, words = counts.sum(), np.count_nonzero(counts.sum(0))

    def priors(K: int, **more: Any) -> tuple[float, float]:
        model = tt.LDA(K, max_iter=1, random_state=0, n_jobs=1, **more).fit_topics(counts)
        return float(model.doc_topic_prior_[0]), model.topic_word_prior_

    assert priors(2) == (float(np.float32(0.1)), 0.05)
    alpha, beta = priors(200)
    assert alpha == np.float32(5 / 200)
    assert beta == pytest.approx(tokens / (8 * 200 * words))
    assert priors(200, preset="paper") == (float(np.float32(0.1)), 0.05)
    assert priors(200, doc_topic_prior=0.3, topic_word_prior=0.2) == (float(np.float32(0.3)), 0.2)


def test_scaled_priors_predict_better_with_many_topics() -> None:
    corpus = tt.load_dataset("docstrings")
    train, test = (corpus.select(rows) for rows in train_test(corpus, 0))
    scaled, fixed = (
        tt.LDA(100, preset=preset, max_iter=20, random_state=0).fit_topics(train).perplexity(test)
        for preset in (
            tt.Preset(relaxation=0, word_exponent=1.0),
            tt.Preset(relaxation=0, word_exponent=1.0, scales_priors=False),
        )
    )
    assert scaled < fixed


def test_over_relaxation_begins_late_and_only_if_sums_still_move(planted: SyntheticCorpus) -> None:
    graph = build_graph(planted.corpus.counts, planted.corpus.tags)
    priors = Priors(np.full(4, 0.1, dtype=np.float32), 0.05)
    plain = BeliefPropagation(MemoryExecutor(graph), priors, 0)
    relaxed = BeliefPropagation(MemoryExecutor(graph), priors._replace(relaxation=2.5), 0)
    slow = run(plain, max_iter=15), run(relaxed, max_iter=15)
    assert slow[0].history[-1].change == slow[1].history[-1].change
    moves = slow[1].history[-1].change > bp._SLOW
    assert slow[1].state.priors.relaxation == (2.5 if moves else 0)


def test_small_factors_relax_the_first_sweeps(planted: SyntheticCorpus) -> None:
    graph = build_graph(planted.corpus.counts)
    priors = Priors(np.full(4, 0.1, dtype=np.float32), 0.05)
    plain, relaxed = (
        run(BeliefPropagation(MemoryExecutor(graph), priors._replace(relaxation=factor), 0), max_iter=4)
        for factor in (0.0, 0.8)
    )
    assert not np.array_equal(plain.state.sums.words, relaxed.state.sums.words)
    assert relaxed.state.priors.relaxation == pytest.approx(0.8 * 0.95**4)


@pytest.mark.parametrize("slow", [0.0, 1.0])
def test_relaxation_fades_or_never_starts(
    planted: SyntheticCorpus, monkeypatch: pytest.MonkeyPatch, slow: float
) -> None:
    monkeypatch.setattr(bp, "_SLOW", slow)
    graph = build_graph(planted.corpus.counts)
    priors = Priors(np.full(4, 0.1, dtype=np.float32), 0.05, relaxation=2.5)
    algorithm = BeliefPropagation(MemoryExecutor(graph), priors, 0)
    state = run(algorithm, max_iter=17).state
    assert state.priors.relaxation == pytest.approx(2.5 * 0.97**2 if slow == 0 else 0)
    algorithm.check(state)
    with pytest.raises(InputError, match="another relaxation"):
        algorithm.check(state._replace(priors=state.priors._replace(relaxation=1.9)))


@pytest.fixture(scope="module")
def docstrings() -> tt.Corpus:
    return tt.load_dataset("docstrings")


def test_the_exponent_and_alpha_are_those_that_predict_held_out_words_best(docstrings: tt.Corpus) -> None:
    train, test = (docstrings.select(rows) for rows in train_test(docstrings, 0))
    chosen = tt.LDA(n_topics=50, random_state=0).fit_topics(train)
    fixed = tt.LDA(n_topics=50, random_state=0, preset=tt.Preset(word_exponent=1.0)).fit_topics(train)
    assert chosen.word_exponent_ * 16 in range(12, 17)
    assert chosen.perplexity(test) < fixed.perplexity(test)
    again = tt.LDA(n_topics=50, random_state=0, n_jobs=1).fit_topics(train)
    assert np.array_equal(again.components_, chosen.components_)


def test_given_priors_are_kept(docstrings: tt.Corpus) -> None:
    some = docstrings.select(range(600))
    prior = np.float32(0.07)
    assert tt.LDA(5, random_state=0, doc_topic_prior=0.07).fit_topics(some).doc_topic_prior_[0] == prior
    preset = tt.Preset(word_exponent=0.75)
    model = tt.LDA(5, random_state=0, preset=preset).fit_topics(some)
    assert (model.word_exponent_, model.doc_topic_prior_[0]) == (0.75, np.float32(0.1))


def test_few_documents_keep_the_defaults(docstrings: tt.Corpus) -> None:
    model = tt.LDA(5, random_state=0).fit_topics(docstrings.select(range(400)))
    assert (model.word_exponent_, model.doc_topic_prior_[0]) == (1.0, np.float32(0.1))


@pytest.mark.parametrize(("gain", "exponent", "last"), [(0.05, 0.8125, 0.75), (0.001, 1.0, 0.9375)])
def test_the_search_goes_on_while_it_gains(
    gain: float, exponent: float, last: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With known scores, the best prior is found, and the best exponent if it can gain enough."""
    counts = sp.csr_array(np.random.default_rng(0).poisson(1.0, (600, 12)))
    tags, priors = sp.csr_array((600, 0)), Priors(np.full(3, 0.1, dtype=np.float32), 0.05)
    tried: list[Priors] = []

    def score(hidden: Any, theta: Any, phi: Any) -> Any:
        found = tried[-1]
        far = gain * abs(found.word_exponent - 0.8125) / 0.1875 + abs(np.log(found.doc_topic[0] / 0.025))
        return np.array([-far * hidden.sum()])

    def note(executor: Any, found: Priors, *_: Any) -> BeliefPropagation:
        tried.append(found)
        return BeliefPropagation(executor, found, 0)

    monkeypatch.setattr(learn_priors, "log_likelihoods", score)
    monkeypatch.setattr(learn_priors, "BeliefPropagation", note)
    take = lambda rows: (counts[rows], tags[rows])  # noqa: E731
    found = learn_priors.choose_priors(600, take, priors, 0, anchored=True, fixed_alpha=False)
    assert (found.word_exponent, found.doc_topic[0]) == (exponent, np.float32(0.025))
    assert min(one.word_exponent for one in tried) == last
    kept = learn_priors.choose_priors(600, take, priors, 0, anchored=True, fixed_alpha=True)
    assert kept.doc_topic[0] == np.float32(0.1)
