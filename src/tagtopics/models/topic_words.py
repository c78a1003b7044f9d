"""The words of a topic that people read, in lists and names: telling ones that occur together.

The contribution of a word to the divergence of a topic from all tokens, p(w | k) log(p(w | k) / p(w)), is
large if the word is frequent in the topic and more so than elsewhere. Of the twenty words that contribute
most, the one with the smallest mean NPMI with the others is removed, again and again, until ten are left.
Pairs that few documents have are shrunk towards independence. In fewer than 100 documents pairs say little,
and the order is that of contributions. Decision 256.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from tagtopics._typing import CSR, Float64, Int32, Int64
from tagtopics.jit.top import largest

CANDIDATES, KEPT = 20, 10  # words of a topic to choose from, and to choose
_SHRINKAGE = 5.0  # documents, as expected of independent words, that are added to those that have a pair
_LEAST_DOCS, _MOST_DOCS = 100, 20_000  # in which pairs are counted
_GRID = 1e9  # NPMI is rounded to billionths, so that sums are exact
_TIE = 1e-9  # of its probability is added to the contribution of a word: topics may equal the collection


def choose_topic_words(topic_word: Any, topic_share: Float64, counts: CSR) -> Int32:
    """Return (K, 20): the words chosen for each topic by contribution, then those removed, the last first.

    Args:
        topic_word: (K, W) p(word | topic).
        topic_share: (K,) share of all tokens.
        counts: CSR (D, W) of the documents in which pairs are counted, in some of them if they are many.
    """
    best = list_words(topic_word, topic_share, None, CANDIDATES)
    if counts.shape[0] < _LEAST_DOCS:
        return best.astype(np.int32)
    words, place = np.unique(best, return_inverse=True)
    documents = counts[:: -(-counts.shape[0] // _MOST_DOCS)]
    has = sp.csc_array(documents[:, words] > 0, dtype=np.int64)
    chosen = [
        row[_by_removal(_npmi((own.T @ own).toarray(), has.shape[0]))]
        for row, own in zip(best, (has[:, columns] for columns in place.reshape(best.shape)), strict=True)
    ]
    return np.array(chosen, dtype=np.int32).reshape(best.shape)


def list_words(topic_word: Any, topic_share: Float64, chosen: Any, n: int) -> Int64:
    """Return (K, n): the columns of the words of each topic, as people read them; all W if there are fewer.

    Args:
        topic_word: (K, W) p(word | topic).
        topic_share: (K,) share of all tokens.
        chosen: from `choose_topic_words`; other words follow by contribution. None if no words are chosen.
        n: how many words of each topic.
    """
    K, n = len(topic_word), min(n, topic_word.shape[1])
    if chosen is not None and n <= chosen.shape[1]:
        return np.asarray(chosen[:, :n], dtype=np.int64)
    first = np.empty((K, 0), dtype=np.int64) if chosen is None else chosen
    listed = np.empty((K, n), dtype=np.int64)
    for k, contribution in enumerate(_contributions(topic_word, topic_share)):
        contribution[first[k]] = -np.inf
        listed[k] = [*first[k], *largest(contribution, n - first.shape[1])]
    return listed


def _contributions(topic_word: Any, topic_share: Float64) -> Iterator[Float64]:
    """Yield (W,) for each topic: the contribution of each word to its divergence from all tokens."""
    phi = np.ascontiguousarray(topic_word)
    overall = np.zeros(phi.shape[1])
    for share, row in zip(topic_share, phi, strict=True):  # a matrix product would depend on threads
        overall += float(share) * row.astype(np.float64)
    for row in phi:
        p = row.astype(np.float64)
        yield p * (np.log(np.maximum(p, 1e-300) / np.maximum(overall, 1e-300)) + _TIE)


def _npmi(together: Int64, n_docs: int) -> Int64:
    """Return the NPMI of pairs of words, in billionths, from how many of D documents have both.

    Pairs with C documents, E of which are expected of independent words, count as (C C + c E) / (C + c). A
    word in no document, or in all of them, tells nothing.
    """
    docs = np.diag(together)
    expected = np.maximum(np.outer(docs, docs) / n_docs, 1e-300)
    shrunk = (together**2 + _SHRINKAGE * expected) / (together + _SHRINKAGE)
    lengths = -np.log(np.minimum(shrunk / n_docs, 1 - 1e-6))
    npmi = np.rint(_GRID * np.log(shrunk / expected) / lengths).astype(np.int64)
    npmi[docs == 0] = npmi[:, docs == 0] = 0
    np.fill_diagonal(npmi, 0)
    return npmi


def _by_removal(npmi: Int64) -> Int64:
    """Return words as they are listed: the ten that stay in their order, then the last removed first."""
    left, removed = list(range(len(npmi))), []
    while len(left) > KEPT:
        scores = npmi[np.ix_(left, left)].sum(1)
        removed.append(left.pop(len(left) - 1 - int(np.argmin(scores[::-1]))))  # of equals, the last one
    return np.array([*left, *reversed(removed)], dtype=np.int64)
