"""What all estimators share: fitting, inference and prediction."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from tagtopics._blas import single_thread
from tagtopics._typing import CSR, Float32, Float64
from tagtopics.bp import holdout
from tagtopics.bp.callbacks import Callback, announce
from tagtopics.bp.executor import Executor
from tagtopics.bp.fold_in import infer_topics
from tagtopics.bp.propagation import Start
from tagtopics.corpus.core import Corpus
from tagtopics.corpus.splits import are_whole, seen_part
from tagtopics.errors import InputError, warn
from tagtopics.files import utc_now
from tagtopics.jit.threads import limit_threads, thread_limit
from tagtopics.models import precompile
from tagtopics.models.documents import align_words, inferred_tags, read_documents, titles_of, without_tags
from tagtopics.models.naming import find_topic_phrases
from tagtopics.models.queries import Queries
from tagtopics.models.topic_words import CANDIDATES, choose_topic_words
from tagtopics.models.topics import Run, TopicFit
from tagtopics.models.validation import check_parameters
from tagtopics.recommend.recommender import fit_recommender


class TopicModel(Queries):
    """Base of the estimators. X is a `Corpus`, texts, a table with text, or counts (documents x words).

    Subclasses store their parameters in `__init__` and define `_learn`. A fitted model keeps no training
    documents, and queries do not change it.
    """

    _registry: ClassVar[dict[str, type[TopicModel]]] = {}
    """The estimator classes by name, for `load`."""

    _ignores_tags: ClassVar[bool] = False
    _saved_arrays: ClassVar[dict[str, tuple[str, ...]]] = {}  # arrays and axes beyond those of all models

    n_topics: int
    doc_topic_prior: float | None
    topic_word_prior: float | None
    topic_word_prior_: float  # as used
    word_exponent_: float  # as used by belief propagation
    max_iter: int | None
    tol: float = 0.0
    memory: str
    random_state: Any
    n_jobs: int | None
    recommender: bool = True  # whether a fit trains one
    tag_words_: Any = None  # CSR (T, W), tokens credited to each tag; of models with `explain`

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        TopicModel._registry.setdefault(cls.__name__, cls)

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        vectors: Any = None,
        callbacks: Sequence[Callback[Any]] = (),
    ) -> Self:
        """Learn topics, then (where there are tags) the tag prior and the recommender.

        Args:
            X: a `Corpus`; texts, or a data frame or dictionaries with columns "text" and "tags", which are
                read as `read_corpus` does; or non-negative counts (D, W), dense or sparse.
            y: tags of texts or counts: None, one label per document, lists of strings, an indicator matrix
                (D, T), or a data frame with a column for each kind of tag. A corpus has its own.
            vectors: (D, n) vectors of the documents, such as those of a language model, for `LDA` and `TTM`:
                documents with near vectors get similar topics and tags, as far as held-out documents agree.
            callbacks: called at every stage and iteration; see `tagtopics.bp.callbacks`.
        """
        corpus = self.training_corpus(X, y)
        self.fit_topics(corpus, vectors=vectors, callbacks=callbacks)
        self.learn_recommender(corpus, callbacks, vectors)
        return self

    def fit_topics(
        self,
        X: Any,
        y: Any = None,
        *,
        vectors: Any = None,
        executor: Executor | None = None,
        start: Start | None = None,
        callbacks: Sequence[Callback[Any]] = (),
    ) -> Self:
        """Learn as `fit` does, without a recommender.

        Args:
            X: documents, as in `fit`.
            y: their tags, as in `fit`.
            vectors: of the documents, as in `fit`.
            executor: holds the documents, if they are not in memory; see `models.topics.fit_topics`.
            start: where belief propagation begins; see `bp.propagation.Start`.
            callbacks: called at every stage and iteration.
        """
        corpus = self.training_corpus(X, y)
        if vectors is not None:
            if executor is None and start is not None:
                raise InputError("fit: a fit with a start learns nothing from vectors; omit one of them")
            n_docs = corpus.n_docs if executor is None else executor.totals.n_docs
            vectors = self._checked_vectors(vectors, n_docs)
        if precompile.begin():
            announce(callbacks, "Compiling, once after an installation")
            precompile.finish()
        corpus = without_tags(corpus) if self._ignores_tags else corpus
        with thread_limit(self.n_jobs):
            self._learn(corpus, Run(executor, start, callbacks, vectors))
        return self

    def fit_recommender(
        self, X: Any, y: Any = None, *, vectors: Any = None, callbacks: Sequence[Callback[Any]] = ()
    ) -> Self:
        """Train the recommender on documents and their tags; the topics stay as they are.

        Args:
            X: documents, as in `fit`; not necessarily those that the topics were learned from.
            y: their tags, as in `fit`; a corpus has its own.
            vectors: of the documents, as in `fit`.
            callbacks: called when a stage begins.
        """
        check_is_fitted(self)
        corpus = read_documents(self, X, y, "recommender")
        if corpus.tags.nnz == 0:
            raise InputError("fit_recommender: the documents have no tags to learn from")
        self._train_recommender(corpus, callbacks, vectors)
        return self

    @limit_threads
    def transform(self, X: Any, tags: Any = None, *, vectors: Any = None) -> Float32:
        """Return the topic proportions of documents, theta (D, K); rows add up to one.

        Args:
            X: a `Corpus` (columns are matched by name); a text, a list of texts, dictionaries or a data
                frame, read with the recipe and columns of the fit; or counts (D, W) in the order of the fit.
            tags: the known tags of the documents, as `y` in `fit`, or the corpus itself; "inferred" uses the
                tags that the recommender infers from the words. By default tags are unknown, as in the paper.
                They serve to describe documents of few words. To predict words, call `predict_words`: these
                proportions leave out the words of tags.
            vectors: (D, n) vectors of the documents, if the model was fitted with vectors: the topics of the
                nearest training documents are used.
        """
        counts, indicator = self.new_documents(X, tags)
        own_counts = None if vectors is None else self._vector_counts(vectors, counts.shape[0])
        return self.infer(counts, self._resolve_tags(counts, indicator), own_counts)

    @limit_threads
    def predict_words(self, X: Any, tags: Any = None) -> Float32:
        """Return (D, W): the probability of each word in the rest of a document; rows add up to one.

        Args:
            X: the words seen of each document, as in `transform`; a document may have none.
            tags: their tags, as in `transform`. With tags alone, this is what they write about.
        """
        counts, indicator = self.new_documents(X, tags)
        return self._word_probabilities(counts, self._resolve_tags(counts, indicator))

    @limit_threads
    def log_likelihood(self, seen: Any, held_out: Any, tags: Any = None) -> Float64:
        """Return (D,): the log probability of the held-out words of each document, given the words seen.

        Args:
            seen: the words seen, as in `transform`.
            held_out: the words to predict, documents in the same order.
            tags: their tags, as in `transform`.
        """
        counts, indicator = self.new_documents(seen, tags)
        hidden, _ = self.new_documents(held_out, None)
        if hidden.shape[0] != counts.shape[0]:
            raise InputError(
                f"log_likelihood: {counts.shape[0]} documents seen, but {hidden.shape[0]} to predict"
            )
        return self._log_likelihoods(counts, hidden, self._resolve_tags(counts, indicator))

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log probability of a token, for model selection; higher is better.

        Measured by document completion, or on all tokens if the weights are no whole numbers.
        """
        counts, _ = self.new_documents(X, None)
        return float(-np.log(self.perplexity(X, completed=are_whole(counts))))

    @limit_threads
    def perplexity(
        self,
        X: Any,
        tags: Any = None,
        *,
        completed: bool = True,
        seed: int = 0,
        seen: float = 0.8,
    ) -> float:
        """Return the perplexity of words; lower is better.

        Args:
            X: documents, as in `transform`.
            tags: their tags, as in `transform`; inferred tags come from the words seen.
            completed: document completion: a fifth of each document's tokens, drawn at random, are predicted
                from others. False uses all tokens for both, as the paper did, and is too optimistic.
            seed: for the split of the tokens.
            seen: the share of a document's tokens that are seen, from 0 to 0.8.
        """
        counts, indicator = self.new_documents(X, tags)
        if completed and not are_whole(counts):
            raise InputError("perplexity: document completion needs whole counts; use completed=False")
        known, held_out = seen_part(counts, seed, seen) if completed else (counts, counts)
        total = self._log_likelihoods(known, held_out, self._resolve_tags(known, indicator)).sum()
        return holdout.perplexity(float(total), float(held_out.sum(dtype=np.float64)))

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

    # ------------------------------------------------------------------ for subclasses

    def _learn(self, corpus: Corpus, run: Run) -> None:
        """Learn topics from documents, and what else a model knows but the recommender."""
        raise NotImplementedError

    def training_corpus(self, X: Any, y: Any) -> Corpus:
        """Return the documents to fit a model to; its parameters are checked first."""
        check_parameters(self)
        return read_documents(self, X, y, "fit")

    @property
    def infers_tags(self) -> bool:
        """Whether tags inferred from the words of a document say more about it than its words alone."""
        return False

    def count_topics(self, n_tags: int) -> int:
        """Return the number of topics of a model with `n_tags` tags."""
        return self.n_topics

    @limit_threads
    def infer(self, counts: CSR, tags: CSR | None, own_counts: Float32 | None = None) -> Float32:
        """Return the topic proportions (D, K) of new documents, CSR (D, W), whose tags are CSR or None.

        Pseudo-counts of each document, (D, K), are added to its prior.
        """
        parts = [part for part in (own_counts, self._tag_pseudo_counts(tags)) if part is not None]
        total = sum(parts[1:], parts[0]) if parts else None
        return infer_topics(counts, self.phi(), self.doc_topic_prior_, total)

    def _checked_vectors(self, vectors: Any, n_docs: int) -> Float32:
        """Return vectors to learn from, of length one."""
        raise InputError(f"{type(self).__name__} learns nothing from vectors; LDA and TTM do")

    def _vector_counts(self, vectors: Any, n_docs: int) -> Float32 | None:
        """Return what the vectors of new documents add to their prior, (D, K); None if they say nothing."""
        return self._checked_vectors(vectors, n_docs)

    def _log_likelihoods(self, seen: CSR, held_out: CSR, tags: CSR | None) -> Float64:
        """Return the log probability of the held-out words of each document, (D,)."""
        return holdout.log_likelihoods(held_out, self.infer(seen, tags), self.phi())

    def _word_probabilities(self, counts: CSR, tags: CSR | None) -> Float32:
        """Return p(word | document), (D, W)."""
        with single_thread():
            return np.asarray(self.infer(counts, tags) @ self.components_)

    def _resolve_tags(self, counts: CSR, tags: Any) -> CSR | None:
        """Replace `tags="inferred"` by tag probabilities; any other tags stay."""
        if not isinstance(tags, str):
            return tags
        if not self.tag_names_ or self.recommender_ is None:
            raise InputError(
                "inferred tags need a recommender: call fit, or fit_recommender, with tags first"
            )
        return self._weigh(counts, self.recommender_.probabilities(counts, self.infer(counts, None)))

    def _weigh(self, counts: CSR, probabilities: Float32) -> CSR:
        """Return inferred tags as CSR (D, T): their probabilities (D, T'), as far as they are trusted."""
        assert self.recommender_ is not None  # the caller asked
        probabilities *= self._trust(np.asarray(counts.sum(1), dtype=np.float64))[:, np.newaxis]
        return inferred_tags(probabilities, self.recommender_.tag_names, self.tag_names_)

    @limit_threads
    def leave_one_out_tags(self, corpus: Corpus) -> Float32:
        """Return the probabilities (D, T') of the tags of the documents of `fit_recommender`.

        Each document is answered without its own tags, as new documents are; `tag_probabilities` would know
        them.
        """
        likely, recommender = self.tag_probabilities(corpus), self.recommender_
        assert recommender is not None  # it has answered
        likely[recommender.rows] = recommender.leave_one_out(np.arange(len(recommender.rows)))
        return likely

    def topics_given_tags(self, corpus: Corpus, likely: Float32) -> Float32:
        """Return the proportions (D, K) of documents whose tags have the probabilities `likely`, (D, T')."""
        counts, _ = self.new_documents(corpus, None)
        return self.infer(counts, self._weigh(counts, likely.copy()))

    def _trust(self, n_tokens: Float64) -> Float32:
        """Return the trust in tags inferred from N tokens, from 0 to 1; 0 without tokens."""
        return (n_tokens > 0).astype(np.float32)

    def _tag_pseudo_counts(self, tags: CSR | None) -> Float32 | None:
        """Return what known tags (CSR (D, T) or None) add to the prior of new documents, (D, K) or None."""
        return None

    def _store(self, corpus: Corpus, topics: TopicFit) -> None:
        """Set all fitted attributes of a model whose topics were learned from a corpus."""
        self.recommender_, self.names_, self.tag_words_ = None, None, None
        self.base_ = self.curation_ = None
        self.vector_strength_ = self.vectors_ = None
        self.topic_word_prior_ = topics.topic_word_prior
        self.set_topics(topics.word_sums)
        self.doc_topic_, self.doc_topic_prior_ = topics.doc_topic, topics.doc_topic_prior
        self.tag_docs_ = topics.tag_docs.copy()
        self.n_features_in_ = corpus.n_words
        self.vocabulary_, self.tag_names_, self.doc_ids_ = corpus.vocabulary, corpus.tag_names, corpus.ids
        self.doc_titles_ = titles_of(corpus)
        self.recipe_, self.visual_, self.columns_ = corpus.recipe, corpus.visual, corpus.columns
        self.choose_words(corpus)
        words = [[word for word, _ in own] for own in self.top_words(CANDIDATES)]
        self.phrases_ = find_topic_phrases(corpus, words, self.doc_topic_)
        for name, value in topics.more.items():
            setattr(self, name, value)
        self._store_history(topics)

    def set_topics(self, word_sums: Float64) -> None:
        """Set what follows from the sums of the words, (W, K)."""
        beta, topic_sums = self.topic_word_prior_, word_sums.sum(0)
        phi = (word_sums + beta) / (topic_sums + len(word_sums) * beta)
        self.components_ = phi.astype(np.float32).T  # word by word, as `transform` reads it
        self.topic_sums_, self.topic_words_ = topic_sums, None

    def choose_words(self, corpus: Corpus) -> None:
        """Choose the words of topics that lists show, by the documents in which they occur together."""
        counts = align_words(self, corpus)
        self.topic_words_ = choose_topic_words(self.components_, self.topic_shares(), counts)

    def _store_history(self, topics: TopicFit) -> None:
        self.n_iter_ = topics.history[-1].iteration if topics.history else 0
        self.history_ = [step._asdict() for step in topics.history]
        self.stop_reason_, self.fitted_ = topics.stop_reason, utc_now()

    def learn_recommender(self, corpus: Corpus, callbacks: Any = (), vectors: Any = None) -> None:
        """Train the recommender if it is wanted and there are tags; if that fails, warn and continue."""
        if not self.recommender or not (np.diff(corpus.tags.indptr)[np.diff(corpus.counts.indptr) > 0]).any():
            return
        announce(callbacks, "Training the recommender")
        try:
            self._train_recommender(corpus, callbacks, vectors)
        except Exception as error:  # whatever it is, the topics must not be lost
            what = f"{type(error).__name__}: {error}"
            warn(f"the recommender could not be trained ({what}); the topics are not affected")

    @limit_threads
    def _train_recommender(self, corpus: Corpus, callbacks: Sequence[Callback[Any]], vectors: Any) -> None:
        """Train the recommender, and the names of tags if the documents or the model have a thesaurus."""
        counts = align_words(self, corpus)
        units = None if vectors is None else self._checked_vectors(vectors, corpus.n_docs)
        data = counts, corpus.tags, self.infer(counts, None), corpus.tag_names
        recommender = fit_recommender(*data, vectors=units)
        thesaurus, names = corpus.thesaurus or (self.names_.thesaurus if self.names_ else None), None
        if thesaurus is not None and corpus.texts is not None:
            announce(callbacks, "Looking for tag names")
            names = thesaurus.learn_names(recommender, corpus.texts)
        self.recommender_, self.names_ = recommender, names

    def _numbers(self) -> dict[str, float]:
        """Return the fitted numbers that are saved, by name."""
        strength = {} if self.vector_strength_ is None else {"vector_strength_": self.vector_strength_}
        return {"topic_word_prior_": self.topic_word_prior_} | strength

    def _set_numbers(self, numbers: dict[str, float]) -> None:
        """Set the fitted numbers of a loaded model."""
        self.topic_word_prior_ = numbers["topic_word_prior_"]
        self.vector_strength_ = numbers.get("vector_strength_")

    def phi(self) -> Float32:
        """Return p(word | topic), (W, K), word by word."""
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

    def _repr_html_inner(self) -> str:
        """Return the same for programs that ask for HTML."""
        return self._repr_mimebundle_().get("text/html", "")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags
