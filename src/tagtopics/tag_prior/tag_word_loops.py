"""Compiled loops that learn the words of tags by expectation maximisation; see `mixture_loops` for the model.

Claims are numbered tag by tag within a document here, so that loops run over edges: claim
`first_claim[d] + j E_d + i` is edge i and tag j of document d.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from tagtopics._typing import Float32, Float64, Int32, Int64
from tagtopics.bp.graph import FactorGraph
from tagtopics.jit.compiling import inner, kernel
from tagtopics.jit.threads import run_ranges
from tagtopics.tag_prior.mixture_loops import Pairs, first_claims


def number_pairs(graph: FactorGraph) -> tuple[Int64, Int32, Int32]:
    """Return the words that occur with each tag, ascending, and the pair of tag and word of every claim.

    Pairs are numbered tag by tag: offsets (T + 1,) of the tags, the word of each pair (U,), and the number of
    the pair of each claim (P,).
    """
    offsets, shape = _word_offsets(graph), (graph.n_docs, graph.n_words)
    words = np.empty(offsets[-1], dtype=np.int32)
    numbers = np.empty(int(first_claims(graph)[-1]), dtype=np.int32)
    edges = sp.csr_array((np.arange(graph.n_edges), graph.edge_word, graph.doc_edges), shape=shape).tocsc()
    by_word = edges.indptr.astype(np.int64), edges.indices.astype(np.int64), edges.data
    _number_pairs(graph, first_claims(graph), by_word, offsets.copy(), words, numbers)
    return offsets, words, numbers


@kernel
def _number_pairs(graph, claims, by_word, free, words, numbers):
    """Set words and numbers, word by word, so that the words of each tag ascend.

    `by_word` has the edges of each word: offsets (W + 1,), and the document and number of each (E,). The next
    pair of each tag is `free` (T,).
    """
    offsets, docs, edges = by_word
    latest = np.full(len(free), -1, dtype=np.int64)  # the last word of each tag
    for w in range(len(offsets) - 1):
        for i in range(offsets[w], offsets[w + 1]):
            d = docs[i]
            start, n_edges = graph.doc_edges[d], graph.doc_edges[d + 1] - graph.doc_edges[d]
            p = claims[d] + edges[i] - start
            for s in range(graph.doc_slots[d], graph.doc_slots[d + 1]):
                t = graph.slot_tag[s]
                if latest[t] != w:
                    latest[t] = w
                    words[free[t]] = w
                    free[t] += 1
                numbers[p] = free[t] - 1
                p += n_edges


def _word_offsets(graph: FactorGraph) -> Int64:
    """Return (T + 1,): where the words of each tag begin, if every tag lists each of its words once."""
    sizes = np.zeros(graph.n_tags, dtype=np.int64)
    run_ranges(_count_words, graph.tag_slots.offsets, 100, graph, _slot_doc(graph), sizes)
    return np.concatenate([[0], np.cumsum(sizes)])


@kernel
def _count_words(first, last, graph, slot_doc, sizes):
    tag = np.full(len(graph.totals.word_docs), -1, dtype=np.int64)  # the last one that had each word
    for t in range(first, last):
        for m in range(graph.tag_slots.offsets[t], graph.tag_slots.offsets[t + 1]):
            d = slot_doc[graph.tag_slots.members[m]]
            for e in range(graph.doc_edges[d], graph.doc_edges[d + 1]):
                sizes[t] += tag[graph.edge_word[e]] != t
                tag[graph.edge_word[e]] = t


def pair_predictions(offsets: Int64, words: Int32, profiles: Float32, phi: Float32) -> Float32:
    """Return b_tw of every pair, (U,), from profiles (T, K) and phi (W, K)."""
    values = np.empty(len(words), dtype=np.float32)
    run_ranges(_pair_predictions, offsets, phi.shape[1], offsets, words, profiles, phi, values)
    return values


@kernel
def _pair_predictions(first, last, offsets, words, profiles, phi, values):
    for t in range(first, last):
        for u in range(offsets[t], offsets[t + 1]):
            total = np.float32(0)
            for k in range(phi.shape[1]):
                total += profiles[t, k] * phi[words[u], k]
            values[u] = total


def topic_probabilities(graph: FactorGraph, phi: Float32, doc_sums: Float32, prior: Float32) -> Float32:
    """Return p(word | topics of its document) of every edge, (E,), without a token's own part.

    `doc_sums` (D, K) are the tokens of each topic, `prior` (K,) pseudo-counts.
    """
    values = np.empty(graph.n_edges, dtype=np.float32)
    arguments = (graph, phi, doc_sums, prior, values)
    run_ranges(_topic_probabilities, graph.doc_edges, phi.shape[1], *arguments)
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


def _slot_doc(graph: FactorGraph) -> Int64:
    return np.repeat(np.arange(graph.n_docs), np.diff(graph.doc_slots)).astype(np.int64)


def share_claims(
    graph: FactorGraph,
    numbers: Int32,
    pairs: Pairs,
    topics: Float32,
    topic_prior: float,
    slot_prior: Float32,
    shares: Float32,
    n_iter: int,
) -> None:
    """Divide the tokens of training documents between their topics and their tags, `n_iter` times.

    What a document itself has credited to its tags is subtracted from the tag words. `numbers` (P,) are from
    `number_pairs`, `topics` (E,) from `topic_probabilities`; `topic_prior` is the pseudo-count of the topics
    together, `slot_prior` (S,) that of the tags of each document. `shares` (P,), the share of each claim's
    edge that its tag has, is changed in place.
    """
    claims = first_claims(graph)
    settings = (np.float32(topic_prior), n_iter)
    arguments = (graph, claims, numbers, pairs, topics, slot_prior, settings, shares)
    run_ranges(_share_claims, claims, 8 * n_iter, *arguments)


@kernel
def _share_claims(first, last, graph, claims, numbers, pairs, topics, slot_prior, settings, shares):
    topic_prior, n_iter = settings
    for d in range(first, last):
        start, first_slot = graph.doc_edges[d], graph.doc_slots[d]
        n_edges, n_tags = graph.doc_edges[d + 1] - start, graph.doc_slots[d + 1] - first_slot
        if n_tags == 0 or n_edges == 0:
            continue
        counts = graph.edge_count[start : start + n_edges]
        mine = shares[claims[d] : claims[d + 1]].reshape(n_tags, n_edges)
        own, said = np.zeros(n_tags, dtype=np.float32), np.empty((n_tags, n_edges), dtype=np.float32)
        for j in range(n_tags):
            t, p = graph.slot_tag[first_slot + j], claims[d] + j * n_edges
            for i in range(n_edges):
                own[j] += mine[j, i] * counts[i]
            total = max(pairs.totals[t] - own[j], np.float32(0)) + pairs.shrinkage[t]
            for i in range(n_edges):
                u = numbers[p + i]
                known = max(pairs.tokens[u] - mine[j, i] * counts[i], np.float32(0))
                said[j, i] = (known + pairs.shrinkage[t] * pairs.predicted[u]) / total
        of_topics, given = topics[start : start + n_edges], slot_prior[first_slot : first_slot + n_tags]
        total = np.empty(n_edges, dtype=np.float32)
        for _ in range(n_iter):
            _share_once(counts, of_topics, topic_prior, given, said, own, mine, total)


@inner
def _share_once(counts, topics, topic_prior, slot_prior, said, own, mine, total):
    """Update the shares (T, E) of a document and the tokens of its tags, `own` (T,); `total` is scratch."""
    n_tags, n_edges = mine.shape
    left = np.float32(0)  # tokens of the topics
    for i in range(n_edges):
        left += counts[i]
        total[i] = 1
    for j in range(n_tags):
        left -= own[j]
        for i in range(n_edges):
            total[i] -= mine[j, i]
    for i in range(n_edges):
        total[i] = (max(left - total[i], np.float32(0)) + topic_prior) * topics[i]
    for j in range(n_tags):
        for i in range(n_edges):
            mine[j, i] = (max(own[j] - mine[j, i], np.float32(0)) + slot_prior[j]) * said[j, i]
            total[i] += mine[j, i]
    for i in range(n_edges):
        total[i] = np.float32(1) / total[i] if total[i] > 0 else np.float32(0)
    for j in range(n_tags):
        fresh = np.float32(0)
        for i in range(n_edges):
            mine[j, i] *= total[i]
            fresh += mine[j, i] * counts[i]
        own[j] = fresh


def collect_claims(graph: FactorGraph, numbers: Int32, pairs: Pairs, shares: Float32) -> Pairs:
    """Return the pairs with the tokens that the claims credit to each; one thread adds up a tag, in order."""
    tokens, totals = np.zeros(len(pairs.words), np.float32), np.zeros(len(pairs.totals), np.float32)
    arguments = (graph, first_claims(graph), _slot_doc(graph), numbers, shares, tokens, totals)
    run_ranges(_collect_claims, pairs.offsets, 8, *arguments)
    return pairs._replace(tokens=tokens, totals=totals)


@kernel
def _collect_claims(first, last, graph, claims, slot_doc, numbers, shares, tokens, totals):
    for t in range(first, last):
        total = 0.0
        for m in range(graph.tag_slots.offsets[t], graph.tag_slots.offsets[t + 1]):
            s = graph.tag_slots.members[m]
            d = slot_doc[s]
            start, n_edges = graph.doc_edges[d], graph.doc_edges[d + 1] - graph.doc_edges[d]
            p = claims[d] + (s - graph.doc_slots[d]) * n_edges
            for i in range(n_edges):
                credited = shares[p + i] * graph.edge_count[start + i]
                tokens[numbers[p + i]] += credited
                total += credited
        totals[t] = total


def credited_tokens(graph: FactorGraph, shares: Float32) -> tuple[Int64, Int32, Float64]:
    """Return the tokens of each word that documents credit to each tag, as offsets, words and tokens.

    `shares` (P,) are numbered as in `mixture_loops.credit_claims`. The words of a tag are in the order in
    which its documents have them first.
    """
    offsets = _word_offsets(graph)
    words, tokens = np.empty(offsets[-1], dtype=np.int32), np.zeros(offsets[-1])
    arguments = (graph, first_claims(graph), _slot_doc(graph), shares, offsets, words, tokens)
    run_ranges(_add_tokens, offsets, 4, *arguments)
    return offsets, words, tokens


@kernel
def _add_tokens(first, last, graph, claims, slot_doc, shares, offsets, words, tokens):
    place = np.full(len(graph.totals.word_docs), -1, dtype=np.int64)
    for t in range(first, last):
        start = free = offsets[t]
        for m in range(graph.tag_slots.offsets[t], graph.tag_slots.offsets[t + 1]):
            s = graph.tag_slots.members[m]
            d = slot_doc[s]
            n_tags = graph.doc_slots[d + 1] - graph.doc_slots[d]
            p = claims[d] + s - graph.doc_slots[d]
            for e in range(graph.doc_edges[d], graph.doc_edges[d + 1]):
                w = graph.edge_word[e]
                if place[w] < start:  # the place of an earlier tag, or none
                    place[w] = free
                    words[free] = w
                    free += 1
                tokens[place[w]] += np.float64(shares[p]) * graph.edge_count[e]
                p += n_tags
