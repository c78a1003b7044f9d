"""Labelled LDA: the topics are the tags, and a document's words come from the tags it carries.

The updates are those of LDA with each message restricted to the document's topics, so memory and time are
linear in the sum over documents of words times tags, not in the number of tags.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from tagtopics._typing import Float32, Float64, Int32, Int64
from tagtopics.baselines import labeled_loops
from tagtopics.baselines.baseline import Baseline
from tagtopics.bp.graph import FactorGraph, build_graph
from tagtopics.bp.loop import Learned, TopicAlgorithm
from tagtopics.corpus.core import Corpus
from tagtopics.errors import InputError
from tagtopics.jit.threads import run_ranges
from tagtopics.tag_prior.mixture_loops import first_claims
from tagtopics.tag_prior.prior import claims_of

MOST_CELLS = 400_000_000  # largest number of words times topics: the topics of a model are a dense matrix


@dataclass(eq=False, repr=False, kw_only=True)
class LabeledLDA(Baseline):
    """Labelled LDA (Ramage et al. 2009) by belief propagation confined to each document's tags.

    There is one topic per tag, so the tags determine the number of topics. A training document without tags
    is not used. New documents with unknown tags may have any topic: the prior expects each tag as often as it
    occurred. With known tags, a document has the topics of its tags only.

    Args:
        doc_topic_prior: pseudo-count of each of its topics in each document; alpha.
        topic_word_prior: pseudo-count of each word in each topic; beta.
        max_iter: maximum number of sweeps.
        tol: stop when the mean change of a token's message in a sweep falls below this.
        random_state: seed; equal seeds give equal bits at any number of threads.
        n_jobs: threads; None or -1 for all cores.

    Attributes:
        components_: (T, W) p(word | topic), in the order of `tag_names_`.
        doc_topic_, n_iter_, history_, stop_reason_, vocabulary_, doc_ids_: as in `LDA`.
        tag_names_: the T tags.
        tag_docs_: (T,) number of training documents with words that carry each tag.
    """

    tol: float = 2e-3

    def tag_scores(self, X: Any) -> Float32:
        """Return (D, T): the share of each document that each tag accounts for, to rank tags by.

        Args:
            X: documents, as in `transform`; their tags are ignored.
        """
        return self.transform(X)

    @property
    def tag_sums_(self) -> Float64:
        """The sums of the tags, (T, T): each tag is its own topic, times `tag_docs_`."""
        check_is_fitted(self, "tag_docs_")
        return np.diag(self.tag_docs_.astype(np.float64))

    def count_topics(self, n_tags: int) -> int:
        """Return the number of topics: one for each tag."""
        return n_tags

    def _algorithm(self, corpus: Corpus) -> TopicAlgorithm[Any]:
        if corpus.n_tags == 0:
            raise InputError(
                "LabeledLDA requires y to be passed, but the target y is None or without tags; give tags"
            )
        graph = build_graph(corpus.counts, corpus.tags)
        priors = float(self.doc_topic_prior), float(self.topic_word_prior)
        return LabeledPropagation(graph, *priors, self._seed())

    def _tag_pseudo_counts(self, tags: Any) -> Float32 | None:
        """Return what turns the prior of unknown tags into that of the known ones, (D, K)."""
        if tags is None:
            return None
        known = np.diff(tags.indptr) > 0
        wanted = np.float32(self.doc_topic_prior) * tags.astype(np.float32).toarray()
        return np.where(known[:, np.newaxis], wanted - self.doc_topic_prior_, np.float32(0))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


class LabeledState(NamedTuple):
    """One point of the iteration."""

    messages: Float32  # flat: for each document a table of its edges by its slots, count times message
    slot_sums: Float32  # (S,) tokens of each slot
    word_sums: Float64  # (W, K)


@dataclass(frozen=True)
class LabeledPropagation:
    """Sweeps over all messages of a corpus whose slots are the topics of each document."""

    graph: FactorGraph  # the corpus; its tags are the topics
    alpha: float  # pseudo-count of each slot
    beta: float  # pseudo-count of each word in each topic
    seed: int  # of the random start

    @cached_property
    def tables(self) -> Int64:
        """Where the messages of each document begin, (D + 1,)."""
        return first_claims(self.graph)

    @cached_property
    def _cells(self) -> tuple[Int32, Int32]:
        """The word and the topic of each message."""
        edges, slots = claims_of(self.graph.doc_edges, self.graph.doc_slots)
        return self.graph.edge_word[edges], self.graph.slot_tag[slots]

    def init(self) -> LabeledState:
        """Return nearly uniform messages and their sums."""
        W, K = self.graph.n_words, self.graph.n_tags
        if W * K > MOST_CELLS:
            raise InputError(
                f"labelled LDA has a topic for each tag: {K:,} topics of {W:,} words need "
                f"{W * K * 16 / 2**30:.0f} GB; remove rare tags or words"
            )
        messages = np.empty(int(self.tables[-1]), dtype=np.float32)
        slot_sums = np.zeros(self.graph.n_slots, dtype=np.float32)
        arguments = (self.graph, self.tables, np.uint64(self.seed), messages, slot_sums)
        run_ranges(labeled_loops.start, self.tables, 4, *arguments)
        return LabeledState(messages, slot_sums, self._word_sums(messages))

    def step(self, state: LabeledState) -> tuple[LabeledState, float]:
        """Return the state after one sweep, and the mean change of a token's message."""
        change = np.zeros(self.graph.n_docs)
        given = state.word_sums.astype(np.float32), state.word_sums.sum(0).astype(np.float32)
        numbers = (np.float32(self.alpha), np.float32(self.beta))
        arguments = (self.graph, self.tables, *given, *numbers, state.messages, state.slot_sums, change)
        run_ranges(labeled_loops.update_documents, self.tables, 8, *arguments)
        tokens = max(float(self.graph.edge_count.sum(dtype=np.float64)), 1e-300)
        after = state._replace(word_sums=self._word_sums(state.messages))
        return after, float(change.sum()) / tokens

    def learned(self, state: LabeledState) -> Learned:
        """Return topics and proportions.

        The prior of a new document is alpha times the share of documents with each topic, the mean prior in
        training.
        """
        D, K = self.graph.n_docs, self.graph.n_tags
        n_slots, n_docs = np.diff(self.graph.doc_slots), np.bincount(self.graph.slot_tag, minlength=K)
        prior = np.asarray(self.alpha * (np.maximum(n_docs, 0.5) / max(D, 1)), dtype=np.float32)
        theta = np.zeros((D, K), dtype=np.float32)
        theta[n_slots == 0] = prior
        theta[np.repeat(np.arange(D), n_slots), self.graph.slot_tag] = state.slot_sums + self.alpha
        theta /= theta.sum(1, keepdims=True, dtype=np.float64)
        return Learned(state.word_sums, theta, prior, {})

    def _word_sums(self, messages: Float32) -> Float64:
        """Return the sums of the messages of each word, (W, K)."""
        shape = (self.graph.n_words, self.graph.n_tags)
        return np.asarray(sp.coo_array((messages.astype(np.float64), self._cells), shape=shape).toarray())
