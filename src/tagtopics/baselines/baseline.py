"""What the baselines share: an algorithm in memory, run by the one loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tagtopics._typing import CSR, Float64
from tagtopics.bp import loop
from tagtopics.bp.graph import Priors
from tagtopics.bp.loop import TopicAlgorithm
from tagtopics.corpus.core import Corpus
from tagtopics.errors import InputError
from tagtopics.models.base import TopicModel
from tagtopics.models.topics import Run, TopicFit


@dataclass(eq=False, repr=False, kw_only=True)
class Baseline(TopicModel):
    """Base of the baselines; subclasses define `_algorithm`, and add their parameters to these."""

    doc_topic_prior: float = 0.1
    topic_word_prior: float = 0.05
    max_iter: int = 200
    random_state: Any = None
    n_jobs: int | None = None

    def _algorithm(self, corpus: Corpus) -> TopicAlgorithm[Any]:
        """Return the algorithm that `fit` iterates."""
        raise NotImplementedError

    def _learn(self, corpus: Corpus, run: Run) -> None:
        if run.executor is not None:
            raise InputError(f"{type(self).__name__} keeps all documents in memory; LDA and TTM fit shards")
        has_words = np.diff(corpus.counts.indptr) > 0
        tag_docs = np.asarray(corpus.tags[has_words].sum(0), dtype=np.int64).ravel()
        algorithm = self._algorithm(corpus)
        result = loop.run(algorithm, max_iter=self.max_iter, tol=self.tol, callbacks=run.callbacks)
        learned, history = algorithm.learned(result.state), tuple(result.history)
        beta = float(self.topic_word_prior)
        self._store(corpus, TopicFit(*learned, beta, tag_docs, history, result.reason))

    def _priors(self) -> Priors:
        alpha = np.full(self.n_topics, self.doc_topic_prior, dtype=np.float32)
        return Priors(alpha, float(self.topic_word_prior))


def mean_topics(doc_sums: Float64) -> Float64:
    """Return the share of each topic in the tokens of each document, (D, K)."""
    return np.asarray(doc_sums / np.maximum(doc_sums.sum(1, keepdims=True), 1e-300))


def tag_moments(tags: CSR, doc_sums: Float64) -> dict[str, Float64]:
    """Return the sums, and sums of squares, of the mean topics of each tag's documents, (T, K)."""
    means = mean_topics(doc_sums)
    return {"tag_sums_": tags.T @ means, "tag_squares_": tags.T @ means**2}
