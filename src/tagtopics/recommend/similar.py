"""The training documents that are most similar to documents."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from tagtopics._typing import Float32
from tagtopics.recommend.ridge import Documents, documents_of, neighbours
from tagtopics.tag_prior.neighbours import NEAREST, Near


def near_documents(
    counts: Any, doc_topic: Float32, index: Documents, of_index: tuple[Any, Float32], n_threads: int
) -> Near:
    """Return the training documents that are most similar to others, all with the same weight.

    Args:
        counts: the other documents, CSR (D, W).
        doc_topic: (D, K) their topic proportions.
        index: N training documents.
        of_index: their words, CSR (N, W), and topic proportions, (N, K).
        n_threads: any number gives the same bits.
    """
    new = documents_of(sp.csr_array(counts, dtype=np.float32), doc_topic)
    rows = np.sort(neighbours(new, index, 1.0, n_threads, most=NEAREST).rows, axis=1)
    D, n = rows.shape
    used, place = np.unique(rows, return_inverse=True)
    weights = (np.full(D * n, 1 / max(n, 1)), place.ravel(), np.arange(D + 1) * n)
    words, topics = of_index
    return Near(sp.csr_array(weights, shape=(D, len(used))), sp.csr_array(words[used]), topics[used])
