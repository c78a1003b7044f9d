"""Topics: settings in, a value out. Every fit of `LDA`, `TTM` and `MarkovTTM` goes through `fit_topics`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tagtopics._typing import Float32, Float64, Int64
from tagtopics.bp.callbacks import Callback, Step
from tagtopics.bp.executor import Executor, MemoryExecutor, Take, is_lean
from tagtopics.bp.graph import FactorGraph, Priors, Totals, build_graph
from tagtopics.bp.learn_priors import choose_priors, default_alpha, default_beta
from tagtopics.bp.loop import run
from tagtopics.bp.pilot import (
    RELAXATION,
    SWEEPS,
    SWEEPS_AFTER,
    SWEEPS_BEFORE,
    Pilot,
    choose_held_out,
    most_documents,
)
from tagtopics.bp.propagation import LAST_SHARE, LAST_SWEEPS, BeliefPropagation, Start
from tagtopics.bp.relations import RELATED_SWEEPS, Relations
from tagtopics.corpus.core import Corpus
from tagtopics.models.validation import Preset


@dataclass(frozen=True, eq=False)
class TopicFit:
    """What a topic algorithm learned.

    Attributes:
        word_sums: (W, K) tokens of each word in each topic.
        doc_topic: (D, K) topic proportions of the training documents; rows add up to one.
        doc_topic_prior: (K,) pseudo-counts of a new document.
        more: what only some algorithms learn, by the name of the fitted attribute.
        topic_word_prior: pseudo-count of each word in p(word | topic).
        tag_docs: (T,) number of training documents with words that carry each tag.
        history: the iterations.
        stop_reason: converged, max_iter or stopped.
    """

    word_sums: Float64
    doc_topic: Float32
    doc_topic_prior: Float32
    more: Mapping[str, Any]
    topic_word_prior: float
    tag_docs: Int64
    history: tuple[Step, ...]
    stop_reason: str


class Run(NamedTuple):
    """How a fit runs: the further arguments of `fit_topics`."""

    executor: Executor | None = None
    start: Start | None = None
    callbacks: Sequence[Callback[Any]] = ()
    vectors: Any = None  # (D, n) of the documents; `OnlineModel` makes relations of them


@dataclass(frozen=True, kw_only=True)
class TopicSettings:
    """How to learn topics by belief propagation; the parameters of `LDA`, resolved."""

    n_topics: int
    preset: Preset = field(default_factory=Preset)
    doc_topic_prior: float | Float32 | None = None  # None depends on n_topics
    topic_word_prior: float | None = None
    pairwise_weight: float = 0.0
    higher_order_weight: float = 0.0
    order: int = 2
    max_iter: int | None = None
    tol: float = 2e-3
    memory: str = "auto"
    seed: int = 0

    @property
    def anchored(self) -> bool:
        """Whether a fit starts from anchor words."""
        return self.preset.init == "anchors"

    def alpha(self) -> Float32:
        """Return the pseudo-counts of a document, (K,)."""
        alpha = self.doc_topic_prior
        if alpha is None:
            alpha = default_alpha(self.n_topics, self.preset.scales_priors)
        return np.full(self.n_topics, alpha, dtype=np.float32)

    def priors(self, totals: Totals) -> Priors:
        """Return the priors and weights of the first sweep."""
        preset, beta = self.preset, self.topic_word_prior
        if beta is None:
            n_words = int(np.count_nonzero(totals.word_docs))
            beta = default_beta(self.n_topics, totals.n_tokens, n_words, preset.scales_priors)
        return Priors(
            self.alpha(),
            float(beta),
            pairwise_weight=self.pairwise_weight,
            higher_order_weight=self.higher_order_weight,
            order=max(self.order, 2),
            word_exponent=1.0 if preset.word_exponent is None else float(preset.word_exponent),
            relaxation=float(preset.relaxation),
            own_tokens=float(preset.own_tokens),
        )

    @property
    def tags_act(self) -> bool:
        """Whether tags send messages to the topics of their documents."""
        return self.pairwise_weight > 0 or self.higher_order_weight > 0

    def resolve(self, corpus: Corpus, executor: Executor) -> TopicSettings:
        """Return the settings with the priors and the exponent of a fit; what is not given is learned."""
        priors, seed, alpha = self.priors(executor.totals), self.seed, self.doc_topic_prior
        if self.preset.word_exponent is None and not self.tags_act:
            documents = executor.totals.n_docs, executor.take or take_rows(corpus)
            fixed = alpha is not None
            priors = choose_priors(*documents, priors, seed, anchored=self.anchored, fixed_alpha=fixed)
        preset = replace(self.preset, word_exponent=priors.word_exponent)
        alpha, beta = priors.doc_topic, priors.topic_word
        return replace(self, preset=preset, doc_topic_prior=alpha, topic_word_prior=beta)

    def starts_from_pilot(self, n_docs: int) -> bool:
        """Return whether a fit starts from a pilot: to many documents, with default settings."""
        return self.is_default and n_docs > most_documents(self.n_topics)

    @property
    def is_default(self) -> bool:
        """Whether sweeps are as many as it takes, with over-relaxation and without messages from tags."""
        default = self.max_iter is None and self.preset.relaxation > RELAXATION
        return default and self.anchored and not self.tags_act

    def most_sweeps(self, n_docs: int = 0) -> int:
        """Return the largest number of sweeps: as given, or 100, without over-relaxation 200."""
        if self.max_iter is not None:
            return int(self.max_iter)
        if self.starts_from_pilot(n_docs):
            return SWEEPS_AFTER
        return 100 if self.preset.relaxation > 0 else 200


def fit_topics(
    corpus: Corpus,
    settings: TopicSettings,
    *,
    executor: Executor | None = None,
    start: Start | None = None,
    callbacks: Sequence[Callback[Any]] = (),
    relations: Relations | None = None,
) -> TopicFit:
    """Learn topics by loopy belief propagation.

    Args:
        corpus: the documents; of a fit to shards, the sample that the model keeps.
        settings: priors, sweeps, start and seed.
        executor: holds the documents and applies the sweeps: shards, or a cluster. None keeps the documents
            of `corpus` in memory. Any executor gives the same bits.
        start: where to begin: earlier topics, known topics, or a checkpoint. None begins at topics around
            anchor words; with many documents, at those of a pilot.
        callbacks: called after every sweep.
        relations: between documents, by their vectors.
    """
    executor = memory_executor(corpus, settings) if executor is None else executor
    settings = settings.resolve(corpus, executor)
    n_docs = executor.totals.n_docs
    if start is None:
        piloted = settings.starts_from_pilot(n_docs)
        start = make_pilot(corpus, settings, executor).start() if piloted else Start()
    priors = settings.priors(executor.totals)
    most = settings.most_sweeps(n_docs)
    if relations is not None and settings.max_iter is None:
        most = RELATED_SWEEPS
    last, share = (LAST_SWEEPS, LAST_SHARE) if settings.is_default else (0, 1.0)
    algorithm = BeliefPropagation(executor, priors, settings.seed, settings.anchored, start, relations, last)
    if start.resumed is not None:
        algorithm.check(start.resumed[0])
    result = run(algorithm, max_iter=most, tol=settings.tol, callbacks=callbacks, start=start.resumed)
    learned, beta = algorithm.learned(result.state), share * priors.topic_word
    return TopicFit(*learned, beta, executor.totals.tag_docs, tuple(result.history), result.reason)


def make_pilot(corpus: Corpus, settings: TopicSettings, executor: Executor) -> Pilot:
    """Fit the pilot of a fit: one that it starts from, or a shorter one, for the strengths of tags only."""
    priors, n_docs = settings.priors(executor.totals), corpus.n_docs
    take = take_rows(corpus)
    if settings.starts_from_pilot(executor.totals.n_docs):
        sweeps, most = SWEEPS_BEFORE, most_documents(settings.n_topics)
        n_docs, take = executor.totals.n_docs, executor.take or take
    else:
        sweeps, most = min(SWEEPS, settings.most_sweeps()), most_documents()
        priors = priors._replace(relaxation=min(priors.relaxation, RELAXATION))
    rest, held_out = choose_held_out(n_docs, settings.seed)
    counts, tags = take(rest[:: 1 + len(rest) // most])
    executor = graph_executor(build_graph(counts, tags), settings)
    algorithm = BeliefPropagation(executor, priors, settings.seed, settings.anchored)
    belief = run(algorithm, max_iter=sweeps, tol=settings.tol).state
    assert belief.docs is not None
    sums = belief.docs.doc_sums, belief.sums.words, belief.sums.tags, executor.totals.tag_docs
    return Pilot(counts, tags, take(held_out), *sums, priors.topic_word, settings.seed)


def take_rows(corpus: Corpus) -> Take:
    """Return what reads documents of a corpus in memory by their rows."""
    return lambda rows: (sp.csr_array(corpus.counts[rows]), sp.csr_array(corpus.tags[rows]))


def memory_executor(corpus: Corpus, settings: TopicSettings) -> MemoryExecutor:
    """Return an executor that keeps the documents of a corpus in memory."""
    return graph_executor(build_graph(corpus.counts, corpus.tags), settings)


def graph_executor(graph: FactorGraph, settings: TopicSettings) -> MemoryExecutor:
    """Return an executor of a graph in memory."""
    lean = is_lean(settings.memory, graph, settings.n_topics)
    return MemoryExecutor(graph, lean)
