"""Labelled LDA: the topics are the tags, and a document's words come from the tags it carries."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from tagtopics._typing import Float32, Float64
from tagtopics.baselines.labeled import LabeledPropagation, as_topics
from tagtopics.corpus.core import Corpus
from tagtopics.errors import InputError
from tagtopics.graph import build_graph
from tagtopics.inference.learned import TopicAlgorithm
from tagtopics.kernels.threads import resolve_threads
from tagtopics.models.base import TopicModel


class LabeledLDA(TopicModel):
    """Labelled LDA (Ramage et al. 2009) by belief propagation confined to each document's tags.

    There is one topic per tag, plus optional common topics that every document has, so the tags determine the
    number of topics. A training document without tags has only the common topics, and without those it is not
    used. New documents with unknown tags may have any topic: the prior expects each tag as often as it
    occurred. With known tags, a document has the topics of its tags and the common topics only.

    Args:
        n_common_topics: topics that every document has, for words unrelated to any tag. The published model
            has none; one helps if all texts share much vocabulary, and otherwise costs some precision of
            `tag_scores` (decision 023).
        doc_topic_prior: pseudo-count of each of its topics in each document; alpha.
        topic_word_prior: pseudo-count of each word in each topic; beta.
        max_iter: maximum number of sweeps.
        tol: stop when the mean change of a token's message in a sweep falls below this.
        random_state: seed; equal seeds give equal bits at any number of threads.
        n_jobs: threads; None or -1 for all cores.

    Attributes:
        components_: (T + n_common_topics, W) p(word | topic), in the order of `tag_names_`, common ones last.
        doc_topic_, n_iter_, history_, stop_reason_, vocabulary_, doc_ids_: as in `LDA`.
        tag_names_: the T tags.
        tag_docs_: (T,) number of training documents with words that carry each tag.
    """

    def __init__(
        self,
        *,
        n_common_topics: int = 0,
        doc_topic_prior: float = 0.1,
        topic_word_prior: float = 0.05,
        max_iter: int = 200,
        tol: float = 2e-3,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_common_topics = n_common_topics
        self.doc_topic_prior = doc_topic_prior
        self.topic_word_prior = topic_word_prior
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    def tag_scores(self, X: Any) -> Float32:
        """Return (D, T): the share of each document that each tag accounts for, to rank tags by.

        Args:
            X: documents, as in `transform`; their tags are ignored.
        """
        return self.transform(X)[:, : len(self.tag_names_)]

    @property
    def tag_sums_(self) -> Float64:
        """The sums of the tags, (T, K): each tag is its own topic, times `tag_docs_`."""
        check_is_fitted(self, "tag_docs_")
        sums = np.zeros((len(self.tag_docs_), len(self.components_)))
        np.fill_diagonal(sums, self.tag_docs_)
        return sums

    def _n_topics(self, n_tags: int) -> int:
        return n_tags + self.n_common_topics

    def _algorithm(self, corpus: Corpus) -> TopicAlgorithm[Any]:
        if self._n_topics(corpus.n_tags) == 0:
            raise InputError(
                "LabeledLDA requires y to be passed, but the target y is None or without tags; give tags, or "
                "n_common_topics of 1 or more"
            )
        graph = build_graph(corpus.counts, as_topics(corpus.tags, int(self.n_common_topics)))
        alpha, beta = float(self.doc_topic_prior), float(self.topic_word_prior)
        return LabeledPropagation(graph, alpha, beta, self._seed(), resolve_threads(self.n_jobs))

    def _tag_pseudo_counts(self, tags: Any) -> Float32 | None:
        """Return what turns the prior of unknown tags into that of the known ones, (D, K)."""
        if tags is None:
            return None
        topics = as_topics(tags, int(self.n_common_topics)).astype(np.float32)
        known = np.diff(tags.indptr) > 0
        wanted = np.float32(self.doc_topic_prior) * topics.toarray()
        return np.where(known[:, np.newaxis], wanted - self.doc_topic_prior_, np.float32(0))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.n_common_topics == 0
        return tags
