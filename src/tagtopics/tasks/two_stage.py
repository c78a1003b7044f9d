"""The paper's recommender: one machine for all tags on topics, then one for each tag on connected tags."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit

from tagtopics._typing import Float32, Float64
from tagtopics.recommend.calibration import logistic_weights

FIRST_SHARE = 0.25
"""Weight of the first stage in the mixture; the paper's omega."""


def two_stage_scores(train_topics: Float32, tags: Any, test_topics: Float32) -> Float64:
    """Return (D, T): how strongly each tag is suggested to each test document.

    The first stage has one machine for each tag against the rest, made probabilities that add up to one:
    LIBSVM's one against one would be 68,000 machines for the 371 tags of Corel.

    Args:
        train_topics: (D', K) proportions of the training documents.
        tags: CSR (D', T) their tags.
        test_topics: (D, K) proportions of the test documents.
    """
    train, test = np.sqrt(train_topics), np.sqrt(test_topics)
    first_train, first_test = _first_stage(train, tags, test)
    second_test = np.zeros_like(first_test)
    carriers = tags.tocsc()
    together = (tags.T.astype(np.int32) @ tags.astype(np.int32)).tocsr()
    generator = np.random.default_rng(0)
    for t in range(tags.shape[1]):
        members = carriers.indices[carriers.indptr[t] : carriers.indptr[t + 1]]
        if not 0 < len(members) < tags.shape[0]:
            continue
        connected = together.indices[together.indptr[t] : together.indptr[t + 1]]
        columns = np.concatenate([[t], connected[connected != t]])
        others = np.setdiff1d(np.arange(tags.shape[0]), members)
        others = generator.permutation(others)[: len(members)]
        rows = np.concatenate([members, others])
        machine = _fitted(first_train[np.ix_(rows, columns)], np.arange(len(rows)) < len(members))
        second_test[:, t] = machine(first_test[:, columns])
    return FIRST_SHARE * first_test + (1 - FIRST_SHARE) * second_test


def _first_stage(train: Float32, tags: Any, test: Float32) -> tuple[Float64, Float64]:
    """Return the likelihoods p^d of tags, of training (D', T) and test documents (D, T)."""
    from sklearn.svm import LinearSVC

    carriers = tags.tocsc()
    values = [np.zeros((len(part), tags.shape[1])) for part in (train, test)]
    for t in range(tags.shape[1]):
        is_member = np.zeros(len(train), dtype=bool)
        is_member[carriers.indices[carriers.indptr[t] : carriers.indptr[t + 1]]] = True
        if is_member.all() or not is_member.any():
            for part in values:
                part[:, t] = float(is_member.all())
            continue
        machine = LinearSVC(C=1.0).fit(train, is_member)
        to_probability = _platt(machine.decision_function(train), is_member)
        for part, documents in zip(values, (train, test), strict=True):
            part[:, t] = to_probability(machine.decision_function(documents))
    for part in values:
        part /= np.maximum(part.sum(1, keepdims=True), 1e-300)
    return values[0], values[1]


def _fitted(features: Any, is_member: Any) -> Any:
    """Return a function from features to the probability that a balanced binary machine sees in them."""
    from sklearn.svm import SVC

    scale = np.maximum(features.std(0), 1e-12)
    machine = SVC(C=1.0, gamma="scale").fit(features / scale, is_member)
    to_probability = _platt(machine.decision_function(features / scale), is_member)
    return lambda documents: to_probability(machine.decision_function(documents / scale))


def _platt(decisions: Any, is_member: Any) -> Any:
    """Return the logistic function that turns decision values into probabilities."""
    weights = logistic_weights(np.stack([np.ones_like(decisions), decisions], axis=1), is_member)
    return lambda values: expit(weights[0] + weights[1] * values)
