"""Tag-topic models: LDA whose documents also listen to those that share a tag, or several tags."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from tagtopics._typing import Float32
from tagtopics.corpus.align import moved
from tagtopics.corpus.core import Corpus
from tagtopics.credit.attribution import credit_words, learn_tag_words
from tagtopics.errors import InputError
from tagtopics.graph import Priors, normalised
from tagtopics.inference.learn_priors import (
    SHARES,
    LearnedWeights,
    can_learn_weights,
    learn_weights,
    weights_holdout,
)
from tagtopics.kernels.bp.tags import hyperedge_factor
from tagtopics.models.base import TopicModel, top
from tagtopics.models.inputs import TrainingData
from tagtopics.models.online import Online
from tagtopics.models.results import CreditTable, TagProfile

_COUNT = 5.0
"""What known tags are worth in tokens where it is to be learned and there is too little to learn from."""


class TTM(Online, TopicModel):
    """Tag-topic model with pairwise and higher-order tag relations, learned by loopy belief propagation.

    The defaults are the paper's TTM-H; `TTM.pairwise()` is its TTM-P. With both weights zero it is `LDA`,
    bit for bit. Documents without tags are fine.

    Args:
        n_topics: the number of topics, K.
        pairwise_weight: share of the message from documents with a common tag; in the paper, omega_1.
        higher_order_weight: share of the joint message of all of a document's tags; in the paper, omega_2.
        weights: "given" takes the two weights as they are; "auto" takes the largest part of them (all, half,
            a quarter, an eighth, none) that costs at most 0.2 % perplexity on documents set aside, for
            five times forty sweeps more. With fewer than 200 documents they stay as given.
        order: how many tags a joint relation connects at the most; any order costs the same.
        tag_pseudo_count: when tags of new documents are known, how many tokens they are worth;
            "auto" finds the most that costs as little on documents set aside (5 for fewer than 200).
        doc_topic_prior: pseudo-count of each topic in each document; in the paper, alpha. "learned" finds it
            on documents set aside, for about twenty sweeps more.
        topic_word_prior: pseudo-count of each word in each topic; in the paper, beta.
        word_weight: power of a word's message, from 0 to 1, in sixteenths; in the paper, 1. Below 1 tags have
            more to say.
        stride: how much further than messages took them sums of words go in the first sweeps, from 0 to 1;
            0.8 reaches the same quality in fewer sweeps, for fits that stop early (`max_iter`).
        max_iter: sweeps at the most.
        tol: stop when the mean change of a token's message in a sweep falls below.
        init: "anchors" starts from topics around anchor words, "random" from noise; the first needs fewer
            sweeps and finds planted topics more surely.
        memory: "stored" keeps all messages, the fastest; "lean" recalls them in each sweep and needs memory
            for documents, words and tags only; "auto" is stored up to half of the machine's memory.
        random_state: seed of the start; equal seeds give equal bits at any number of threads.
        n_jobs: threads; None or -1 for all cores.

    Attributes:
        components_, doc_topic_, n_iter_, history_, stop_reason_, vocabulary_, doc_ids_: as in `LDA`.
        tag_names_: the T tags.
        tag_docs_: (T,) how many training documents with words carry each tag.
        pairwise_weight_, higher_order_weight_, tag_pseudo_count_: as given, or as learned.
    """

    def __init__(
        self,
        n_topics: int = 20,
        *,
        pairwise_weight: float = 0.1,
        higher_order_weight: float = 0.05,
        weights: str = "given",
        order: int = 3,
        tag_pseudo_count: float | str = 5.0,
        doc_topic_prior: float | str = 0.1,
        topic_word_prior: float = 0.05,
        word_weight: float = 1.0,
        stride: float = 0.0,
        max_iter: int = 200,
        tol: float = 2e-3,
        init: str = "anchors",
        memory: str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_topics = n_topics
        self.pairwise_weight = pairwise_weight
        self.higher_order_weight = higher_order_weight
        self.weights = weights
        self.order = order
        self.tag_pseudo_count = tag_pseudo_count
        self.doc_topic_prior = doc_topic_prior
        self.topic_word_prior = topic_word_prior
        self.word_weight = word_weight
        self.stride = stride
        self.max_iter = max_iter
        self.tol = tol
        self.init = init
        self.memory = memory
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
        self._learn_tag_words()
        known = self.tag_words_
        if known is None:
            known = sp.csr_array((len(self.tag_names_), len(self.vocabulary_)), dtype=np.float32)
        claims, shares = credit_words(counts, indicator, self.tag_means(), self._phi(), known)
        doc = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))[claims.edge]
        words, names = np.array(self.vocabulary_, dtype=object), np.array(self.tag_names_, dtype=object)
        return CreditTable(doc, words[claims.word], claims.tokens, names[claims.tag], shares)

    def _learn_tag_words(self) -> None:
        """Credit the words of the training documents to their tags, where they are at hand."""
        if self.tag_words_ is None and self._trained_on:
            counts, tags, names = self._training_documents()
            self.tag_words_ = learn_tag_words(
                counts, moved(tags, names, self.tag_names_), self.tag_means(), self._phi()
            )

    def _credit_more(self, counts: Any, tags: Any) -> None:
        """Credit the words of more documents to their tags, beside what is credited already."""
        shape = (len(self.tag_names_), len(self.vocabulary_))
        known = sp.csr_array(shape, dtype=np.float32) if self.tag_words_ is None else self.tag_words_.copy()
        known.resize(shape)
        claims, shares = credit_words(counts, tags, self.tag_means(), self._phi(), known)
        credited = (shares * claims.tokens).astype(np.float32), (claims.tag, claims.word)
        self.tag_words_ = sp.csr_array(known + sp.csr_array(credited, shape=shape))

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
        topics = normalised(hyperedge_factor(means, len(columns)))
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
                word_exponent=float(self.word_weight),
                relaxation=float(self.stride),
            )
        )

    def _priors_for(self, data: TrainingData) -> Priors:
        """Return the priors of a fit, with the weights learned if that is asked for."""
        learned = self._weighed(data, super()._priors_for(data))
        self.pairwise_weight_ = learned.priors.pairwise_weight
        self.higher_order_weight_ = learned.priors.higher_order_weight
        self.tag_pseudo_count_ = learned.tag_pseudo_count
        return learned.priors

    def _weighed(self, data: TrainingData, priors: Priors) -> LearnedWeights:
        given = _COUNT if isinstance(self.tag_pseudo_count, str) else float(self.tag_pseudo_count)
        asked = "auto" in (self.weights, self.tag_pseudo_count)
        if not (asked and can_learn_weights(data.counts, data.tags)):
            return LearnedWeights(priors, given)
        parts = weights_holdout(data.counts, data.tags, self._seed())
        if not parts.hidden.nnz:
            return LearnedWeights(priors, given)
        shares = SHARES if self.weights == "auto" else (1.0,)
        found = learn_weights(parts, self._belief_propagation(parts.graph, priors), shares)
        return found if self.tag_pseudo_count == "auto" else found._replace(tag_pseudo_count=given)

    def _tag_pseudo_counts(self, tags: Any) -> Float32 | None:
        """Spread `tag_pseudo_count` tokens over the mean profile of a document's tags that were learned."""
        if tags is None:
            return None
        known = (self.tag_docs_ > 0)[:, np.newaxis]
        n_known = tags @ known.astype(np.float64)
        mean = (tags @ (self.tag_means() * known)) / np.maximum(n_known, 1)
        learned = isinstance(self.tag_pseudo_count, str)
        tokens = self.tag_pseudo_count_ if learned else self.tag_pseudo_count
        return np.asarray(tokens * mean, dtype=np.float32)

    def _column(self, tag: str) -> int:
        try:
            return self.tag_names_.index(tag)
        except ValueError:
            import difflib

            close = difflib.get_close_matches(tag, self.tag_names_, n=3)
            hint = f"; did you mean {', '.join(map(repr, close))}?" if close else ""
            raise InputError(f"the model has no tag {tag!r}{hint}") from None
