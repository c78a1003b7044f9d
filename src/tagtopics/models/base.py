"""What all estimators share: fitting, inference, and queries about topics, tags and documents."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from tagtopics._blas import single_thread
from tagtopics._typing import Float32, Float64
from tagtopics.corpus.core import Corpus
from tagtopics.corpus.splits import completion
from tagtopics.corpus.tags import tags_of_labels
from tagtopics.errors import CorpusWarning, InputError
from tagtopics.graph import FactorGraph, Priors, build_graph
from tagtopics.inference import holdout
from tagtopics.inference.bp import BeliefPropagation
from tagtopics.inference.executor import MemoryExecutor, is_lean
from tagtopics.inference.fold_in import FoldIn
from tagtopics.inference.holdout import topic_coherence
from tagtopics.inference.learn_priors import initial_alpha, learn_alpha
from tagtopics.inference.loop import Callback, FitResult, Learned, Step, TopicAlgorithm, run
from tagtopics.kernels.threads import resolve_threads
from tagtopics.models.inputs import (
    align_tags,
    align_words,
    canonical,
    check_codebooks,
    corpus_from_matrices,
    is_unnamed,
    without_tags,
)
from tagtopics.models.results import RelatedDocument, TopicTable, top_weighted
from tagtopics.models.validation import AUTO, Preset, check_parameters, resolve_preset
from tagtopics.recommend.recommender import Recommendation, TagRecommender, fit_recommender


class TopicModel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the estimators. X is a `Corpus`, or counts (documents x words) with tags as y.

    Subclasses store their parameters in `__init__` and define `_algorithm`. A fitted model keeps no training
    documents, and queries do not change it.
    """

    registry: ClassVar[dict[str, type[TopicModel]]] = {}
    """The estimator classes by name, for `load`."""

    _ignores_tags: ClassVar[bool] = False
    _saved_arrays: ClassVar[dict[str, tuple[str, ...]]] = {}  # arrays and axes beyond those of all models
    _saved_numbers: ClassVar[tuple[str, ...]] = ()

    n_topics: int
    preset: str | Preset = "default"
    doc_topic_prior: float | str
    topic_word_prior: float
    max_iter: int
    tol: float = 0.0
    memory: str
    random_state: Any
    n_jobs: int | None
    recommender_: TagRecommender | None = None
    tag_words_: Any = None  # CSR (T, W), tokens credited to each tag; of models with `explain`

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        TopicModel.registry.setdefault(cls.__name__, cls)

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        callbacks: Sequence[Callback[Any]] = (),
        start: tuple[Any, Sequence[Step]] | None = None,
    ) -> Self:
        """Learn topics, then (where there are tags) the words of each tag and the recommender.

        Args:
            X: a `Corpus`, or non-negative counts (D, W), dense or sparse.
            y: tags, if X is a matrix: None, one label per document, lists of strings, or an indicator matrix
                (D, T). A corpus has its own.
            callbacks: called at every stage and iteration; see `tagtopics.inference.callbacks`.
            start: a state to resume from, from `load_checkpoint`; the result has the same bits as an
                uninterrupted fit.
        """
        corpus = self._fit_topics(X, y, callbacks, start)
        self._learn_tags(corpus, callbacks)
        return self

    def fit_topics(
        self,
        X: Any,
        y: Any = None,
        *,
        callbacks: Sequence[Callback[Any]] = (),
        start: tuple[Any, Sequence[Step]] | None = None,
    ) -> Self:
        """Learn topics only, as `fit` does, without the words of tags and without a recommender."""
        self._fit_topics(X, y, callbacks, start)
        return self

    def fit_recommender(self, X: Any, y: Any = None) -> Self:
        """Train the recommender on documents and their tags; the topics stay as they are.

        Args:
            X: documents, as in `fit`; not necessarily those that the topics were learned from.
            y: their tags, as in `fit`; a corpus has its own.
        """
        check_is_fitted(self)
        if not isinstance(X, Corpus):
            counts = self._validated(X, reset=False)
            X = corpus_from_matrices(counts, y, vocabulary=self.vocabulary_, tag_names=self._columns_of(y))
        if X.tags.nnz == 0:
            raise InputError("fit_recommender: the documents have no tags to learn from")
        self.recommender_ = self._trained_recommender(X)
        return self

    def transform(self, X: Any, tags: Any = None) -> Float32:
        """Return the topic proportions of documents, theta (D, K); rows add up to one.

        Args:
            X: a `Corpus` (columns are matched by name) or counts (D, W) in the columns of the fit.
            tags: the known tags of the documents, as `y` in `fit`, or the corpus itself. By default tags are
                unknown, as in the paper.
        """
        counts, indicator = self._new_documents(X, tags)
        return self._infer(counts, indicator)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log probability of a token, for model selection; higher is better.

        Measured by document completion, or on all tokens if the weights are no whole numbers.
        """
        counts, _ = self._new_documents(X, None)
        return float(-np.log(self.perplexity(X, completed=_are_whole(counts))))

    def perplexity(self, X: Any, tags: Any = None, *, completed: bool = True, seed: int = 0) -> float:
        """Return the perplexity of words; lower is better.

        Args:
            X: documents, as in `transform`.
            tags: their known tags, as in `transform`.
            completed: document completion: proportions from a random 80 % of each document's tokens, scored
                on the other 20 %. False uses all tokens for both, as the paper did, and is too optimistic.
            seed: for the split of the tokens.
        """
        counts, indicator = self._new_documents(X, tags)
        if completed and not _are_whole(counts):
            raise InputError("perplexity: document completion needs whole counts; use completed=False")
        seen, held_out = completion(counts, seed) if completed else (counts, counts)
        theta = self._infer(seen, indicator)
        total = holdout.log_likelihood(held_out, theta, self._phi())
        return holdout.perplexity(total, float(held_out.sum(dtype=np.float64)))

    def top_words(self, n: int = 10) -> list[list[tuple[str, float]]]:
        """Return for each topic its n most probable words with their probabilities."""
        check_is_fitted(self)
        return [top_weighted(self.vocabulary_, topic, n) for topic in self.components_]

    def topic_table(self, n_words: int = 10) -> TopicTable:
        """Return all topics with their share of the tokens and most probable words, largest first."""
        share, words = self.topic_shares(), self.top_words(n_words)
        order = np.argsort(-share, kind="stable").tolist()
        return TopicTable(
            topic=tuple(order),
            share=tuple(float(share[k]) for k in order),
            words=tuple(tuple(word for word, _ in words[k]) for k in order),
        )

    def topic_shares(self) -> Float64:
        """Return (K,): the share of all training tokens that each topic has."""
        check_is_fitted(self)
        return np.asarray(self.topic_sums_ / max(float(self.topic_sums_.sum()), 1e-300), dtype=np.float64)

    def tag_means(self) -> Float64:
        """Return (T, K): the mean profile of each tag, S_t / n_t; uniform for a tag without words."""
        check_is_fitted(self)
        docs = self.tag_sums_.sum(1, keepdims=True)  # n_t, or less if documents have been forgotten
        means = self.tag_sums_ / np.where(docs > 0, docs, 1.0)
        return np.asarray(np.where(docs > 0, means, 1.0 / self.components_.shape[0]))

    def coherence(self, corpus: Corpus, n_words: int = 10) -> Float64:
        """Return the NPMI coherence of each topic, (K,), from -1 to 1: how often its top words co-occur.

        Args:
            corpus: where co-occurrence is counted: the training corpus, or better another one.
            n_words: how many top words of each topic.
        """
        return topic_coherence(corpus, [[word for word, _ in words] for words in self.top_words(n_words)])

    def related(self, X: Any, top: int = 10, tags: Any = None) -> list[list[RelatedDocument]]:
        """Return for each document the training documents with the most similar topic proportions."""
        queries = np.sqrt(self.transform(X, tags))
        trained = np.sqrt(self.doc_topic_)
        with single_thread():
            similarities = queries @ trained.T
        answers = []
        for similarity in similarities:
            best = np.argsort(-similarity, kind="stable")[:top]
            rows = [RelatedDocument(self.doc_ids_[d], int(d), float(similarity[d])) for d in best]
            answers.append(rows)
        return answers

    def recommend(self, X: Any, top: int = 5) -> list[list[Recommendation]]:
        """Return for each document the tags it needs, each with its probability, most probable first.

        Args:
            X: documents, as in `transform`; tags they may have are ignored.
            top: the number of tags.
        """
        recommender, counts, theta = self._recommender_for(X, top)
        return recommender.recommend(counts, theta, top)

    def recommend_with_reasons(self, X: Any, top: int = 5, n_words: int = 5) -> list[list[Recommendation]]:
        """Return recommendations, each with the words of the document that contribute most to it."""
        recommender, counts, theta = self._recommender_for(X, top)
        return recommender.reasons(counts, theta, top, self.vocabulary_, n_words)

    def tag_probabilities(self, X: Any) -> Float32:
        """Return (D, T): the probability of each tag, in the order of `recommender_.tag_names`."""
        recommender, counts, theta = self._recommender_for(X, 1)
        return recommender.probabilities(counts, theta)

    def save(self, path: str | Path, *, corpus: Corpus | None = None) -> None:
        """Write the fitted model to a folder, as one atomic unit.

        Args:
            path: the folder. An older model there is replaced, unless the folder holds other files.
            corpus: the documents it was fitted to, to store in the folder for reports and
                `tagtopics update`.
        """
        from tagtopics.models.persistence import save_model

        check_is_fitted(self)
        save_model(self, path, corpus)

    # ------------------------------------------------------------------ for subclasses and `scale`

    def _algorithm(self, corpus: Corpus) -> TopicAlgorithm[Any]:
        """Return the algorithm that `fit` iterates."""
        return self._belief_propagation(build_graph(corpus.counts, corpus.tags), self._priors_for(corpus))

    def _n_topics(self, n_tags: int) -> int:
        """Return the number of topics of a model with `n_tags` tags."""
        return self.n_topics

    def _preset(self) -> Preset:
        return resolve_preset(self.preset)

    def _priors(self) -> Priors:
        """Return the priors as given; where they are to be learned, the values that learning starts from."""
        alpha = np.full(self.n_topics, initial_alpha(self.doc_topic_prior), dtype=np.float32)
        preset = self._preset()
        return Priors(
            alpha,
            float(self.topic_word_prior),
            word_exponent=float(preset.word_exponent),
            relaxation=float(preset.relaxation),
        )

    def _priors_for(self, corpus: Corpus) -> Priors:
        """Return the priors of a fit; what is "auto" is learned from the corpus."""
        if self.doc_topic_prior != AUTO:
            return self._priors()
        threads, anchored = resolve_threads(self.n_jobs), self._preset().init == "anchors"
        return learn_alpha(corpus.counts, corpus.tags, self._priors(), self._seed(), threads, anchored)

    def _belief_propagation(self, graph: FactorGraph, priors: Priors) -> BeliefPropagation:
        threads, anchored = resolve_threads(self.n_jobs), self._preset().init == "anchors"
        lean = is_lean(self.memory, graph, len(priors.doc_topic))
        executor = MemoryExecutor(graph, lean, threads)
        return BeliefPropagation(executor, priors, self._seed(), anchored)

    def _infer(self, counts: Any, tags: Any) -> Float32:
        """Return the topic proportions (D, K) of new documents, CSR (D, W), whose tags are CSR or None."""
        fold_in = FoldIn(self._phi(), self.doc_topic_prior_, n_threads=resolve_threads(self.n_jobs))
        return fold_in.doc_topic(counts, self._tag_pseudo_counts(tags))

    def _tag_pseudo_counts(self, tags: Any) -> Float32 | None:
        """Return what known tags (CSR (D, T) or None) add to the prior of new documents, (D, K) or None."""
        return None

    def _fit_topics(
        self,
        X: Any,
        y: Any,
        callbacks: Sequence[Callback[Any]],
        start: tuple[Any, Sequence[Step]] | None = None,
        **options: Any,
    ) -> Corpus:
        """Learn topics; return the training corpus with all tags. `options` are those of `_algorithm`."""
        check_parameters(self)
        corpus = self._training_corpus(X, y)
        seen = without_tags(corpus) if self._ignores_tags else corpus
        self._learn(seen, self._algorithm(seen, **options), callbacks, start)
        return corpus

    def _learn(
        self,
        corpus: Corpus,
        algorithm: TopicAlgorithm[Any],
        callbacks: Sequence[Callback[Any]],
        start: tuple[Any, Sequence[Step]] | None = None,
    ) -> None:
        """Iterate the algorithm and store what it learned."""
        tol = self.tol if algorithm.settles else 0.0
        result = run(algorithm, max_iter=self.max_iter, tol=tol, callbacks=callbacks, start=start)
        self._store(corpus, algorithm.learned(result.state), result)

    def _store(self, corpus: Corpus, learned: Learned, result: FitResult[Any]) -> None:
        """Set all fitted attributes of a model whose topics were learned from a corpus."""
        self.recommender_, self.tag_words_ = None, None
        self._store_topics(learned.word_sums)
        self.doc_topic_, self.doc_topic_prior_ = learned.doc_topic, learned.doc_topic_prior
        has_words = np.diff(corpus.counts.indptr) > 0
        self.tag_docs_ = np.asarray(corpus.tags[has_words].sum(0), dtype=np.int64).ravel()
        self.n_features_in_ = corpus.n_words
        self.vocabulary_, self.tag_names_, self.doc_ids_ = corpus.vocabulary, corpus.tag_names, corpus.ids
        self.recipe_, self.visual_ = corpus.recipe, corpus.visual
        for name, value in learned.more.items():
            setattr(self, name, value)
        self._store_history(result)

    def _store_topics(self, word_sums: Float64) -> None:
        """Set what follows from the sums of the words, (W, K)."""
        beta, topic_sums = float(self.topic_word_prior), word_sums.sum(0)
        phi = (word_sums + beta) / (topic_sums + len(word_sums) * beta)
        self.components_ = phi.astype(np.float32).T  # word by word, as `transform` reads it
        self.topic_sums_ = topic_sums

    def _store_history(self, result: FitResult[Any]) -> None:
        history = result.history
        self.n_iter_ = history[-1].iteration if history else 0
        self.history_ = [step._asdict() for step in history]
        self.stop_reason_ = result.reason

    def _learn_tags(self, corpus: Corpus, callbacks: Sequence[Callback[Any]] = ()) -> None:
        """Learn the words of each tag and the recommender; if that fails, warn and continue."""
        self._learn_tag_words(corpus, callbacks)
        if not (np.diff(corpus.tags.indptr)[np.diff(corpus.counts.indptr) > 0]).any():
            return
        announce(callbacks, "Training the recommender")
        try:
            self.recommender_ = self._trained_recommender(corpus)
        except Exception as error:  # whatever it is, the topics must not be lost
            what = f"{type(error).__name__}: {error}"
            message = f"the recommender could not be trained ({what}); the topics are not affected"
            warnings.warn(message, CorpusWarning, stacklevel=3)

    def _learn_tag_words(self, corpus: Corpus, callbacks: Sequence[Callback[Any]]) -> None:
        """Credit the words of documents to their tags; of models with `explain`."""

    def _trained_recommender(self, corpus: Corpus) -> TagRecommender:
        counts = align_words(corpus, self.vocabulary_)
        return fit_recommender(counts, corpus.tags, self._infer(counts, None), corpus.tag_names)

    def _recommender_for(self, X: Any, top: int) -> tuple[TagRecommender, Any, Float32]:
        """Return the recommender, and the counts and topic proportions of new documents."""
        if top < 1:
            raise InputError(f"recommend: top must be 1 or more, not {top}")
        counts, _ = self._new_documents(X, None)
        if self.recommender_ is None:
            raise InputError(
                "recommend: this model has no recommender; call fit_recommender with all of its documents"
            )
        return self.recommender_, counts, self._infer(counts, None)

    def _training_corpus(self, X: Any, y: Any) -> Corpus:
        if isinstance(X, Corpus):
            if y is not None:
                raise InputError("fit: a corpus has its own tags; omit y")
            return X
        X = self._validated(X, reset=True)
        return corpus_from_matrices(X, y, vocabulary=getattr(self, "feature_names_in_", None))

    def _new_documents(self, X: Any, tags: Any) -> tuple[Any, Any]:
        """Return new documents and their known tags, or None, as CSR in the columns of the fit."""
        check_is_fitted(self)
        if isinstance(X, Corpus):
            check_codebooks(X.visual, self.visual_)
            counts = align_words(X, self.vocabulary_)
            if tags is X:
                return counts, align_tags(X, self.tag_names_)
        else:
            counts = canonical(self._validated(X, reset=False))
        return counts, None if tags is None else tags_of_labels(tags, counts.shape[0], self.tag_names_)[0]

    def _columns_of(self, y: Any) -> tuple[str, ...] | None:
        """Return the tags that the columns of an indicator without names stand for."""
        return (self.tag_names_ or None) if is_unnamed(y) else None

    def _validated(self, X: Any, reset: bool) -> Any:
        """Check a matrix as scikit-learn does: finite, non-negative, as many columns as in the fit."""
        dtypes = [np.float64, np.float32, np.int64, np.int32]
        rules = {"accept_sparse": "csr", "dtype": dtypes, "ensure_non_negative": True}
        return validate_data(self, X, reset=reset, **rules)

    def _phi(self) -> Float32:
        return np.ascontiguousarray(self.components_.T)

    def _seed(self) -> int:
        if isinstance(self.random_state, int | np.integer):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """Return what a notebook shows: scikit-learn's box, and the topics of a fitted model."""
        shown: dict[str, str] = dict(super()._repr_mimebundle_(**kwargs))
        if hasattr(self, "components_") and "text/html" in shown:
            shown["text/html"] += self.topic_table()._repr_html_()
        return shown

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags


def announce(callbacks: Sequence[Callback[Any]], stage: str) -> None:
    """Tell callbacks that a stage of the work begins."""
    for callback in callbacks:
        callback.on_stage(stage)


def _are_whole(counts: Any) -> bool:
    return bool(np.array_equal(counts.data, np.rint(counts.data)))
