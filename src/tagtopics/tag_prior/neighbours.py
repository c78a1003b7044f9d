"""What the words of similar training documents say about a document, and how much that is worth.

A document mixes topics, the words of its tags, and the words of the training documents that are most similar
to what is seen of it:

    p(w | d)  proportional to  ... + sum_j (m_dj + A weight_dj) psi_jw
    psi_jw = (n_jw + M sum_k theta_jk phi_kw) / (n_j + M)

with n_jw the words of training document j and theta_j its topics. The strength A and the shrinkage M are
learned on documents set aside, like those of tags. This is smoothing by neighbours: it tells nothing about
tags (decision 224).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tagtopics._typing import Bool, Float32, Float64
from tagtopics.bp.graph import build_graph
from tagtopics.tag_prior.prior import Profiles, Strengths
from tagtopics.tag_prior.strengths import (
    NEVER,
    WORDS,
    Fit,
    Rows,
    climb,
    gains,
    least_words,
    maximise,
    seen_words,
    words_of,
)  # fmt: skip

NEAREST = 20  # training documents that count as similar to a document
_FEW_TOKENS = 4.0  # inferred tags count for half if a document has this many times the tokens of its prior
# Values of M that are tried, which one first, and rounds of inference for each.
_SHRINKAGES, _FIRST, _ROUNDS = (3.0, 10.0, 30.0, 100.0, 300.0, 1000.0), 2, 1


class Near(NamedTuple):
    """Training documents that are similar to some documents."""

    weights: Any  # CSR (D, N), rows add up to one at most
    counts: Any  # CSR (N, W) their words
    topics: Float32  # (N, K) their topic proportions


class SimilarStrengths(NamedTuple):
    """How much the words of similar documents say, in tokens."""

    hidden: float = 0.0  # for documents whose tags are not known
    known: float = 0.0
    shrinkage: float = _SHRINKAGES[_FIRST]  # M: tokens that the topics of a training document weigh
    hidden_words: float = 0.0  # from which on they count, for documents whose tags are not known
    known_words: float = 0.0

    def of(self, n_tokens: Float64, certain: Float64) -> Float64:
        """Return (D,): the strengths for documents of (D,) tokens, their tags certain from 0 to 1."""
        known = certain * self.known * (n_tokens >= self.known_words)
        return np.asarray(known + (1 - certain) * self.hidden * (n_tokens >= self.hidden_words))


def trust(n_tokens: Float64, hidden: Strengths) -> Float32:
    """Return the trust, from 0 to 1, in tags and neighbours inferred from tokens (D,) (decision 224).

    `hidden` has the strengths of a document's prior if its tags are not known.
    """
    few = (_FEW_TOKENS * (hidden.flat + hidden.base)) ** 3
    return np.asarray(n_tokens**3 / np.maximum(n_tokens**3 + few, 1e-300), dtype=np.float32)


def trusted(near: Near, n_tokens: Float64, hidden: Strengths) -> Near:
    """Return similar documents with weights that are lower if few tokens, (D,), were seen."""
    weights, share = near.weights.copy(), trust(n_tokens, hidden).astype(np.float64)
    weights.data = weights.data * np.repeat(share, np.diff(weights.indptr))
    return near._replace(weights=weights)


def side_by_side(tags: Any, near: Any) -> sp.csr_array:
    """Return the slots of tags, CSR (D, T), and of similar documents, CSR (D, N), as CSR (D, T + N)."""
    return sp.csr_array(sp.hstack([sp.csr_array(tags, dtype=np.float64), near], format="csr"))


def with_documents(profiles: Profiles, near: Near) -> Profiles:
    """Return profiles of T tags and N training documents; the documents are a kind of their own."""
    n = near.counts.shape[0]
    return replace(
        profiles,
        means=np.vstack([profiles.means, near.topics.astype(np.float32)]),
        tag_docs=np.concatenate([profiles.tag_docs, np.ones(n)]),
        kinds=np.concatenate([profiles.kinds, np.full(n, profiles.n_kinds)]),
        n_kinds=profiles.n_kinds + 1,
    )


def words_and_documents(tag_words: Any, near: Near) -> sp.csr_array:
    """Return CSR (T + N, W): the words of tags, CSR (T, W), and of training documents."""
    return sp.csr_array(sp.vstack([sp.csr_array(tag_words), near.counts], format="csr"))


class Given(NamedTuple):
    """What is learned already: strengths of topics and of the words of tags, and these words."""

    hidden: Fit  # (n + G,) of documents whose tags are not known
    known: Fit
    tag_words: Any  # CSR (T, W)
    shrinkage: Float64  # (T,)
    tagged: Bool  # (D,) which rows have a tag that is known


def learn_similar(rows: Rows, near: Near, profiles: Profiles, phi: Float32, given: Given) -> SimilarStrengths:
    """Return the strengths of similar documents; 0 where they do not help by two standard errors.

    They count from as many words on as they help with, which is learned from the same documents.
    All other strengths stay as they are, and the shrinkage is learned without tags. One number is learned
    from all documents set aside, so they need not be divided into two halves to see whether it helps.
    """
    untagged = rows._replace(tags=sp.csr_array(rows.tags.shape))
    plain, tagged = (_widened(some, near, profiles) for some in (untagged, rows))
    of_all, words = with_documents(profiles, near), words_and_documents(given.tag_words, near)
    every = np.ones_like(given.tagged)
    use_tags = given.tagged.any() and not np.array_equal(given.known.values, given.hidden.values)

    def attempt(index: int, wide: Rows, fit: Fit, learn_from: Bool) -> tuple[float, Fit]:
        weighed = np.full(near.counts.shape[0], _SHRINKAGES[index])
        said = words_of(wide, words, np.concatenate([given.shrinkage, weighed]), of_all, phi)
        start = np.append(fit.values, 1.0)
        moving = np.arange(len(start)) == len(start) - 1
        used = (start > 0).astype(np.float64)
        found = maximise(wide, said, phi, used, learn_from, start, _ROUNDS, moving)
        return float(found.likelihoods[learn_from].sum()), found

    size = np.searchsorted(WORDS, rows.seen_tokens, side="right") - 1

    def strength(fit: Fit, learn_from: Bool, found: Fit) -> tuple[float, float]:
        """Return the strength, and the number of words from which on it applies."""
        more = np.where(learn_from, found.likelihoods - fit.likelihoods, 0.0)
        least = least_words([float(more[size == i].sum()) for i in range(len(WORDS))])
        better = fit.likelihoods + np.where(rows.seen_tokens >= least, more, 0.0)
        return (float(found.values[-1]), least) if gains(better, fit.likelihoods, rows) else (0.0, NEVER)

    best, (_, found) = climb(
        lambda index, _: attempt(index, plain, given.hidden, every), len(_SHRINKAGES), _FIRST, both=False
    )
    hidden = known = strength(given.hidden, every, found)
    if use_tags:
        found = attempt(best, tagged, given.known, given.tagged)[1]
        known = strength(given.known, given.tagged, found)
    return SimilarStrengths(hidden[0], known[0], _SHRINKAGES[best], hidden[1], known[1])


def _widened(rows: Rows, near: Near, profiles: Profiles) -> Rows:
    """Return rows whose slots are their tags and their similar documents."""
    tags = side_by_side(rows.tags, near.weights)
    shares = side_by_side(profiles.slot_shares(rows.tags), near.weights).data
    return rows._replace(
        seen=build_graph(seen_words(rows), tags),
        slot_kind=with_documents(profiles, near).kinds[tags.indices],
        slot_shares=shares.astype(np.float32),
        tags=tags,
    )
