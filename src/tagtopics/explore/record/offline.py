"""`OfflineModel`: what a page needs to analyse new texts without a server, as plain arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from tagtopics._typing import Float32, Float64, Int64
from tagtopics.bp.constants import FOLD_RELAXATION
from tagtopics.bp.fold_in import FoldIn
from tagtopics.corpus.cooccurrence import MOST_TOGETHER
from tagtopics.explore.record.page_words import page_obstacle, word_settings
from tagtopics.models.base import TopicModel
from tagtopics.recommend.recommender import TagRecommender
from tagtopics.recommend.ridge import NEIGHBOURS, RIDGE, TOPIC_WEIGHT, documents_of, kernel_of

_PAIRS_OF = 400  # documents, evenly spread, whose pairs the line is fitted to


@dataclass(frozen=True, eq=False, kw_only=True)
class OfflineTags:
    """The recommender: N documents, T tags. Their names are those of the record, by `columns`."""

    counts: Any  # CSR (N, W)
    topics: Float32  # (N, K) proportions, tags hidden
    tags: Any  # CSR (N, T)
    coefficients: Float32  # (N, T), or (0, T) if the nearest documents decide
    columns: Int64  # (T,) numbers of the tags in the record
    rows: Int64  # (N,) places of the documents among those of the fit
    line: tuple[float, float] | None  # of the kernel over the similarity, if there are coefficients
    bandwidth: float
    weights: Float64  # of the calibration
    most_together: int  # tags of a document that count as company of each other


@dataclass(frozen=True, eq=False, kw_only=True)
class OfflineModel:
    """Fold-in and the recommender of a model of texts."""

    settings: dict[str, Any]  # of words, fold-in and recommender, ready for JSON
    phi: Float32  # (W, K) p(word | topic)
    prior: Float64  # (K,)
    tags: OfflineTags | None


def offline_model(model: TopicModel) -> OfflineModel | None:
    """Return what a page needs to analyse new texts; None if it could not find the words of a text."""
    recipe = model.recipe_
    if recipe is None or page_obstacle(recipe) is not None:
        return None
    fold = FoldIn(model.phi(), model.doc_topic_prior_)
    settings = {
        **word_settings(recipe),
        "relaxation": FOLD_RELAXATION,
        "iterations": fold.max_iter,
        "tolerance": fold.tol,
        "topicWeight": float(TOPIC_WEIGHT),
        "ridge": float(RIDGE),
        "neighbours": NEIGHBOURS,
    }
    prior = np.asarray(model.doc_topic_prior_, dtype=np.float64)
    return OfflineModel(settings=settings, phi=model.phi(), prior=prior, tags=_tags(model))


def _tags(model: TopicModel) -> OfflineTags | None:
    recommender = model.recommender_
    if recommender is None:
        return None
    number = {name: t for t, name in enumerate(model.tag_names_)}
    if any(name not in number for name in recommender.tag_names):
        return None
    return OfflineTags(
        counts=sp.csr_array(recommender.counts),
        topics=recommender.topics,
        tags=sp.csr_array(recommender.tags),
        coefficients=recommender.coefficients,
        columns=np.array([number[name] for name in recommender.tag_names], dtype=np.int64),
        rows=np.asarray(recommender.rows, dtype=np.int64),
        line=_line(recommender) if len(recommender.coefficients) else None,
        bandwidth=float(recommender.bandwidth),
        weights=np.asarray(recommender.calibration.weights, dtype=np.float64),
        most_together=MOST_TOGETHER,
    )


def _line(recommender: TagRecommender) -> tuple[float, float]:
    """Return a and b, so that a + b s is close to the kernel of two documents with similarity s."""
    N = recommender.counts.shape[0]
    some = np.unique(np.linspace(0, N - 1, min(N, _PAIRS_OF)).astype(np.int64))
    docs = documents_of(sp.csr_array(recommender.counts[some], dtype=np.float32), recommender.topics[some])
    kernel = kernel_of(docs, docs, recommender.bandwidth)[np.triu_indices(len(some), 1)].astype(np.float64)
    if not len(kernel):
        return 0.0, 1.0
    alike = np.log(np.maximum(kernel, 1e-30)) / recommender.bandwidth + 1
    spread = float(((alike - alike.mean()) ** 2).sum())
    slope = float(((alike - alike.mean()) * kernel).sum()) / max(spread, 1e-12)
    return float(kernel.mean() - slope * alike.mean()), slope
