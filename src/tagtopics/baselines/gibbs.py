"""Collapsed Gibbs sampling: LDA, and LDA whose documents are linked (the relational topic model).

Tokens are drawn one after the other, so a chain is a function of its seed alone; threads have no part in it.
What is learned is the mean over the last sweeps: a single sample is that and noise (decision 020).
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tagtopics._typing import Float32, Float64, Int32, Int64
from tagtopics.baselines import gibbs_loops
from tagtopics.errors import InputError
from tagtopics.graph import FactorGraph, Groups, Priors
from tagtopics.inference.learned import Learned, proportions
from tagtopics.kernels.bp.anchors import anchored_topics

MOST_TOKENS = 500_000_000
"""A sampler keeps a topic for each token: more than this would need gigabytes for them alone."""

AVERAGED = 0.25
"""Share of the sweeps, the last ones, whose mean is learned, if nothing else is said."""

_NOISE = np.float32(1e-3)


class ChainPriors(NamedTuple):
    """Priors in double precision, for the kernels."""

    alpha: Float64  # (K,)
    beta: float


class Kept(NamedTuple):
    """Sums over the sweeps that count."""

    n: int
    sums: tuple[Float64, ...]

    def mean(self, current: tuple[Float64, ...]) -> tuple[Float64, ...]:
        """Return the mean over the sweeps kept; what is current if there was none yet."""
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
    """Which documents are linked, and what stands for those that are not."""

    matrix: Any  # symmetric CSR (D, D) of ones without a diagonal
    negatives: float  # rho: how many unlinked pairs a link is weighed against, in units of links

    @property
    def groups(self) -> Groups:
        """The linked documents of each document."""
        return Groups(self.matrix.indptr.astype(np.int64), self.matrix.indices.astype(np.int64))


@dataclass(frozen=True)
class GibbsSampling:
    """Sweeps over all tokens of a corpus.

    Attributes:
        graph: the corpus.
        tags: CSR (D, T), whose profiles are learned along; they have no part in the sampling.
        priors: alpha and beta.
        seed: of the start and of the chain.
        max_iter: sweeps in all, to know which are the last.
        n_threads: for the anchors; any number gives the same bits.
        anchored: draw the first topics around anchor words; else evenly.
        links: between documents, or None.
        averaged: share of the sweeps, the last ones, whose mean is learned; 0 for the last one alone.
        kernels: `gibbs_loops`, or `gibbs_reference` to check it.
    """

    graph: FactorGraph
    tags: Any
    priors: Priors
    seed: int
    max_iter: int
    n_threads: int = 1
    anchored: bool = True
    links: Links | None = None
    averaged: float = AVERAGED
    kernels: ModuleType = gibbs_loops
    settles: ClassVar[bool] = False

    def init(self) -> Sample:
        """Return the first topics and the sums that follow."""
        tokens = token_offsets(self.graph)
        K = len(self.priors.doc_topic)
        topics = np.empty(int(tokens[-1]), dtype=np.int32)
        doc_sums, word_sums = np.zeros((self.graph.n_docs, K)), np.zeros((self.graph.n_words, K))
        arguments = (np.uint64(self.seed), topics, doc_sums, word_sums)
        self.kernels.start(self.graph, tokens, first_word_topics(self), *arguments)
        return Sample(0, topics, doc_sums, word_sums, Kept(0, ()), self._link_probabilities(doc_sums))

    def step(self, sample: Sample) -> tuple[Sample, float]:
        """Return the sample after one sweep, and twice the share of tokens that moved."""
        tokens = token_offsets(self.graph)
        weights = sample.doc_sums.sum(1)
        groups = _no_links(self.graph.n_docs) if self.links is None else self.links.groups
        eta = np.log(sample.link_probabilities[:-1]) - np.log(sample.link_probabilities[-1])
        clock = (sample.iteration + 1) * int(tokens[-1])
        chain = (chain_priors(self.priors), np.uint64(self.seed), clock)
        sums = (sample.doc_sums, sample.word_sums)
        moved = self.kernels.sweep(self.graph, tokens, groups, eta, weights, *chain, sample.topics, *sums)
        first = first_kept(self.max_iter, self.averaged)
        kept = keep(sample.kept, sums) if sample.iteration + 1 >= first else sample.kept
        fresh = self._link_probabilities(sample.doc_sums)
        after = sample._replace(iteration=sample.iteration + 1, kept=kept, link_probabilities=fresh)
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
    """Return (D + 1,): the number of the first token of each document; too many are an `InputError`."""
    edges = np.concatenate([[0], np.cumsum(np.ceil(graph.edge_count.astype(np.float64)))])
    if edges[-1] > MOST_TOKENS:
        size = edges[-1] * 4 / 2**30
        raise InputError(
            f"Gibbs sampling keeps a topic for each of {int(edges[-1]):,} tokens ({size:.1f} GB), at most "
            f"{MOST_TOKENS:,}; use belief propagation (LDA, TTM) or fewer documents"
        )
    return edges[graph.doc_edges].astype(np.int64)


def first_word_topics(algorithm: Any) -> Float32:
    """Return p(topic | word) of the start, (W, K), up to a factor: around anchor words, or even."""
    K = len(algorithm.priors.doc_topic)
    if algorithm.anchored:
        return anchored_topics(algorithm.graph, K, algorithm.seed, algorithm.n_threads) + _NOISE
    return np.ones((algorithm.graph.n_words, K), dtype=np.float32)


def first_kept(max_iter: int, averaged: float) -> int:
    """Return the number of the first sweep of the last ones, `averaged` their share; at least one is kept."""
    return max_iter - max(1, int(averaged * max_iter)) + 1


def keep(kept: Kept, sums: tuple[Float64, ...]) -> Kept:
    """Return what is kept after one more sweep: its sums are added."""
    if not kept.n:
        return Kept(1, tuple(array.copy() for array in sums))
    for total, array in zip(kept.sums, sums, strict=True):
        total += array
    return Kept(kept.n + 1, kept.sums)


def chain_priors(priors: Priors) -> ChainPriors:
    """Return the priors as the kernels take them."""
    return ChainPriors(priors.doc_topic.astype(np.float64), float(priors.topic_word))


def _no_links(n_docs: int) -> Groups:
    return Groups(np.zeros(n_docs + 1, dtype=np.int64), np.zeros(0, dtype=np.int64))
