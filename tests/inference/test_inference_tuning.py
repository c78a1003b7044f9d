"""Learning alpha on documents set aside."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import tagtopics as tt
from tagtopics.datasets.synthetic import SyntheticCorpus
from tagtopics.inference.tuning import alpha_step, set_aside


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


def test_a_tenth_is_set_aside_but_never_too_many() -> None:
    assert set_aside(1000, 0).sum() == 100
    assert set_aside(100_000, 0).sum() == 500
    np.testing.assert_array_equal(set_aside(1000, 3), set_aside(1000, 3))


def test_learned_alpha_is_used_and_the_same_at_any_number_of_threads(planted: SyntheticCorpus) -> None:
    models = []
    for n_jobs in (1, 3):
        model = tt.TTM(8, doc_topic_prior="auto", max_iter=5, random_state=2, n_jobs=n_jobs)
        models.append(model.fit(planted.corpus))
    assert models[0].doc_topic_prior_[0] != np.float32(0.1)
    np.testing.assert_array_equal(models[0].doc_topic_prior_, models[1].doc_topic_prior_)
    np.testing.assert_array_equal(models[0].components_, models[1].components_)


def test_small_corpora_keep_the_prior_they_start_from() -> None:
    model = tt.LDA(2, doc_topic_prior="auto", max_iter=3, random_state=0).fit(np.eye(5, dtype=int) * 3)
    np.testing.assert_allclose(model.doc_topic_prior_, 0.1)


def test_samplers_take_numbers_only() -> None:
    with pytest.raises(tt.InputError, match="doc_topic_prior must be a number from 1e-09"):
        tt.ATM(2).set_params(doc_topic_prior="auto").fit(np.eye(5, dtype=int), list("ababa"))
