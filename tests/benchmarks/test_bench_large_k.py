"""Long documents of the benchmark with many topics."""

import numpy as np
import scipy.sparse as sp

from benchmarks.large_k import long_documents, ratios


def test_consecutive_documents_are_joined() -> None:
    counts = sp.csr_array(np.array([[2, 0], [1, 1], [5, 0], [0, 1]]))
    joined = long_documents(counts, 4)
    assert joined.toarray().tolist() == [[3, 1], [5, 0]]  # the last document is too short


def test_ratio_is_that_of_the_first_perplexity_reached() -> None:
    ours = {"seconds": [1.0, 2.0], "cpu_seconds": [2.0, 4.0], "perplexity": [90.0, 70.0]}
    peer = {"seconds": [5.0, 40.0], "cpu_seconds": [9.0, 80.0], "perplexity": [95.0, 80.0]}
    assert ratios(ours, peer) == {"seconds": 20.0, "cpu_seconds": 20.0}
    assert ratios(peer, ours) == {"seconds": None, "cpu_seconds": None}
