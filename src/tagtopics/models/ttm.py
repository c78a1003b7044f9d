"""Tag-topic models: LDA with messages between documents that share one tag or several."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from tagtopics._typing import Float32
from tagtopics.corpus.core import Corpus
from tagtopics.credit.attribution import CreditTable, credit_words, learn_tag_words
from tagtopics.errors import InputError
from tagtopics.graph import Priors, joint_profile
from tagtopics.inference.learn_priors import (
    SHARES,
    LearnedWeights,
    can_learn_weights,
    learn_weights,
    weights_holdout,
)
from tagtopics.inference.loop import Callback
from tagtopics.models.base import announce
from tagtopics.models.inputs import align_tags, align_words
from tagtopics.models.online import OnlineModel
from tagtopics.models.results import TagProfile, top_weighted
from tagtopics.models.validation import AUTO, Preset

_PAIRWISE, _HIGHER_ORDER, _PSEUDO_COUNT = 0.1, 0.05, 5.0
"""The largest weights that "auto" tries, and the pseudo-count of tags where there is too little to learn."""


class TTM(OnlineModel):
    """Tag-topic model with pairwise and higher-order tag relations, learned by loopy belief propagation.

    The defaults are the paper's TTM-H; `TTM.pairwise()` is its TTM-P. With both weights zero it equals `LDA`
    bit for bit. Documents without tags are allowed.

    Args:
        n_topics: the number of topics, K.
        preset: "default", "paper", "fast", or a `Preset`: exponent of the words, over-relaxation, start, and
            the pseudo-count of known tags.
        pairwise_weight: weight of the message from documents with a common tag; in the paper, omega_1. "auto"
            takes the largest share of 0.1 (all, half, a quarter, an eighth, none) that costs at most 0.2 %
            perplexity on held-out documents, and scales the higher-order weight by the same share; this takes
            five times forty more sweeps. With fewer than 200 documents the share is one.
        higher_order_weight: weight of the joint message of all tags of a document; in the paper, omega_2.
            "auto" is 0.05, scaled together with `pairwise_weight`.
        order: largest number of tags that a joint relation connects; any order costs the same.
        doc_topic_prior, topic_word_prior, max_iter, tol, memory, random_state, n_jobs: as in `LDA`.

    Attributes:
        components_, doc_topic_, n_iter_, history_, stop_reason_, vocabulary_, doc_ids_: as in `LDA`.
        tag_names_: the T tags.
        tag_docs_: (T,) number of training documents with words that carry each tag.
        tag_words_: CSR (T, W), tokens of each word credited to each tag in training; None before `fit`.
        pairwise_weight_, higher_order_weight_, tag_pseudo_count_: as given, or as learned.
    """

    _saved_numbers: ClassVar[tuple[str, ...]] = (
        "pairwise_weight_", "higher_order_weight_", "tag_pseudo_count_",
    )  # fmt: skip

    def __init__(
        self,
        n_topics: int = 20,
        *,
        preset: str | Preset = "default",
        pairwise_weight: float | str = _PAIRWISE,
        higher_order_weight: float | str = _HIGHER_ORDER,
        order: int = 3,
        doc_topic_prior: float | str = 0.1,
        topic_word_prior: float = 0.05,
        max_iter: int = 200,
        tol: float = 2e-3,
        memory: str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_topics = n_topics
        self.preset = preset
        self.pairwise_weight = pairwise_weight
        self.higher_order_weight = higher_order_weight
        self.order = order
        self.doc_topic_prior = doc_topic_prior
        self.topic_word_prior = topic_word_prior
        self.max_iter = max_iter
        self.tol = tol
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs

    @classmethod
    def pairwise(cls, n_topics: int = 20) -> Self:
        """Return the paper's TTM-P: pairwise relations only, with weight 0.2."""
        return cls(n_topics, pairwise_weight=0.2, higher_order_weight=0.0)

    @classmethod
    def higher_order(cls, n_topics: int = 20) -> Self:
        """Return the paper's TTM-H: pairwise weight 0.1, higher-order weight 0.05, three tags."""
        return cls(n_topics, pairwise_weight=0.1, higher_order_weight=0.05, order=3)

    def explain(self, X: Any, tags: Any = None) -> CreditTable:
        """Return how much of each word each tag of its document accounts for, p(tag | word, document).

        Args:
            X: documents, as in `transform`.
            tags: the tags of each document, as `y` in `fit`; a corpus has its own.
        """
        tags = X if tags is None and isinstance(X, Corpus) else tags
        if tags is None:
            raise InputError("explain: the tags of each document are missing; give tags=...")
        counts, indicator = self._new_documents(X, tags)
        claims, shares = credit_words(counts, indicator, self.tag_means(), self._phi(), self._known_words())
        doc = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))[claims.edge]
        words, names = np.array(self.vocabulary_, dtype=object), np.array(self.tag_names_, dtype=object)
        return CreditTable(doc, words[claims.word], claims.tokens, names[claims.tag], shares)

    def tag_profile(self, *tags: str, n_words: int = 10) -> TagProfile:
        """Return the topics and words of a tag, or of several tags together.

        For one tag: the mean of its slot means. For several: their hyperedge factor of full order, the topics
        that all of them share, which may be a minor part of each one alone.
        """
        check_is_fitted(self)
        columns = [self._column(tag) for tag in tags]
        if not columns:
            raise InputError("tag_profile: name at least one tag")
        topics = joint_profile(self.tag_means()[columns])
        words = tuple(top_weighted(self.vocabulary_, topics @ self.components_, n_words))
        return TagProfile(tags, topics, words, tuple(int(self.tag_docs_[t]) for t in columns))

    def _learn_tag_words(self, corpus: Corpus, callbacks: Sequence[Callback[Any]]) -> None:
        announce(callbacks, "Crediting words to tags")
        counts, tags = align_words(corpus, self.vocabulary_), align_tags(corpus, self.tag_names_)
        self.tag_words_ = learn_tag_words(counts, tags, self.tag_means(), self._phi())

    def _credit_more(self, counts: Any, tags: Any) -> None:
        """Add the words of more documents to the words credited to their tags."""
        known = self._known_words()
        claims, shares = credit_words(counts, tags, self.tag_means(), self._phi(), known)
        credited = (shares * claims.tokens).astype(np.float32), (claims.tag, claims.word)
        self.tag_words_ = sp.csr_array(known + sp.csr_array(credited, shape=known.shape))

    def _known_words(self) -> sp.csr_array:
        """Return CSR (T, W): the tokens credited to each tag; for new words and tags, none."""
        shape = (len(self.tag_names_), len(self.vocabulary_))
        if self.tag_words_ is None:
            return sp.csr_array(shape, dtype=np.float32)
        if self.tag_words_.shape == shape:
            return self.tag_words_
        grown = self.tag_words_.copy()
        grown.resize(shape)
        return grown

    def _priors(self) -> Priors:
        pairwise, higher_order = self.pairwise_weight, self.higher_order_weight
        priors = super()._priors()
        return priors._replace(
            pairwise_weight=_PAIRWISE if isinstance(pairwise, str) else float(pairwise),
            higher_order_weight=_HIGHER_ORDER if isinstance(higher_order, str) else float(higher_order),
            order=int(self.order),
        )

    def _priors_for(self, corpus: Corpus) -> Priors:
        """Return the priors of a fit; what is "auto" is learned from the corpus."""
        learned = self._weighed(corpus, super()._priors_for(corpus))
        self.pairwise_weight_ = learned.priors.pairwise_weight
        self.higher_order_weight_ = learned.priors.higher_order_weight
        self.tag_pseudo_count_ = learned.tag_pseudo_count
        return learned.priors

    def _weighed(self, corpus: Corpus, priors: Priors) -> LearnedWeights:
        count = self._preset().tag_pseudo_count
        given = _PSEUDO_COUNT if isinstance(count, str) else float(count)
        wanted = AUTO in (self.pairwise_weight, count)
        if not (wanted and can_learn_weights(corpus.counts, corpus.tags)):
            return LearnedWeights(priors, given)
        parts = weights_holdout(corpus.counts, corpus.tags, self._seed())
        if not parts.hidden.nnz:
            return LearnedWeights(priors, given)
        shares = SHARES if self.pairwise_weight == AUTO else (1.0,)
        found = learn_weights(parts, self._belief_propagation(parts.graph, priors), shares)
        return found if count == AUTO else found._replace(tag_pseudo_count=given)

    def _tag_pseudo_counts(self, tags: Any) -> Float32 | None:
        """Spread `tag_pseudo_count_` tokens over the mean profile of the known tags of each document."""
        if tags is None:
            return None
        known = (self.tag_docs_ > 0)[:, np.newaxis]
        n_known = tags @ known.astype(np.float64)
        mean = (tags @ (self.tag_means() * known)) / np.maximum(n_known, 1)
        return np.asarray(self.tag_pseudo_count_ * mean, dtype=np.float32)

    def _column(self, tag: str) -> int:
        try:
            return self.tag_names_.index(tag)
        except ValueError:
            close = difflib.get_close_matches(tag, self.tag_names_, n=3)
            hint = f"; did you mean {', '.join(map(repr, close))}?" if close else ""
            raise InputError(f"the model has no tag {tag!r}{hint}") from None
