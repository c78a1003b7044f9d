"""Learning alpha on documents set aside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import tagtopics as tt
from tagtopics.datasets.synthetic import SyntheticCorpus
from tagtopics.graph import Priors
from tagtopics.inference import learn_priors
from tagtopics.inference.learn_priors import alpha_step

pytestmark = pytest.mark.compiled  # fits to a thousand documents


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
