"""Tag recommendation: compare recommended tags with the tags of test documents."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from tagtopics._typing import Int64
from tagtopics.corpus.core import Corpus
from tagtopics.errors import InputError
from tagtopics.models.base import TopicModel
from tagtopics.recommend.calibration import best_columns
from tagtopics.tasks.fitted_split import FittedSplit, fit_split, result
from tagtopics.tasks.measures import Marks, all_measures
from tagtopics.tasks.tag_classifiers import linear_scores, two_stage_scores

_Answer = tuple[Int64, Marks]


def evaluate_recommendation(
    corpus: Corpus, model: TopicModel, *, seed: int = 0, tags_known: bool = False, system: str = "best"
) -> dict[str, Any]:
    """Recommend five tags for each test document and compare them with its own tags, which are hidden.

    Args:
        corpus: documents with tags; its official split is used if it has one, else a random 80/20 split.
        model: an estimator; it is fitted here.
        seed: of the split.
        tags_known: must be False; known tags would give the answer away.
        system: "best", the recommender of the model; "two-stage", the paper's two support vector machines
            on topic proportions; "scores", the model's own `tag_scores` (L-LDA); "linear", no topics but a
            linear classifier for each tag on TF-IDF words, its cost tuned on the training part.

    Returns:
        `metrics`: `recall`, `precision`, `rate_plus` per tag, `precision_at_1`, `precision_at_5`, `ndcg_at_5`
        per document, `micro_f1` and `macro_f1`; see `tagtopics.tasks.measures`. `seconds`: `fit`, `score`.
    """
    if tags_known:
        raise InputError("recommendation: the tags of test documents must stay hidden; leave out tags_known")
    if system not in SYSTEMS:
        raise InputError(f"unknown system {system[:40]!r}; known are {', '.join(SYSTEMS)}")
    if corpus.tags.nnz == 0:
        raise InputError("recommendation: no document has a tag")
    began = time.perf_counter()
    split = fit_split(corpus, model, seed, tags_known=False)
    lists, predicted = SYSTEMS[system](model, split)
    metrics = all_measures(split.test.tags.toarray(), lists, predicted)
    return result(metrics, split.seconds, began)


def measured_scores(truth: Any, scores: Any) -> dict[str, float]:
    """Return all measures of the five tags with the highest scores, which are also the predicted tags.

    Args:
        truth: (D, T) which tags the documents carry.
        scores: (D, T) higher is better.
    """
    return all_measures(truth, *_listed(scores))


def _best(model: TopicModel, split: FittedSplit) -> _Answer:
    model.fit_recommender(split.train)
    likely = model.tag_probabilities(split.test)
    recommender = model.recommender_
    assert recommender is not None  # trained above
    return recommender.picked(likely, 5), likely >= recommender.calibration.threshold


def _two_stage(model: TopicModel, split: FittedSplit) -> _Answer:
    return _listed(two_stage_scores(split.train_topics, split.train.tags, split.test_topics))


def _own_scores(model: TopicModel, split: FittedSplit) -> _Answer:
    score = getattr(model, "tag_scores", None)
    if score is None:
        raise InputError(f"system 'scores': {type(model).__name__} has no tag scores of its own; use llda")
    return _listed(np.asarray(score(split.test)))


def _linear(model: TopicModel, split: FittedSplit) -> _Answer:
    scores, threshold = linear_scores(split.train, split.test)
    return best_columns(scores, 5), scores >= threshold


def _listed(scores: Any) -> _Answer:
    """Return the five tags with the highest scores, as lists (D, 5) and as predictions (D, T)."""
    lists = best_columns(scores, 5)
    predicted = np.zeros(scores.shape, dtype=bool)
    np.put_along_axis(predicted, lists, True, axis=1)
    return lists, predicted


SYSTEMS: Mapping[str, Callable[[TopicModel, FittedSplit], _Answer]] = MappingProxyType(
    {"best": _best, "two-stage": _two_stage, "scores": _own_scores, "linear": _linear}
)
"""Recommenders: functions of a fitted model and a split that return lists (D, 5) and predictions (D, T)."""
