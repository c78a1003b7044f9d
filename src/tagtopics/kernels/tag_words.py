"""Compiled loops that learn the words of tags by expectation maximisation; see `mixture` for the model."""

from __future__ import annotations

import numpy as np

from tagtopics._typing import Float32, Int32, Int64
from tagtopics.graph import FactorGraph
from tagtopics.kernels.compiling import inner, kernel
from tagtopics.kernels.mixture import Pairs, find_pair, first_claims
from tagtopics.kernels.threads import run_ranges


def pair_predictions(
    offsets: Int64, words: Int32, profiles: Float32, phi: Float32, n_threads: int
) -> Float32:
    """Return b_tw of every pair, (U,)."""
    values = np.empty(len(words), dtype=np.float32)
    run_ranges(_pair_predictions, offsets, phi.shape[1], n_threads, offsets, words, profiles, phi, values)
    return values


@kernel
def _pair_predictions(first, last, offsets, words, profiles, phi, values):
    for t in range(first, last):
        for u in range(offsets[t], offsets[t + 1]):
            total = np.float32(0)
            for k in range(phi.shape[1]):
                total += profiles[t, k] * phi[words[u], k]
            values[u] = total


def topic_probabilities(
    graph: FactorGraph, phi: Float32, doc_sums: Float32, prior: Float32, n_threads: int
) -> Float32:
    """Return p(word | topics of its document) of every edge, (E,), without a token's own part.

    Args:
        graph: training documents.
        phi: (W, K) p(word | topic).
        doc_sums: (D, K) tokens of each topic.
        prior: (K,) pseudo-counts.
        n_threads: any number gives the same bits.
    """
    values = np.empty(graph.n_edges, dtype=np.float32)
    arguments = (graph, phi, doc_sums, prior, values)
    run_ranges(_topic_probabilities, graph.doc_edges, phi.shape[1], n_threads, *arguments)
    return values


@kernel
def _topic_probabilities(first, last, graph, phi, doc_sums, prior, values):
    K = phi.shape[1]
    theta = np.empty(K, dtype=np.float32)
    for d in range(first, last):
        tokens = np.float32(0)
        for k in range(K):
            theta[k] = doc_sums[d, k] + prior[k]
            tokens += theta[k]
        for e in range(graph.doc_edges[d], graph.doc_edges[d + 1]):
            w = graph.edge_word[e]
            own = np.float32(0)
            for k in range(K):
                own += theta[k] * phi[w, k]
            own = np.float32(1) / own
            left, total = np.float32(0), np.float32(0)
            for k in range(K):
                rest = max(theta[k] - theta[k] * phi[w, k] * own, prior[k])
                left += rest
                total += rest * phi[w, k]
            values[e] = total / left


def share_claims(
    graph: FactorGraph,
    pairs: Pairs,
    topics: Float32,
    topic_prior: float,
    slot_prior: Float32,
    shares: Float32,
    n_iter: int,
    n_threads: int,
) -> None:
    """Divide the tokens of training documents between their topics and their tags; sets `shares` (P,).

    What a document itself has credited to its tags is subtracted from the tag words.

    Args:
        graph: training documents with their tags.
        pairs: the tag words.
        topics: (E,) from `topic_probabilities`.
        topic_prior: pseudo-count of the topics together.
        slot_prior: (S,) pseudo-counts of the tags of each document.
        shares: (P,) the share of each claim's edge that its tag has; changed in place.
        n_iter: iterations of each document.
        n_threads: any number gives the same bits.
    """
    claims = first_claims(graph)
    settings = (np.float32(topic_prior), n_iter)
    arguments = (graph, claims, pairs, topics, slot_prior, settings, shares)
    run_ranges(_share_claims, claims, 8 * n_iter, n_threads, *arguments)


@kernel
def _share_claims(first, last, graph, claims, pairs, topics, slot_prior, settings, shares):
    topic_prior, n_iter = settings
    for d in range(first, last):
        start, first_slot = graph.doc_edges[d], graph.doc_slots[d]
        n_edges, n_tags = graph.doc_edges[d + 1] - start, graph.doc_slots[d + 1] - first_slot
        if n_tags == 0 or n_edges == 0:
            continue
        counts = graph.edge_count[start : start + n_edges]
        mine = shares[claims[d] : claims[d + 1]].reshape(n_edges, n_tags)
        own = np.zeros(n_tags, dtype=np.float32)
        tokens = np.float32(0)
        for i in range(n_edges):
            tokens += counts[i]
            for j in range(n_tags):
                own[j] += mine[i, j] * counts[i]
        said = np.empty((n_edges, n_tags), dtype=np.float32)
        for i in range(n_edges):
            for j in range(n_tags):
                t = graph.slot_tag[first_slot + j]
                u = find_pair(t, graph.edge_word[start + i], pairs)
                known = max(pairs.tokens[u] - mine[i, j] * counts[i], np.float32(0))
                total = max(pairs.totals[t] - own[j], np.float32(0)) + pairs.shrinkage[t]
                said[i, j] = (known + pairs.shrinkage[t] * pairs.predicted[u]) / total
        fresh, of_topics, given = np.empty(n_tags, np.float32), topics[start:], slot_prior[first_slot:]
        for _ in range(n_iter):
            _share_once(counts, tokens, of_topics, topic_prior, given, said, own, mine, fresh)


@inner
def _share_once(counts, tokens, topics, topic_prior, slot_prior, said, own, mine, fresh):
    """Update the shares (E, T) of a document and the tokens of its tags, `own` (T,); `fresh` is scratch."""
    n_edges, n_tags = mine.shape
    of_topics = tokens
    for j in range(n_tags):
        of_topics -= own[j]
        fresh[j] = 0
    for i in range(n_edges):
        left = np.float32(1)  # the share of the topics
        for j in range(n_tags):
            left -= mine[i, j]
        total = (max(of_topics - left, np.float32(0)) + topic_prior) * topics[i]
        for j in range(n_tags):
            mine[i, j] = (max(own[j] - mine[i, j], np.float32(0)) + slot_prior[j]) * said[i, j]
            total += mine[i, j]
        for j in range(n_tags):
            mine[i, j] = mine[i, j] / total if total > 0 else np.float32(0)
            fresh[j] += mine[i, j] * counts[i]
    for j in range(n_tags):
        own[j] = fresh[j]


def collect_claims(graph: FactorGraph, pairs: Pairs, shares: Float32, n_threads: int) -> Pairs:
    """Return the pairs with the tokens that the claims credit to each; one thread adds up a tag, in order.

    Args:
        graph: training documents with their tags.
        pairs: the tag words; `tokens` and `totals` are replaced.
        shares: (P,) from `share_claims`.
        n_threads: any number gives the same bits.
    """
    tokens, totals = np.zeros(len(pairs.words), np.float32), np.zeros(len(pairs.totals), np.float32)
    slot_doc = np.repeat(np.arange(graph.n_docs), np.diff(graph.doc_slots)).astype(np.int64)
    arguments = (graph, first_claims(graph), slot_doc, pairs, shares, tokens, totals)
    run_ranges(_collect_claims, pairs.offsets, 8, n_threads, *arguments)
    return pairs._replace(tokens=tokens, totals=totals)


@kernel
def _collect_claims(first, last, graph, claims, slot_doc, pairs, shares, tokens, totals):
    number = np.empty(len(graph.totals.word_docs), dtype=np.int64)
    for t in range(first, last):
        for u in range(pairs.offsets[t], pairs.offsets[t + 1]):
            number[pairs.words[u]] = u
        total = 0.0
        for m in range(graph.tag_slots.offsets[t], graph.tag_slots.offsets[t + 1]):
            s = graph.tag_slots.members[m]
            d = slot_doc[s]
            n_tags = graph.doc_slots[d + 1] - graph.doc_slots[d]
            p = claims[d] + s - graph.doc_slots[d]
            for e in range(graph.doc_edges[d], graph.doc_edges[d + 1]):
                credited = shares[p] * graph.edge_count[e]
                tokens[number[graph.edge_word[e]]] += credited
                total += credited
                p += n_tags
        totals[t] = total
