"""The part of LDA and TTM that goes on learning: `partial_fit`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if

from tagtopics._typing import Float64
from tagtopics.corpus.align import extended, moved
from tagtopics.corpus.core import Corpus
from tagtopics.errors import InputError
from tagtopics.graph import CorpusSums, build_graph
from tagtopics.inference.bp import BeliefPropagation
from tagtopics.inference.executor import MemoryExecutor
from tagtopics.inference.learned import Learned
from tagtopics.inference.loop import Callback, run
from tagtopics.inference.online import earlier_sums, remembered, with_rows
from tagtopics.kernels.threads import resolve_threads
from tagtopics.models.inputs import (
    Given,
    TrainingData,
    canonical,
    check_codebooks,
    from_corpus,
    given,
    is_unnamed,
    read_tags,
)
from tagtopics.models.validation import check_online, check_parameters

BATCH_SIZE = 4000
"""Documents of a mini-batch. The first above all should be large: topics come from it. Decision 080."""


def _can_go_on(model: Any) -> bool:
    return bool(model._goes_on)


class Online:
    """Learns from documents that come later, with the words and tags they bring."""

    @property
    def _goes_on(self) -> bool:
        """Whether the way the model was learned can go on."""
        return True

    @available_if(_can_go_on)  # type: ignore[untyped-decorator]
    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        *,
        batch_size: int = BATCH_SIZE,
        forgetting: float | None = None,
        callbacks: Sequence[Callback[Any]] = (),
    ) -> Self:
        """Learn from more documents; a model that is not fitted yet starts with the first mini-batch.

        Every document is looked at while its mini-batch is learned, and not again: `doc_topic_` and
        `doc_ids_` grow by the new ones, `history_` and `n_iter_` are the last batch's. Recommendations and
        credits are learned anew, from all documents, when they are next asked for; of a model that was
        loaded, credits grow and `fit_recommender` has to be called. Equal batches in equal order give equal
        bits.

        Args:
            X: a `Corpus`, whose words and tags are matched by name and may be new; or counts in the columns
                of the model.
            y: tags, where X is a matrix, as in `fit`; names may be new.
            batch_size: documents to learn from at a time. Larger ones learn better and need more memory.
            forgetting: after so many documents an old one counts for half; None forgets nothing.
            callbacks: told of every sweep of every mini-batch.
        """
        model: Any = self
        check_parameters(model)
        check_online(batch_size, forgetting)
        if not hasattr(model, "components_"):
            data = model._training_data(X, y)
            if data.counts.shape[0] == 0:
                raise InputError("partial_fit: no documents to start from")
            model._forget_recommender(given(X, y, data))
            first, *rest = _batches(data, batch_size)
            model._learn(first, model._algorithm(first), callbacks)
        else:
            if isinstance(X, Corpus) and X.n_docs == 0:
                return self
            data = self._more_data(X, y)
            rest = list(_batches(data, batch_size))
            self._remember_more(given(X, y, data)._replace(tag_names=self._columns_of(y)))
        for batch in rest:
            self._learn_more(batch, forgetting, callbacks)
        return self

    def _more_data(self, X: Any, y: Any) -> TrainingData:
        """Return more documents, in columns of their own; documents of a matrix are numbered on."""
        model: Any = self
        if len(model.components_) != model.n_topics:
            found = f"the model has {len(model.components_)} topics, n_topics says {model.n_topics}"
            raise InputError(f"partial_fit: {found}; fit anew for another number")
        if isinstance(X, Corpus):
            if y is not None:
                raise InputError("partial_fit: a corpus brings its own tags; leave y out")
            check_codebooks(X.visual, model.visual_)
            return from_corpus(X)
        counts = canonical(model._validated(X, reset=False))
        n, D = len(model.doc_ids_), counts.shape[0]
        tags, names = read_tags(y, D, self._columns_of(y))
        ids = tuple(str(d) for d in range(n, n + D))
        return TrainingData(counts, tags, model.vocabulary_, names, ids, None)

    def _columns_of(self, y: Any) -> tuple[str, ...] | None:
        """Return the tags that the columns of an indicator without names stand for."""
        model: Any = self
        return (model.tag_names_ or None) if is_unnamed(y) else None

    def _remember_more(self, more: Given) -> None:
        """Keep the documents for recommendations and credits, where those before are kept."""
        model: Any = self
        if model._trained_on is not None:
            model._trained_on = model._trained_on + ([more] if more.tagged else [])
            model.tag_words_ = None
        model.recommender_ = None

    def _learn_more(
        self, data: TrainingData, forgetting: float | None, callbacks: Sequence[Callback[Any]]
    ) -> None:
        """Learn from one mini-batch beside all that came before."""
        model: Any = self
        words = extended(model.vocabulary_, data.vocabulary)
        tags = extended(model.tag_names_, data.tag_names)
        counts = moved(data.counts, data.vocabulary, words)
        tagged = moved(data.tags, data.tag_names, tags)
        earlier = self._earlier(len(words), len(tags), remembered(len(data.ids), forgetting))
        priors = model._priors()._replace(doc_topic=model.doc_topic_prior_)
        graph = build_graph(counts, tagged)
        seed = len(model.doc_ids_)  # whatever random_state is, a loaded model goes on the same
        executor = MemoryExecutor(graph, n_threads=resolve_threads(model.n_jobs))
        algorithm = BeliefPropagation(executor, priors, seed, earlier=earlier)
        result = run(algorithm, max_iter=max(model.max_iter, 1), tol=model.tol, callbacks=callbacks)
        grown = replace(data, counts=counts, tags=tagged, vocabulary=words, tag_names=tags)
        self._keep_more(grown, algorithm.learned(result.state))
        model.n_iter_, model.stop_reason_ = len(result.history), result.reason
        model.history_ = [step._asdict() for step in result.history]

    def _earlier(self, n_words: int, n_tags: int, share: float) -> CorpusSums:
        model: Any = self
        sums, squares = with_rows(model.tag_sums_, n_tags), with_rows(model.tag_squares_, n_tags)
        return earlier_sums(with_rows(self._word_sums(), n_words), sums, squares, share)

    def _word_sums(self) -> Float64:
        """Return (W, K): what phi was made of. From what is saved, so a loaded model goes on the same."""
        model: Any = self
        beta, W = float(model.topic_word_prior), model.components_.shape[1]
        tokens = model.topic_sums_ + W * beta
        return np.asarray(np.maximum(model.components_.T.astype(np.float64) * tokens - beta, 0.0))

    def _keep_more(self, data: TrainingData, learned: Learned) -> None:
        """Set the fitted attributes of a model that has grown by the documents of `data`."""
        model: Any = self
        has_words = np.diff(data.counts.indptr) > 0
        tag_docs = np.asarray(data.tags[has_words].sum(0), dtype=np.int64).ravel()
        tag_docs[: len(model.tag_docs_)] += model.tag_docs_
        model._keep_topics(learned.word_sums)
        model.doc_topic_ = np.concatenate([model.doc_topic_, learned.doc_topic])
        model.doc_ids_ = model.doc_ids_ + data.ids
        model.vocabulary_, model.tag_names_, model.tag_docs_ = data.vocabulary, data.tag_names, tag_docs
        model.n_features_in_ = len(data.vocabulary)
        if hasattr(model, "feature_names_in_"):
            model.feature_names_in_ = np.array(data.vocabulary, dtype=object)
        for name, value in learned.more.items():
            setattr(model, name, value)
        if model._trained_on is None:
            self._credit_more(data.counts, data.tags)

    def _credit_more(self, counts: Any, tags: Any) -> None:
        """Credit words to tags; of a model with `explain`."""


def _batches(data: TrainingData, size: int) -> Iterator[TrainingData]:
    """Cut documents into mini-batches; a last one of less than half the size joins the one before."""
    D = data.counts.shape[0]
    starts = list(range(0, D, size))
    if len(starts) > 1 and D - starts[-1] < size / 2:
        starts.pop()
    for first, last in zip(starts, [*starts[1:], D], strict=True):
        rows = slice(first, last)
        yield replace(data, counts=data.counts[rows], tags=data.tags[rows], ids=data.ids[rows])
