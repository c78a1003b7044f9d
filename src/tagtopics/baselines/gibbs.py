"""Collapsed Gibbs sampling, for models in which each token has one topic.

Tokens are drawn one after the other, so a chain is a function of its seed alone and runs on one thread. The
result is the mean over the last sweeps, because a single sample is noisy (decision 240).
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp

from tagtopics._typing import CSR, Float32, Float64, Int32, Int64
from tagtopics.baselines import gibbs_loops
from tagtopics.baselines.baseline import Baseline, mean_topics, tag_moments
from tagtopics.bp.executor import MemoryExecutor, initial_topics
from tagtopics.bp.graph import FactorGraph, Groups, Priors, build_graph
from tagtopics.bp.loop import Learned, TopicAlgorithm, proportions
from tagtopics.corpus.core import Corpus
from tagtopics.errors import InputError

MOST_TOKENS = 500_000_000
"""A sampler stores a topic for each token: more tokens would need gigabytes for them alone."""

AVERAGED = 0.25  # default share of the sweeps, the last ones, whose mean is the result


class Sample(NamedTuple):
    """One point of the chain."""

    iteration: int
    drawn: Int32  # (N,) i K + k of each token: its author, by the place among the document's, and its topic
    sums: Float64  # (A, K) tokens of each author by topic
    word_sums: Float64  # (W, K)
    n_kept: int = 0  # sweeps that count
    kept: tuple[Float64, ...] = ()  # their `current_sums`, added up


class Links(NamedTuple):
    """Which documents are linked, and the weight of pairs that are not."""

    matrix: CSR  # symmetric (D, D) of ones without a diagonal
    negatives: float  # rho: pseudo-observations of unlinked pairs for each link


@dataclass(frozen=True, kw_only=True)
class GibbsSampling:
    """Sweeps over all tokens of a corpus; in LDA and the relational model, a document is its own author."""

    graph: FactorGraph  # the words of the corpus
    tags: CSR  # (D, T), whose topics are computed, too; in these models they do not influence the sampling
    priors: Priors  # alpha and beta
    seed: int  # of the start and of the chain
    max_iter: int  # total number of sweeps, which determines the last ones
    anchored: bool = True  # draw the first topics around anchor words; else uniformly
    averaged: float = AVERAGED  # share of the sweeps, the last ones, whose mean is the result; 0: the last
    links: Links | None = None  # between documents
    first_passes: ClassVar[int] = 1  # random numbers per token that the start has used

    @cached_property
    def tokens(self) -> Int64:
        """The number of the first token of each document, (D + 1,); `InputError` if there are too many."""
        edges = np.concatenate([[0], np.cumsum(np.ceil(self.graph.edge_count.astype(np.float64)))])
        if edges[-1] > MOST_TOKENS:
            size = edges[-1] * 4 / 2**30
            raise InputError(
                f"Gibbs sampling stores a topic for each of {int(edges[-1]):,} tokens ({size:.1f} GB), "
                f"at most {MOST_TOKENS:,}; use belief propagation (LDA, TTM) or fewer documents"
            )
        return edges[self.graph.doc_edges].astype(np.int64)

    @cached_property
    def authors(self) -> CSR:
        """The authors of each document, (D, A); its tokens have their topics."""
        return sp.csr_array(sp.eye_array(self.graph.n_docs, dtype=np.int8))

    def doc_sums(self, sample: Sample) -> Float64:
        """Return the tokens of each document by topic, (D, K)."""
        return sample.sums

    def current_sums(self, sample: Sample) -> tuple[Float64, ...]:
        """Return the sums of a sample whose mean is the result."""
        return self.doc_sums(sample), sample.word_sums

    def mean_sums(self, sample: Sample) -> tuple[Float64, ...]:
        """Return the mean over the sweeps kept; the current sums if there was none yet."""
        if not sample.n_kept:
            return self.current_sums(sample)
        return tuple(total / sample.n_kept for total in sample.kept)

    def init(self) -> Sample:
        """Return the first topics and their sums."""
        K, N = len(self.priors.doc_topic), int(self.tokens[-1])
        executor = MemoryExecutor(self.graph)
        topics = initial_topics(executor, K, self.seed, self.anchored)
        drawn, sums = np.empty(N, dtype=np.int32), np.zeros((self.authors.shape[1], K))
        word_sums = np.zeros((self.graph.n_words, K))
        given = (self.graph, self.tokens, _groups(self.authors), topics, np.uint64(self.seed), N)
        gibbs_loops.start(*given, drawn, sums, word_sums)
        return Sample(0, drawn, sums, word_sums)

    def step(self, sample: Sample) -> tuple[Sample, float]:
        """Return the sample after one sweep, and twice the share of tokens that changed."""
        sweep, doc_sums = sample.iteration + 1, self.doc_sums(sample)
        weights, alpha = doc_sums.sum(1), self.priors.doc_topic.astype(np.float64)
        clock = (sweep - 1 + self.first_passes) * int(self.tokens[-1])
        links, eta = sp.csr_array((len(doc_sums),) * 2), np.zeros(doc_sums.shape[1])
        if self.links is not None:  # eta (K,) is how much a common topic favours a link
            chances = link_probabilities(self.links, doc_sums, self.priors.doc_topic)
            links, eta = self.links.matrix, np.log(chances[:-1]) - np.log(chances[-1])
        fixed = (self.graph, self.tokens, _groups(self.authors), _groups(links), eta, weights)
        numbers = (alpha, float(self.priors.topic_word), np.uint64(self.seed), clock)
        moved = gibbs_loops.sweep(*fixed, *numbers, sample.drawn, sample.sums, sample.word_sums)
        return self._keep(sample, sweep), 2 * moved / max(float(weights.sum()), 1e-300)

    def learned(self, sample: Sample) -> Learned:
        """Return the mean of the sweeps kept."""
        doc_sums, word_sums = self.mean_sums(sample)
        more = tag_moments(self.tags, doc_sums)
        if self.links is not None:
            more["link_probabilities_"] = link_probabilities(self.links, doc_sums, self.priors.doc_topic)
        theta = proportions(doc_sums, self.priors.doc_topic)
        return Learned(word_sums, theta, self.priors.doc_topic, more)

    def _keep(self, sample: Sample, sweep: int) -> Sample:
        """Return the sample after a sweep, whose sums are kept if it is one of the last."""
        n, kept = sample.n_kept, sample.kept
        if sweep > self.max_iter - max(1, int(self.averaged * self.max_iter)):
            current = self.current_sums(sample)
            kept = tuple(map(np.add, kept, current)) if n else tuple(map(np.copy, current))
            n += 1
        return sample._replace(iteration=sweep, n_kept=n, kept=kept)


def _groups(matrix: CSR) -> Groups:
    return Groups(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64))


def link_probabilities(links: Links, doc_sums: Float64, alpha: Float32) -> Float64:
    """Return (K + 1,) exp(eta + nu) and exp(nu): the maximum over the exponential link function's parameters.

    Chang and Blei's closed form. The non-links are `negatives` pseudo-observations for each link, of pairs
    whose topics come from the prior; one more pair of each kind keeps logarithms finite.

    Args:
        links: M pairs of documents.
        doc_sums: (D, K) tokens of each document by topic.
        alpha: (K,) prior of the topics.
    """
    M, means = links.matrix.nnz / 2, mean_topics(doc_sums)
    prior = (alpha.astype(np.float64) / alpha.sum(dtype=np.float64)) ** 2
    expected = np.append(prior, max(1 - prior.sum(), 1e-12))
    shared = 0.5 * np.sum(means * (links.matrix @ means), axis=0)
    linked = np.append(shared, max(M - shared.sum(), 0.0)) + expected
    return np.asarray(linked / (linked + (links.negatives * M + 1) * expected))


@dataclass(eq=False, repr=False)
class GibbsModel(Baseline):
    """The parameters that all models with a Gibbs sampler share; see `ATM`."""

    _sampler: ClassVar[type[GibbsSampling]] = GibbsSampling

    n_topics: int = 20
    _: KW_ONLY
    averaged_share: float = AVERAGED
    init: str = "anchors"

    def _algorithm(self, corpus: Corpus, links: Links | None = None) -> TopicAlgorithm[Any]:
        return self._sampler(
            graph=build_graph(corpus.counts),
            tags=corpus.tags,
            priors=self._priors(),
            seed=self._seed(),
            max_iter=self.max_iter,
            anchored=self.init == "anchors",
            averaged=float(self.averaged_share),
            links=links,
        )
