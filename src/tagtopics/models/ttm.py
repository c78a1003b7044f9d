"""Tag-topic models: topics, and what the tags of a document say about its topics and words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from tagtopics._typing import Float32, Float64
from tagtopics.bp.callbacks import announce
from tagtopics.bp.fold_in import FoldIn
from tagtopics.bp.graph import Priors, joint_profile, normalised
from tagtopics.bp.loop import Callback, Step
from tagtopics.bp.pilot import Pilot
from tagtopics.corpus.core import Corpus
from tagtopics.errors import InputError
from tagtopics.jit.threads import resolve_threads
from tagtopics.models.inputs import align_tags, align_words
from tagtopics.models.online import OnlineModel, rows_of
from tagtopics.models.results import TagProfile, top_weighted
from tagtopics.models.validation import AUTO, Preset
from tagtopics.recommend.ridge import documents_of
from tagtopics.recommend.similar import near_documents
from tagtopics.tag_prior.credit import CreditTable
from tagtopics.tag_prior.inference import Mixture, TaggedInference
from tagtopics.tag_prior.learn import (
    PilotScores,
    PilotTopics,
    TagSettings,
    can_learn,
    default_settings,
    learn_settings,
    settings_from_numbers,
    settings_to_numbers,
    tag_words_of,
)
from tagtopics.tag_prior.neighbours import Near, trust, trusted
from tagtopics.tag_prior.prior import Profiles, kinds_of, pairs_of

_PAIRWISE, _HIGHER_ORDER = 0.1, 0.05
"""Weights of the paper's TTM-H."""

_TAG_TOKENS = 5.0
"""Tokens that the tags of a document are worth where there is too little to learn from."""


class TTM(OnlineModel):
    """Tag-topic model: topics, and what the tags of a document say about its topics and words.

    Topics are learned first, then what tags say: a document's prior adds up a flat part, the topics of the
    corpus, the mean profile of its tags and what they say together, each worth a learned number of tokens;
    and each tag has words of its own. Where tags do not help to predict held-out words, they get no weight.
    The topics equal those of `LDA` bit for bit, unless tag messages are switched on: `preset="paper"` is the
    paper's TTM-H, `TTM.pairwise()` its TTM-P. Documents without tags are allowed.

    Args:
        n_topics: the number of topics, K.
        preset: "default", "paper", "fast", or a `Preset`: exponent of the words, over-relaxation, start, and
            how much the known tags of a document count.
        pairwise_weight: weight of the message from documents with a common tag while topics are learned; in
            the paper, omega_1. "auto" is 0.1 in the preset "paper", otherwise 0.
        higher_order_weight: weight of the joint message of all tags of a document; in the paper, omega_2.
            "auto" is 0.05 in the preset "paper", otherwise 0.
        order: largest number of tags that a joint message connects; any order costs the same. 1 leaves out
            what several tags say together.
        doc_topic_prior, topic_word_prior, max_iter, tol, memory, random_state, n_jobs: as in `LDA`.

    Attributes:
        components_, doc_topic_, n_iter_, history_, stop_reason_, vocabulary_, doc_ids_: as in `LDA`.
        tag_names_: the T tags.
        tag_docs_: (T,) number of training documents with words that carry each tag.
        tag_words_: CSR (T, W), tokens of each word credited to each tag, beyond what topics explain.
        settings_: how many tokens each part of a document's prior is worth, with tags hidden and known.
        tag_kinds_: the kinds of tags, each with strengths of its own; one empty name if tags have no kinds.
        pairwise_weight_, higher_order_weight_: as used.
        tag_pseudo_count_: as given in the preset; None if the strengths of `settings_` are used instead.
        pilot_: perplexity of documents that a shorter fit was made without; None if there was none.
        fitted_: when the topics were learned, UTC.
    """

    _saved_numbers: ClassVar[tuple[str, ...]] = ("pairwise_weight_", "higher_order_weight_")

    settings_: TagSettings
    _prepared: TaggedInference
    tag_kinds_: tuple[str, ...]
    tag_pseudo_count_: float | None
    pilot_: PilotScores | None = None

    def __init__(
        self,
        n_topics: int = 20,
        *,
        preset: str | Preset = "default",
        pairwise_weight: float | str = AUTO,
        higher_order_weight: float | str = AUTO,
        order: int = 3,
        doc_topic_prior: float | str | None = None,
        topic_word_prior: float | None = None,
        max_iter: int | None = None,
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
        return cls(n_topics, preset="paper", pairwise_weight=0.2, higher_order_weight=0.0)

    @classmethod
    def higher_order(cls, n_topics: int = 20) -> Self:
        """Return the paper's TTM-H: pairwise weight 0.1, higher-order weight 0.05, three tags."""
        return cls(n_topics, preset="paper")

    def explain(self, X: Any, tags: Any = None) -> CreditTable:
        """Return how much of each word each tag of its document accounts for, p(tag | word, document).

        Args:
            X: documents, as in `transform`.
            tags: the tags of each document, as `y` in `fit`; of a single text, its tags. A corpus, and a
                table with a column of tags, has its own.
        """
        if tags is None:
            found = self._as_corpus(X)
            if not isinstance(found, Corpus) or (found is not X and not found.tags.nnz):
                raise InputError("explain: the tags of each document are missing; give tags=...")
            X = tags = found
        counts, indicator = self._new_documents(X, tags)
        credit = self._tagged_inference().credit(counts, indicator)
        doc = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))[credit.edge]
        words, names = np.array(self.vocabulary_, dtype=object), np.array(self.tag_names_, dtype=object)
        tokens, shares = credit.tokens.astype(np.float64), credit.shares.astype(np.float64)
        return CreditTable(doc, words[credit.word], tokens, names[credit.tag], shares)

    def _credit_shares(self, corpus: Corpus) -> Iterator[Float32]:
        """Yield the shares of `explain`, some documents at a time; a table of names would be much larger."""
        return self._tagged_inference().shares(*self._new_documents(corpus, corpus))

    def _topics_and_shares(self, counts: Any, tags: Any) -> tuple[Float32, Float32]:
        """Return theta, (D, K), and the shares of `explain`, of documents in the columns of the model."""
        inference = self._tagged_inference()
        if self.tag_pseudo_count_ is not None:
            return self._infer(counts, tags), inference.credit_shares(counts, tags)[0]
        return inference.topics_and_shares(counts, tags, self.doc_topic_prior_)

    def tag_profile(self, *tags: str, n_words: int = 10) -> TagProfile:
        """Return the topics and words of a tag, or of several tags together.

        For one tag: the mean of its slot means, and its own words next to those of its topics. For several:
        their hyperedge factor of full order, the topics that all of them share, which may be a minor part of
        each one alone.
        """
        check_is_fitted(self)
        columns = [self._column(tag) for tag in tags]
        if not columns:
            raise InputError("tag_profile: name at least one tag")
        topics = joint_profile(self.tag_means()[columns])
        probabilities = topics @ self.components_
        if len(columns) == 1:
            own, shrinkage = self._known_words()[columns].toarray()[0], self.settings_.shrinkage
            probabilities = (own + shrinkage * probabilities) / (own.sum() + shrinkage)
        words = tuple(top_weighted(self.vocabulary_, probabilities, n_words))
        return TagProfile(tags, topics, words, tuple(int(self.tag_docs_[t]) for t in columns))

    @property
    def infers_tags(self) -> bool:
        """Whether tags inferred from the words of a document say more about it than its words alone."""
        return (
            self.tag_pseudo_count_ is None and sum(self.settings_.known.mean) + self.settings_.known.joint > 0
        )

    # ------------------------------------------------------------------ learning what tags say

    def _learn_evidence(
        self, corpus: Corpus, callbacks: Sequence[Callback[Any]], algorithm: Any = None
    ) -> None:
        counts, tags = align_words(corpus, self.vocabulary_), align_tags(corpus, self.tag_names_)
        self.tag_kinds_ = kinds_of(self.tag_names_)[0]
        n_kinds, count = len(self.tag_kinds_), self._preset().tag_pseudo_count
        learned = isinstance(count, str)
        self.tag_pseudo_count_ = None if isinstance(count, str) else float(count)
        tokens = _TAG_TOKENS if self.tag_pseudo_count_ is None else self.tag_pseudo_count_
        self.settings_, self.pilot_ = default_settings(self.doc_topic_prior_, n_kinds, tokens), None
        pilot = None if algorithm is None else algorithm.pilot
        if pilot is not None and pilot.said is not None:
            self.settings_, self.pilot_ = pilot.said
        elif learned and can_learn(counts, tags):
            announce(callbacks, "Learning what tags say")
            if pilot is None:
                priors = self._priors()._replace(doc_topic=self.doc_topic_prior_)
                pilot = self._pilot(counts.shape[0], priors, rows_of(counts, tags))
            found = self._learned_settings(pilot, self.tag_names_, self.doc_topic_prior_)
            self.settings_, self.pilot_ = found
        announce(callbacks, "Crediting words to tags")
        threads, alpha = resolve_threads(self.n_jobs), self.doc_topic_prior_
        tokens_of = np.asarray(counts.sum(1), dtype=np.float32)[:, np.newaxis]
        doc_sums = np.maximum(self.doc_topic_ * (tokens_of + alpha.sum()) - alpha, np.float32(0))
        fitted = PilotTopics(counts, tags, doc_sums, self._phi(), self._profiles())
        self.tag_words_ = tag_words_of(fitted, self.settings_, threads)
        self._prepare()

    def _learn(
        self,
        corpus: Corpus,
        algorithm: Any,
        callbacks: Sequence[Callback[Any]],
        start: tuple[Any, Sequence[Step]] | None = None,
    ) -> None:
        """Learn topics; if there is a pilot, first what tags say, to free its memory before the sweeps."""
        pilot, learned = algorithm.pilot, isinstance(self._preset().tag_pseudo_count, str)
        if pilot is not None and learned and can_learn(corpus.counts, corpus.tags):
            pilot.learn()
            announce(callbacks, "Learning what tags say")
            pilot.said = self._learned_settings(pilot, corpus.tag_names, algorithm.priors.doc_topic)
            pilot.forget()
            announce(callbacks, "Drawing the first messages")
        super()._learn(corpus, algorithm, callbacks, start)

    def _learned_settings(
        self, pilot: Pilot, tag_names: Sequence[str], alpha: Float32
    ) -> tuple[TagSettings, PilotScores | None]:
        """Learn the strengths from documents that a pilot was made without."""
        topics, aside = self._pilot_topics(pilot, tag_names), pilot.take(pilot.aside)
        threads = resolve_threads(self.n_jobs)

        def nearest(seen: Any) -> Near:
            raised = topics.doc_sums + alpha
            theta = raised / raised.sum(1, keepdims=True)
            of_seen = FoldIn(topics.phi, alpha, n_threads=threads).doc_topic(seen)
            index = documents_of(topics.counts, theta)
            return near_documents(seen, of_seen, index, (topics.counts, theta), threads)

        return learn_settings(topics, *aside, pilot.seed, threads, nearest, joint=self.order > 1)

    def _pilot_topics(self, pilot: Pilot, tag_names: Sequence[str]) -> PilotTopics:
        """Return what a pilot says of the documents it was learned from."""
        belief, tag_docs = pilot.belief, pilot.tag_docs
        assert belief.docs is not None
        raised = belief.sums.words + self.topic_word_prior_
        phi = np.ascontiguousarray((raised / raised.sum(0)).astype(np.float32))
        docs = np.maximum(tag_docs, 1)[:, np.newaxis]
        K = belief.sums.words.shape[1]
        means = np.where(tag_docs[:, np.newaxis] > 0, belief.sums.tags / docs, 1.0 / K)
        base = normalised(belief.sums.words.sum(0))
        kinds = kinds_of(tag_names)
        profiles = _profiles_of(base, means, tag_docs, kinds[1], len(kinds[0]))
        return PilotTopics(*pilot.documents, belief.docs.doc_sums, phi, profiles)

    def _profiles(self) -> Profiles:
        kinds, n_kinds = kinds_of(self.tag_names_, self.tag_kinds_)[1], len(self.tag_kinds_)
        return _profiles_of(self.topic_shares(), self.tag_means(), self.tag_docs_, kinds, n_kinds)

    def _prepare(self) -> None:
        """Put together what queries need; call this when topics, tags or their words have changed."""
        words, settings = self._known_words(), self.settings_
        pairs = pairs_of(words, np.full(len(self.tag_names_), settings.shrinkage))
        credit = settings.credit_strengths if self.tag_pseudo_count_ is None else settings.known.words
        self._prepared = TaggedInference(self._phi(), self._profiles(), settings, words, pairs, credit)

    def _tagged_inference(self) -> TaggedInference:
        """Return topics, tag words and strengths, to infer new documents from."""
        if not hasattr(self, "_prepared"):
            check_is_fitted(self)
        return replace(self._prepared, n_threads=resolve_threads(self.n_jobs))

    # ------------------------------------------------------------------ new documents

    def _infer(self, counts: Any, tags: Any) -> Float32:
        if tags is None or self.tag_pseudo_count_ is not None:
            return super()._infer(counts, tags)
        return self._tagged_inference().doc_topic(counts, tags, self.doc_topic_prior_)

    def _log_likelihoods(self, seen: Any, held_out: Any, tags: Any, near: Near | None) -> Float64:
        if self.tag_pseudo_count_ is not None:
            return super()._log_likelihoods(seen, held_out, tags, near)
        inference, found = self._mixture(seen, tags, near)
        return inference.log_likelihoods(found, held_out)

    def _word_probabilities(self, counts: Any, tags: Any, near: Near | None) -> Float32:
        if self.tag_pseudo_count_ is not None:
            return super()._word_probabilities(counts, tags, near)
        inference, found = self._mixture(counts, tags, near)
        return inference.word_probabilities(found)

    def _mixture(self, counts: Any, tags: Any, near: Near | None) -> tuple[TaggedInference, Mixture]:
        """Return the mixture of documents, and what predicts words from it."""
        inference, known = self._tagged_inference(), self._or_none(tags, counts)
        if near is None:
            return inference, inference.infer(counts, known)
        return inference.infer_near(counts, known, near)

    def _near(self, counts: Any) -> Near:
        if self.tag_pseudo_count_ is not None:
            raise InputError("similar documents have no learned strength if tags have a given pseudo-count")
        recommender, threads = self._needed_recommender("similar documents"), resolve_threads(self.n_jobs)
        documents, theta = (recommender.counts, recommender.topics), self._infer(counts, None)
        near = near_documents(counts, theta, recommender.index, documents, threads)
        return trusted(near, _tokens(counts), self.settings_.hidden)

    def _trust(self, n_tokens: Float64) -> Float32:
        """Trust tags less if the tokens seen are few next to the prior.

        The recommender learns from whole documents, so what it finds in a few words is too sure, and it adds
        nothing to what the same words say about topics. Chosen on validation documents (decision 123).
        """
        return trust(n_tokens, self.settings_.hidden)

    def _or_none(self, tags: Any, counts: Any) -> Any:
        """Return tags, CSR (D, T); without entries if they are hidden."""
        return sp.csr_array((counts.shape[0], len(self.tag_names_))) if tags is None else tags

    def _credit_more(self, counts: Any, tags: Any) -> None:
        """Add the words of more documents to the words credited to their tags."""
        self._prepare()
        known, credit = self._known_words(), self._tagged_inference().credit(counts, tags)
        credited = (credit.own * credit.tokens).astype(np.float32), (credit.tag, credit.word)
        self.tag_words_ = sp.csr_array(known + sp.csr_array(credited, shape=known.shape))
        self._prepare()

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
        paper = not isinstance(self._preset().tag_pseudo_count, str)
        pairwise, joint = self.pairwise_weight, self.higher_order_weight if self.order > 1 else 0.0
        w1 = (_PAIRWISE if paper else 0.0) if isinstance(pairwise, str) else float(pairwise)
        w2 = (_HIGHER_ORDER if paper else 0.0) if isinstance(joint, str) else float(joint)
        priors, order = super()._priors(), max(int(self.order), 2)
        return priors._replace(pairwise_weight=w1, higher_order_weight=w2, order=order)

    def _priors_for(self, corpus: Corpus) -> Priors:
        """Return the priors of a fit; what is "auto" is learned from the corpus."""
        priors = super()._priors_for(corpus)
        self.pairwise_weight_, self.higher_order_weight_ = priors.pairwise_weight, priors.higher_order_weight
        return priors

    def _numbers(self) -> dict[str, float]:
        found = super()._numbers()
        if self.tag_pseudo_count_ is not None:
            found["tag_pseudo_count_"] = self.tag_pseudo_count_
        if self.pilot_ is not None:
            found |= {f"pilot.{name}": float(value) for name, value in self.pilot_._asdict().items()}
        return found | settings_to_numbers(self.settings_, self.tag_kinds_)

    def _set_numbers(self, numbers: dict[str, float]) -> None:
        super()._set_numbers(numbers)
        self.tag_pseudo_count_ = numbers.get("tag_pseudo_count_")
        if "pilot.hidden" in numbers:
            hidden, known, documents = (numbers[f"pilot.{name}"] for name in PilotScores._fields)
            self.pilot_ = PilotScores(hidden, known, int(documents))
        if "shrinkage" in numbers:
            self.tag_kinds_, self.settings_ = settings_from_numbers(numbers)
        else:  # a model of 0.1.0
            self.tag_kinds_, count = ("",), self.tag_pseudo_count_ or 0.0
            self.settings_ = default_settings(self.doc_topic_prior_, 1, count)
        self._prepare()

    def _fit_facts(self) -> dict[str, float]:
        found = {} if self.pilot_ is None else self.pilot_._asdict()
        return {f"pilot_{name}": float(value) for name, value in found.items()}

    def _tag_pseudo_counts(self, tags: Any) -> Float32 | None:
        """Spread `tag_pseudo_count_` tokens over the mean profile of the known tags of each document."""
        if tags is None or self.tag_pseudo_count_ is None:
            return None
        known = (self.tag_docs_ > 0)[:, np.newaxis]
        n_known = tags @ known.astype(np.float64)
        mean = (tags @ (self.tag_means() * known)) / np.maximum(n_known, 1)
        return np.asarray(self.tag_pseudo_count_ * mean, dtype=np.float32)


def _profiles_of(base: Float64, means: Float64, tag_docs: Any, kinds: Any, n_kinds: int) -> Profiles:
    return Profiles(base, means.astype(np.float32), tag_docs.astype(np.float64), kinds, n_kinds)


def _tokens(counts: Any) -> Float64:
    """Return the number of tokens of each document, (D,)."""
    return np.asarray(counts.sum(1), dtype=np.float64).ravel()
