"""The last sweeps of a default fit, in which words are smoother."""

from __future__ import annotations

import numpy as np
import pytest

import tagtopics as tt
from tagtopics.models.validation import Preset


@pytest.mark.compiled
def test_a_default_fit_ends_with_sweeps_in_which_words_are_smoother() -> None:
    corpus = tt.load_dataset("docstrings").select(range(0, 3000, 4))
    train, test = corpus.select(range(500)), corpus.select(range(500, 750))

    def perplexity(max_iter: int | None) -> float:
        preset = Preset(word_exponent=1.0)
        model = tt.LDA(20, topic_word_prior=0.04, random_state=0, max_iter=max_iter, preset=preset)
        model.fit_topics(train)
        tokens, known = train.counts.sum(0), train.counts.sum(0) > 0
        np.testing.assert_allclose(model.word_sums().sum(1)[known], tokens[known], rtol=1e-3)
        np.testing.assert_allclose(model.topic_word_prior_, 0.04 if max_iter else 0.01)
        assert model.n_iter_ == 100
        # Words of no training document have the whole prior.
        all_tokens = model.topic_sums_ + train.n_words * model.topic_word_prior_
        unseen = model.components_[:, ~known] * all_tokens[:, np.newaxis]
        assert unseen.shape[1] > 100
        np.testing.assert_allclose(unseen, 0.04, rtol=1e-5)
        return model.perplexity(test)

    assert perplexity(None) < perplexity(100)
