"""Fits that start from a journal of edits: curated and seeded topics are priors, banned words left out."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np

from tagtopics._typing import CSR, Bool, Float32, Float64
from tagtopics.bp.callbacks import Callback
from tagtopics.bp.constants import NOISE
from tagtopics.bp.executor import Executor, initial_topics
from tagtopics.bp.propagation import Start
from tagtopics.corpus.core import Corpus
from tagtopics.curation.edits import check_editable, topic_record
from tagtopics.curation.journal import CuratedTopic, Curation
from tagtopics.errors import InputError
from tagtopics.models.documents import without_words
from tagtopics.models.online import OnlineModel
from tagtopics.models.topics import TopicSettings, memory_executor
from tagtopics.models.validation import check_parameters

STRENGTH = 2.0  # tokens of the prior of a curated topic, per token that it is expected to have; decision 276
_SEED_STRENGTH = 0.02  # of a seeded topic: a few words are a hint, and leave room for other words
_MEAN_TOKENS = 10.0  # tokens with the mean of all words, added to those of each: rare words tell little
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

    Topics keep their numbers; seeded ones come last. The words of named, merged and seeded topics are a
    prior; other topics only start from theirs. Banned words are left out.

    Args:
        model: an unfitted `LDA` or `TTM`, or a fitted one whose parameters are used. Seeded topics are added
            to its number of topics.
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
    check_editable(model)
    corpus = without_words(corpus, curation.banned)
    topics = [c for c in curation.topics if c.curated or (c.topic or 0) < model.n_topics]
    fitted: OnlineModel = copy.copy(model)
    fitted.n_topics = model.n_topics + sum(c.topic is None for c in topics)
    check_parameters(fitted)
    columns = _columns(topics, fitted.n_topics)
    settings = fitted.topic_settings()
    executor = memory_executor(corpus, settings)
    start = _guide(corpus, topics, columns, settings, executor)
    fitted.fit_topics(corpus, executor=executor, start=start, callbacks=callbacks)
    known = {k: (c.name, c.curated) for c, k in zip(topics, columns, strict=True)}
    fitted.curation_ = Curation(
        earlier=(*curation.earlier, *curation.edits),
        topics=tuple(topic_record(fitted, k, *known.get(k, (None, False))) for k in range(fitted.n_topics)),
        banned=curation.banned,
    )
    return fitted


def _columns(topics: Sequence[CuratedTopic], K: int) -> list[int]:
    """Return the number of each recorded topic in the fit: its own, or one of the last for a seeded topic."""
    n_fitted = K - sum(c.topic is None for c in topics)
    last = iter(range(n_fitted, K))
    columns = [next(last) if c.topic is None else c.topic for c in topics]
    if len(set(columns)) < len(columns) or any(k >= K for k in columns):
        raise InputError(f"fit_curated: the journal has topics that a model of {n_fitted} topics has not")
    return columns


def _guide(
    corpus: Corpus,
    topics: Sequence[CuratedTopic],
    columns: list[int],
    settings: TopicSettings,
    executor: Executor,
) -> Start | None:
    """Return the prior of curated topics and the start of all recorded ones; None if there are none."""
    if not topics:
        return None
    K = settings.n_topics
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
    seeded, curated = np.array([(c.topic is None, c.curated) for c in topics]).T
    share = np.where(seeded, 1.0 / K, [c.share for c in topics])
    # (2) The prior of the curated ones, in tokens.
    counts = np.zeros((corpus.n_words, K))
    counts[:, columns] = np.where(seeded, _SEED_STRENGTH, STRENGTH) * total * share * phi * curated
    # (3) p(topic | word), (W, G), to start from; edits come before mere starts.
    posterior = share * phi / np.maximum(tokens / total, 1e-300)[:, np.newaxis]
    posterior[:, seeded] = _grow_seeds(corpus.counts, phi[:, seeded] > 0, K)
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


def _grow_seeds(counts: CSR, seeds: Bool, K: int) -> Float64:
    """Return p(seeded topic | word), (W, G), to start from: high for words that occur with the seeds.

    The other tokens of a document are seeds of a topic more often around words of that topic. Around its
    seeds themselves it is as often as around any word that belongs to the topic only; around words of other
    topics as often as the mean of all words leaves for them. A word between the two is a mixture. Starting
    from the seeds alone, other topics take the other words first. Decision 276.
    """
    tokens = counts.astype(np.float64)
    others = 1.0 / np.maximum(np.asarray(tokens.sum(1)).ravel() - 1.0, 1.0)
    near = tokens.T @ ((tokens @ seeds.astype(np.float64)) * others[:, np.newaxis])
    near -= seeds * (tokens.T @ others)[:, np.newaxis]  # a token is not one of its own neighbours
    mass = np.asarray(tokens.sum(0)).ravel()[:, np.newaxis]
    mean = near.sum(0) / max(float(mass.sum()), 1.0)
    own = (near * seeds).sum(0) / np.maximum((mass * seeds).sum(0), 1.0)
    elsewhere = np.maximum(K * mean - own, 0.0) / max(K - 1, 1)
    around = (near + _MEAN_TOKENS * mean) / (mass + _MEAN_TOKENS)
    grown = np.clip((around - elsewhere) / np.maximum(own - elsewhere, 1e-300), 0.0, _MOST)
    return np.asarray(np.where(seeds, _MOST, np.where(own > elsewhere, grown, 0.0)))
