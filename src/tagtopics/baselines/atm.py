"""The author-topic model: tags are authors, and each token has one author of its document."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tagtopics._typing import Float32
from tagtopics.baselines.authors import AuthorSampling, with_private_authors
from tagtopics.baselines.gibbs import AVERAGED
from tagtopics.corpus.core import Corpus
from tagtopics.graph import build_graph
from tagtopics.inference.learned import TopicAlgorithm
from tagtopics.kernels.threads import resolve_threads
from tagtopics.models.base import TopicModel


class ATM(TopicModel):
    """Author-topic model (Rosen-Zvi et al. 2004) by collapsed Gibbs sampling.

    Each token draws one of the document's tags uniformly, then a topic of that tag, then a word. A document
    without tags has an author of its own, which makes it a document of LDA; so do new documents with unknown
    tags. With known tags, `transform` returns the mean of the tags' topics and ignores the words, as the
    model defines it. `doc_topic_` are the topics drawn for the tokens of each training document.

    Args:
        n_topics: the number of topics, K.
        doc_topic_prior: pseudo-count of each topic for each tag; alpha.
        topic_word_prior: pseudo-count of each word in each topic; beta.
        max_iter: number of sweeps.
        averaged_share: share of the sweeps, the last ones, whose mean is the result; 0 uses the last sweep.
        init: "anchors" draws the first topics around anchor words, "random" uniformly.
        random_state: seed of the chain; equal seeds give equal bits.
        n_jobs: threads for the start and for new documents; None or -1 for all cores. The chain is serial.

    Attributes:
        components_, doc_topic_, n_iter_, history_, stop_reason_, vocabulary_, doc_ids_: as in `LDA`.
        tag_names_: the T tags.
        tag_docs_: (T,) number of training documents with words that carry each tag.
        tag_sums_: (T, K) the topics of each tag, times `tag_docs_`; see `tag_means`.
    """

    _saved_arrays: ClassVar[dict[str, tuple[str, ...]]] = {"tag_sums_": ("T", "K")}

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
        graph = build_graph(corpus.counts, with_private_authors(corpus.tags))
        threads, anchored = resolve_threads(self.n_jobs), self.init == "anchors"
        chain = (self._priors(), self._seed(), self.max_iter, threads, anchored, float(self.averaged_share))
        return AuthorSampling(graph, corpus.n_tags, *chain)

    def _infer(self, counts: Any, tags: Any) -> Float32:
        """Return the mean topics of a document's known tags; without known tags, infer from its words."""
        n_tags = np.zeros(counts.shape[0], dtype=int) if tags is None else np.diff(tags.indptr)
        theta = np.empty((counts.shape[0], self.n_topics), dtype=np.float32)
        unknown = n_tags == 0
        theta[unknown] = super()._infer(counts[np.flatnonzero(unknown)], None)
        if not unknown.all():
            known = np.flatnonzero(~unknown)
            theta[known] = (tags[known] @ self.tag_means()) / n_tags[known, np.newaxis]
        return theta
