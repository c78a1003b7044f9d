"""The words that tags own: learned by expectation maximisation with the topics fixed."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tagtopics._typing import Float32, Float64, Int32
from tagtopics.bp.graph import FactorGraph, build_graph
from tagtopics.corpus.core import INT32_MAX
from tagtopics.tag_prior import tag_word_loops as loops
from tagtopics.tag_prior.mixture_loops import Pairs

# Rounds of expectation maximisation while settings are learned, most rounds at the end, and iterations of
# each document in a round.
ROUNDS, MOST_ROUNDS, ITERATIONS = 6, 24, 5
CONVERGED = 0.02  # change of the number of tokens credited to tags, as a share, at which the last rounds end
# Pairs of a word of a document and a tag of it; above that, every n-th document is used.
_MOST_CLAIMS = 1 << 26


class Training(NamedTuple):
    """Training documents, what topics say of them, and the tags and words that occur together."""

    graph: FactorGraph
    topics: Float32  # (E,) p(word | topics of its document)
    numbers: Int32  # (P,) the pair of every claim
    pairs: Pairs
    slot_shares: Float32  # (S,) see `Profiles.slot_shares`
    n_words: int


def training_of(
    counts: Any,
    tags: Any,
    slot_shares: Any,
    doc_sums: Float32,
    prior: Float64,
    profiles: Float32,
    phi: Float32,
) -> Training:
    """Return what the words of tags are learned from.

    Args:
        counts: CSR (D, W).
        tags: CSR (D, T).
        slot_shares: CSR (D, T) with the entries of `tags`.
        doc_sums: (D, K) tokens of each topic.
        prior: (K,) pseudo-counts of topics.
        profiles: (T, K) p(topic | tag).
        phi: (W, K) p(word | topic).
    """
    n_claims = int(np.diff(counts.indptr).astype(np.int64) @ np.diff(tags.indptr))
    step = 1 + n_claims // _MOST_CLAIMS
    if step > 1:
        counts, tags, slot_shares, doc_sums = (a[::step] for a in (counts, tags, slot_shares, doc_sums))
    graph = build_graph(counts, tags)
    offsets, words = loops.words_of_tags(graph)
    predicted = loops.pair_predictions(offsets, words, profiles, phi)
    none, T = np.zeros(len(words), np.float32), tags.shape[1]
    pairs = Pairs(offsets, words, none, predicted, np.zeros(T, np.float32), np.ones(T, np.float32))
    at_least = (prior + 1e-9).astype(np.float32)  # without its own part a document may have nothing else
    topics = loops.topic_probabilities(graph, phi, doc_sums, at_least)
    numbers = loops.claim_pairs(graph, offsets, words)
    return Training(graph, topics, numbers, pairs, slot_shares.data.astype(np.float32), counts.shape[1])


class Credited(NamedTuple):
    """The words that tags own, and what they were learned from."""

    words: sp.csr_array  # (T, W) tokens of each word credited to each tag
    totals: Float32  # (T,) tokens credited to each tag
    shares: Float32  # (P,) share of each claim's edge that its tag has


def learn_tag_words(
    training: Training,
    shrinkage: Float64,
    topic_prior: float,
    slot_prior: Float32,
    start: Credited | None = None,
    rounds: int = ROUNDS,
    tol: float = 0.0,
) -> Credited:
    """Return the tokens of each word credited to each tag.

    Args:
        training: from `training_of`.
        shrinkage: (T,) M_t, tokens that the topics of a tag weigh.
        topic_prior: pseudo-count of all topics together.
        slot_prior: (S,) pseudo-counts of the tags of each document.
        start: where to start, learned from the same documents; by default no word is credited to any tag.
        rounds: rounds of expectation maximisation, at most.
        tol: change of the number of credited tokens, as a share, at which they end.
    """
    graph, topics, numbers, pairs, _, n_words = training
    pairs = pairs._replace(shrinkage=shrinkage.astype(np.float32))
    if start is None:  # the pairs of a training have no tokens
        shares = np.zeros(len(numbers), np.float32)
    else:
        shares, pairs = start.shares.copy(), pairs._replace(tokens=start.words.data, totals=start.totals)
    settings = topic_prior, slot_prior, shares, ITERATIONS
    for _ in range(rounds):
        before = pairs.totals.sum(dtype=np.float64)
        loops.share_claims(graph, numbers, pairs, topics, *settings)
        pairs = loops.collect_claims(graph, numbers, pairs, shares)
        credited = pairs.totals.sum(dtype=np.float64)
        if abs(credited - before) < tol * credited:
            break
    narrow = pairs.offsets[-1] <= INT32_MAX  # wide offsets would make scipy widen the words, too
    offsets = pairs.offsets.astype(np.int32) if narrow else pairs.offsets
    words = sp.csr_array((pairs.tokens, pairs.words, offsets), shape=(len(pairs.totals), n_words))
    return Credited(words, pairs.totals, shares)
