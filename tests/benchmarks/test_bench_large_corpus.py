"""Generated corpora of any size: canonical chunks that do not depend on each other."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from benchmarks.large_corpus import make_large_corpus


def test_a_large_corpus_comes_in_canonical_chunks() -> None:
    chunks = list(make_large_corpus(2500, words_per_doc=20, n_words=500, n_tags=50, chunk_size=1000))
    assert [counts.shape for counts, _ in chunks] == [(1000, 500), (1000, 500), (500, 500)]
    for counts, tags in chunks:
        assert (counts.sum(axis=1) == 20).all()
        assert counts.dtype == np.int32
        assert tags.dtype == np.int8
        assert counts.has_canonical_format
        assert tags.has_canonical_format
        assert np.diff(tags.indptr).min() >= 1
        assert np.diff(tags.indptr).max() <= 3
    frequency = np.sort(sp.vstack([counts for counts, _ in chunks]).sum(axis=0))[::-1]
    assert frequency[0] > 5 * frequency[len(frequency) // 2]


def test_a_chunk_depends_on_the_seed_and_its_number_alone() -> None:
    few, many = (list(make_large_corpus(n, words_per_doc=10, seed=2, chunk_size=100)) for n in (200, 300))
    for (counts, tags), (same_counts, same_tags) in zip(few, many, strict=False):
        assert (counts != same_counts).nnz == 0
        assert (tags != same_tags).nnz == 0
