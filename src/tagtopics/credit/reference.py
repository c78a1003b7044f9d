"""Credit attribution in NumPy: the specification that the compiled loops are tested against."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from tagtopics._typing import Float64
from tagtopics.credit.claims import (
    EVEN_TOKENS,
    SWEEPS,
    TOPIC_TOKENS,
    Claims,
    claims_of,
    predicted_by_topics,
    produced,
)


def learn_tag_words(counts: Any, tags: Any, profiles: Any, phi: Any) -> sp.csr_array:
    """Return what `attribution.learn_tag_words` returns."""
    claims, W = claims_of(counts, tags), counts.shape[1]
    topics = predicted_by_topics(claims.tag, claims.word, profiles, phi)
    shares = _shared(claims, np.maximum(topics, 1e-300))
    keys, place = np.unique(claims.tag * W + claims.word, return_inverse=True)
    for _ in range(SWEEPS):
        own = shares * claims.tokens
        tokens = np.bincount(place, own, len(keys))
        of_tag = np.bincount(keys // W, tokens, tags.shape[1])
        said = (tokens[place] - own + TOPIC_TOKENS * topics) / (of_tag[claims.tag] - own + TOPIC_TOKENS)
        shares = _shared(claims, said * (_by_slot(claims, own) - own + EVEN_TOKENS))
    tokens = np.bincount(place, shares * claims.tokens, len(keys))
    return sp.csr_array((tokens.astype(np.float32), (keys // W, keys % W)), shape=(tags.shape[1], W))


def credit_words(counts: Any, tags: Any, profiles: Any, phi: Any, tag_words: Any) -> tuple[Claims, Float64]:
    """Return what `attribution.credit_words` returns."""
    claims = claims_of(counts, tags)
    topics = predicted_by_topics(claims.tag, claims.word, profiles, phi)
    said = produced(claims, tag_words, topics)
    shares = _shared(claims, said)
    for _ in range(SWEEPS):
        own = shares * claims.tokens
        shares = _shared(claims, said * (_by_slot(claims, own) - own + EVEN_TOKENS))
    return claims, shares


def _shared(claims: Claims, weights: Float64) -> Float64:
    """Scale weights (P,) so that they add up to one over the claims of each edge."""
    return np.asarray(weights / np.bincount(claims.edge, weights)[claims.edge])


def _by_slot(claims: Claims, tokens: Float64) -> Float64:
    """Return (P,): the tokens of each claim's document that are credited to its tag."""
    return np.asarray(np.bincount(claims.slot, tokens)[claims.slot])
