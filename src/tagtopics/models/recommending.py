"""The part of every estimator that recommends tags."""

from __future__ import annotations

from typing import Any, Self

from sklearn.utils.validation import check_is_fitted

from tagtopics._typing import Float32
from tagtopics.corpus.core import Corpus
from tagtopics.errors import InputError
from tagtopics.models.inputs import Given, Tagged, canonical, stacked, tagged
from tagtopics.recommend.recommender import Recommendation, TagRecommender, fit_recommender


class Recommending:
    """Recommends tags from words and topics; learned when it is first needed, and saved with the model."""

    _trained_on: list[Given] | None = None  # None where the training documents are not at hand
    recommender_: TagRecommender | None = None
    tag_words_: Any = None  # CSR (T, W) tokens credited to each tag; of a model with `explain`

    def fit_recommender(self, X: Any, y: Any = None) -> Self:
        """Learn to recommend tags; the topics stay as they are.

        `recommend` and `save` do this with the training documents where it has not been done before.

        Args:
            X: documents, as in `fit`; not necessarily those that the topics were learned from.
            y: their tags, as in `fit`; a corpus brings its own.
        """
        model: Any = self
        check_is_fitted(model)
        if not isinstance(X, Corpus):
            X = canonical(model._validated(X, reset=False))
        self._fit_recommender(tagged(Given(X, y), model.vocabulary_))
        return self

    def recommend(self, X: Any, top: int = 5) -> list[list[Recommendation]]:
        """Return for each document the tags it needs, each with its probability, most probable first.

        Args:
            X: documents, as in `transform`; tags they may have are not looked at.
            top: the number of tags.
        """
        recommender, counts, theta = self._asked(X, top)
        return recommender.recommend(counts, theta, top)

    def recommend_with_reasons(self, X: Any, top: int = 5, n_words: int = 5) -> list[list[Recommendation]]:
        """Return recommendations, each with the words of the document that speak most for it."""
        recommender, counts, theta = self._asked(X, top)
        vocabulary = self.vocabulary_  # type: ignore[attr-defined]
        return recommender.reasons(counts, theta, top, vocabulary, n_words)

    def tag_probabilities(self, X: Any) -> Float32:
        """Return (D, T): the probability of each tag, in the order of `recommender_.tag_names`."""
        recommender, counts, theta = self._asked(X, 1)
        return recommender.probabilities(counts, theta)

    def _asked(self, X: Any, top: int) -> tuple[TagRecommender, Any, Float32]:
        model: Any = self
        if top < 1:
            raise InputError(f"recommend: top must be 1 or more, not {top}")
        counts, _ = model._new_documents(X, None)
        self._learn_to_recommend()
        if self.recommender_ is None:
            what = "give all of its documents to fit_recommender(corpus) first"
            raise InputError(f"recommend: this model has no recommender; {what}")
        return self.recommender_, counts, model._infer(counts, None)

    def _learn_to_recommend(self) -> None:
        """Fit the recommender to the training documents, where they are at hand and it is not there yet."""
        if self.recommender_ is None and self._trained_on:
            self._fit_recommender(self._training_documents())

    def _fit_recommender(self, documents: Tagged) -> None:
        model: Any = self
        counts, tags, names = documents
        if tags.nnz == 0:
            raise InputError("recommend: the training documents have no tags to learn from")
        self.recommender_ = fit_recommender(counts, tags, model._infer(counts, None), tuple(names))

    def _training_documents(self) -> Tagged:
        """Return the tagged training documents, in the words of the model."""
        model: Any = self
        return stacked([tagged(given, model.vocabulary_) for given in self._trained_on or ()])

    def _learn_tag_words(self) -> None:
        """Credit the words of the training documents to their tags; of a model with `explain`."""

    def _forget_recommender(self, given: Given) -> None:
        """Start anew: other topics need another recommender."""
        self.recommender_, self.tag_words_ = None, None
        self._trained_on = [given] if given.tagged else []
