"""The paper's model: relations between documents with common tags, as factors in the sweeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from tagtopics._typing import Float32
from tagtopics.bp.callbacks import Callback
from tagtopics.corpus.align import in_columns
from tagtopics.corpus.core import Corpus
from tagtopics.jit.threads import limit_threads
from tagtopics.models.tagged import TaggedModel
from tagtopics.models.topics import Run, TopicSettings
from tagtopics.models.validation import Preset
from tagtopics.tag_prior.learn import default_settings
from tagtopics.tag_prior.prior import kinds_of


@dataclass(eq=False, repr=False, kw_only=True)
class MarkovTTM(TaggedModel):
    """Higher-order Markov tag-topic model, the model of the paper.

    While topics are learned, documents that share a tag send each other messages: a pairwise factor for each
    tag, and a hyperedge factor for all tags of a document. The default is the paper's TTM-H,
    `MarkovTTM.pairwise()` its TTM-P. `TTM` is recommended for applications: it predicts better.

    Args:
        n_topics: the number of topics, K.
        pairwise_weight: weight of the messages between documents with a common tag; in the paper, omega_1.
        higher_order_weight: weight of the joint message of all tags of a document; in the paper, omega_2.
        order: largest number of tags that a joint message connects; any order costs the same. 1 leaves the
            joint message out.
        tag_pseudo_count: tokens that the mean profile of the known tags of a new document is worth.
        preset: "paper", another name, or a `Preset`: settings of belief propagation.
        doc_topic_prior, topic_word_prior, max_iter, tol, memory, random_state, n_jobs, recommender: as in
            `LDA`.

    Attributes:
        components_, doc_topic_, n_iter_, history_, stop_reason_, vocabulary_, doc_ids_: as in `LDA`.
        tag_names_, tag_docs_, tag_words_: as in `TTM`.
        fitted_: when the topics were learned, UTC.
    """

    pairwise_weight: float = 0.1
    higher_order_weight: float = 0.05
    order: int = 3
    tag_pseudo_count: float = 5.0
    preset: str | Preset = "paper"

    @classmethod
    def pairwise(cls, n_topics: int = 20) -> Self:
        """Return the paper's TTM-P: pairwise relations only, with weight 0.2."""
        return cls(n_topics, pairwise_weight=0.2, higher_order_weight=0.0)

    def topic_settings(self) -> TopicSettings:
        """Return the parameters as `fit_topics` takes them, with the weights of both factors."""
        return replace(
            super().topic_settings(),
            pairwise_weight=float(self.pairwise_weight),
            higher_order_weight=float(self.higher_order_weight) if self.order > 1 else 0.0,
            order=int(self.order),
        )

    def _learn(self, corpus: Corpus, run: Run) -> None:
        super()._learn(corpus, run)
        self.learn_tag_prior(corpus, run.callbacks)

    @limit_threads
    def learn_tag_prior(self, corpus: Corpus, callbacks: Sequence[Callback[Any]] = ()) -> None:
        """Credit words to tags; the strength of tags is given, not learned."""
        n_kinds = len(kinds_of(self.tag_names_)[0])
        settings = default_settings(self.doc_topic_prior_, n_kinds, float(self.tag_pseudo_count))
        own = in_columns(corpus, self.vocabulary_, self.tag_names_)
        self._credit_words(own, settings, callbacks)

    def _tag_pseudo_counts(self, tags: Any) -> Float32 | None:
        """Spread `tag_pseudo_count` tokens over the mean profile of the known tags of each document."""
        if tags is None:
            return None
        known = (self.tag_docs_ > 0)[:, np.newaxis]
        n_known = tags @ known.astype(np.float64)
        mean = (tags @ (self.tag_means() * known)) / np.maximum(n_known, 1)
        return np.asarray(float(self.tag_pseudo_count) * mean, dtype=np.float32)
