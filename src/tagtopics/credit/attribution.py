"""Whose word is it? Words of a tag's own, smoothed by its topics; learned by giving each token credit.

A tag t says word w with probability (n_tw + M b_tw) / (n_t + M): n_tw tokens are credited to it so far, and
b_tw = sum_k p(topic k | t) p(w | k) is what its topics expect, worth M tokens. A document of n_dt tokens
credited to t gives a token to t in proportion to that probability times n_dt + A, its own part taken out.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tagtopics._typing import Float64, Int64

TOPIC_TOKENS = 1000.0
"""M: tokens that the topics of a tag are worth beside words credited to it. Decision 031."""

EVEN_TOKENS = 10.0
"""A: tokens that each tag of a document is sure of."""

_SWEEPS = 20
_TERMS = 1 << 22
"""Products of topics held at a time."""


class Claims(NamedTuple):
    """Every pair of an edge (a word in a document) and a tag of its document; P pairs, edge after edge."""

    edge: Int64  # (P,) the edge
    slot: Int64  # (P,) which pair of document and tag
    tag: Int64  # (P,) the tag
    word: Int64  # (P,) the word
    tokens: Float64  # (P,) how often the word occurs in the document

    @property
    def n_edges(self) -> int:
        """One more than the last edge that has a claim."""
        return int(self.edge[-1]) + 1 if len(self.edge) else 0


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


def expected(claims: Claims, profiles: Any, phi: Any) -> Float64:
    """Return b_tw (P,): what the topics of each claim's tag expect of its word.

    Args:
        claims: P of them.
        profiles: (T, K) p(topic | tag).
        phi: (W, K) p(word | topic).
    """
    values = np.empty(len(claims.edge))
    step = max(1, _TERMS // phi.shape[1])
    for first in range(0, len(values), step):
        part = slice(first, first + step)
        values[part] = np.einsum("pk,pk->p", profiles[claims.tag[part]], phi[claims.word[part]])
    return values


def learn_tag_words(counts: Any, tags: Any, profiles: Any, phi: Any) -> sp.csr_array:
    """Return CSR (T, W): the tokens credited to each tag in documents (CSR, D x W) with tags (CSR, D x T)."""
    claims, W = claims_of(counts, tags), counts.shape[1]
    topics = expected(claims, profiles, phi)
    shares = _shared(claims, np.maximum(topics, 1e-300))
    keys, place = np.unique(claims.tag * W + claims.word, return_inverse=True)
    for _ in range(_SWEEPS):
        own = shares * claims.tokens
        tokens = np.bincount(place, own, len(keys))
        of_tag = np.bincount(keys // W, tokens, tags.shape[1])
        said = (tokens[place] - own + TOPIC_TOKENS * topics) / (of_tag[claims.tag] - own + TOPIC_TOKENS)
        shares = _shared(claims, said * (_by_slot(claims, own) - own + EVEN_TOKENS))
    tokens = np.bincount(place, shares * claims.tokens, len(keys))
    return sp.csr_array((tokens.astype(np.float32), (keys // W, keys % W)), shape=(tags.shape[1], W))


def credit_words(counts: Any, tags: Any, profiles: Any, phi: Any, tag_words: Any) -> tuple[Claims, Float64]:
    """Return the claims of documents, and p(tag | word, document) of each, (P,).

    Args:
        counts: CSR (D, W).
        tags: CSR (D, T).
        profiles: (T, K) p(topic | tag).
        phi: (W, K) p(word | topic).
        tag_words: CSR (T, W) tokens credited in training.
    """
    claims = claims_of(counts, tags)
    topics = expected(claims, profiles, phi)
    known = np.asarray(tag_words[claims.tag, claims.word], dtype=np.float64).ravel()
    of_tag = np.asarray(tag_words.sum(axis=1), dtype=np.float64).ravel()[claims.tag]
    said = np.maximum((known + TOPIC_TOKENS * topics) / (of_tag + TOPIC_TOKENS), 1e-300)
    shares = _shared(claims, said)
    for _ in range(_SWEEPS):
        own = shares * claims.tokens
        shares = _shared(claims, said * (_by_slot(claims, own) - own + EVEN_TOKENS))
    return claims, shares


def _shared(claims: Claims, weights: Float64) -> Float64:
    """Scale weights (P,) to add up to one over the claims of each edge."""
    return np.asarray(weights / np.bincount(claims.edge, weights, claims.n_edges)[claims.edge])


def _by_slot(claims: Claims, tokens: Float64) -> Float64:
    """Return (P,): the tokens of each claim's document that its tag is credited with."""
    return np.asarray(np.bincount(claims.slot, tokens)[claims.slot])
