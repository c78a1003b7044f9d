"""What all tasks do first: split, fit on the training part, infer proportions of both parts."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

from tagtopics._typing import Float32
from tagtopics.corpus.core import Corpus
from tagtopics.corpus.splits import train_test
from tagtopics.models.base import TopicModel


class FittedSplit(NamedTuple):
    """The two parts of a corpus, and the proportions that a model fitted on the first infers for both."""

    train: Corpus
    test: Corpus
    train_topics: Float32  # (D, K) proportions inferred as those of the test part are
    test_topics: Float32  # (D, K)
    seconds: float  # to fit


def fit_split(corpus: Corpus, model: TopicModel, seed: int, tags_known: bool) -> FittedSplit:
    """Fit a model on the training part of a corpus and infer the proportions of both parts.

    Training documents are inferred anew, with tags hidden or known as in the test part, so that what is
    learned from their proportions holds for test documents too.
    """
    train_rows, test_rows = train_test(corpus, seed)
    train, test = corpus.select(train_rows), corpus.select(test_rows)
    began = time.perf_counter()
    model.fit(train)
    seconds = time.perf_counter() - began
    known = tags_known and bool(model.tag_names_)
    train_topics, test_topics = (model.transform(part, part if known else None) for part in (train, test))
    return FittedSplit(train, test, train_topics, test_topics, seconds)


def result(metrics: dict[str, Any], fit: float, began: float) -> dict[str, Any]:
    """Return what every task returns; `began` is when scoring, after the fit, began."""
    return {"metrics": metrics, "seconds": {"fit": fit, "score": time.perf_counter() - began - fit}}
