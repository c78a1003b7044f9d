"""Latent Dirichlet allocation by batch variational Bayes."""

from __future__ import annotations

from typing import Any, ClassVar

from tagtopics.baselines.variational import VariationalBayes
from tagtopics.corpus.core import Corpus
from tagtopics.graph import build_graph
from tagtopics.inference.learned import TopicAlgorithm
from tagtopics.kernels.threads import resolve_threads
from tagtopics.models.base import TopicModel


class VBLDA(TopicModel):
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
        threads, anchored = resolve_threads(self.n_jobs), self.init == "anchors"
        graph = build_graph(corpus.counts)
        return VariationalBayes(graph, corpus.tags, self._priors(), self._seed(), threads, anchored)
