"""The pilot: a short fit to a part of the documents, while others are held out.

How much tags say is learned on the documents held out. A fit to many documents also starts from the topics of
its pilot, and then needs few sweeps over all of them (decision 205).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tagtopics._typing import CSR, Float32, Float64, Int64
from tagtopics.bp.propagation import AFTER_PILOT, Start

SWEEPS, RELAXATION = 40, 1.0  # most sweeps of the pilot, and its largest over-relaxation
# Most sweeps of a pilot that a fit starts from, with the relaxation of that fit, and of the fit itself.
SWEEPS_BEFORE, SWEEPS_AFTER = 60, 25
MOST_HELD_OUT = 1000  # most documents held out
_SHARE = 5  # one document in five is held out, at most `MOST_HELD_OUT`
_MOST, _DOCS_PER_TOPIC = 20_000, 200  # pilot size: 20,000 documents, or 200 per topic if more


@dataclass(frozen=True, eq=False)
class Pilot:
    """Topics learned from a part of the documents, and documents that were held out."""

    counts: CSR  # (D, W) its documents
    tags: CSR  # (D, T)
    held_out: tuple[CSR, CSR]  # counts and tags of the documents held out
    doc_sums: Float32  # (D, K) sums of the messages of its documents
    word_sums: Float64  # (W, K) sums of the messages of the words
    tag_sums: Float64  # (T, K) sums of the slot means of the tags
    tag_docs: Int64  # (T,) number of its documents with words that have each tag
    topic_word_prior: float  # pseudo-count of a word in a topic
    seed: int  # of the choice of documents

    def start(self) -> Start:
        """Return its topics as the start of a fit to all documents."""
        return Start((self.word_sums + self.topic_word_prior).astype(np.float32), AFTER_PILOT)


def choose_held_out(n_docs: int, seed: int) -> tuple[Int64, Int64]:
    """Return the rows of the documents to learn from, and of those held out, both ascending."""
    order = np.random.default_rng(seed).permutation(n_docs)
    n = min(n_docs // _SHARE, MOST_HELD_OUT)
    return np.sort(order[n:]), np.sort(order[:n])


def most_documents(n_topics: int = 0) -> int:
    """Return the largest number of documents of a pilot; with topics, of one that a fit starts from."""
    return max(_MOST, _DOCS_PER_TOPIC * n_topics)
