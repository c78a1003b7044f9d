"""Tag recommenders to compare with: the paper's two-stage system, and linear classifiers on words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from tagtopics._typing import Float32, Float64
from tagtopics.corpus.core import Corpus
from tagtopics.recommend.calibration import best_threshold

FIRST_SHARE = 0.25
"""Weight of the first stage in the mixture; the paper's omega."""

COSTS = (0.1, 0.3, 1.0, 3.0)
"""Costs tried for the linear classifiers on words."""


def two_stage_scores(train_topics: Float32, tags: Any, test_topics: Float32) -> Float64:
    """Return (D, T): scores of the paper's system: classifiers on topics, then on the scores of related tags.

    The first stage has one classifier per tag against all others, with probabilities that sum to one.
    LIBSVM's one-against-one would need 68,000 classifiers for the 371 tags of Corel.

    Args:
        train_topics: (D', K) proportions of the training documents.
        tags: CSR (D', T) their tags.
        test_topics: (D, K) proportions of the test documents.
    """
    first_train, first_test = _first_stage(np.sqrt(train_topics), tags, np.sqrt(test_topics))
    second_test = np.zeros_like(first_test)
    together = (tags.T.astype(np.int32) @ tags.astype(np.int32)).tocsr()
    generator = np.random.default_rng(0)
    for t, is_member in _memberships(tags):
        connected = together.indices[together.indptr[t] : together.indptr[t + 1]]
        columns = np.concatenate([[t], connected[connected != t]])
        members = np.flatnonzero(is_member)
        others = generator.permutation(np.flatnonzero(~is_member))[: len(members)]
        rows = np.concatenate([members, others])
        classify = _balanced_classifier(
            first_train[np.ix_(rows, columns)], np.arange(len(rows)) < len(members)
        )
        second_test[:, t] = classify(first_test[:, columns])
    return FIRST_SHARE * first_test + (1 - FIRST_SHARE) * second_test


def linear_scores(train: Corpus, test: Corpus) -> tuple[Float64, float]:
    """Return decision values (D, T) of linear classifiers on TF-IDF words, and the threshold for predictions.

    Cost and threshold maximise the F-measure on a held-out fifth of the training documents.
    """
    from sklearn.feature_extraction.text import TfidfTransformer

    words = TfidfTransformer(sublinear_tf=True)
    train_words, test_words = words.fit_transform(train.counts), words.transform(test.counts)
    order = np.random.default_rng(0).permutation(train.n_docs)
    held_out, rest = order[: max(1, train.n_docs // 5)], order[max(1, train.n_docs // 5) :]
    truth = train.tags[held_out].toarray().astype(bool)
    trials = {}
    for cost in COSTS:
        scores = _linear_decisions(train_words[rest], train.tags[rest], train_words[held_out], cost)
        threshold = best_threshold(scores.astype(np.float32), truth)
        predicted = scores >= threshold
        trials[cost] = 2 * (predicted & truth).sum() / (predicted.sum() + truth.sum()), threshold
    cost = max(COSTS, key=lambda cost: trials[cost][0])
    return _linear_decisions(train_words, train.tags, test_words, cost), trials[cost][1]


def _first_stage(train: Float32, tags: Any, test: Float32) -> tuple[Float64, Float64]:
    """Return the tag probabilities p^d of training documents (D', T) and test documents (D, T)."""
    from sklearn.svm import LinearSVC

    always = np.asarray(tags.sum(0)).ravel() == tags.shape[0]
    values = [np.repeat(always[np.newaxis].astype(np.float64), len(part), axis=0) for part in (train, test)]
    for t, is_member in _memberships(tags):
        classifier = LinearSVC(C=1.0).fit(train, is_member)
        to_probability = _platt(classifier.decision_function(train), is_member)
        for part, documents in zip(values, (train, test), strict=True):
            part[:, t] = to_probability(classifier.decision_function(documents))
    for part in values:
        part /= np.maximum(part.sum(1, keepdims=True), 1e-300)
    return values[0], values[1]


def _linear_decisions(words: Any, tags: Any, new_words: Any, cost: float) -> Float64:
    from sklearn.svm import LinearSVC

    values = np.full((new_words.shape[0], tags.shape[1]), -10.0)
    for t, is_member in _memberships(tags):
        values[:, t] = LinearSVC(C=cost).fit(words, is_member).decision_function(new_words)
    return values


def _memberships(tags: Any) -> Iterator[tuple[int, Any]]:
    """Yield each tag that some but not all documents carry, with a mask (D,) of those documents."""
    columns = sp.csc_array(tags)
    for t in range(tags.shape[1]):
        is_member = np.zeros(tags.shape[0], dtype=bool)
        is_member[columns.indices[columns.indptr[t] : columns.indptr[t + 1]]] = True
        if is_member.any() and not is_member.all():
            yield t, is_member


def _balanced_classifier(features: Any, is_member: Any) -> Callable[[Any], Any]:
    """Return a function from features to the probability that a support vector machine gives them."""
    from sklearn.svm import SVC

    scale = np.maximum(features.std(0), 1e-12)
    classifier = SVC(C=1.0, gamma="scale").fit(features / scale, is_member)
    to_probability = _platt(classifier.decision_function(features / scale), is_member)
    return lambda documents: to_probability(classifier.decision_function(documents / scale))


def _platt(decisions: Any, is_member: Any) -> Callable[[Any], Any]:
    """Return Platt's logistic function from decision values to probabilities."""
    from sklearn.linear_model import LogisticRegression

    regression = LogisticRegression(C=1.0, solver="newton-cholesky", tol=1e-8)
    regression.fit(decisions[:, np.newaxis], is_member)
    return lambda values: regression.predict_proba(values[:, np.newaxis])[:, 1]
