"""Perplexity of held-out words, compared with word frequencies alone."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from tagtopics.bp import holdout as heldout
from tagtopics.corpus.core import Corpus
from tagtopics.corpus.splits import completion
from tagtopics.errors import InputError
from tagtopics.evaluation.fitted_split import fit_train_part, result
from tagtopics.models.base import TopicModel

TAGS = ("hidden", "known", "inferred")
"""What the model knows of the tags of test documents."""


def evaluate_perplexity(
    corpus: Corpus,
    model: TopicModel,
    *,
    seed: int = 0,
    tags_known: bool = False,
    seen: Sequence[float] = (),
    tags: Sequence[str] = (),
) -> dict[str, Any]:
    """Fit on training documents and measure document completion on test documents.

    Args:
        corpus: documents; its official split is used if it has one, else a random 80/20 split.
        model: an estimator; it is fitted here.
        seed: of the split of documents, and of the split of tokens into seen and held-out ones.
        tags_known: whether the model may use the tags of the test documents.
        seen: shares of the words seen, in per cent from 0 to 80, for a curve; the held-out words are the same
            for all of them.
        tags: for the curve: "hidden", "known" and "inferred"; "hidden" by default. A model that ignores tags
            has the same perplexity for all. The first is that of `perplexity` in the metrics, too.

    Returns:
        `metrics`: `perplexity`, and `unigram_perplexity` of the same held-out tokens under the word
        frequencies of the training part; `seconds`: `fit` and `score`; with `seen` or `tags` also `curve`, a
        list of `seen`, `tags` and `perplexity`.
    """
    began = time.perf_counter()
    for percent in seen:
        if not 0 <= percent <= 80:
            raise InputError(f"seen must be per cent from 0 to 80, not {percent:g}; a fifth is held out")
    for name in tags:
        if name not in TAGS:
            raise InputError(f"tags must be {', '.join(TAGS)}, not {name[:40]!r}")
    train, test, seconds = fit_train_part(corpus, model, seed)
    of_tags: dict[str, Any] = {"hidden": None, "known": test, "inferred": "inferred"}
    if not model.tag_names_:  # it ignores tags
        of_tags = dict.fromkeys(of_tags)
    elif "inferred" in tags:
        model.fit_recommender(train)
    first = (*tags, "known" if tags_known else "hidden")[0]
    metrics = {
        "perplexity": model.perplexity(test, of_tags[first], seed=seed),
        "unigram_perplexity": unigram_perplexity(train, test, seed=seed),
    }
    if not (seen or tags):
        return result(metrics, seconds, began)
    curve = [
        {
            "seen": percent,
            "tags": name,
            "perplexity": model.perplexity(test, of_tags[name], seed=seed, seen=percent / 100),
        }
        for name in tags or (first,)
        for percent in seen or (80,)
    ]
    return result(metrics, seconds, began) | {"curve": curve}


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
    total = heldout.unigram_log_likelihood(held_out, heldout.unigram(word_counts, prior))
    return heldout.perplexity(total, float(held_out.sum(dtype=np.float64)))
