"""Collapsed Gibbs sampling: LDA, and LDA whose documents are linked (the relational topic model).

Tokens are drawn one after the other, so a chain is a function of its seed alone and runs on one thread. The
result is the mean over the last sweeps, because a single sample is noisy (decision 240).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tagtopics._typing import Float32, Float64, Int32, Int64
from tagtopics.baselines import gibbs_loops
from tagtopics.baselines.baseline import Baseline
from tagtopics.bp.executor import MemoryExecutor, initial_topics
from tagtopics.bp.graph import FactorGraph, Groups, Priors, build_graph
from tagtopics.bp.loop import Learned, TopicAlgorithm, proportions
from tagtopics.corpus.core import Corpus
from tagtopics.errors import InputError

MOST_TOKENS = 500_000_000
"""A sampler stores a topic for each token: more tokens would need gigabytes for them alone."""

AVERAGED = 0.25
"""Default share of the sweeps, the last ones, whose mean is the result."""


class GibbsModel(Baseline):
    """The parameters that all models with a Gibbs sampler share; see `GibbsLDA`."""

    def __init__(
        self,
        n_topics: int = 20,
        *,
        doc_topic_prior: float = 0.1,
        topic_word_prior: float = 0.05,
        max_iter: int = 200,
        averaged_share: float = AVERAGED,
        init: str = "anchors",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_topics = n_topics
        self.doc_topic_prior = doc_topic_prior
        self.topic_word_prior = topic_word_prior
        self.max_iter = max_iter
        self.averaged_share = averaged_share
        self.init = init
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _chain(self) -> dict[str, Any]:
        """Return the fields of a `Chain` that parameters determine."""
        return {
            "priors": self._priors(),
            "seed": self._seed(),
            "max_iter": self.max_iter,
            "anchored": self.init == "anchors",
            "averaged": float(self.averaged_share),
        }


class GibbsLDA(GibbsModel):
    """Latent Dirichlet allocation (Griffiths and Steyvers 2004) by collapsed Gibbs sampling.

    It learns topics differently from `LDA`, and infers those of new documents in the same way.

    Args:
        n_topics: the number of topics, K.
        doc_topic_prior: pseudo-count of each topic in each document; alpha.
        topic_word_prior: pseudo-count of each word in each topic; beta.
        max_iter: number of sweeps.
        averaged_share: share of the sweeps, the last ones, whose mean is the result; 0 uses the last sweep.
        init: "anchors" draws the first topics around anchor words, "random" uniformly.
        random_state: seed of the chain; equal seeds give equal bits.
        n_jobs: threads for the start and for new documents; None or -1 for all cores. The chain is serial.

    Attributes:
        components_, doc_topic_, n_iter_, history_, stop_reason_, vocabulary_, doc_ids_: as in `LDA`.
    """

    _ignores_tags: ClassVar[bool] = True
    _saved_arrays: ClassVar[dict[str, tuple[str, ...]]] = {
        "tag_sums_": ("T", "K"), "tag_squares_": ("T", "K"),
    }  # fmt: skip

    def _algorithm(self, corpus: Corpus) -> TopicAlgorithm[Any]:
        return GibbsSampling(graph=build_graph(corpus.counts), tags=corpus.tags, **self._chain())


class ChainPriors(NamedTuple):
    """Priors in double precision, for the kernels."""

    alpha: Float64  # (K,)
    beta: float


class Kept(NamedTuple):
    """Sums over the sweeps that count."""

    n: int
    sums: tuple[Float64, ...]

    def mean(self, current: tuple[Float64, ...]) -> tuple[Float64, ...]:
        """Return the mean over the sweeps kept; the current sums if there was none yet."""
        return tuple(total / self.n for total in self.sums) if self.n else current


class Sample(NamedTuple):
    """One point of the chain of LDA and of the relational topic model."""

    iteration: int
    topics: Int32  # (N,) topic of each token
    doc_sums: Float64  # (D, K)
    word_sums: Float64  # (W, K)
    kept: Kept  # of doc_sums and word_sums
    link_probabilities: Float64  # (K + 1,) of a link where all is one common topic; the last: none in common


class Links(NamedTuple):
    """Which documents are linked, and the weight of pairs that are not."""

    matrix: Any  # symmetric CSR (D, D) of ones without a diagonal
    negatives: float  # rho: pseudo-observations of unlinked pairs for each link

    @property
    def groups(self) -> Groups:
        """The linked documents of each document."""
        return Groups(self.matrix.indptr.astype(np.int64), self.matrix.indices.astype(np.int64))


@dataclass(frozen=True, kw_only=True)
class Chain:
    """A Gibbs sampler of a corpus: what all of them share."""

    graph: FactorGraph  # the corpus
    priors: Priors  # alpha and beta
    seed: int  # of the start and of the chain
    max_iter: int  # total number of sweeps, which determines the last ones
    anchored: bool = True  # draw the first topics around anchor words; else uniformly
    averaged: float = AVERAGED  # share of the sweeps, the last ones, whose mean is the result; 0: the last
    kernels: ModuleType = gibbs_loops  # or `gibbs_reference` to check it
    converges: ClassVar[bool] = False

    @cached_property
    def tokens(self) -> Int64:
        """The number of the first token of each document, (D + 1,)."""
        return token_offsets(self.graph)

    def first_topics(self) -> Float32:
        """Return the initial p(topic | word), (W, K), up to a factor."""
        executor = MemoryExecutor(self.graph)
        return initial_topics(executor, len(self.priors.doc_topic), self.seed, self.anchored)

    def draws(self, pass_: int) -> tuple[ChainPriors, np.uint64, int]:
        """Return what a kernel draws with in a pass over all tokens: priors, seed and the first counter."""
        priors = ChainPriors(self.priors.doc_topic.astype(np.float64), float(self.priors.topic_word))
        return priors, np.uint64(self.seed), pass_ * int(self.tokens[-1])

    def keep(self, kept: Kept, sweep: int, sums: tuple[Float64, ...]) -> Kept:
        """Return what is kept after a sweep: its sums are added if it is one of the last."""
        if sweep <= self.max_iter - max(1, int(self.averaged * self.max_iter)):
            return kept
        if not kept.n:
            return Kept(1, tuple(array.copy() for array in sums))
        for total, array in zip(kept.sums, sums, strict=True):
            total += array
        return Kept(kept.n + 1, kept.sums)


@dataclass(frozen=True, kw_only=True)
class GibbsSampling(Chain):
    """Sweeps over all tokens of a corpus, for LDA and the relational topic model."""

    tags: Any  # CSR (D, T), whose profiles are computed, too; they do not influence the sampling
    links: Links | None = None  # between documents

    def init(self) -> Sample:
        """Return the first topics and their sums."""
        K = len(self.priors.doc_topic)
        topics = np.empty(int(self.tokens[-1]), dtype=np.int32)
        doc_sums, word_sums = np.zeros((self.graph.n_docs, K)), np.zeros((self.graph.n_words, K))
        arguments = (np.uint64(self.seed), topics, doc_sums, word_sums)
        self.kernels.start(self.graph, self.tokens, self.first_topics(), *arguments)
        return Sample(0, topics, doc_sums, word_sums, Kept(0, ()), self._link_probabilities(doc_sums))

    def step(self, sample: Sample) -> tuple[Sample, float]:
        """Return the sample after one sweep, and twice the share of tokens that changed."""
        sweep, weights = sample.iteration + 1, sample.doc_sums.sum(1)
        groups = _no_links(self.graph.n_docs) if self.links is None else self.links.groups
        eta = np.log(sample.link_probabilities[:-1]) - np.log(sample.link_probabilities[-1])
        sums = (sample.doc_sums, sample.word_sums)
        given = (self.graph, self.tokens, groups, eta, weights, *self.draws(sweep))
        moved = self.kernels.sweep(*given, sample.topics, *sums)
        kept, fresh = self.keep(sample.kept, sweep, sums), self._link_probabilities(sample.doc_sums)
        after = sample._replace(iteration=sweep, kept=kept, link_probabilities=fresh)
        return after, 2 * moved / max(float(weights.sum()), 1e-300)

    def learned(self, sample: Sample) -> Learned:
        """Return the mean of the sweeps kept."""
        doc_sums, word_sums = sample.kept.mean((sample.doc_sums, sample.word_sums))
        means = doc_sums / np.maximum(doc_sums.sum(1, keepdims=True), 1e-300)
        theta = proportions(doc_sums, self.priors.doc_topic)
        more = {"tag_sums_": self.tags.T @ means, "tag_squares_": self.tags.T @ means**2}
        if self.links is not None:
            more["link_probabilities_"] = self._link_probabilities(doc_sums)
        return Learned(word_sums, theta, self.priors.doc_topic, more)

    def _link_probabilities(self, doc_sums: Float64) -> Float64:
        if self.links is None:
            return np.ones(doc_sums.shape[1] + 1)
        means = doc_sums / np.maximum(doc_sums.sum(1, keepdims=True), 1e-300)
        return link_probabilities(self.links, means, self.priors.doc_topic)


def link_probabilities(links: Links, means: Float64, alpha: Float32) -> Float64:
    """Return (K + 1,) exp(eta + nu) and exp(nu): the maximum over the exponential link function's parameters.

    Chang and Blei's closed form. The non-links are `negatives` pseudo-observations for each link, of pairs
    whose topics come from the prior; one more pair of each kind keeps logarithms finite.

    Args:
        links: M pairs of documents.
        means: (D, K) mean topic of each document, zbar.
        alpha: (K,) prior of the topics.
    """
    M = links.matrix.nnz / 2
    prior = (alpha.astype(np.float64) / alpha.sum(dtype=np.float64)) ** 2
    expected = np.append(prior, max(1 - prior.sum(), 1e-12))
    shared = 0.5 * np.sum(means * (links.matrix @ means), axis=0)
    linked = np.append(shared, max(M - shared.sum(), 0.0)) + expected
    return np.asarray(linked / (linked + (links.negatives * M + 1) * expected))


def token_offsets(graph: FactorGraph) -> Int64:
    """Return (D + 1,): the number of the first token of each document; `InputError` if there are too many."""
    edges = np.concatenate([[0], np.cumsum(np.ceil(graph.edge_count.astype(np.float64)))])
    if edges[-1] > MOST_TOKENS:
        size = edges[-1] * 4 / 2**30
        raise InputError(
            f"Gibbs sampling stores a topic for each of {int(edges[-1]):,} tokens ({size:.1f} GB), at most "
            f"{MOST_TOKENS:,}; use belief propagation (LDA, TTM) or fewer documents"
        )
    return edges[graph.doc_edges].astype(np.int64)


def _no_links(n_docs: int) -> Groups:
    return Groups(np.zeros(n_docs + 1, dtype=np.int64), np.zeros(0, dtype=np.int64))
