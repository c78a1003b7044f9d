"""Queries about the topics of a fitted model, similar documents and recommended tags."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from tagtopics._blas import single_thread
from tagtopics._typing import CSR, Bool, Float32, Float64, Int64
from tagtopics.bp.graph import normalise
from tagtopics.bp.holdout import topic_coherence
from tagtopics.bp.relations import unit_vectors
from tagtopics.corpus.core import Corpus
from tagtopics.corpus.recipe import Columns, TextRecipe
from tagtopics.corpus.tags import split_kind, tags_of_labels
from tagtopics.errors import InputError, similar_names
from tagtopics.jit.threads import limit_threads
from tagtopics.jit.top import largest
from tagtopics.models.documents import (
    align_tags,
    align_words,
    canonical,
    is_raw,
    read_documents,
    texts_of,
    validate_matrix,
)
from tagtopics.models.naming import background_topics, distinct, foreground, name_by_tags, name_topics
from tagtopics.models.results import RelatedDocument, TopicTable
from tagtopics.models.topic_words import CANDIDATES, list_words
from tagtopics.models.validation import INFERRED
from tagtopics.recommend.choice import Choice, Recommendation
from tagtopics.recommend.recommender import TagRecommender
from tagtopics.recommend.ridge import TOPIC_WEIGHT


class Queries(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The queries of `TopicModel`; none of them changes the model."""

    vocabulary_: tuple[str, ...]
    tag_names_: tuple[str, ...]
    doc_ids_: tuple[str, ...]
    doc_titles_: tuple[str, ...]  # of the same documents; empty where unknown
    recipe_: TextRecipe | None
    visual_: Any
    columns_: Columns | None = None  # of the table that the documents came from
    recommender_: TagRecommender | None = None
    vector_strength_: float | None = None  # tokens that near documents are worth; None without vectors
    vectors_: Float32 | None = None  # (D, n) of the training documents; None if they are worth nothing
    names_: Any = None  # a `subjects.TagNames`: finds the names of tags in texts, if there is a thesaurus
    topic_words_: Any = None  # (K, 20) columns of the words that lists show; None if no documents are at hand
    phrases_: tuple[str, ...] = ()  # words that form phrases in the training texts
    curation_: Any = None  # a `curation.journal.Curation`: the journal of edits, if there are any
    base_: Any = None  # the model as it was fitted, if there are edits since
    fitted_: str | None = None  # when its topics were learned, UTC; None if that is unknown

    def new_documents(self, X: Any, tags: Any) -> tuple[CSR, Any]:
        """Return new documents and their tags, as CSR in the columns of the fit; None or "inferred" stay."""
        check_is_fitted(self)
        own = tags is X  # a corpus or a table that has tags
        if isinstance(X, str) and not own and tags != INFERRED:  # one text
            tags = [[tags]] if isinstance(tags, str) else tags
            if isinstance(tags, list | tuple | set) and all(isinstance(tag, str) for tag in tags):
                tags = [list(tags)]
        if isinstance(tags, str) and not own and tags != INFERRED:
            raise InputError(f"tags must be the tags of each document, or {INFERRED!r}, not {tags[:40]!r}")
        if isinstance(X, Corpus) or is_raw(X):
            documents = read_documents(self, X)
            counts = align_words(self, documents)
            if own:
                return counts, align_tags(self, documents)
        else:
            counts = canonical(validate_matrix(self, X, reset=False))
        if tags is None or isinstance(tags, str):
            return counts, tags
        return counts, tags_of_labels(tags, counts.shape[0], self.tag_names_)[0]

    def top_words(self, n: int = 10) -> list[list[tuple[str, float]]]:
        """Return for each topic n words that tell it apart and occur together, with their probabilities."""
        listed, words = self.listed_words(n), self.vocabulary_
        rows = zip(listed.tolist(), self.components_, strict=True)
        return [[(words[w], float(topic[w])) for w in own] for own, topic in rows]

    def listed_words(self, n: int) -> Int64:
        """Return (K, n): the columns of the words of each topic that lists and names show."""
        return list_words(self.components_, self.topic_shares(), self.topic_words_, n)

    def topic_table(self, n_words: int = 10) -> TopicTable:
        """Return all topics with name, share of the tokens and words, largest first."""
        share, words = self.topic_shares(), self.top_words(n_words)
        names, background = self.topic_names(), self.background_topics()
        order = np.argsort(-share, kind="stable").tolist()
        return TopicTable(
            topic=tuple(order),
            share=tuple(float(share[k]) for k in order),
            words=tuple(tuple(word for word, _ in words[k]) for k in order),
            name=tuple(names[k] for k in order),
            background=tuple(bool(background[k]) for k in order),
        )

    def topic_names(self) -> tuple[str, ...]:
        """Return a short name for each topic: as given by the user, or its first words and phrases.

        A tag that singles the topic out is added. Topics of photos are named by tags alone, because visual
        words mean nothing to readers. No two names are equal.
        """
        tags = getattr(self, "tag_sums_", None), self.tag_labels()
        if self.visual_ is not None and tags[0] is not None and len(tags[1]):
            names = name_by_tags(tags[0], self.topic_shares(), tags[1])
        else:
            words = [[word for word, _ in own] for own in self.top_words(CANDIDATES)]
            names = name_topics(words, self.phrases_, *tags)
        given = {} if self.curation_ is None else self.curation_.names
        return distinct(given.get(k, name) for k, name in enumerate(names)) if given else names

    def background_topics(self) -> Bool:
        """Return (K,): which topics are background, spread over the whole collection."""
        return background_topics(self.topic_shares(), self.doc_topic_, getattr(self, "tag_sums_", None))

    def topic_shares(self) -> Float64:
        """Return (K,): the share of all training tokens that each topic has; all the same without tokens."""
        check_is_fitted(self)
        return normalise(self.topic_sums_)

    def tag_means(self) -> Float64:
        """Return (T, K): the mean profile of each tag, S_t / n_t; uniform for a tag without words."""
        check_is_fitted(self)
        docs = self.tag_sums_.sum(1, keepdims=True)  # n_t, or less if documents have been forgotten
        means = self.tag_sums_ / np.where(docs > 0, docs, 1.0)
        return np.asarray(np.where(docs > 0, means, 1.0 / self.components_.shape[0]))

    def tag_labels(self) -> tuple[str, ...]:
        """Return the tags as readers know them: by their names, if there is a thesaurus."""
        check_is_fitted(self)
        labels = {} if self.names_ is None else self.names_.thesaurus.labels(self.tag_names_)
        return tuple(labels.get(tag, tag) for tag in self.tag_names_)

    def tag_column(self, tag: str) -> int:
        """Return the column of a tag, given as it is or by its name in the thesaurus.

        One that does not exist, and a name of several tags, is an `InputError` that says which are meant.
        """
        if tag in self.tag_names_:
            return self.tag_names_.index(tag)
        name_of = (lambda other: None) if self.names_ is None else self.names_.thesaurus.name_of
        names = zip(self.tag_names_, self.tag_labels(), strict=True)
        found = [t for t, (other, label) in enumerate(names) if tag in (label, name_of(other))]
        if len(found) == 1:
            return found[0]
        meant = [self.tag_names_[t] for t in found]
        meant = meant or [other for other in self.tag_names_ if split_kind(other)[1] == tag]
        hint = f"; did you mean {', '.join(map(repr, meant[:5]))}?" if meant else ""
        what = f"several tags have the name {tag!r}" if found else f"the model has no tag {tag!r}"
        raise InputError(
            what + (hint or similar_names(tag, list(dict.fromkeys((*self.tag_names_, *self.tag_labels())))))
        )

    def coherence(self, corpus: Corpus, n_words: int = 10) -> Float64:
        """Return the NPMI coherence of each topic, (K,), from -1 to 1: how often its top words co-occur.

        Args:
            corpus: where co-occurrence is counted. Words are listed for their co-occurrence in the training
                documents, so other documents are a fairer measure.
            n_words: how many top words of each topic.
        """
        return topic_coherence(corpus, [[word for word, _ in words] for words in self.top_words(n_words)])

    @limit_threads
    def related(
        self, X: Any, top: int = 10, tags: Any = None, *, vectors: Any = None
    ) -> list[list[RelatedDocument]]:
        """Return for each document the most related training documents, best first; none for no words.

        Documents are related that probably share a tag, or whose words and topics are similar (decision 233).
        Training documents that the recommender does not have, such as those without tags, are compared by
        topics; so are all documents of a model without one. Background topics do not count there, and
        training documents without words are left out. Vectors as in `recommend`.
        """
        return self.related_among(self.foreground_roots(), X, top, tags, vectors)

    def related_among(
        self, roots: tuple[Any, Any], X: Any, top: int, tags: Any, vectors: Any = None
    ) -> list[list[RelatedDocument]]:
        """Return what `related` returns, given `foreground_roots`, which take long if documents are many."""
        counts, given = self.new_documents(X, tags)
        indicator = self._resolve_tags(counts, given)
        known = np.diff(counts.indptr) + (0 if indicator is None else np.diff(indicator.indptr))
        background, trained = roots
        queries = np.sqrt(foreground(self.infer(counts, indicator), background))
        with single_thread():  # one product for each document: its bits do not depend on the others
            similarities = [trained @ query for query in queries]
        if self.recommender_ is not None or vectors is not None:
            recommender, units = self._recommender_with(vectors, counts.shape[0])
            own = None
            if sp.issparse(given):
                columns = {name: t for t, name in enumerate(self.tag_names_)}
                own = sp.csr_array(given)[:, [columns[name] for name in recommender.tag_names]]
            related = recommender.relate(counts, self.infer(counts, None), own, units)
            for similarity, row in zip(similarities, related, strict=True):
                similarity *= TOPIC_WEIGHT
                similarity[recommender.rows] = row
        answers = []
        for n_known, similarity in zip(known, similarities, strict=True):
            best = [int(d) for d in largest(similarity, top if n_known else 0) if similarity[d] > 0]
            named = [(self.doc_ids_[d], d, float(similarity[d]), self.doc_titles_[d] or None) for d in best]
            answers.append([RelatedDocument(*row) for row in named])
        return answers

    def foreground_roots(self) -> tuple[Any, Any]:
        """Return (K,) which topics are background, and (D, K) square roots of the others, by document.

        The topics of a document without words are those of the prior; its row is zero.
        """
        background, prior = self.background_topics(), normalise(self.doc_topic_prior_)
        roots = np.sqrt(foreground(self.doc_topic_, background))
        if len(prior) > 1:
            roots[np.isclose(self.doc_topic_, prior, rtol=1e-5, atol=0).all(1)] = 0
        return background, roots

    def recommend(
        self,
        X: Any,
        top: int = 5,
        *,
        n_words: int = 0,
        balanced: bool = False,
        threshold: float = 0.0,
        kind: str | None = None,
        only: Collection[str] | None = None,
        exclude: Collection[str] = (),
        vectors: Any = None,
    ) -> list[list[Recommendation]]:
        """Return for each document the tags it needs, each with its probability, most probable first.

        A document without any known word, and without the name of a tag, gets no tags.

        Args:
            X: documents, as in `transform`; tags they may have are ignored.
            top: the largest number of tags.
            n_words: the largest number of words of the document to return with each tag: those that
                contribute most to it.
            balanced: give rare tags a place in the lists, at a small cost in precision.
            threshold: only tags that are at least this probable.
            kind: only tags of this kind, such as "author" for `author:Jane Doe`.
            only: only these tags, given as they are or by their names in the thesaurus.
            exclude: none of these tags, likewise.
            vectors: (D, n) vectors of the documents, if the model was fitted with vectors; without them,
                words and topics alone are used.
        """
        choice = Choice(top, balanced, threshold, kind, only, exclude)
        return self.recommend_choice(X, n_words, choice, vectors)

    @limit_threads
    def recommend_choice(
        self, X: Any, n_words: int, choice: Choice, vectors: Any = None
    ) -> list[list[Recommendation]]:
        """Return what `recommend` returns."""
        check_is_fitted(self)
        if self.names_ is not None and is_raw(X):
            X = read_documents(self, X)  # names are looked for in the texts
        recommender, counts, theta, units = self._recommender_for(X, vectors)
        if self.names_ is None:
            return recommender.recommend(counts, theta, choice, self.vocabulary_, n_words, units)
        answers, admitted = [], self.names_.admits(choice)
        for d, found in enumerate(self.names_.candidates(recommender, counts, theta, texts_of(X), units)):
            chosen = self.names_.choose(found, choice, admitted)
            tags = [self.names_.tags[found.tags[i]] for i in chosen]
            row = slice(d, d + 1)
            words = recommender.reasons(counts[row], theta[row], tags, self.vocabulary_, n_words)
            answers.append(self.names_.recommendations(found, words, chosen))
        return answers

    @limit_threads
    def tag_probabilities(self, X: Any, *, vectors: Any = None) -> Float32:
        """Return (D, T): the probability of each tag, in the order of `recommender_.tag_names`.

        They come from words and topics; names of tags in the texts are not used. Those of a document without
        known words are the shares of training documents that carry the tags. Vectors as in `recommend`.
        """
        recommender, counts, theta, units = self._recommender_for(X, vectors)
        return recommender.probabilities(counts, theta, units)

    def _recommender_for(self, X: Any, vectors: Any) -> tuple[TagRecommender, Any, Float32, Float32 | None]:
        """Return the recommender, and the counts, topic proportions and vectors of new documents."""
        counts, _ = self.new_documents(X, None)
        recommender, units = self._recommender_with(vectors, counts.shape[0])
        return recommender, counts, self.infer(counts, None), units

    def _recommender_with(self, vectors: Any, n_docs: int) -> tuple[TagRecommender, Float32 | None]:
        """Return the recommender for documents with vectors, or without, and the vectors it needs."""
        if self.recommender_ is None:
            raise InputError(
                "recommend: this model has no recommender; call fit_recommender with all of its documents,"
                " or fit it again, with tags and a recommender"
            )
        if vectors is None:
            return self.recommender_, None
        if self.recommender_.vector_weight is None:
            raise InputError("recommend: the recommender was trained without vectors; omit them")
        known = self.recommender_.with_vectors
        units = unit_vectors(vectors, n_docs, None if known is None else known.vectors)
        return (self.recommender_, None) if known is None else (known, units)
