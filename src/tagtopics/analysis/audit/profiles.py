"""Documents and tags as weighted words, their products, and how findings about them are listed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from tagtopics._typing import CSR, Float64, Int64
from tagtopics.corpus.core import Corpus
from tagtopics.jit.top import largest_of_rows

_PAIRS = 20_000  # pairs of rows to multiply at a time
_NONE = np.zeros(0, dtype=np.int64)


class Scored(NamedTuple):
    """N tags with scores from 0 to 1, highest first; each with another tag, or of a document, or alone."""

    tags: Int64  # (N,); of two tags, the one to keep
    scores: Float64  # (N,)
    others: Int64 = _NONE  # (N,) or empty
    docs: Int64 = _NONE  # (N,) or empty


def weighted_words(corpus: Corpus) -> CSR:
    """Return CSR (D, W): the words of each document weighted by rarity; rows have length 1."""
    counts = corpus.counts
    n_docs = np.bincount(counts.indices, minlength=corpus.n_words)
    rarity = np.log((corpus.n_docs + 1) / (n_docs + 1.0)) + 1e-6
    values = (1 + np.log(counts.data)) * rarity[counts.indices]
    return normalize_rows(sp.csr_array((values, counts.indices, counts.indptr), shape=counts.shape))


def row_products(one: CSR, a: Int64, other: CSR, b: Int64) -> Float64:
    """Return (P,): the products of rows `a` of a sparse matrix and rows `b` of another."""
    parts = [
        np.asarray((one[a[first : first + _PAIRS]] * other[b[first : first + _PAIRS]]).sum(1))
        for first in range(0, len(a), _PAIRS)
    ]
    return np.concatenate([np.empty(0), *parts])


def largest(matrix: CSR, n: int) -> CSR:
    """Return a CSR matrix with the n largest entries of each row; of equal ones the first."""
    ordered = matrix.sorted_indices()
    places = largest_of_rows(ordered.indptr.astype(np.int64), ordered.data, n)
    rows, kept = np.nonzero(places >= 0)[0], places[places >= 0]
    return sp.csr_array((ordered.data[kept], (rows, ordered.indices[kept])), shape=matrix.shape)


def normalize_rows(matrix: CSR) -> CSR:
    """Return a CSR matrix whose rows have length 1, or 0 if they are empty."""
    lengths = np.sqrt(np.asarray((matrix * matrix).sum(1)).ravel())
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    values = matrix.data / np.maximum(lengths, 1e-12)[rows]
    return sp.csr_array((values, matrix.indices, matrix.indptr), shape=matrix.shape)
