"""Latent Dirichlet allocation: by loopy belief propagation, by Gibbs sampling or by variational Bayes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import scipy.sparse as sp

from tagtopics.baselines.gibbs import GibbsSampling
from tagtopics.baselines.variational import VariationalBayes
from tagtopics.graph import FactorGraph, Priors, build_graph
from tagtopics.inference.learned import TopicAlgorithm
from tagtopics.kernels.threads import resolve_threads
from tagtopics.models.base import TopicModel
from tagtopics.models.inputs import TrainingData
from tagtopics.models.online import Online

_Maker = Callable[["LDA", FactorGraph, Priors], TopicAlgorithm[Any]]


class LDA(Online, TopicModel):
    """Latent Dirichlet allocation; tags are not looked at.

    Args:
        n_topics: the number of topics, K.
        doc_topic_prior: pseudo-count of each topic in each document; in the paper, alpha. "learned" finds it
            on documents set aside, for about twenty sweeps more.
        topic_word_prior: pseudo-count of each word in each topic; in the paper, beta.
        word_weight: power of a word's message in "bp", from 0 to 1, in sixteenths; in the paper, 1. Below 1
            topics predict real documents better, and planted ones are found less exactly.
        inference: "bp", loopy belief propagation, the best here; "gibbs", collapsed Gibbs sampling, serial,
            the mean of the last quarter of its sweeps; "vb", batch variational Bayes. The last two are there
            to compare with; they differ in how topics are learned, not in how new documents are inferred.
        stride: how much further than messages took them sums of words go in the first sweeps, from 0 to 1;
            0.8 reaches the same quality in fewer sweeps, for fits that stop early (`max_iter`).
        max_iter: sweeps at the most; for "gibbs" exactly so many.
        tol: stop when the mean change of a token's message in a sweep falls below; not for "gibbs".
        init: "anchors" starts from topics around anchor words, "random" from noise; the first needs fewer
            sweeps and finds planted topics more surely.
        memory: "stored" keeps all messages, the fastest; "lean" recalls them in each sweep and needs memory
            for documents, words and tags only; "auto" is stored up to half of the machine's memory.
        random_state: seed of the start; equal seeds give equal bits at any number of threads.
        n_jobs: threads; None or -1 for all cores.

    Attributes:
        components_: (K, W) p(word | topic), rows add up to one; in the paper, phi.
        doc_topic_: (D, K) topic proportions of the training documents; in the paper, theta.
        n_iter_: sweeps done.
        history_: for each sweep its iteration, change and seconds.
        stop_reason_: converged, max_iter or stopped.
        vocabulary_: the W words.
        doc_ids_: the D names of the training documents.
    """

    def __init__(
        self,
        n_topics: int = 20,
        *,
        doc_topic_prior: float | str = 0.1,
        topic_word_prior: float = 0.05,
        word_weight: float = 1.0,
        stride: float = 0.0,
        inference: str = "bp",
        max_iter: int = 200,
        tol: float = 2e-3,
        init: str = "anchors",
        memory: str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_topics = n_topics
        self.doc_topic_prior = doc_topic_prior
        self.topic_word_prior = topic_word_prior
        self.word_weight = word_weight
        self.stride = stride
        self.inference = inference
        self.max_iter = max_iter
        self.tol = tol
        self.init = init
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _training_data(self, X: Any, y: Any) -> TrainingData:
        return _without_tags(super()._training_data(X, None))

    def _more_data(self, X: Any, y: Any) -> TrainingData:
        return _without_tags(super()._more_data(X, None))

    @property
    def _goes_on(self) -> bool:
        return self.inference == "bp"

    def _priors(self) -> Priors:
        return (
            super()._priors()._replace(word_exponent=float(self.word_weight), relaxation=float(self.stride))
        )

    def _algorithm(self, data: TrainingData) -> TopicAlgorithm[Any]:
        return _ALGORITHMS[self.inference](self, build_graph(data.counts, data.tags), self._priors_for(data))


def _without_tags(data: TrainingData) -> TrainingData:
    no_tags = sp.csr_array((data.counts.shape[0], 0), dtype="int8")
    return replace(data, tags=no_tags, tag_names=())


def _belief_propagation(model: LDA, graph: FactorGraph, priors: Priors) -> TopicAlgorithm[Any]:
    return model._belief_propagation(graph, priors)


def _gibbs(model: LDA, graph: FactorGraph, priors: Priors) -> TopicAlgorithm[Any]:
    threads, anchored = resolve_threads(model.n_jobs), model.init == "anchors"
    untagged = sp.csr_array((graph.n_docs, 0))
    return GibbsSampling(graph, untagged, priors, model._seed(), model.max_iter, threads, anchored)


def _variational(model: LDA, graph: FactorGraph, priors: Priors) -> TopicAlgorithm[Any]:
    threads, anchored = resolve_threads(model.n_jobs), model.init == "anchors"
    untagged = sp.csr_array((graph.n_docs, 0))
    return VariationalBayes(graph, untagged, priors, model._seed(), threads, anchored)


_ALGORITHMS: Mapping[str, _Maker] = MappingProxyType(
    {"bp": _belief_propagation, "gibbs": _gibbs, "vb": _variational}
)
