"""Batch variational Bayes for LDA: coordinate ascent, first all documents, then the topics.

Documents are inferred again in each sweep, from uniform proportions: started from their last proportions,
they stay in the first local optimum they meet (decision 240).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import digamma

from reproduction.systems import vb_loops
from tagtopics._typing import Float32, Float64
from tagtopics.baselines.baseline import Baseline, tag_moments
from tagtopics.bp.constants import NOISE
from tagtopics.bp.executor import MemoryExecutor, initial_topics
from tagtopics.bp.graph import CorpusSums, FactorGraph, Groups, Priors, build_graph, group_by
from tagtopics.bp.loop import Learned, TopicAlgorithm, proportions
from tagtopics.bp.start import start
from tagtopics.corpus.core import Corpus
from tagtopics.jit.threads import run_ranges

_PASSES, _TOL = 10, 1e-3
"""A document is iterated until its sums change by less than `_TOL` per token, at most `_PASSES` times."""


class VBLDA(Baseline):
    """Latent Dirichlet allocation (Blei et al. 2003) by batch variational Bayes.

    It learns topics differently from `LDA`, and infers those of new documents in the same way.

    Args:
        n_topics: the number of topics, K.
        doc_topic_prior: pseudo-count of each topic in each document; alpha.
        topic_word_prior: pseudo-count of each word in each topic; beta.
        max_iter: maximum number of sweeps.
        tol: stop when the mean change of a document's sums per token falls below this.
        init: "anchors" starts from topics around anchor words, "random" from noise.
        random_state: seed; equal seeds give equal bits at any number of threads.
        n_jobs: threads; None or -1 for all cores.

    Attributes:
        components_, doc_topic_, n_iter_, history_, stop_reason_, vocabulary_, doc_ids_: as in `LDA`.
    """

    _ignores_tags: ClassVar[bool] = True
    _saved_arrays: ClassVar[dict[str, tuple[str, ...]]] = {
        "tag_sums_": ("T", "K"), "tag_squares_": ("T", "K"),
    }  # fmt: skip

    def __init__(
        self,
        n_topics: int = 20,
        *,
        doc_topic_prior: float = 0.1,
        topic_word_prior: float = 0.05,
        max_iter: int = 200,
        tol: float = 2e-3,
        init: str = "anchors",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_topics = n_topics
        self.doc_topic_prior = doc_topic_prior
        self.topic_word_prior = topic_word_prior
        self.max_iter = max_iter
        self.tol = tol
        self.init = init
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _algorithm(self, corpus: Corpus) -> TopicAlgorithm[Any]:
        anchored = self.init == "anchors"
        graph = build_graph(corpus.counts)
        return VariationalBayes(graph, corpus.tags, self._priors(), self._seed(), anchored)


class VariationalState(NamedTuple):
    """One point of the ascent."""

    messages: Float32  # (E, K) count times q(z = k)
    doc_sums: Float64  # (D, K) gamma less alpha
    word_sums: Float64  # (W, K) lambda less beta


@dataclass(frozen=True)
class VariationalBayes:
    """Sweeps over all documents of a corpus."""

    graph: FactorGraph  # the corpus
    tags: Any  # CSR (D, T), whose profiles are computed, too; they do not influence the updates
    priors: Priors  # alpha and beta
    seed: int  # of the random start
    anchored: bool = True  # start from topics around anchor words; else from noise
    kernels: ModuleType = vb_loops  # or `vb_reference` to check it

    def init(self) -> VariationalState:
        """Return the first messages and their sums; anchored topics have the noise twice."""
        graph, executor = self.graph, MemoryExecutor(self.graph)
        topics = initial_topics(executor, len(self.priors.doc_topic), self.seed, self.anchored) + NOISE
        sums = CorpusSums.zeros(graph.n_words, graph.n_tags, topics.shape[1])
        docs = start(graph, topics, self.seed, False, sums)
        return VariationalState(docs.messages, docs.doc_sums.astype(np.float64), sums.words)

    def step(self, state: VariationalState) -> tuple[VariationalState, float]:
        """Return the state after one sweep, and the mean change of the documents' sums per token."""
        graph, K = self.graph, len(self.priors.doc_topic)
        change = np.zeros(graph.n_docs)
        factors = word_factors(state.word_sums, self.priors.topic_word)
        fixed = (graph, self.priors.doc_topic, factors, _PASSES, _TOL)
        arguments = (*fixed, state.messages, state.doc_sums, change)
        work = 8 * K * _PASSES
        run_ranges(self.kernels.update_documents, graph.doc_edges, work, *arguments)
        word_sums = np.empty_like(state.word_sums)
        groups = self._words
        run_ranges(vb_loops.group_sums, groups.offsets, K, groups, state.messages, word_sums)
        tokens = max(float(graph.edge_count.sum(dtype=np.float64)), 1e-300)
        return state._replace(word_sums=word_sums), float(change.sum()) / tokens

    @cached_property
    def _words(self) -> Groups:
        """The edges of each word."""
        return group_by(self.graph.edge_word, self.graph.n_words)

    def learned(self, state: VariationalState) -> Learned:
        """Return the posterior means of topics and proportions."""
        alpha = self.priors.doc_topic
        more = tag_moments(self.tags, state.doc_sums)
        return Learned(state.word_sums, proportions(state.doc_sums, alpha), alpha, more)


def word_factors(word_sums: Float64, beta: float) -> Float64:
    """Return exp(E log phi), (W, K), of topics with Dirichlet parameters beta + word_sums."""
    posterior = word_sums + beta
    return np.asarray(np.exp(digamma(posterior) - digamma(posterior.sum(0))))
