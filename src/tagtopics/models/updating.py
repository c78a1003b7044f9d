"""A saved model that learns from more documents: the steps of `tagtopics update`."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tagtopics.corpus.align import join_corpora
from tagtopics.corpus.core import Corpus
from tagtopics.errors import CorpusWarning, InputError
from tagtopics.inference.loop import Callback
from tagtopics.models.base import TopicModel
from tagtopics.models.inputs import Given, align_words
from tagtopics.models.kept_corpus import kept_corpus
from tagtopics.models.online import BATCH_SIZE


class Updated(NamedTuple):
    """What an update changed."""

    new_words: tuple[str, ...]
    new_tags: tuple[str, ...]
    perplexity_before: float  # of the new documents, on the words that the model knew before
    perplexity_after: float  # of the same tokens, once the model has learned from them
    corpus: Corpus | None  # all documents, old and new, where the old ones were kept


def update_model(
    model: TopicModel,
    path: str | Path,
    corpus: Corpus,
    *,
    batch_size: int = BATCH_SIZE,
    forgetting: float | None = None,
    callbacks: Sequence[Callback[Any]] = (),
) -> Updated:
    """Let a model that was loaded learn from more documents, and tell what changed; nothing is written.

    Args:
        model: what `load_model` returned.
        path: the folder it came from, where its documents may be kept; with them, recommendations and credits
            are learned anew when it is saved.
        corpus: the new documents.
        batch_size: as in `partial_fit`.
        forgetting: as in `partial_fit`.
        callbacks: told of every sweep.
    """
    online: Any = model
    if not hasattr(model, "partial_fit"):
        raise InputError(
            f"{path}: {_kind(model)} cannot go on learning; LDA and TTM by belief propagation can"
        )
    old = _kept(model, path)
    if old is not None:
        before = Given(old, None)
        model._trained_on = [before] if before.tagged else []
    words, tags = model.vocabulary_, _tags_known(model, old)
    known = _known(corpus, words)
    perplexity = model.perplexity(known)
    online.partial_fit(corpus, batch_size=batch_size, forgetting=forgetting, callbacks=callbacks)
    known.resize((known.shape[0], len(model.vocabulary_)))
    return Updated(
        new_words=model.vocabulary_[len(words) :],
        new_tags=tuple(tag for tag in corpus.tag_names if tag not in tags),
        perplexity_before=perplexity,
        perplexity_after=model.perplexity(known),
        corpus=None if old is None else join_corpora(old, corpus),
    )


def _kept(model: TopicModel, path: str | Path) -> Corpus | None:
    """Return the documents kept with a model, if they are those that it learned from."""
    corpus = kept_corpus(path)
    same = corpus is not None and corpus.ids == model.doc_ids_ and corpus.vocabulary == model.vocabulary_
    return corpus if same else None


def _tags_known(model: TopicModel, old: Corpus | None) -> set[str]:
    """Return the tags of a model; LDA has none, but its recommender has those of its documents."""
    return set(model.tag_names_) | set(() if old is None else old.tag_names)


def _known(corpus: Corpus, words: Sequence[str]) -> Any:
    """Return the counts of the words that a model knows, in its columns, as a copy."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CorpusWarning)  # new words are the point of an update
        return align_words(corpus, words).copy()


def _kind(model: TopicModel) -> str:
    how = getattr(model, "inference", None)
    return type(model).__name__ + (f" by {how}" if how else "")
