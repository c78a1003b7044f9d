"""Tag-topic models: LDA whose documents also listen to those that share a tag, or several tags."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from tagtopics._typing import Float32, Float64
from tagtopics.corpus.core import Corpus
from tagtopics.errors import InputError
from tagtopics.graph import Priors
from tagtopics.kernels import compiled
from tagtopics.kernels.reference import credit, normalised
from tagtopics.models.base import TopicModel, top
from tagtopics.models.results import CreditTable, TagProfile


class TTM(TopicModel):
    """Tag-topic model with pairwise and higher-order tag relations, learned by loopy belief propagation.

    The defaults are the paper's TTM-H; `TTM.pairwise()` is its TTM-P. With both weights zero it is `LDA`,
    bit for bit. Documents without tags are fine.

    Args:
        n_topics: the number of topics, K.
        pairwise_weight: share of the message from documents with a common tag; in the paper, omega_1.
        higher_order_weight: share of the joint message of all of a document's tags; in the paper, omega_2.
        order: how many tags a joint relation connects at the most; any order costs the same.
        tag_pseudo_count: when tags of new documents are known, how many tokens they are worth.
        doc_topic_prior: pseudo-count of each topic in each document; in the paper, alpha.
        topic_word_prior: pseudo-count of each word in each topic; in the paper, beta.
        max_iter: sweeps at the most.
        tol: stop when the mean change of a token's message in a sweep falls below.
        init: "anchors" starts from topics around anchor words, "random" from noise; the first needs fewer
            sweeps and finds planted topics more surely.
        random_state: seed of the start; equal seeds give equal bits at any number of threads.
        n_jobs: threads; None or -1 for all cores.

    Attributes:
        components_, doc_topic_, n_iter_, history_, stop_reason_, vocabulary_, doc_ids_: as in `LDA`.
        tag_names_: the T tags.
        tag_docs_: (T,) how many training documents with words carry each tag.
    """

    def __init__(
        self,
        n_topics: int = 20,
        *,
        pairwise_weight: float = 0.1,
        higher_order_weight: float = 0.05,
        order: int = 3,
        tag_pseudo_count: float = 5.0,
        doc_topic_prior: float = 0.1,
        topic_word_prior: float = 0.05,
        max_iter: int = 200,
        tol: float = 2e-3,
        init: str = "anchors",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_topics = n_topics
        self.pairwise_weight = pairwise_weight
        self.higher_order_weight = higher_order_weight
        self.order = order
        self.tag_pseudo_count = tag_pseudo_count
        self.doc_topic_prior = doc_topic_prior
        self.topic_word_prior = topic_word_prior
        self.max_iter = max_iter
        self.tol = tol
        self.init = init
        self.random_state = random_state
        self.n_jobs = n_jobs

    @classmethod
    def pairwise(cls, n_topics: int = 20) -> Self:
        """Return the paper's TTM-P: pairwise relations alone, at weight 0.2."""
        return cls(n_topics, pairwise_weight=0.2, higher_order_weight=0.0)

    @classmethod
    def higher_order(cls, n_topics: int = 20) -> Self:
        """Return the paper's TTM-H: pairwise weight 0.1, higher-order weight 0.05, three tags."""
        return cls(n_topics, pairwise_weight=0.1, higher_order_weight=0.05, order=3)

    def explain(self, X: Any, tags: Any = None) -> CreditTable:
        """Tell how much of each word each tag of its document accounts for, p(tag | word, document).

        Args:
            X: documents, as in `transform`.
            tags: the tags of each, as `y` in `fit`; a corpus brings its own.
        """
        tags = X if tags is None and isinstance(X, Corpus) else tags
        if tags is None:
            raise InputError("explain: which tags? give tags= the tags of each document")
        counts, indicator = self._new_documents(X, tags)
        profiles = self.tag_means()
        tables = []
        for batch in self._fold_in().batches(counts, self._tag_pseudo_counts(indicator)):
            for d in range(batch.first, batch.last):
                edges = slice(*batch.graph.doc_edges[d - batch.first : d - batch.first + 2])
                slots = indicator.indices[indicator.indptr[d] : indicator.indptr[d + 1]]
                shares = credit(batch.messages[edges], profiles[slots])
                words, weights = batch.graph.edge_word[edges], batch.graph.edge_count[edges]
                tables.append(self._credit_rows(d, words, weights, slots, shares))
        return _stacked(tables)

    def tag_profile(self, *tags: str, n_words: int = 10) -> TagProfile:
        """Tell what a tag, or several tags together, stand for.

        One tag: the mean of its slot means. Several: their hyperedge factor of full order, the topics that
        all of them share, which may be a minor part of each alone.
        """
        check_is_fitted(self)
        columns = [self._column(tag) for tag in tags]
        if not columns:
            raise InputError("tag_profile: name at least one tag")
        means = self.tag_means()[columns]
        topics = normalised(compiled.hyperedge_factor(means, len(columns)))
        words = tuple(top(self.vocabulary_, topics @ self.components_, n_words))
        return TagProfile(tags, topics, words, tuple(int(self.tag_docs_[t]) for t in columns))

    def _priors(self) -> Priors:
        return (
            super()
            ._priors()
            ._replace(
                pairwise_weight=float(self.pairwise_weight),
                higher_order_weight=float(self.higher_order_weight),
                order=int(self.order),
            )
        )

    def _tag_pseudo_counts(self, tags: Any) -> Float32 | None:
        """Spread `tag_pseudo_count` tokens over the mean profile of a document's known tags."""
        if tags is None:
            return None
        n_tags = np.diff(tags.indptr)[:, np.newaxis]
        mean = (tags @ self.tag_means()) / np.maximum(n_tags, 1)
        return np.asarray(self.tag_pseudo_count * mean, dtype=np.float32)

    def _credit_rows(self, d: int, words: Any, counts: Any, slots: Any, shares: Float64) -> CreditTable:
        n_words, n_tags = shares.shape
        vocabulary = np.array([self.vocabulary_[w] for w in words], dtype=object)
        names = np.array([self.tag_names_[t] for t in slots], dtype=object)
        return CreditTable(
            doc=np.full(n_words * n_tags, d, dtype=np.int64),
            word=np.repeat(vocabulary, n_tags),
            count=np.repeat(counts.astype(np.float64), n_tags),
            tag=np.tile(names, n_words),
            credit=shares.ravel(),
        )

    def _column(self, tag: str) -> int:
        try:
            return self.tag_names_.index(tag)
        except ValueError:
            import difflib

            close = difflib.get_close_matches(tag, self.tag_names_, n=3)
            hint = f"; did you mean {', '.join(map(repr, close))}?" if close else ""
            raise InputError(f"the model has no tag {tag!r}{hint}") from None


def _stacked(tables: list[CreditTable]) -> CreditTable:
    if not tables:
        empty, names = np.empty(0), np.empty(0, dtype=object)
        return CreditTable(empty.astype(np.int64), names, empty, names, empty)
    columns = [table.to_dict() for table in tables]
    return CreditTable(**{name: np.concatenate([column[name] for column in columns]) for name in columns[0]})
