"""The recommenders of Table III beside ours: the paper's two stages, L-LDA's scores, linear classifiers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from tagtopics._blas import single_thread
from tagtopics._typing import Bool, Float32, Float64, Int64
from tagtopics.corpus.core import Corpus
from tagtopics.errors import InputError
from tagtopics.evaluation.fitted_split import FittedSplit, fit_split, result
from tagtopics.evaluation.recommendation import all_measures, check_recommendation
from tagtopics.jit.top import largest_in_rows
from tagtopics.models.base import TopicModel
from tagtopics.recommend.calibration import best_threshold
from tagtopics.recommend.ridge import PART, solve_part

_Answer = tuple[Int64, Int64, Bool]
_LIST, _RANKS = 5, 20


def measure_system(corpus: Corpus, model: TopicModel, system: str, seed: int = 0) -> dict[str, Any]:
    """Recommend five tags for each test document by a system of `SYSTEMS`, and return its measures.

    They are those of `evaluate_recommendation`, without `calibration_error`.
    """
    check_recommendation(corpus)
    began = time.perf_counter()
    split = fit_split(corpus, model, seed, tags_known=False)
    metrics = all_measures(split.test.tags.toarray(), *SYSTEMS[system](model, split))
    return result(metrics, split.seconds, began)


def measure_scores(truth: Any, scores: Any) -> dict[str, float]:
    """Return all measures of the five tags with the highest scores, which are also the predicted tags."""
    return all_measures(truth, *_listed(scores))


def _two_stage(model: TopicModel, split: FittedSplit) -> _Answer:
    return _listed(two_stage_scores(split.train_topics, split.train.tags, split.test_topics))


def _own_scores(model: TopicModel, split: FittedSplit) -> _Answer:
    score = getattr(model, "tag_scores", None)
    if score is None:
        raise InputError(f"system 'scores': {type(model).__name__} has no tag scores of its own; use llda")
    return _listed(np.asarray(score(split.test)))


def _linear(model: TopicModel, split: FittedSplit) -> _Answer:
    scores, threshold = linear_scores(split.train, split.test)
    ranked = largest_in_rows(scores, _RANKS)
    return ranked[:, :_LIST], ranked, scores >= threshold


def _listed(scores: Any) -> _Answer:
    """Return the tags with the highest scores: five as lists and as predictions, twenty as ranks."""
    ranked = largest_in_rows(scores, _RANKS)
    predicted = np.zeros(scores.shape, dtype=bool)
    np.put_along_axis(predicted, ranked[:, :_LIST], True, axis=1)
    return ranked[:, :_LIST], ranked, predicted


SYSTEMS: Mapping[str, Callable[[TopicModel, FittedSplit], _Answer]] = {
    "two-stage": _two_stage,
    "scores": _own_scores,
    "linear": _linear,
}
"""Functions of a fitted model and a split that return lists (D, 5), ranks (D, 20), predictions (D, T).

"two-stage" is the paper's pair of support vector machines on topic proportions, "scores" the model's own
`tag_scores` (L-LDA), "linear" a linear classifier for each tag on TF-IDF words, without topics.
"""


FIRST_SHARE = 0.25
"""Weight of the first stage in the mixture; the paper's omega."""

COSTS = (0.1, 0.3, 1.0, 3.0)
"""Costs tried for the linear classifiers on words."""


def two_stage_scores(train_topics: Float32, tags: Any, test_topics: Float32) -> Float64:
    """Return (D, T): scores of the paper's system: classifiers on topics, then on the scores of related tags.

    The first stage is a kernel ridge regression, a least-squares support vector machine, of each tag against
    all others, with probabilities that sum to one. LIBSVM's one-against-one would need 68,000 classifiers
    for the 371 tags of Corel.
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
        threshold = best_threshold(scores.astype(np.float32), truth, int(truth.sum()))
        predicted = scores >= threshold
        trials[cost] = 2 * (predicted & truth).sum() / (predicted.sum() + truth.sum()), threshold
    cost = max(COSTS, key=lambda cost: trials[cost][0])
    return _linear_decisions(train_words, train.tags, test_words, cost), trials[cost][1]


def _first_stage(train: Float32, tags: Any, test: Float32) -> tuple[Float64, Float64]:
    """Return the tag probabilities p^d of training documents (D', T) and test documents (D, T)."""
    scores = regressed_tags(train, tags, test)
    always = np.asarray(tags.sum(0)).ravel() == tags.shape[0]
    values = [np.repeat(always[np.newaxis].astype(np.float64), len(part), axis=0) for part in scores]
    for t, is_member in _memberships(tags):
        to_probability = _platt(scores[0][:, t], is_member)
        for part, score in zip(values, scores, strict=True):
            part[:, t] = to_probability(score[:, t])
    for part in values:
        part /= np.maximum(part.sum(1, keepdims=True), 1e-300)
    return values[0], values[1]


@single_thread()
def regressed_tags(train: Float32, tags: Any, test: Float32) -> tuple[Float64, Float64]:
    """Regress each tag on documents with a radial basis function; return training and test scores.

    The scores of a training document come from a regression without it, so that the second stage is trained
    on answers like those to test documents. Of more than `PART` training documents a random part is used.

    Args:
        train: (D', K) features of training documents.
        tags: CSR (D', T).
        test: (D, K).

    Returns:
        Scores (D', T) and (D, T).
    """
    from sklearn.metrics.pairwise import rbf_kernel

    rows = np.sort(np.random.default_rng(0).permutation(tags.shape[0])[:PART])
    share = np.asarray(tags.mean(0), dtype=np.float32)
    gamma = 1.0 / max(train.shape[1] * float(train.var(dtype=np.float64)), 1e-12)
    kernels = [rbf_kernel(part, train[rows], gamma).astype(np.float32) for part in (train, test)]
    targets = tags[rows].toarray().astype(np.float32) - share
    coefficients, own = solve_part(kernels[0][rows], targets)
    first, second = (kernel @ coefficients + share for kernel in kernels)
    first[rows] -= own[:, np.newaxis] * coefficients
    return first.astype(np.float64), second.astype(np.float64)


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
