"""Perplexity of held-out words, compared with word frequencies alone."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from tagtopics.bp import holdout as heldout
from tagtopics.corpus.core import Corpus
from tagtopics.corpus.splits import completion
from tagtopics.evaluation.fitted_split import fit_train_part, result
from tagtopics.models.base import TopicModel


def evaluate_perplexity(
    corpus: Corpus,
    model: TopicModel,
    *,
    seed: int = 0,
    tags_known: bool = False,
    tags_inferred: bool = False,
) -> dict[str, Any]:
    """Fit on training documents and measure document completion on test documents.

    Args:
        corpus: documents; its official split is used if it has one, else a random 80/20 split.
        model: an estimator; it is fitted here.
        seed: of the split of documents, and of the split of tokens into seen and held-out ones.
        tags_known: whether the model may use the tags of the test documents.
        tags_inferred: whether it uses tags that it infers from the words seen.

    Returns:
        `metrics`: `perplexity`, and `unigram_perplexity` of the same held-out tokens under the word
        frequencies of the training part; `seconds`: `fit` and `score`.
    """
    began = time.perf_counter()
    train, test, seconds = fit_train_part(corpus, model, seed)
    tags: Corpus | str | None = None
    if tags_inferred and model.tag_names_:  # other models ignore tags
        model.fit_recommender(train)
        tags = "inferred"
    elif tags_known and model.tag_names_:
        tags = test
    metrics = {
        "perplexity": model.perplexity(test, tags, seed=seed),
        "unigram_perplexity": unigram_perplexity(train, test, seed=seed),
    }
    return result(metrics, seconds, began)


def unigram_perplexity(train: Corpus, test: Corpus, *, prior: float = 0.05, seed: int = 0) -> float:
    """Return the perplexity of word frequencies alone, on the tokens that `TopicModel.perplexity` holds out.

    Args:
        train: documents to count words in.
        test: documents to predict, with the same columns.
        prior: pseudo-count of every word.
        seed: of the split of tokens into seen and held-out ones.
    """
    word_counts = train.counts.sum(0, dtype=np.int64)
    _, held_out = completion(test.counts, seed)
    total = heldout.unigram_log_likelihood(held_out, word_counts, prior)
    return heldout.perplexity(total, float(held_out.sum(dtype=np.float64)))
