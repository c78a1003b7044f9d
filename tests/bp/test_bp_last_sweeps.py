"""The last sweeps of a default fit, in which words count less."""

from __future__ import annotations

import numpy as np
import pytest

import tagtopics as tt
from tagtopics.models.validation import Preset


@pytest.mark.compiled
def test_a_default_fit_ends_with_sweeps_in_which_words_count_less() -> None:
    corpus = tt.load_dataset("docstrings").select(range(0, 3000, 4))
    train, test = corpus.select(range(500)), corpus.select(range(500, 750))

    def perplexity(max_iter: int | None) -> float:
        preset = Preset(word_exponent=1.0)
        model = tt.LDA(20, random_state=0, max_iter=max_iter, preset=preset).fit_topics(train)
        np.testing.assert_allclose(model.word_sums().sum(), train.counts.sum(), rtol=1e-3)
        assert model.n_iter_ == 100
        return model.perplexity(test)

    assert perplexity(None) < perplexity(100)
