"""Tag recommendation: how many of the tags that test documents need are found."""

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
from tagtopics.tasks.measures import Marks, all_measures
from tagtopics.tasks.splitting import FittedSplit, fit_split, result
from tagtopics.tasks.two_stage import two_stage_scores

_Answer = tuple[Int64, Marks]


def evaluate_recommendation(
    corpus: Corpus, model: TopicModel, *, seed: int = 0, tags_known: bool = False, system: str = "best"
) -> dict[str, Any]:
    """Recommend five tags to each test document, its own hidden, and compare.

    Args:
        corpus: documents with tags; its official split is used where there is one, else a random 80/20.
        model: an estimator; it is fitted here.
        seed: of the split.
        tags_known: must be False: known tags would be the answer.
        system: "best", what `model.recommend` does; "two-stage", the paper's two support vector machines
            on topic proportions; "scores", the model's own `tag_scores` (L-LDA); "linear", no topics but a
            support vector machine for each tag on TF-IDF words, its cost tuned in the training part.

    Returns:
        `metrics`: `recall`, `precision`, `rate_plus` per tag, `precision_at_1`, `precision_at_5`, `ndcg_at_5`
        per document, `micro_f1` and `macro_f1`; see `tagtopics.tasks.measures`. `seconds`: `fit`, `score`.
    """
    if tags_known:
        raise InputError("recommendation: tags of test documents are what is asked for; they stay hidden")
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
    """Return every measure of lists of five by scores, which are also what is predicted.

    Args:
        truth: (D, T) which tags the documents carry.
        scores: (D, T) the higher the better.
    """
    return all_measures(truth, *_listed(scores))


def _best(model: TopicModel, split: FittedSplit) -> _Answer:
    likely = model.tag_probabilities(split.test)
    recommender = model.recommender_
    assert recommender is not None  # tag_probabilities made it
    return recommender.picked(likely, 5), likely >= recommender.calibration.threshold


def _two_stage(model: TopicModel, split: FittedSplit) -> _Answer:
    return _listed(two_stage_scores(split.train_topics, split.train.tags, split.test_topics))


def _own_scores(model: TopicModel, split: FittedSplit) -> _Answer:
    score = getattr(model, "tag_scores", None)
    if score is None:
        raise InputError(f"system 'scores': {type(model).__name__} does not rank tags by itself; take llda")
    return _listed(np.asarray(score(split.test)))


def _linear(model: TopicModel, split: FittedSplit) -> _Answer:
    from tagtopics.tasks.linear import linear_scores

    scores, threshold = linear_scores(split.train, split.test)
    return best_columns(scores, 5), scores >= threshold


def _listed(scores: Any) -> _Answer:
    """Return lists of five by scores; systems that decide nothing predict what they list."""
    lists = best_columns(scores, 5)
    predicted = np.zeros(scores.shape, dtype=bool)
    np.put_along_axis(predicted, lists, True, axis=1)
    return lists, predicted


SYSTEMS: Mapping[str, Callable[[TopicModel, FittedSplit], _Answer]] = MappingProxyType(
    {"best": _best, "two-stage": _two_stage, "scores": _own_scores, "linear": _linear}
)
"""What recommends: from a fitted model and a split to lists (D, 5) and predictions (D, T)."""
