"""What all estimators share: the life of a scikit-learn transformer, and the questions a model answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from tagtopics._typing import Float32, Float64
from tagtopics.corpus.core import Corpus
from tagtopics.corpus.splits import completion
from tagtopics.errors import InputError
from tagtopics.graph import FactorGraph, Priors, build_graph
from tagtopics.inference import holdout as heldout
from tagtopics.inference.bp import BeliefPropagation
from tagtopics.inference.executor import MemoryExecutor
from tagtopics.inference.fold_in import FoldIn
from tagtopics.inference.learn_priors import initial_alpha, learn_alpha
from tagtopics.inference.learned import Learned, TopicAlgorithm
from tagtopics.inference.loop import Callback, Step, run
from tagtopics.inference.memory import is_lean
from tagtopics.kernels.threads import resolve_threads
from tagtopics.models.inputs import (
    TrainingData,
    align_tags,
    align_words,
    canonical,
    check_codebooks,
    from_corpus,
    from_matrices,
    given,
    read_tags,
)
from tagtopics.models.recommending import Recommending
from tagtopics.models.results import RelatedDocument
from tagtopics.models.validation import check_parameters
from tagtopics.views.coherence import topic_coherence
from tagtopics.views.notebook import Viewing


class TopicModel(Viewing, Recommending, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the estimators. X is a `Corpus`, or counts (documents x words) with tags as y.

    Subclasses store their parameters in `__init__` and say in `_priors` what they mean.
    """

    n_topics: int
    doc_topic_prior: float | str
    topic_word_prior: float
    max_iter: int
    tol: float
    init: str
    memory: str
    random_state: Any
    n_jobs: int | None

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        callbacks: Sequence[Callback[Any]] = (),
        start: tuple[Any, Sequence[Step]] | None = None,
    ) -> Self:
        """Learn topics.

        Args:
            X: a `Corpus`, or non-negative counts (D, W), dense or sparse.
            y: tags, where X is a matrix: None, one label a document, lists of strings, or an indicator
                matrix (D, T). A corpus brings its own.
            callbacks: told of every iteration; see `tagtopics.inference.callbacks`.
            start: where to go on, from `load_checkpoint`; it ends with the bits of a fit never stopped.
        """
        check_parameters(self)
        data = self._training_data(X, y)
        self._forget_recommender(given(X, y, data))
        return self._learn(data, self._algorithm(data), callbacks, start)

    def transform(self, X: Any, tags: Any = None) -> Float32:
        """Return the topic proportions of documents, theta (D, K); rows add up to one.

        Args:
            X: a `Corpus` (its columns are matched by name) or counts (D, W) in the columns of the fit.
            tags: what is known of the documents' tags, as `y` in `fit`, or the corpus itself. By default
                tags are unknown, as in the paper.
        """
        counts, indicator = self._new_documents(X, tags)
        return self._infer(counts, indicator)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log probability of a token; higher is better. For model selection.

        By document completion; of weights that are no counts, which cannot be split, on all tokens.
        """
        counts, _ = self._new_documents(X, None)
        return float(-np.log(self.perplexity(X, completed=_are_whole(counts))))

    def perplexity(self, X: Any, tags: Any = None, *, completed: bool = True, seed: int = 0) -> float:
        """Return the perplexity of words; lower is better.

        Args:
            X: documents, as in `transform`.
            tags: what is known of their tags, as in `transform`.
            completed: document completion: proportions from a random 80 % of each document's tokens,
                scored on the other 20 %. False takes all tokens for both, as the paper did; it flatters.
            seed: of the split into tokens seen and held out.
        """
        counts, indicator = self._new_documents(X, tags)
        if completed and not _are_whole(counts):
            raise InputError(
                "perplexity by completion splits tokens: counts must be whole; or completed=False"
            )
        seen, held_out = completion(counts, seed) if completed else (counts, counts)
        theta = self._infer(seen, indicator)
        total = heldout.log_likelihood(held_out, theta, self._phi())
        return heldout.perplexity(total, float(held_out.sum(dtype=np.float64)))

    def top_words(self, n: int = 10) -> list[list[tuple[str, float]]]:
        """Return for each topic its n most probable words with their probabilities."""
        check_is_fitted(self)
        return [top(self.vocabulary_, topic, n) for topic in self.components_]

    def tag_means(self) -> Float64:
        """Return (T, K): the mean profile of each tag, S_t / n_t; uniform where a tag has no words."""
        check_is_fitted(self)
        docs = self.tag_sums_.sum(1, keepdims=True)  # n_t, or less where documents have been forgotten
        means = self.tag_sums_ / np.where(docs > 0, docs, 1.0)
        return np.asarray(np.where(docs > 0, means, 1.0 / self.components_.shape[0]))

    def coherence(self, corpus: Corpus, n_words: int = 10) -> Float64:
        """Return the NPMI coherence of each topic, (K,), from -1 to 1: how its top words occur together.

        Args:
            corpus: where the words are counted: the training corpus, or better another.
            n_words: how many top words of each topic.
        """
        return topic_coherence(corpus, [[word for word, _ in words] for words in self.top_words(n_words)])

    def related(self, X: Any, top: int = 10, tags: Any = None) -> list[list[RelatedDocument]]:
        """Return for each document the training documents with the most similar topic proportions."""
        queries = np.sqrt(self.transform(X, tags))
        trained = np.sqrt(self.doc_topic_)
        answers = []
        for similarity in queries @ trained.T:
            best = np.argsort(-similarity, kind="stable")[:top]
            rows = [RelatedDocument(self.doc_ids_[d], int(d), float(similarity[d])) for d in best]
            answers.append(rows)
        return answers

    def save(self, path: str | Path, *, corpus: Corpus | None = None) -> None:
        """Write the fitted model to a folder: `model.json` and `arrays.safetensors`, atomically.

        Args:
            path: the folder; an older model there is replaced.
            corpus: the documents it was fitted to, to keep with it, for viewers and for `tagtopics update`.
        """
        from tagtopics.models.persistence import save_model

        check_is_fitted(self)
        self._learn_to_recommend()
        self._learn_tag_words()
        save_model(self, path, corpus)

    # ------------------------------------------------------------------ what subclasses say, and helpers

    def _priors(self) -> Priors:
        alpha = np.full(self.n_topics, initial_alpha(self.doc_topic_prior), dtype=np.float32)
        return Priors(alpha, float(self.topic_word_prior))

    def _n_topics(self, n_tags: int) -> int:
        """Return the number of topics of a model of so many tags."""
        return self.n_topics

    def _algorithm(self, data: TrainingData) -> TopicAlgorithm[Any]:
        """Return what `fit` iterates."""
        return self._belief_propagation(build_graph(data.counts, data.tags), self._priors_for(data))

    def _priors_for(self, data: TrainingData) -> Priors:
        """Return the priors of a fit, with alpha learned if that is asked for."""
        if self.doc_topic_prior != "learned":
            return self._priors()
        threads, anchored = resolve_threads(self.n_jobs), self.init == "anchors"
        return learn_alpha(data.counts, data.tags, self._priors(), self._seed(), threads, anchored)

    def _belief_propagation(self, graph: FactorGraph, priors: Priors) -> BeliefPropagation:
        threads, anchored = resolve_threads(self.n_jobs), self.init == "anchors"
        lean = is_lean(self.memory, graph, len(priors.doc_topic))
        executor = MemoryExecutor(graph, lean, threads)
        return BeliefPropagation(executor, priors, self._seed(), anchored)

    def _infer(self, counts: Any, tags: Any) -> Float32:
        """Return the topic proportions (D, K) of new documents, CSR (D, W), whose tags are CSR or None."""
        return self._fold_in().doc_topic(counts, self._tag_pseudo_counts(tags))

    def _tag_pseudo_counts(self, tags: Any) -> Float32 | None:
        """Return what known tags (CSR (D, T) or None) add to the prior of new documents, (D, K) or None."""
        return None

    def _training_data(self, X: Any, y: Any) -> TrainingData:
        if isinstance(X, Corpus):
            if y is not None:
                raise InputError("fit: a corpus brings its own tags; leave y out")
            self.n_features_in_ = X.n_words
            return from_corpus(X)
        X = self._validated(X, reset=True)
        return from_matrices(X, y, getattr(self, "feature_names_in_", None))

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
        return counts, None if tags is None else read_tags(tags, counts.shape[0], self.tag_names_)[0]

    def _validated(self, X: Any, reset: bool) -> Any:
        """Check a matrix the way scikit-learn does: finite, non-negative, as many columns as in the fit."""
        dtypes = [np.float64, np.float32, np.int64, np.int32]
        rules = {"accept_sparse": "csr", "dtype": dtypes, "ensure_non_negative": True}
        return validate_data(self, X, reset=reset, **rules)

    def _learn(
        self,
        data: TrainingData,
        algorithm: TopicAlgorithm[Any],
        callbacks: Sequence[Callback[Any]],
        start: tuple[Any, Sequence[Step]] | None = None,
    ) -> Self:
        """Iterate the algorithm and keep what it learned."""
        tol = self.tol if algorithm.settles else 0.0
        result = run(algorithm, max_iter=self.max_iter, tol=tol, callbacks=callbacks, start=start)
        self._keep(data, algorithm.learned(result.state))
        self._remember(result.history, result.reason)
        return self

    def _remember(self, history: Sequence[Step], reason: str) -> None:
        """Set what tells how the fit went."""
        self.n_iter_ = history[-1].iteration if history else 0
        self.history_ = [step._asdict() for step in history]
        self.stop_reason_ = reason

    def _keep(self, data: TrainingData, learned: Learned) -> None:
        """Set the fitted attributes."""
        self._keep_topics(learned.word_sums)
        self.doc_topic_, self.doc_topic_prior_ = learned.doc_topic, learned.doc_topic_prior
        has_words = np.diff(data.counts.indptr) > 0
        self.tag_docs_ = np.asarray(data.tags[has_words].sum(0), dtype=np.int64).ravel()
        self.vocabulary_, self.tag_names_ = data.vocabulary, data.tag_names
        self.doc_ids_, self.recipe_, self.visual_ = data.ids, data.recipe, data.visual
        for name, value in learned.more.items():
            setattr(self, name, value)

    def _keep_topics(self, word_sums: Float64) -> None:
        """Set what follows from the sums of the words, (W, K)."""
        beta, topic_sums = float(self.topic_word_prior), word_sums.sum(0)
        phi = (word_sums + beta) / (topic_sums + len(word_sums) * beta)
        self.components_ = phi.astype(np.float32).T  # word by word, as `transform` reads it
        self.topic_sums_ = topic_sums

    def _phi(self) -> Float32:
        return np.ascontiguousarray(self.components_.T)

    def _fold_in(self) -> FoldIn:
        return FoldIn(self._phi(), self.doc_topic_prior_, n_threads=resolve_threads(self.n_jobs))

    def _seed(self) -> int:
        if isinstance(self.random_state, int | np.integer):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags


def top(names: Sequence[str], weights: Float32 | Float64, n: int) -> list[tuple[str, float]]:
    """Return the n names of largest weight, largest first, ties in column order."""
    best = np.argsort(-weights, kind="stable")[:n]
    return [(names[i], float(weights[i])) for i in best]


def _are_whole(counts: Any) -> bool:
    return bool(np.array_equal(counts.data, np.rint(counts.data)))
