"""Fits that start from a journal of edits: curated and seeded topics are priors, banned words left out."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np

from tagtopics.corpus.core import Corpus
from tagtopics.errors import InputError
from tagtopics.inference.bp import Guide
from tagtopics.inference.loop import Callback
from tagtopics.models.curation import topic_record
from tagtopics.models.inputs import without_words
from tagtopics.models.journal import CuratedTopic, Curation
from tagtopics.models.online import OnlineModel

_STRENGTH = 2.0
"""Tokens of the prior of a curated topic, per token that it is expected to have. Decision 114."""

_SEED_STRENGTH = 0.02
"""The same of a seeded topic: a few words are a hint, and must leave room for the others of the topic."""

_MOST = 0.99
"""The largest p(topic | word) that a message starts from."""


def fit_curated(
    model: OnlineModel,
    corpus: Corpus,
    curation: Curation,
    *,
    callbacks: Sequence[Callback[Any]] = (),
) -> OnlineModel:
    """Return a new model fitted to a corpus, with a journal of edits as prior.

    Topics keep their numbers; seeded ones come last. The words of named, pinned, merged, split and seeded
    topics are a prior; other topics only start from theirs. Banned words are left out.

    Args:
        model: an unfitted `LDA` or `TTM`, or a fitted one whose parameters are used. Seeded topics are added
            to its number of topics.
        corpus: the documents.
        curation: the journal, such as `model.curation_`.
        callbacks: called at every stage and iteration.
    """
    if not isinstance(model, OnlineModel):
        raise InputError(f"fit_curated: {type(model).__name__} cannot be guided; LDA and TTM can")
    corpus = without_words(corpus, curation.banned)
    topics = [c for c in curation.topics if c.curated or (c.topic or 0) < model.n_topics]
    fitted: OnlineModel = copy.copy(model)
    fitted.n_topics = model.n_topics + sum(c.topic is None for c in topics)
    columns = _columns(topics, fitted.n_topics)
    fitted._guide = _guide(corpus, topics, columns, fitted.n_topics)
    fitted.fit(corpus, callbacks=callbacks)
    fitted._guide = None
    known = {k: (c.name, c.curated) for c, k in zip(topics, columns, strict=True)}
    fitted.curation_ = Curation(
        earlier=(*curation.earlier, *curation.edits),
        topics=tuple(topic_record(fitted, k, *known.get(k, (None, False))) for k in range(fitted.n_topics)),
        banned=curation.banned,
    )
    return fitted


def _columns(topics: Sequence[CuratedTopic], K: int) -> list[int]:
    """Return the number of each recorded topic in the fit: its own, or one of the last for a seeded topic."""
    n_seeds, columns = sum(c.topic is None for c in topics), []
    seed = K - n_seeds
    for c in topics:
        columns.append(seed if c.topic is None else c.topic)
        seed += c.topic is None
    if len(set(columns)) < len(columns) or any(k >= K for k in columns):
        raise InputError(f"fit_curated: the journal has topics that a model of {K - n_seeds} topics has not")
    return columns


def _guide(corpus: Corpus, topics: Sequence[CuratedTopic], columns: Sequence[int], K: int) -> Guide | None:
    """Return the prior of curated topics and the start of all recorded ones; None if there are none."""
    if not topics:
        return None
    tokens = np.asarray(corpus.counts.sum(0), dtype=np.float64).ravel()
    total, number = max(float(tokens.sum()), 1.0), {word: w for w, word in enumerate(corpus.vocabulary)}
    phi = np.zeros((corpus.n_words, len(topics)))
    for g, c in enumerate(topics):
        known = [(number[word], p) for word, p in c.words.items() if word in number]
        if not known and c.curated:
            raise InputError(f"fit_curated: the corpus has no word of topic {c.name or c.topic!r}")
        for w, p in known:
            phi[w, g] = p
    phi /= np.maximum(phi.sum(0), 1e-300)
    share = np.array([c.share if c.topic is not None else 1.0 / K for c in topics])
    counts = np.zeros((corpus.n_words, K))
    prior = np.array([c.curated for c in topics])
    strength = np.array([_SEED_STRENGTH if c.topic is None else _STRENGTH for c in topics])
    counts[:, list(columns)] = strength * total * share * phi * prior
    posterior = share * phi / np.maximum(tokens / total, 1e-300)[:, np.newaxis]
    taken = np.minimum(1.0, (posterior * prior).sum(1, keepdims=True))
    posterior = np.where(prior, posterior, posterior * (1.0 - taken))  # edits come before mere starts
    posterior *= np.minimum(1.0, _MOST / np.maximum(posterior.sum(1, keepdims=True), 1e-300))
    return Guide(np.array(columns, dtype=np.int64), posterior.astype(np.float32), counts)
