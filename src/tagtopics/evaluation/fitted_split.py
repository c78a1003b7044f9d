"""The steps that all tasks share: split, fit on the training part, infer topics of both parts."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

from tagtopics._typing import Float32
from tagtopics.corpus.core import Corpus
from tagtopics.corpus.splits import train_test
from tagtopics.models.base import TopicModel


class FittedSplit(NamedTuple):
    """The two parts of a corpus, and the topics that a model fitted on the first infers for both."""

    train: Corpus
    test: Corpus
    train_topics: Float32  # (D', K) proportions, inferred as those of the test part
    test_topics: Float32  # (D, K)
    seconds: float  # to fit
    train_tags: Float32 | None = None  # (D', T') probabilities of tags, if the model infers them
    test_tags: Float32 | None = None  # (D, T')


def fit_split(corpus: Corpus, model: TopicModel, seed: int, tags_known: bool) -> FittedSplit:
    """Fit a model on the training part of a corpus and infer the proportions of both parts.

    The proportions of training documents are inferred again, with tags hidden or known as in the test part,
    so that classifiers trained on them apply to test documents. A model that can infer tags from words does
    so, those of training documents without what it knows of their own tags. Hidden tags are replaced by the
    inferred ones.
    """
    train, test, seconds = fit_train_part(corpus, model, seed)
    known = tags_known and bool(model.tag_names_)
    if not (model.infers_tags and train.tags.nnz > 0):
        one, other = (model.transform(part, part if known else None) for part in (train, test))
        return FittedSplit(train, test, one, other, seconds)
    model.fit_recommender(train)
    train_tags, test_tags = model.leave_one_out_tags(train), model.tag_probabilities(test)
    parts = ((train, train_tags), (test, test_tags))
    one, other = (
        model.transform(part, part) if known else model.topics_given_tags(part, tags) for part, tags in parts
    )
    return FittedSplit(train, test, one, other, seconds, train_tags, test_tags)


def fit_train_part(corpus: Corpus, model: TopicModel, seed: int) -> tuple[Corpus, Corpus, float]:
    """Fit the topics of a model on the training part; return both parts and the seconds of the fit."""
    train, test = (corpus.select(rows) for rows in train_test(corpus, seed))
    began = time.perf_counter()
    model.fit_topics(train)
    return train, test, time.perf_counter() - began


def result(metrics: dict[str, Any], fit: float, began: float) -> dict[str, Any]:
    """Return the result of a task; `began` is when it started, the fit included."""
    return {"metrics": metrics, "seconds": {"fit": fit, "score": time.perf_counter() - began - fit}}
