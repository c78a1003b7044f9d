"""The pilot: a short fit to a part of the documents.

What tags say is learned on documents that the pilot has not seen. A fit to many documents also starts from
its topics, and then needs few sweeps over all of them (decision 137).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from tagtopics._typing import Float32, Float64, Int64
from tagtopics.bp.graph import Belief, DocState, FactorGraph, build_graph
from tagtopics.bp.loop import run
from tagtopics.bp.propagation import BeliefPropagation

SWEEPS, RELAXATION = 40, 1.0
"""Sweeps of the pilot, at most, and its largest over-relaxation."""

SWEEPS_BEFORE, SWEEPS_AFTER = 60, 25
"""Sweeps of a pilot that a fit starts from, with the relaxation of that fit, and over all documents then, at
most."""

MOST_ASIDE = 1000
"""Documents set aside, at most."""

_SHARE = 5
"""One document in five is set aside, at most `MOST_ASIDE`."""

_MOST, _DOCS_PER_TOPIC = 20_000, 200
"""The largest number of documents of a pilot, unless there are many topics: so many for each."""


def choose_aside(n_docs: int, seed: int) -> tuple[Int64, Int64]:
    """Return the rows of the documents to learn from, and of those set aside, both ascending."""
    order = np.random.default_rng(seed).permutation(n_docs)
    n = min(n_docs // _SHARE, MOST_ASIDE)
    return np.sort(order[n:]), np.sort(order[:n])


def most_documents(n_topics: int = 0) -> int:
    """Return how many documents a pilot has at most; with topics, one that such a fit starts from."""
    return max(_MOST, _DOCS_PER_TOPIC * n_topics)


class Pilot:
    """A short fit to a part of the documents, made when it is first needed.

    Args:
        n_docs: the number of documents, D.
        seed: of the choice of documents.
        most: documents to learn from, at most.
        take: returns the counts and tags, CSR, of documents by their rows, ascending.
        propagation: returns the algorithm for a graph.
        max_iter: sweeps, at most.
        tol: smallest change worth another sweep.

    Attributes:
        known: rows of its documents.
        aside: rows of documents set aside.
        said: what tags say, learned from the documents set aside; None if it is not known yet.
    """

    said: Any = None

    def __init__(
        self,
        n_docs: int,
        seed: int,
        most: int,
        take: Callable[[Int64], tuple[Any, Any]],
        propagation: Callable[[FactorGraph], BeliefPropagation],
        max_iter: int,
        tol: float,
    ) -> None:
        rest, self.aside = choose_aside(n_docs, seed)
        self.known = rest[:: 1 + len(rest) // most]
        self.seed, self.take = seed, take
        self._propagation, self._max_iter, self._tol = propagation, max_iter, tol
        self._word_topics: Float32 | None = None

    @cached_property
    def documents(self) -> tuple[Any, Any]:
        """The counts and tags of its documents, CSR."""
        return self.take(self.known)

    def learn(self) -> None:
        """Make the fit now."""
        _ = self.belief

    def forget(self) -> None:
        """Keep nothing but p(topic | word), to start from, and what tags say."""
        self._word_topics = self.take_word_topics()
        del self.belief, self.documents

    @cached_property
    def belief(self) -> Belief:
        """The belief after the last sweep, without its large parts, which no one asks for."""
        algorithm = self._propagation(build_graph(*self.documents))
        found = run(algorithm, max_iter=self._max_iter, tol=self._tol).state
        assert found.docs is not None
        messages, doc_sums, slot_means = found.docs
        return found._replace(
            sums=found.sums._replace(tag_squares=found.sums.tag_squares[:0].copy()),
            previous=found.previous[:0].copy(),
            docs=DocState(messages[:0].copy(), doc_sums, slot_means[:0].copy()),
        )

    @property
    def tag_docs(self) -> Float64:
        """(T,) the number of its documents with words that have each tag."""
        counts, tags = self.documents
        has_words = np.diff(counts.indptr) > 0
        return np.bincount(tags[has_words].indices, minlength=tags.shape[1]).astype(np.float64)

    def take_word_topics(self) -> Float32:
        """Return p(topic | word), (W, K), up to a factor for each word; what `forget` kept is given away."""
        found, self._word_topics = self._word_topics, None
        if found is not None:
            return found
        belief = self.belief
        return (belief.sums.words + belief.priors.topic_word).astype(np.float32)
