"""Fits that start from a journal of edits: curated topics are priors, banned words left out."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np

from tagtopics._typing import Float32
from tagtopics.bp.constants import NOISE
from tagtopics.bp.executor import Executor, initial_topics
from tagtopics.bp.loop import Callback
from tagtopics.bp.propagation import Start
from tagtopics.corpus.core import Corpus
from tagtopics.curation.edits import topic_record
from tagtopics.curation.journal import CuratedTopic, Curation
from tagtopics.errors import InputError
from tagtopics.models.documents import without_words
from tagtopics.models.online import OnlineModel
from tagtopics.models.topics import TopicSettings, memory_executor
from tagtopics.models.validation import check_parameters

STRENGTH = 2.0  # tokens of the prior of a curated topic, per token that it is expected to have; decision 276
_KNOWN = 0.5  # a word that belongs to known topics to this share is no anchor of another topic
_MOST = 0.99  # the largest p(topic | word) that a message starts from


def fit_curated(
    model: OnlineModel,
    corpus: Corpus,
    curation: Curation,
    *,
    callbacks: Sequence[Callback[Any]] = (),
) -> OnlineModel:
    """Return a new model fitted to a corpus, with a journal of edits as prior, and its recommender.

    Topics keep their numbers. The words of named and merged topics are a prior; other topics only start from
    theirs. Banned words are left out.

    Args:
        model: an unfitted `LDA` or `TTM`, or a fitted one whose parameters are used.
        corpus: the documents.
        curation: the journal, such as `model.curation_`.
        callbacks: called at every stage and iteration.
    """
    fitted = fit_curated_topics(model, corpus, curation, callbacks)
    fitted.learn_recommender(without_words(corpus, curation.banned), callbacks)
    return fitted


def fit_curated_topics(
    model: Any, corpus: Corpus, curation: Curation, callbacks: Sequence[Callback[Any]] = ()
) -> OnlineModel:
    """Do the same without the recommender."""
    if not isinstance(model, OnlineModel):
        raise InputError(f"{type(model).__name__} cannot be guided by edits; LDA and TTM can")
    corpus = without_words(corpus, curation.banned)
    fitted: OnlineModel = copy.copy(model)
    check_parameters(fitted)
    topics = [c for c in curation.topics if c.curated or c.topic < fitted.n_topics]
    known = {c.topic: (c.name, c.curated) for c in topics}
    if len(known) < len(topics) or max(known, default=0) >= fitted.n_topics:
        raise InputError(
            f"fit_curated: the journal has topics that a model of {fitted.n_topics} topics has not"
        )
    settings = fitted.topic_settings()
    executor = memory_executor(corpus, settings)
    start = _guide(corpus, topics, settings, executor)
    fitted.fit_topics(corpus, executor=executor, start=start, callbacks=callbacks)
    fitted.curation_ = Curation(
        earlier=(*curation.earlier, *curation.edits),
        topics=tuple(topic_record(fitted, k, *known.get(k, (None, False))) for k in range(fitted.n_topics)),
        banned=curation.banned,
    )
    return fitted


def _guide(
    corpus: Corpus,
    topics: Sequence[CuratedTopic],
    settings: TopicSettings,
    executor: Executor,
) -> Start | None:
    """Return the prior of curated topics and the start of all recorded ones; None if there are none."""
    if not topics:
        return None
    K, columns = settings.n_topics, [c.topic for c in topics]
    # (1) p(word | topic), (W, G), and the share of each of G recorded topics.
    tokens = np.asarray(corpus.counts.sum(0), dtype=np.float64).ravel()
    total, number = max(float(tokens.sum()), 1.0), {word: w for w, word in enumerate(corpus.vocabulary)}
    phi = np.zeros((corpus.n_words, len(topics)))
    for g, c in enumerate(topics):
        known = {number[word]: p for word, p in c.words.items() if word in number}
        if not known and c.curated:
            raise InputError(f"the collection has no word of the topic {c.name or c.topic!r}")
        phi[list(known), g] = list(known.values())
    phi /= np.maximum(phi.sum(0), 1e-300)
    curated, share = np.array([c.curated for c in topics]), np.array([c.share for c in topics])
    # (2) The prior of the curated ones, in tokens.
    counts = np.zeros((corpus.n_words, K))
    counts[:, columns] = STRENGTH * total * share * phi * curated
    # (3) p(topic | word), (W, G), to start from; edits come before mere starts.
    posterior = share * phi / np.maximum(tokens / total, 1e-300)[:, np.newaxis]
    taken = np.minimum(1.0, (posterior * curated).sum(1, keepdims=True))
    posterior = np.where(curated, posterior, posterior * (1.0 - taken))
    posterior *= np.minimum(1.0, _MOST / np.maximum(posterior.sum(1, keepdims=True), 1e-300))
    first = _first_topics(executor, settings, columns, posterior.astype(np.float32))
    return Start(first, relaxation=0.0, word_counts=counts)


def _first_topics(
    executor: Executor, settings: TopicSettings, columns: list[int], posterior: Float32
) -> Float32:
    """Return p(topic | word), (W, K): that of the known topics, and the rest around anchor words."""
    K = settings.n_topics
    free = np.setdiff1d(np.arange(K), columns)
    topics = np.zeros((len(posterior), K), dtype=np.float32)
    topics[:, columns] = posterior
    if len(free):
        known = posterior.sum(1) > _KNOWN
        rest = initial_topics(executor, len(free), settings.seed, settings.anchored, known)
        rest = rest / np.maximum(rest.sum(1, keepdims=True), np.float32(1e-30))
        topics[:, free] = rest * (1 - posterior.sum(1, keepdims=True))
    return topics + np.float32(NOISE / K)
