"""Incremental learning: mini-batches beside the sums of all earlier documents.

A mini-batch is swept until it converges, while its words and tags see the sums of all earlier documents and
of the batch. Then sums <- f sums + sums of the batch. With f = 1 every document counts the same, whenever it
came, and the step of batch t is about 1 / t; f < 1 forgets. Decision 080.
"""

from __future__ import annotations

import numpy as np

from tagtopics._typing import Float64
from tagtopics.graph import CorpusSums


def earlier_sums(
    word_sums: Float64, tag_sums: Float64, tag_squares: Float64, share: float = 1.0
) -> CorpusSums:
    """Return the sums of earlier documents, each of which counts for a share of a new one.

    A document's slot means add up to one for each tag, so the sums of a tag tell how many documents they are
    worth. Squares stand for pairs of a document with itself, so the share is applied twice.
    """
    return CorpusSums(word_sums * share, tag_sums * share, tag_squares * share**2, tag_sums.sum(1) * share)


def remembered(n_docs: int, half_life: float | None) -> float:
    """Return the weight left to a document once n_docs more have come; None forgets nothing."""
    return 1.0 if half_life is None else float(0.5 ** (n_docs / half_life))


def with_rows(sums: Float64, n_rows: int) -> Float64:
    """Return sums (N, K) extended to n_rows with zeros, for words or tags that are new."""
    return np.vstack([sums, np.zeros((n_rows - len(sums), sums.shape[1]))]) if n_rows > len(sums) else sums
