"""How well topics predict words that were held out, beside a model without topics."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from tagtopics.corpus.core import Corpus
from tagtopics.corpus.splits import completion, train_test
from tagtopics.inference import holdout as heldout
from tagtopics.models.base import TopicModel


def evaluate_perplexity(
    corpus: Corpus, model: TopicModel, *, seed: int = 0, tags_known: bool = False
) -> dict[str, Any]:
    """Fit on training documents and measure document completion on test documents.

    Args:
        corpus: documents; its official split is used where there is one, else a random 80/20.
        model: an estimator; it is fitted here.
        seed: of the split into documents, and of the split into tokens seen and held out.
        tags_known: whether the model may look at the tags of the test documents.

    Returns:
        `metrics`: `perplexity`, and `unigram_perplexity` of the very same held-out tokens under the word
        frequencies of the training part; `seconds`: `fit` and `score`.
    """
    train_rows, test_rows = train_test(corpus, seed)
    train, test = corpus.select(train_rows), corpus.select(test_rows)
    began = time.perf_counter()
    model.fit(train)
    fitted = time.perf_counter()
    known = test if tags_known and model.tag_names_ else None
    metrics = {
        "perplexity": model.perplexity(test, tags=known, seed=seed),
        "unigram_perplexity": unigram_perplexity(train, test, prior=model.topic_word_prior, seed=seed),
    }
    seconds = {"fit": fitted - began, "score": time.perf_counter() - fitted}
    return {"metrics": metrics, "seconds": seconds}


def unigram_perplexity(train: Corpus, test: Corpus, *, prior: float, seed: int = 0) -> float:
    """Return the perplexity of word frequencies alone, on the tokens that `TopicModel.perplexity` holds out.

    Args:
        train: where words are counted.
        test: what is predicted; the same columns.
        prior: pseudo-count of every word.
        seed: of the split into tokens seen and held out.
    """
    word_counts = train.counts.sum(0, dtype=np.int64)
    _, held_out = completion(test.counts, seed)
    total = heldout.unigram_log_likelihood(held_out, heldout.unigram(word_counts, prior))
    return heldout.perplexity(total, float(held_out.sum(dtype=np.float64)))
