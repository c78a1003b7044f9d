"""The pairs that credit is shared among: each word of a document with each tag of that document.

A tag t produces word w with probability (n_tw + M b_tw) / (n_t + M). Here n_tw is the number of tokens of w
credited to t so far, n_t their sum over words, and b_tw = sum_k p(topic k | t) p(w | k) is what the topics of
the tag predict, worth M tokens. A document with n_dt tokens credited to t credits a token to t in proportion
to that probability times (n_dt + A). A token's own share is subtracted from all of these sums.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tagtopics._typing import Float64, Int64

TOPIC_TOKENS = 1000.0
"""M: the weight, in tokens, of a tag's topics next to the words credited to it. Decision 031."""

EVEN_TOKENS = 10.0
"""A: tokens that each tag of a document starts with."""

SWEEPS = 20

_TERMS = 1 << 22
"""Products of topics computed at a time."""


class Claims(NamedTuple):
    """Every pair of an edge (a word of a document) and a tag of its document; P pairs, edge after edge."""

    edge: Int64  # (P,) the edge
    slot: Int64  # (P,) the pair of document and tag
    tag: Int64  # (P,) the tag
    word: Int64  # (P,) the word
    tokens: Float64  # (P,) how often the word occurs in the document


def claims_of(counts: Any, tags: Any) -> Claims:
    """Return the claims of documents (CSR, D x W) and their tags (CSR, D x T)."""
    n_words, n_tags = np.diff(counts.indptr), np.diff(tags.indptr)
    doc = np.repeat(np.arange(counts.shape[0]), n_words)
    width = n_tags[doc]
    edge = np.repeat(np.arange(counts.nnz), width)
    within = np.arange(len(edge)) - np.repeat(np.cumsum(width) - width, width)
    slot = tags.indptr[doc[edge]].astype(np.int64) + within
    tag = tags.indices[slot].astype(np.int64)
    word = counts.indices[edge].astype(np.int64)
    return Claims(edge, slot, tag, word, counts.data[edge].astype(np.float64))


def predicted_by_topics(tag: Int64, word: Int64, profiles: Any, phi: Any) -> Float64:
    """Return b_tw (N,): the probability of each word under the topics of its tag.

    Args:
        tag: (N,) columns of tags.
        word: (N,) columns of words.
        profiles: (T, K) p(topic | tag).
        phi: (W, K) p(word | topic).
    """
    values = np.empty(len(tag))
    step = max(1, _TERMS // phi.shape[1])
    for first in range(0, len(values), step):
        part = slice(first, first + step)
        values[part] = np.einsum("pk,pk->p", profiles[tag[part]], phi[word[part]])
    return values


def produced(claims: Claims, tag_words: Any, topics: Float64) -> Float64:
    """Return the probability that each claim's tag produces its word, (P,), never zero.

    Args:
        claims: P claims.
        tag_words: CSR (T, W) tokens credited in training.
        topics: (P,) what `predicted_by_topics` returns.
    """
    if not len(claims.edge):  # scipy cannot index with empty arrays
        return np.empty(0)
    tags, row = np.unique(claims.tag, return_inverse=True)
    own = tag_words[tags]  # the cost is that of these tags, not of all
    known = np.asarray(own[row, claims.word], dtype=np.float64).ravel()
    of_tag = np.asarray(own.sum(axis=1), dtype=np.float64).ravel()[row]
    return np.maximum((known + TOPIC_TOKENS * topics) / (of_tag + TOPIC_TOKENS), 1e-300)
