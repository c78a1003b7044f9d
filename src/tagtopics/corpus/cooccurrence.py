"""Which tags are on the same documents."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from tagtopics._typing import CSR, Int64

MOST_TOGETHER = 256  # documents with more tags do not count: n tags are n² pairs, and most mean little


def tags_together(tags: CSR) -> CSR:
    """Return CSR (T, T): how many documents have both tags; 0 for a tag and itself.

    The work is at most `MOST_TOGETHER` times the number of entries of `tags`.

    Args:
        tags: CSR (D, T), 1 where a document has a tag; the result has its type.
    """
    few = np.diff(tags.indptr) <= MOST_TOGETHER
    counted = tags if few.all() else tags[few]
    together = sp.csr_array(counted.T @ counted)
    together.setdiag(0)
    together.eliminate_zeros()
    return together


def n_partners(tags: CSR) -> Int64:
    """Return (D,): the number of other tags that each tag of a document is counted with, 0 for too many."""
    n = np.diff(tags.indptr)
    return np.asarray(np.where(n <= MOST_TOGETHER, np.maximum(n - 1, 0), 0))
