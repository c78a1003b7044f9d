"""What the models with tags share: credit, tag profiles, and the words of tags."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from tagtopics._typing import Float32, Float64
from tagtopics.bp.callbacks import Callback, announce
from tagtopics.bp.graph import joint_profile
from tagtopics.corpus.core import Corpus
from tagtopics.errors import InputError
from tagtopics.jit.threads import beside, limit_threads
from tagtopics.models.documents import is_raw, read_documents
from tagtopics.models.online import OnlineModel
from tagtopics.models.results import TagProfile, largest_weights
from tagtopics.tag_prior.credit import CreditTable
from tagtopics.tag_prior.inference import TagPrior
from tagtopics.tag_prior.learn import (
    PilotScores,
    PilotTopics,
    TagSettings,
    settings_from_numbers,
    settings_to_numbers,
    tag_words_of,
)
from tagtopics.tag_prior.prior import Profiles, kinds_of, pairs_of
from tagtopics.tag_prior.strengths import WORDS

_FEW_TOKENS = 4.0  # inferred tags count for half if a document has this many times the tokens of its prior


class TaggedModel(OnlineModel):
    """Base of `TTM` and `MarkovTTM`: topics, and a `TagPrior` that credits words to tags."""

    order: int
    settings_: TagSettings
    tag_prior_: TagPrior
    tag_kinds_: tuple[str, ...]
    pilot_: PilotScores | None = None  # of models that learn strengths

    @limit_threads
    def explain(self, X: Any, tags: Any = None) -> CreditTable:
        """Return how much of each word each tag of its document accounts for, p(tag | word, document).

        Args:
            X: documents, as in `transform`.
            tags: the tags of each document, as `y` in `fit`; of a single text, its tags. A corpus, and a
                table with a column of tags, has its own.
        """
        if tags is None:
            found = read_documents(self, X) if is_raw(X) else X
            if not isinstance(found, Corpus) or (found is not X and not found.tags.nnz):
                raise InputError("explain: the tags of each document are missing; give tags=...")
            X = tags = found
        counts, indicator = self.new_documents(X, tags)
        credit = self.tag_prior_.credit(counts, indicator)
        doc = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))[credit.edge]
        words, names = np.array(self.vocabulary_, dtype=object), np.array(self.tag_names_, dtype=object)
        tokens, shares = credit.tokens.astype(np.float64), credit.shares.astype(np.float64)
        return CreditTable(doc, words[credit.word], tokens, names[credit.tag], shares)

    def credit_shares(self, corpus: Corpus) -> Iterator[Float32]:
        """Yield the shares of `explain`, some documents at a time; a table of names would be much larger."""
        return (shares for shares, _ in self.tag_prior_.explain(*self.new_documents(corpus, corpus)))

    def tag_profile(self, *tags: str, n_words: int = 10) -> TagProfile:
        """Return the topics and words of a tag, or of several tags together.

        For one tag: the mean of its slot means, and its own words next to those of its topics. For several:
        their hyperedge factor of full order, the topics that all of them share, which may be a minor part of
        each one alone.
        """
        check_is_fitted(self)
        columns = [self.tag_column(tag) for tag in tags]
        if not columns:
            raise InputError("tag_profile: name at least one tag")
        topics = joint_profile(self.tag_means()[columns])
        probabilities = topics @ self.components_
        if len(columns) == 1:
            own, shrinkage = self._known_words()[columns].toarray()[0], self.settings_.shrinkage
            probabilities = (own + shrinkage * probabilities) / (own.sum() + shrinkage)
        words = tuple(largest_weights(self.vocabulary_, probabilities, n_words))
        found = tuple(self.tag_names_[t] for t in columns)
        return TagProfile(found, topics, words, tuple(int(self.tag_docs_[t]) for t in columns))

    def refresh_tag_prior(self) -> None:
        """Build `tag_prior_` again; call this when topics, tags or their words have changed."""
        words, settings = self._known_words(), self.settings_
        pairs = pairs_of(words, np.full(len(self.tag_names_), settings.shrinkage))
        credit = self._credit_strengths()
        self.tag_prior_ = TagPrior(self.phi(), self._profiles(), settings, words, pairs, credit)

    # ------------------------------------------------------------------ for subclasses

    def _credit_strengths(self) -> tuple[float, ...]:
        """Return the pseudo-count of the words of each kind of tag when words are credited to tags."""
        return self.settings_.known.words

    def _credit_words(
        self,
        corpus: Corpus,
        settings: TagSettings,
        callbacks: Sequence[Callback[Any]],
        learn_trust: Callable[[], tuple[float, ...]] = tuple,
    ) -> None:
        """Credit words to tags with these settings, and build `tag_prior_`; the columns are the model's.

        Meanwhile `learn_trust` returns the trust in inferred tags.
        """
        announce(callbacks, "Crediting words to tags")
        self.tag_kinds_ = kinds_of(self.tag_names_)[0]
        alpha = self.doc_topic_prior_
        tokens = np.asarray(corpus.counts.sum(1), dtype=np.float32)[:, np.newaxis]
        doc_sums = np.maximum(self.doc_topic_ * (tokens + alpha.sum()) - alpha, np.float32(0))
        fitted = PilotTopics(corpus.counts, corpus.tags, doc_sums, self.phi(), self._profiles())
        with beside(learn_trust) as trust:
            self.tag_words_ = tag_words_of(fitted, settings)
        self.settings_ = settings._replace(inferred=trust())
        self.refresh_tag_prior()

    def _credit_more(self, counts: Any, tags: Any) -> None:
        """Add the words of more documents to the words credited to their tags."""
        self.refresh_tag_prior()
        known, credit = self._known_words(), self.tag_prior_.credit(counts, tags)
        credited = (credit.own * credit.tokens).astype(np.float32), (credit.tag, credit.word)
        self.tag_words_ = sp.csr_array(known + sp.csr_array(credited, shape=known.shape))
        self.refresh_tag_prior()

    def _profiles(self) -> Profiles:
        kinds, n_kinds = kinds_of(self.tag_names_, self.tag_kinds_)[1], len(self.tag_kinds_)
        means, docs = self.tag_means().astype(np.float32), self.tag_docs_.astype(np.float64)
        return Profiles(self.topic_shares(), means, docs, kinds, n_kinds)

    def _known_words(self) -> sp.csr_array:
        """Return CSR (T, W): the tokens credited to each tag; for new words and tags, none."""
        shape = (len(self.tag_names_), len(self.vocabulary_))
        if self.tag_words_ is None or self.tag_words_.shape == shape:
            return sp.csr_array(shape, dtype=np.float32) if self.tag_words_ is None else self.tag_words_
        grown = self.tag_words_.copy()
        grown.resize(shape)
        return grown

    def _trust(self, n_tokens: Float64) -> Float32:
        """Trust tags as far as was learned, or else less if the tokens seen are few next to the prior.

        The recommender learns from whole documents, so what it finds in a few words is too sure, and it adds
        nothing to what the same words say about topics (decision 224).
        """
        hidden, learned = self.settings_.hidden, self.settings_.inferred
        if learned:
            n = np.log(np.maximum(n_tokens, 1e-9))
            return np.asarray(np.interp(n, np.log(WORDS), learned, left=0.0), dtype=np.float32)
        few = (_FEW_TOKENS * (hidden.flat + hidden.base)) ** 3
        return np.asarray(n_tokens**3 / np.maximum(n_tokens**3 + few, 1e-300), dtype=np.float32)

    def _numbers(self) -> dict[str, float]:
        return super()._numbers() | settings_to_numbers(self.settings_, self.tag_kinds_)

    def _set_numbers(self, numbers: dict[str, float]) -> None:
        super()._set_numbers(numbers)
        self.tag_kinds_, self.settings_ = settings_from_numbers(numbers)
        self.refresh_tag_prior()
