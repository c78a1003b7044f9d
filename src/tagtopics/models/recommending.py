"""Training the recommender of a fitted model, with the names of tags if the documents have a thesaurus."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tagtopics.bp.callbacks import announce
from tagtopics.bp.loop import Callback
from tagtopics.corpus.core import Corpus
from tagtopics.errors import InputError
from tagtopics.jit.threads import thread_limit
from tagtopics.models.inputs import align_words
from tagtopics.recommend.recommender import TagRecommender, fit_recommender

if TYPE_CHECKING:
    from tagtopics.models.base import TopicModel


def trained_recommender(
    model: TopicModel, corpus: Corpus, callbacks: Sequence[Callback[Any]] = ()
) -> tuple[TagRecommender, Any]:
    """Return a recommender, and what names say if the documents or the model have a thesaurus."""

    def on_progress(share: float) -> None:
        for callback in callbacks:
            callback.on_progress(share)

    counts = align_words(corpus, model.vocabulary_)
    with thread_limit(model.n_jobs):
        data = counts, corpus.tags, model.infer(counts, None), corpus.tag_names
        recommender = fit_recommender(*data, on_progress=on_progress)
        thesaurus = corpus.thesaurus or (model.names_.thesaurus if model.names_ else None)
        if thesaurus is None or corpus.texts is None:
            return recommender, None
        announce(callbacks, "Looking for tag names")
        return recommender, thesaurus.learn_names(recommender, corpus.texts, on_progress)


def texts_of(X: Any) -> Sequence[str]:
    """Return the texts of documents, which names are looked for in."""
    if not isinstance(X, Corpus) or X.texts is None:
        raise InputError(
            "recommend: this model looks for the names of tags; give a corpus that was read from texts"
        )
    return X.texts
