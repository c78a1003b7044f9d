"""Edits of a fitted model's topics. An edit returns a new model; `undo` returns the one before, to the bit.

The new model keeps the model as it was fitted (`base_`) and the journal of edits since (`curation_`). An edit
is a function of the model and its documents, so a state is `base_` with the first edits of the journal.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from tagtopics._typing import Float64
from tagtopics.corpus.align import in_columns
from tagtopics.corpus.core import Corpus
from tagtopics.curation.journal import CuratedTopic, Curation, Edit, curation_of, make_edit
from tagtopics.errors import InputError
from tagtopics.models.online import OnlineModel
from tagtopics.models.results import largest_weights
from tagtopics.models.tagged import TaggedModel
from tagtopics.models.topic_words import CANDIDATES

_KEPT_WORDS, _START_WORDS = 1000, 50  # of a curated topic in the journal, and of another one (decision 276)

Sources = Sequence[tuple[int, ...]]
"""For each topic after an edit, the topics before that it is made of."""


def curate(
    model: OnlineModel,
    kind: str,
    *,
    topics: Sequence[int] = (),
    words: Sequence[str] = (),
    name: str | None = None,
    corpus: Corpus | None = None,
) -> OnlineModel:
    """Return a model with one more edit; the given model does not change.

    Args:
        model: a fitted `LDA` or `TTM`.
        kind: "rename" (one topic, a name), "merge" (two or more topics; the smallest number remains), "ban"
            (words to forget), "seed" (a name and words of a topic for the next fit).
        topics: numbers of topics.
        words: to ban, or of the seeded topic.
        name: of the renamed or seeded topic.
        corpus: the training documents; needed to keep a recommender when topics change.
    """
    check_editable(model)
    check_is_fitted(model)
    edit = make_edit(kind, topics=tuple(topics), words=tuple(words), name=name)
    return _apply_edit(model, edit, corpus)


def check_editable(model: Any) -> None:
    """Raise an `InputError` unless the topics of a model can be edited, or guided by edits."""
    if not isinstance(model, OnlineModel):
        raise InputError(f"topics of {type(model).__name__} cannot be edited; those of LDA and TTM can")


def undo(model: OnlineModel, *, corpus: Corpus | None = None) -> OnlineModel:
    """Return the model before its last edit, equal to the bit.

    Args:
        model: a curated model.
        corpus: the training documents, as given to the edits.
    """
    base, journal = model.base_, curation_of(model)
    if base is None or not journal.edits:
        fitted = "; edits that were part of the fit stay" if journal.earlier else ""
        raise InputError(f"undo: there are no edits since the model was fitted{fitted}")
    state: OnlineModel = base
    for edit in journal.edits[:-1]:
        state = _apply_edit(state, edit, corpus)
    return state


def topic_origins(model: OnlineModel) -> Float64:
    """Return (K as fitted, K): 1 where a topic is made of one of the model as it was fitted (`base_`)."""
    base = model if model.base_ is None else model.base_
    origins = np.eye(len(base.components_))
    for edit in curation_of(model).edits:
        origins = np.stack([origins[:, old].sum(1) for old in _sources(edit, origins.shape[1])], axis=1)
    return origins


def _apply_edit(model: OnlineModel, edit: Edit, corpus: Corpus | None) -> OnlineModel:
    K = len(model.components_)
    if wrong := [k for k in edit.topics if k >= K]:
        raise InputError(f"{edit.kind}: there are topics 0 to {K - 1}, not {wrong[0]}")
    if unknown := set(edit.words) - set(model.vocabulary_):
        raise InputError(f"{edit.kind}: the model has no word {min(unknown)!r}")
    sources = _sources(edit, K)
    edited: OnlineModel = copy.copy(model)
    edited.base_ = model if model.base_ is None else model.base_
    if edit.kind == "ban":
        _ban(edited, edit.words)
    elif edit.kind == "merge":
        _merge(edited, sources)
    edited.curation_ = _journal(edited, curation_of(model), edit, sources)
    if edit.kind in ("ban", "merge"):
        edited.recommender_, edited.names_ = None, None
        if isinstance(edited, TaggedModel):
            edited.refresh_tag_prior()
        if corpus is not None:
            own = in_columns(corpus, edited.vocabulary_, corpus.tag_names)
            edited.choose_words(own)
            if model.recommender_ is not None:
                edited.learn_recommender(own)
    return edited


def _sources(edit: Edit, K: int) -> Sources:
    """Return for each topic after an edit the topics before that it is made of."""
    merged = tuple(sorted(edit.topics)) if edit.kind == "merge" else ()
    return [merged if k in merged else (k,) for k in range(K) if k not in merged[1:]]


def _merge(model: OnlineModel, sources: Sources) -> None:
    """Give each topic the sum of its sources. Lists of words of other topics stay."""

    def columns(values: Any) -> Any:
        parts = [sum((values[:, k] for k in old[1:]), values[:, old[0]].copy()) for old in sources]
        return np.ascontiguousarray(np.stack(parts, axis=1))

    chosen = model.listed_words(CANDIDATES)
    theta = columns(model.doc_topic_)
    model.n_topics = len(sources)
    model.set_topics(columns(model.word_sums()))
    model.doc_topic_ = theta / theta.sum(1, keepdims=True)
    model.doc_topic_prior_ = columns(model.doc_topic_prior_[np.newaxis])[0]
    model.tag_sums_ = columns(model.tag_sums_)
    model.tag_squares_ = columns(np.sqrt(model.tag_squares_)) ** 2  # the most that they can be
    listed = zip(sources, model.listed_words(CANDIDATES), strict=True)
    kept = [chosen[old[0]] if len(old) == 1 else row for old, row in listed]
    model.topic_words_ = np.array(kept, dtype=np.int32)


def _ban(model: OnlineModel, words: Sequence[str]) -> None:
    """Remove words from the vocabulary."""
    banned = set(words)
    kept = np.array([w for w, word in enumerate(model.vocabulary_) if word not in banned], dtype=np.int64)
    if not len(kept):
        raise InputError("ban: at least one word must remain")
    model.vocabulary_ = tuple(model.vocabulary_[w] for w in kept.tolist())
    model.n_features_in_ = len(kept)
    if hasattr(model, "feature_names_in_"):
        model.feature_names_in_ = np.array(model.vocabulary_, dtype=object)
    if model.tag_words_ is not None:
        model.tag_words_ = sp.csr_array(model.tag_words_[:, kept])
    model.set_topics(np.ascontiguousarray(model.word_sums()[kept]))


def _journal(model: OnlineModel, before: Curation, edit: Edit, sources: Sources) -> Curation:
    """Return the journal with one more edit, its topics as they are in the edited model."""
    known = {c.topic: c.name for c in before.topics if c.topic is not None and c.curated}
    topics = []
    for k, old in enumerate(sources):
        name = next((known[j] for j in old if known.get(j) is not None), None)
        if edit.kind == "rename" and k in edit.topics:
            name = edit.name
        curated = any(j in known or j in edit.topics for j in old)
        topics.append(topic_record(model, k, name, curated))
    pending, banned = [c for c in before.topics if c.topic is None], before.banned
    if edit.kind == "seed" and edit.name is not None:
        if edit.name in {c.name for c in before.topics}:
            raise InputError(f"seed: there is already a topic {edit.name!r}")
        pending.extend(Curation.of_seeds({edit.name: edit.words}).topics)
    if edit.kind == "ban":
        banned = tuple(dict.fromkeys((*banned, *edit.words)))
        left = [{word: p for word, p in c.words.items() if word not in set(banned)} for c in pending]
        pending = [
            c.model_copy(update={"words": words}) for c, words in zip(pending, left, strict=True) if words
        ]
    return before.model_copy(
        update={"edits": (*before.edits, edit), "topics": (*topics, *pending), "banned": banned}
    )


def topic_record(model: OnlineModel, topic: int, name: str | None, curated: bool) -> CuratedTopic:
    """Return a topic of a model as the journal records it."""
    best = largest_weights(
        model.vocabulary_, model.components_[topic], _KEPT_WORDS if curated else _START_WORDS
    )
    words = {word: round(p, 9) for word, p in best if p > 1e-6}
    share = float(model.topic_shares()[topic])
    return CuratedTopic(topic=topic, name=name, curated=curated, share=share, words=words)
