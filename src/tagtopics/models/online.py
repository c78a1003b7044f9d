"""Incremental learning: `partial_fit` of LDA and TTM, and the update of a saved model.

A mini-batch is swept until it converges, while its words and tags see the sums of all earlier documents and
of the batch. Then sums <- f sums + sums of the batch. With f = 1 every document counts the same, whenever it
came, and the step of batch t is about 1 / t; f < 1 forgets. Decision 282.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from tagtopics._typing import Float32, Float64
from tagtopics.bp.callbacks import Callback, announce
from tagtopics.bp.executor import MemoryExecutor
from tagtopics.bp.graph import CorpusSums, build_graph
from tagtopics.bp.propagation import Start
from tagtopics.bp.relations import Relations, nearest, unit_vectors
from tagtopics.corpus.align import extend_names, in_columns, join_corpora
from tagtopics.corpus.core import Corpus
from tagtopics.errors import InputError
from tagtopics.jit.threads import limit_threads, thread_limit
from tagtopics.models.base import TopicModel
from tagtopics.models.documents import banned_words, read_documents, titles_of, without_tags, without_words
from tagtopics.models.relate import relate
from tagtopics.models.topics import Run, TopicFit, TopicSettings, fit_topics, memory_executor
from tagtopics.models.validation import PRESETS, Preset, check_parameters, is_real, is_whole

BATCH_SIZE = 4000  # documents of a mini-batch; topics come from the first one (decision 282)


@dataclass(eq=False, repr=False)
class OnlineModel(TopicModel):
    """A model by belief propagation. It can learn from more documents, with the words and tags they bring.

    The fields are the parameters of `LDA`, whose docstring describes them; subclasses add their own.
    """

    n_topics: int = 20
    _: KW_ONLY
    preset: str | Preset = "default"
    doc_topic_prior: float | None = None
    topic_word_prior: float | None = None
    max_iter: int | None = None
    tol: float = 2e-3
    memory: str = "auto"
    random_state: Any = None
    n_jobs: int | None = None
    recommender: bool = True
    _saved_arrays: ClassVar[dict[str, tuple[str, ...]]] = {
        "tag_sums_": ("T", "K"), "tag_squares_": ("T", "K"),
    }  # fmt: skip

    def topic_settings(self) -> TopicSettings:
        """Return the parameters as `fit_topics` takes them."""
        return TopicSettings(
            n_topics=int(self.n_topics),
            preset=PRESETS[self.preset] if isinstance(self.preset, str) else self.preset,
            doc_topic_prior=self.doc_topic_prior,
            topic_word_prior=self.topic_word_prior,
            max_iter=self.max_iter,
            tol=self.tol,
            memory=self.memory,
            seed=self._seed(),
        )

    def _learn(self, corpus: Corpus, run: Run) -> None:
        self._store(corpus, self._learn_topics(corpus, self.topic_settings(), run))

    def _learn_topics(self, corpus: Corpus, settings: TopicSettings, run: Run) -> TopicFit:
        """Learn topics from documents and, if there are any, their vectors."""
        executor = memory_executor(corpus, settings) if run.executor is None else run.executor
        if run.vectors is None:
            return fit_topics(corpus, settings, executor=executor, start=run.start, callbacks=run.callbacks)
        announce(run.callbacks, "Relating documents by their vectors")
        found = relate(corpus, settings, executor, run.vectors, run.start)
        topics = fit_topics(
            corpus, found.settings, executor=executor, start=found.start, callbacks=run.callbacks,
            relations=found.relations,
        )  # fmt: skip
        kept = None if found.vectors is None else found.vectors[executor.kept_rows]
        more = {"vector_strength_": found.strength, "vectors_": kept}
        return replace(topics, more={**topics.more, **more})

    def _checked_vectors(self, vectors: Any, n_docs: int) -> Float32:
        return unit_vectors(vectors, n_docs)

    def _vector_counts(self, vectors: Any, n_docs: int) -> Float32 | None:
        if self.vector_strength_ is None:
            raise InputError("transform: the model was fitted without vectors; omit them")
        own = self.vectors_
        found = unit_vectors(vectors, n_docs, own)
        if own is None:
            return None
        relations = Relations(nearest(found, own), self.vector_strength_)
        return relations.counts(self.doc_topic_[: len(own)])

    def learn_tag_prior(self, corpus: Corpus, callbacks: Sequence[Callback[Any]] = ()) -> None:
        """Learn again how much tags say, with the topics as they are; of models with `explain`."""

    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        *,
        batch_size: int = BATCH_SIZE,
        forgetting: float | None = None,
        callbacks: Sequence[Callback[Any]] = (),
    ) -> Self:
        """Learn from more documents; an unfitted model starts with the first mini-batch.

        Each document is used while its mini-batch is learned, and not again: `doc_topic_` and `doc_ids_` grow
        by the new documents, `history_` and `n_iter_` are those of the last batch. The words credited to tags
        grow too. A recommender would be stale, so it is dropped: call `fit_recommender` with all documents.
        Equal batches in equal order give equal bits.

        Args:
            X: a `Corpus` or raw documents, as in `fit`, whose words and tags are matched by name and may be
                new; or counts in the columns of the model.
            y: tags of texts or counts, as in `fit`; names may be new.
            batch_size: documents to learn from at a time. Larger batches learn better and need more memory.
            forgetting: half-life in documents: after this many, an old document counts for half. None
                forgets nothing.
            callbacks: called at every sweep of every mini-batch.
        """
        check_parameters(self)
        if not (is_whole(batch_size) and batch_size >= 1):
            raise InputError(f"partial_fit: batch_size must be a whole number, 1 or more, not {batch_size!r}")
        if not (forgetting is None or (is_real(forgetting) and forgetting > 0)):
            raise InputError(
                f"partial_fit: forgetting must be a number of documents above 0, not {forgetting!r}"
            )
        if hasattr(self, "components_"):
            if isinstance(X, Corpus) and X.n_docs == 0:
                return self
            corpus = self._more_documents(X, y)
            batches = list(_batches(corpus, batch_size))
            self.recommender_ = None
            self.base_, self.curation_ = None, self.curation_ and self.curation_.without_undo()
        else:
            corpus = self.training_corpus(X, y)
            if corpus.n_docs == 0:
                raise InputError("partial_fit: there are no documents to start from")
            corpus = without_tags(corpus) if self._ignores_tags else corpus
            first, *batches = _batches(corpus, batch_size)
            with thread_limit(self.n_jobs):
                self._learn(first, Run(callbacks=callbacks))
        for batch in batches:
            self._learn_more(batch, forgetting, callbacks)
        if batches:
            self.choose_words(corpus)
        return self

    def _more_documents(self, X: Any, y: Any) -> Corpus:
        """Return more documents in their own columns, without banned words."""
        if len(self.components_) != self.n_topics:
            found = f"the model has {len(self.components_)} topics, n_topics is {self.n_topics}"
            raise InputError(f"partial_fit: {found}; call fit to change the number")
        corpus = without_words(read_documents(self, X, y, "update"), banned_words(self))
        return without_tags(corpus) if self._ignores_tags else corpus

    @limit_threads
    def _learn_more(
        self, corpus: Corpus, forgetting: float | None, callbacks: Sequence[Callback[Any]]
    ) -> None:
        """Learn from one mini-batch, next to the sums of all documents before."""
        words = extend_names(self.vocabulary_, corpus.vocabulary)
        tags = extend_names(self.tag_names_, corpus.tag_names)
        grown = in_columns(corpus, words, tags)
        share = 1.0 if forgetting is None else float(0.5 ** (corpus.n_docs / forgetting))
        earlier, beta = self._earlier(len(words), len(tags), share), self.topic_word_prior_
        settings = self.fitted_settings()
        sweeps, seed = max(settings.most_sweeps(), 1), len(self.doc_ids_)  # a loaded model continues the same
        settings = replace(settings, max_iter=sweeps, seed=seed)
        executor = MemoryExecutor(build_graph(grown.counts, grown.tags))
        start = Start((earlier.words + beta).astype(np.float32), 0.0, earlier)
        topics = fit_topics(grown, settings, executor=executor, start=start, callbacks=callbacks)
        # The model grows by these documents, their words and their tags.
        tag_docs = topics.tag_docs.copy()
        tag_docs[: len(self.tag_docs_)] += self.tag_docs_
        self.set_topics(topics.word_sums)
        self.doc_topic_ = np.concatenate([self.doc_topic_, topics.doc_topic])
        self.doc_ids_ = self.doc_ids_ + grown.ids
        self.doc_titles_ = self.doc_titles_ + titles_of(grown)
        self.vocabulary_, self.tag_names_, self.tag_docs_ = grown.vocabulary, grown.tag_names, tag_docs
        self.n_features_in_ = grown.n_words
        if hasattr(self, "feature_names_in_"):
            self.feature_names_in_ = np.array(grown.vocabulary, dtype=object)
        for name, value in topics.more.items():
            setattr(self, name, value)
        self._store_history(topics)
        self._credit_more(grown.counts, grown.tags)

    def fitted_settings(self) -> TopicSettings:
        """Return the settings with the priors of the fitted model."""
        settings, alpha, beta = self.topic_settings(), self.doc_topic_prior_, self.topic_word_prior_
        preset = replace(settings.preset, word_exponent=self.word_exponent_)
        return replace(settings, preset=preset, doc_topic_prior=alpha, topic_word_prior=beta)

    def _numbers(self) -> dict[str, float]:
        return super()._numbers() | {"word_exponent_": self.word_exponent_}

    def _set_numbers(self, numbers: dict[str, float]) -> None:
        super()._set_numbers(numbers)
        self.word_exponent_ = min(numbers["word_exponent_"], 1.0)

    def _earlier(self, n_words: int, n_tags: int, share: float) -> CorpusSums:
        """Return the sums of earlier documents, each of which counts for a share of a new one.

        A document's slot means add up to one for each tag, so the sums of a tag tell how many documents they
        are worth. Squares stand for pairs of a document with itself, so the share is applied twice.
        """

        def grow(sums: Float64, n_rows: int) -> Float64:
            return np.pad(sums, ((0, n_rows - len(sums)), (0, 0)))

        words, tags = grow(self.word_sums(), n_words), grow(self.tag_sums_, n_tags)
        squares = grow(self.tag_squares_, n_tags)
        return CorpusSums(words * share, tags * share, squares * share**2, tags.sum(1) * share)

    def word_sums(self) -> Float64:
        """Return (W, K): the sums behind phi, from what is saved, so that a loaded model can continue."""
        beta, W = self.topic_word_prior_, self.components_.shape[1]
        tokens = self.topic_sums_ + W * beta
        return np.asarray(np.maximum(self.components_.T.astype(np.float64) * tokens - beta, 0.0))

    def _credit_more(self, counts: Any, tags: Any) -> None:
        """Credit the words of more documents to their tags; of models with `explain`."""


def update_model(
    model: TopicModel,
    old: Corpus | None,
    corpus: Corpus,
    *,
    forgetting: float | None = None,
    callbacks: Sequence[Callback[Any]] = (),
) -> Corpus | None:
    """Update a model with more documents; nothing is written.

    Args:
        model: fitted.
        old: the documents it was fitted to, if they are known. With them the words of tags and the
            recommender are learned again, from all documents.
        corpus: the new documents.
        forgetting: as in `partial_fit`.
        callbacks: called at every sweep.

    Returns:
        All documents, old and new; None if the old ones are unknown.
    """
    if not isinstance(model, OnlineModel):
        raise InputError(f"{type(model).__name__} cannot be updated; LDA and TTM can")
    banned = banned_words(model)
    corpus, old = without_words(corpus, banned), None if old is None else without_words(old, banned)
    known = old is not None and (old.ids, old.vocabulary) == (model.doc_ids_, model.vocabulary_)
    model.partial_fit(corpus, forgetting=forgetting, callbacks=callbacks)
    if old is None or not known:
        return None
    joined = join_corpora(old, corpus)
    model.choose_words(joined)
    model.learn_tag_prior(joined, callbacks)
    model.learn_recommender(joined, callbacks)
    return joined


def _batches(corpus: Corpus, size: int) -> Iterator[Corpus]:
    """Yield mini-batches; a last one of less than half the size is joined to the one before."""
    D = corpus.n_docs
    starts = list(range(0, D, size))
    if len(starts) > 1 and D - starts[-1] < size / 2:
        starts.pop()
    for first, last in zip(starts, [*starts[1:], D], strict=True):
        yield corpus if last - first == D else corpus.select(np.arange(first, last))
