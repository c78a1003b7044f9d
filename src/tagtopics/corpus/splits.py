"""Splits of documents into training and test, and of tokens into seen and held out."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from tagtopics._typing import CSR, Int32, Int64
from tagtopics.corpus.core import Corpus, canonical_counts
from tagtopics.errors import InputError

MOST_TOKENS = 10**9  # NumPy's hypergeometric draws are exact below
_LARGE = 0.8  # the largest share of seen tokens: the others are held out


def train_test(corpus: Corpus, seed: int, test_share: float = 0.2) -> tuple[Int64, Int64]:
    """Split the documents of a corpus by its official split, else at random.

    Args:
        corpus: D documents.
        seed: seed of the random split.
        test_share: share of test documents in a random split; both parts have at least one document.

    Returns:
        The rows of the training documents and of the test documents, each ascending.
    """
    if corpus.split is not None and {"train", "test"} <= set(corpus.split):
        split = np.array(corpus.split)
        return np.flatnonzero(split == "train"), np.flatnonzero(split == "test")
    _check_share(test_share, "test_share")
    if corpus.n_docs < 2:
        raise InputError("split: at least two documents are needed for a training and a test part")
    n_test = min(max(round(test_share * corpus.n_docs), 1), corpus.n_docs - 1)
    order = np.random.default_rng(seed).permutation(corpus.n_docs)
    return np.sort(order[n_test:]), np.sort(order[:n_test])


def are_whole(counts: CSR) -> bool:
    """Tell whether all weights are whole numbers, so that the tokens of documents can be held out."""
    return bool(np.array_equal(counts.data, np.rint(counts.data)))


def can_split(counts: CSR) -> bool:
    """Tell whether `completion` can split all documents of counts (D, W), of which there is at least one."""
    return are_whole(counts) and bool(counts.sum(1, dtype=np.float64).max() < MOST_TOKENS)


def completion(counts: CSR, seed: int, share: float = 0.8) -> tuple[CSR, CSR]:
    """Split the tokens of each document at random, for document completion.

    The seen tokens are drawn without replacement; all subsets are equally likely. A document of two tokens or
    more has tokens on both sides.

    Args:
        counts: documents x words (D, W).
        seed: seed of the draw.
        share: share of the tokens seen.

    Returns:
        Seen and held-out counts, (D, W) each; their sum is `counts`.
    """
    _check_share(share, "share")
    counts = canonical_counts(counts)
    sizes = np.asarray(counts.sum(axis=1, dtype=np.int64))
    if sizes.max(initial=0) >= MOST_TOKENS:
        raise InputError(
            f"split: document {sizes.argmax()} has {sizes.max():,} tokens; at most {MOST_TOKENS:,}"
        )
    n_seen = np.clip(np.rint(share * sizes).astype(np.int64), np.minimum(sizes, 1), np.maximum(sizes - 1, 1))
    generator = np.random.default_rng(seed)
    seen = np.zeros(counts.nnz, dtype=np.int32)
    for d in np.flatnonzero(sizes):
        row = slice(counts.indptr[d], counts.indptr[d + 1])
        seen[row] = generator.multivariate_hypergeometric(counts.data[row], n_seen[d], method="marginals")
    held_out = counts.data - seen  # before zeros are removed from `seen`
    return _with_data(counts, seen), _with_data(counts, held_out)


def seen_part(counts: CSR, seed: int, seen: float) -> tuple[CSR, CSR]:
    """Hold out a fifth of the tokens of each document, and show a share of all its tokens, from 0 to 0.8.

    The held-out tokens depend on the seed alone; with `seen` of 0.8 the split is that of `completion`.
    Return seen and held-out counts, (D, W) each.
    """
    if not 0 <= seen <= _LARGE:
        raise InputError(f"split: the share of words seen must be from 0 to {_LARGE}, not {seen:g}")
    rest, held_out = completion(counts, seed, _LARGE)
    if seen == _LARGE:
        return rest, held_out
    if seen == 0:
        return sp.csr_array(rest.shape, dtype=rest.dtype), held_out
    return completion(rest, seed, seen / _LARGE)[0], held_out


def _with_data(like: CSR, data: Int32) -> CSR:
    matrix = sp.csr_array((data, like.indices.copy(), like.indptr.copy()), shape=like.shape)
    matrix.eliminate_zeros()
    return matrix


def _check_share(share: float, name: str) -> None:
    if not 0 < share < 1:
        raise InputError(f"split: {name} must be between 0 and 1, not {share}")
