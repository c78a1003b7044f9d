"""LDA by Gibbs sampling and by variational Bayes: twins, planted topics, and implementations by others."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from scipy.special import digamma
from sklearn.utils.estimator_checks import check_estimator

import tagtopics as tt
from benchmarks.synthetic import make_tagged_corpus
from reproduction.systems import VBLDA, GibbsLDA, vb_loops, vb_reference
from reproduction.systems.vb_lda import VariationalBayes
from tagtopics.bp.graph import Priors, build_graph
from tagtopics.corpus.core import Corpus
from tagtopics.corpus.splits import train_test

PRIORS: dict[str, Any] = {"doc_topic_prior": 0.1, "topic_word_prior": 0.05}
K, WITHIN = 10, 1.03
SYSTEMS = (GibbsLDA(K, max_iter=100, random_state=0, **PRIORS), VBLDA(K, random_state=0, **PRIORS))


@pytest.fixture(scope="module")
def parts() -> tuple[Corpus, Corpus]:
    """Training and test documents whose topics are mixed enough to be no walkover."""
    truth = make_tagged_corpus(500, 300, K, 10, doc_length=60, n_groups=1, own_topic=0.7, seed=2)
    train, test = train_test(truth.corpus, 0)
    return truth.corpus.select(train), truth.corpus.select(test)


def perplexity(topics: Any, parts: tuple[Corpus, Corpus]) -> float:
    """Return the perplexity of topics (K, W) that somebody learned, with our inference."""
    model = tt.LDA(K, max_iter=1, random_state=0, **PRIORS).fit_topics(parts[0])
    model.components_ = np.asarray(topics, dtype=np.float32)
    return model.perplexity(parts[1])


@pytest.mark.parametrize("seed", range(8))
def test_variational_sweeps(seed: int) -> None:
    rng = np.random.default_rng(seed)
    counts = sp.csr_array(rng.poisson(0.8, (7, 9)) * rng.choice([1, 2, 0.75]))
    tags = sp.csr_array((rng.random((7, 3)) < 0.4).astype(np.int8))
    priors = Priors(np.linspace(0.05, 0.2, 4, dtype=np.float32), 0.02)
    learned = []
    for kernels in (vb_loops, vb_reference):
        algorithm = VariationalBayes(build_graph(counts), tags, priors, seed, False, kernels)
        state = algorithm.init()
        for _ in range(3):
            state, _ = algorithm.step(state)
        learned.append(algorithm.learned(state))
    for name in ("word_sums", "doc_topic"):  # messages in single precision, sharpened by exp(psi) of 0.05
        fast, slow = (getattr(one, name) for one in learned)
        np.testing.assert_allclose(fast, slow, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("x", [1e-6, 0.02, 0.5, 1.0, 5.999, 6.0, 37.5, 1e6])
def test_digamma(x: float) -> None:
    compiled = numba.njit(lambda value: vb_loops.digamma(value))  # an inner kernel has no entry for Python
    np.testing.assert_allclose(compiled(x), digamma(x), rtol=1e-9)
    np.testing.assert_allclose(vb_reference.digamma(x), digamma(x))


@pytest.mark.parametrize("model", SYSTEMS)
def test_planted_topics_are_found(model: Any) -> None:
    planted = make_tagged_corpus(n_docs=400, n_words=300, n_topics=K, n_tags=10, n_groups=0, seed=5)
    found = model.fit_topics(planted.corpus).components_
    unit = [topics / np.linalg.norm(topics, axis=1, keepdims=True) for topics in (planted.topics, found)]
    cosine = unit[0] @ unit[1].T
    assert cosine[linear_sum_assignment(-cosine)].min() > 0.9


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize("model", [GibbsLDA(3, max_iter=8), VBLDA(3, max_iter=8)])
def test_check_estimator(model: Any) -> None:
    results = check_estimator(model, on_fail=None)
    assert [r["check_name"] for r in results if r["status"] == "failed"] == []


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_gibbs_sampling_against_tomotopy(parts: tuple[Corpus, Corpus]) -> None:
    import tomotopy

    train, _ = parts
    other = tomotopy.LDAModel(k=K, alpha=0.1, eta=0.05, seed=0)
    for d in range(train.n_docs):
        row = train.counts[[d]]
        other.add_doc([train.vocabulary[w] for w in np.repeat(row.indices, row.data)])
    other.optim_interval = 0
    other.train(200, workers=1)
    column = {name: w for w, name in enumerate(train.vocabulary)}
    topics = np.full((K, train.n_words), 1e-6)
    topics[:, [column[name] for name in other.used_vocabs]] = [other.get_topic_word_dist(k) for k in range(K)]
    topics /= topics.sum(1, keepdims=True)
    model = GibbsLDA(K, random_state=0, **PRIORS).fit_topics(train)
    assert perplexity(model.components_, parts) < WITHIN * perplexity(topics, parts)


def test_variational_bayes_against_scikit_learn(parts: tuple[Corpus, Corpus]) -> None:
    from sklearn.decomposition import LatentDirichletAllocation

    other = LatentDirichletAllocation(K, max_iter=60, random_state=0, **PRIORS).fit(parts[0].counts)
    topics = other.components_ / other.components_.sum(1, keepdims=True)
    for init in ("anchors", "random"):
        model = VBLDA(K, init=init, random_state=0, **PRIORS).fit_topics(parts[0])
        assert perplexity(model.components_, parts) < WITHIN * perplexity(topics, parts), init
