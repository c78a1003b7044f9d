"""The tag-topic model: topics, then a tag prior learned on held-out documents, then a recommender."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from tagtopics._typing import CSR, Float32, Float64
from tagtopics.bp.callbacks import Callback, announce
from tagtopics.bp.executor import Executor
from tagtopics.bp.graph import normalise
from tagtopics.bp.pilot import Pilot
from tagtopics.corpus.align import in_columns
from tagtopics.corpus.core import Corpus
from tagtopics.jit.threads import limit_threads
from tagtopics.models.inferred_trust import learn_trust, some_documents
from tagtopics.models.tagged import TaggedModel
from tagtopics.models.topics import Run, TopicSettings, make_pilot, memory_executor
from tagtopics.tag_prior.inference import Mixture
from tagtopics.tag_prior.learn import (
    PilotScores,
    PilotTopics,
    TagSettings,
    can_learn,
    default_settings,
    learn_settings,
)
from tagtopics.tag_prior.prior import Profiles, kinds_of

_TAG_TOKENS = 5.0  # that the tags of a document are worth where there is too little to learn from


@dataclass(eq=False, repr=False, kw_only=True)
class TTM(TaggedModel):
    """Tag-topic model: topics, and what the tags of a document say about its topics and words.

    Topics are learned first and equal those of `LDA` bit for bit. Then the tag prior is learned: a document's
    prior adds up a flat part, the topics of the corpus, the mean profile of its tags and their joint profile,
    each worth a learned number of tokens; and each tag has words of its own. Where tags do not help to
    predict held-out words, they get no weight. Documents without tags are allowed. `MarkovTTM` is the model
    of the paper, whose tags act while topics are learned.

    Args:
        n_topics: the number of topics, K.
        preset: "default", "fast", or a `Preset`: settings of belief propagation.
        order: 1 leaves out the joint profile of several tags; any other number includes it.
        doc_topic_prior, topic_word_prior, max_iter, tol, memory, random_state, n_jobs, recommender: as in
            `LDA`.

    Attributes:
        components_, doc_topic_, n_iter_, history_, stop_reason_, vocabulary_, doc_ids_: as in `LDA`.
        tag_names_: the T tags.
        tag_docs_: (T,) number of training documents with words that carry each tag.
        tag_words_: CSR (T, W), tokens of each word credited to each tag, beyond what topics explain.
        settings_: how many tokens each part of a document's prior is worth, with tags hidden and known.
        tag_kinds_: the kinds of tags, each with strengths of its own; one empty name if tags have no kinds.
        tag_prior_: profiles, words and strengths of tags as one value, which answers queries.
        pilot_: perplexity of held-out documents in a shorter fit; None if there was none.
        fitted_: when the topics were learned, UTC.
    """

    order: int = 3

    # ------------------------------------------------------------------ the method

    def _learn(self, corpus: Corpus, run: Run) -> None:
        """Learn topics and the tag prior; `fit` then trains (5) the recommender."""
        settings = self.topic_settings()
        executor = memory_executor(corpus, settings) if run.executor is None else run.executor
        settings, start = settings.resolve(corpus, executor), run.start
        # (1) A pilot: topics of a part of the documents. (2) The strengths of tags, on documents held out.
        strengths, trust, scores, pilot = self._learn_strengths(corpus, settings, executor, run.callbacks)
        if pilot is not None:
            piloted = settings.starts_from_pilot(executor.totals.n_docs)
            if start is None and run.vectors is None and piloted:
                start = pilot.start()
            del pilot  # frees its documents
            announce(run.callbacks, "Drawing the first messages")
        # (3) Topics, by belief propagation over all documents.
        run = run._replace(executor=executor, start=start)
        self._store(corpus, self._learn_topics(corpus, settings, run))
        # (4) The words of tags, and the trust in inferred ones, with topics and strengths as they are.
        self.pilot_ = scores
        self._credit_words(corpus, strengths, run.callbacks, trust)

    @limit_threads
    def learn_tag_prior(self, corpus: Corpus, callbacks: Sequence[Callback[Any]] = ()) -> None:
        """Learn again how much tags say, and their words, with the topics as they are."""
        own, settings = in_columns(corpus, self.vocabulary_, self.tag_names_), self.fitted_settings()
        executor = memory_executor(own, settings)
        strengths, trust, self.pilot_, _ = self._learn_strengths(own, settings, executor, callbacks)
        self._credit_words(own, strengths, callbacks, trust)

    def _learn_strengths(
        self, corpus: Corpus, settings: TopicSettings, executor: Executor, callbacks: Sequence[Callback[Any]]
    ) -> tuple[TagSettings, Callable[[], tuple[float, ...]], PilotScores | None, Pilot | None]:
        """Make a pilot and learn the strengths of tags on the documents that it was made without.

        Return them, what then learns the trust in inferred tags, the scores of the pilot, and the pilot.
        """
        alpha = settings.alpha()
        if not can_learn(corpus.counts, corpus.tags):
            n_kinds = len(kinds_of(corpus.tag_names)[0])
            return default_settings(alpha, n_kinds, _TAG_TOKENS), tuple, None, None
        announce(callbacks, "Fitting the tag prior")
        pilot = make_pilot(corpus, settings, executor)
        topics, held_out = pilot_topics(pilot, corpus.tag_names), pilot.held_out
        learned, scores, words = learn_settings(topics, *held_out, pilot.seed, joint=self.order > 1)
        tags, seed, generator = corpus.tag_names, pilot.seed, np.random.default_rng(pilot.seed)
        some = some_documents(topics, generator)
        trust = partial(learn_trust, some, words, learned, alpha, tags, held_out[0], seed, generator)
        return learned, trust, scores, pilot

    # ------------------------------------------------------------------ new documents

    @property
    def infers_tags(self) -> bool:
        """Whether tags inferred from the words of a document say more about it than its words alone."""
        return sum(self.settings_.known.mean) + self.settings_.known.joint > 0

    @limit_threads
    def infer(self, counts: CSR, tags: CSR | None, own_counts: Float32 | None = None) -> Float32:
        """Return the topic proportions (D, K) of new documents; arguments as in `TopicModel.infer`."""
        if tags is None:
            return super().infer(counts, None, own_counts)
        alpha = self.doc_topic_prior_ if own_counts is None else self.doc_topic_prior_ + own_counts
        return self.tag_prior_.doc_topic(counts, tags, alpha)

    def _credit_strengths(self) -> tuple[float, ...]:
        return self.settings_.credit_strengths

    def _log_likelihoods(self, seen: CSR, held_out: CSR, tags: CSR | None) -> Float64:
        return self.tag_prior_.log_likelihoods(self._mixture(seen, tags), held_out)

    def _word_probabilities(self, counts: CSR, tags: CSR | None) -> Float32:
        return self.tag_prior_.word_probabilities(self._mixture(counts, tags))

    def _mixture(self, counts: CSR, tags: CSR | None) -> Mixture:
        known = sp.csr_array((counts.shape[0], len(self.tag_names_))) if tags is None else tags
        return self.tag_prior_.infer(counts, known)

    # ------------------------------------------------------------------ saved numbers

    def _numbers(self) -> dict[str, float]:
        scores = {} if self.pilot_ is None else self.pilot_._asdict()
        return super()._numbers() | {f"pilot.{name}": float(value) for name, value in scores.items()}

    def _set_numbers(self, numbers: dict[str, float]) -> None:
        super()._set_numbers(numbers)
        if "pilot.hidden" in numbers:
            hidden, known, documents = (numbers[f"pilot.{name}"] for name in PilotScores._fields)
            self.pilot_ = PilotScores(hidden, known, int(documents))


def pilot_topics(pilot: Pilot, tag_names: Sequence[str]) -> PilotTopics:
    """Return the topics of a pilot and the profiles of its tags."""
    raised = pilot.word_sums + pilot.topic_word_prior
    phi = np.ascontiguousarray((raised / raised.sum(0)).astype(np.float32))
    tag_docs, K = pilot.tag_docs.astype(np.float64), phi.shape[1]
    docs = np.maximum(tag_docs, 1)[:, np.newaxis]
    means = np.where(tag_docs[:, np.newaxis] > 0, pilot.tag_sums / docs, 1.0 / K).astype(np.float32)
    names, kinds = kinds_of(tag_names)
    profiles = Profiles(normalise(pilot.word_sums.sum(0)), means, tag_docs, kinds, len(names))
    return PilotTopics(pilot.counts, pilot.tags, pilot.doc_sums, phi, profiles)
