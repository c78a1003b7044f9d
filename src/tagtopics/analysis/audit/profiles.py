"""Documents and tags as weighted words, and their products."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from tagtopics._typing import Float64, Int64
from tagtopics.corpus.core import Corpus
from tagtopics.jit.top import largest_of_rows

_PAIRS = 20_000
"""Pairs of rows to multiply at a time."""


def weighted_words(corpus: Corpus) -> sp.csr_array:
    """Return CSR (D, W): the words of each document weighted by rarity; rows have length 1."""
    counts = corpus.counts
    n_docs = np.bincount(counts.indices, minlength=corpus.n_words)
    rarity = np.log((corpus.n_docs + 1) / (n_docs + 1.0)) + 1e-6
    values = (1 + np.log(counts.data)) * rarity[counts.indices]
    return normalize_rows(sp.csr_array((values, counts.indices, counts.indptr), shape=counts.shape))


def row_products(one: Any, a: Int64, other: Any, b: Int64) -> Float64:
    """Return (P,): the products of rows `a` of a sparse matrix and rows `b` of another."""
    parts = [
        np.asarray((one[a[first : first + _PAIRS]] * other[b[first : first + _PAIRS]]).sum(1))
        for first in range(0, len(a), _PAIRS)
    ]
    return np.concatenate([np.empty(0), *parts])


def largest(matrix: Any, n: int) -> sp.csr_array:
    """Return a CSR matrix with the n largest entries of each row; of equal ones the first."""
    ordered = matrix.sorted_indices()
    places = largest_of_rows(ordered.indptr.astype(np.int64), ordered.data, n)
    rows, kept = np.nonzero(places >= 0)[0], places[places >= 0]
    return sp.csr_array((ordered.data[kept], (rows, ordered.indices[kept])), shape=matrix.shape)


def normalize_rows(matrix: Any) -> sp.csr_array:
    """Return a CSR matrix whose rows have length 1, or 0 if they are empty."""
    lengths = np.sqrt(np.asarray((matrix * matrix).sum(1)).ravel())
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    values = matrix.data / np.maximum(lengths, 1e-12)[rows]
    return sp.csr_array((values, matrix.indices, matrix.indptr), shape=matrix.shape)
