"""Latent Dirichlet allocation by collapsed Gibbs sampling."""

from __future__ import annotations

from typing import Any, ClassVar

from tagtopics.baselines.gibbs import AVERAGED, GibbsSampling
from tagtopics.corpus.core import Corpus
from tagtopics.graph import build_graph
from tagtopics.inference.learned import TopicAlgorithm
from tagtopics.kernels.threads import resolve_threads
from tagtopics.models.base import TopicModel


class GibbsLDA(TopicModel):
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

    def _algorithm(self, corpus: Corpus) -> TopicAlgorithm[Any]:
        threads, anchored = resolve_threads(self.n_jobs), self.init == "anchors"
        chain = (self._priors(), self._seed(), self.max_iter, threads, anchored)
        return GibbsSampling(
            build_graph(corpus.counts), corpus.tags, *chain, averaged=float(self.averaged_share)
        )
