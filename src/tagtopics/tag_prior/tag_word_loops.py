"""Compiled loops that learn the words of tags by expectation maximisation; see `mixture` for the model."""

from __future__ import annotations

import numpy as np

from tagtopics._typing import Float32, Float64, Int32, Int64
from tagtopics.bp.graph import FactorGraph
from tagtopics.jit.compiling import inner, kernel
from tagtopics.jit.threads import run_ranges
from tagtopics.tag_prior.mixture_loops import Pairs, first_claims


def words_of_tags(graph: FactorGraph) -> tuple[Int64, Int32]:
    """Return the pairs of a tag and a word that occur together.

    Args:
        graph: documents with their tags.

    Returns:
        Offsets (T + 1,) of the tags, and the words of each, ascending.
    """
    slot_doc = _slot_doc(graph)
    ranges, sizes = _edges_of_tags(graph, slot_doc), np.zeros(graph.n_tags + 1, dtype=np.int64)
    run_ranges(_count_words, ranges, 2, graph, slot_doc, sizes)
    offsets = np.cumsum(sizes)
    words = np.empty(offsets[-1], dtype=np.int32)
    run_ranges(_list_words, ranges, 8, graph, slot_doc, offsets, words)
    return offsets, words


def _edges_of_tags(graph: FactorGraph, slot_doc: Int64) -> Int64:
    """Return (T + 1,): the number of edges of the documents of each tag, added up."""
    work = np.concatenate([[0], np.cumsum(np.diff(graph.doc_edges)[slot_doc[graph.tag_slots.members]])])
    return work[graph.tag_slots.offsets].astype(np.int64)


@kernel
def _list_words(first, last, graph, slot_doc, offsets, words):
    """Set `words`, from `offsets[t]` on, to the different words of the documents of tag t, ascending."""
    seen = np.zeros(_n_cells(graph), dtype=np.uint64)
    for t in range(first, last):
        _mark_words(t, graph, slot_doc, seen)
        free = offsets[t]
        for i in range(len(seen)):
            rest, w = seen[i], 64 * i
            seen[i] = 0
            while rest:
                while not rest & np.uint64(0xFF):
                    rest >>= np.uint64(8)
                    w += 8
                while not rest & np.uint64(1):
                    rest >>= np.uint64(1)
                    w += 1
                words[free] = w
                free += 1
                rest >>= np.uint64(1)
                w += 1


@inner
def _n_cells(graph):
    """Return how many numbers of 64 bits have a bit for each word."""
    return (len(graph.totals.word_docs) + 63) // 64


@inner
def _mark_words(t, graph, slot_doc, seen):
    """Set the bits of all words of the documents of tag t."""
    for m in range(graph.tag_slots.offsets[t], graph.tag_slots.offsets[t + 1]):
        d = slot_doc[graph.tag_slots.members[m]]
        for e in range(graph.doc_edges[d], graph.doc_edges[d + 1]):
            w = graph.edge_word[e]
            seen[w >> 6] |= np.uint64(1) << np.uint64(w & 63)


def pair_predictions(offsets: Int64, words: Int32, profiles: Float32, phi: Float32) -> Float32:
    """Return b_tw of every pair, (U,)."""
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

    Args:
        graph: training documents.
        phi: (W, K) p(word | topic).
        doc_sums: (D, K) tokens of each topic.
        prior: (K,) pseudo-counts.
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


def claim_pairs(graph: FactorGraph, offsets: Int64, words: Int32) -> Int32:
    """Return (P,): the pair of every claim. Claims are numbered tag by tag within a document here.

    Claim `first_claim[d] + j E_d + i` is edge i and tag j of document d, so that loops run over edges.
    """
    numbers = np.zeros(int(first_claims(graph)[-1]), dtype=np.int32)
    arguments = (graph, first_claims(graph), _slot_doc(graph), offsets, words, numbers)
    run_ranges(_claim_pairs, offsets, 8, *arguments)
    return numbers


def _slot_doc(graph: FactorGraph) -> Int64:
    return np.repeat(np.arange(graph.n_docs), np.diff(graph.doc_slots)).astype(np.int64)


@kernel
def _claim_pairs(first, last, graph, claims, slot_doc, offsets, words, numbers):
    number = np.empty(len(graph.totals.word_docs), dtype=np.int32)
    for t in range(first, last):
        for u in range(offsets[t], offsets[t + 1]):
            number[words[u]] = u
        for m in range(graph.tag_slots.offsets[t], graph.tag_slots.offsets[t + 1]):
            s = graph.tag_slots.members[m]
            d = slot_doc[s]
            start, n_edges = graph.doc_edges[d], graph.doc_edges[d + 1] - graph.doc_edges[d]
            p = claims[d] + (s - graph.doc_slots[d]) * n_edges
            for i in range(n_edges):
                numbers[p + i] = number[graph.edge_word[start + i]]


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
    """Divide the tokens of training documents between their topics and their tags; sets `shares` (P,).

    What a document itself has credited to its tags is subtracted from the tag words.

    Args:
        graph: training documents with their tags.
        numbers: (P,) from `claim_pairs`.
        pairs: the tag words.
        topics: (E,) from `topic_probabilities`.
        topic_prior: pseudo-count of the topics together.
        slot_prior: (S,) pseudo-counts of the tags of each document.
        shares: (P,) the share of each claim's edge that its tag has; changed in place.
        n_iter: iterations of each document.
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
    """Return the pairs with the tokens that the claims credit to each; one thread adds up a tag, in order.

    Args:
        graph: training documents with their tags.
        numbers: (P,) from `claim_pairs`.
        pairs: the tag words; `tokens` and `totals` are replaced.
        shares: (P,) from `share_claims`.
    """
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
    """Return the tokens of each word that documents credit to each tag.

    Args:
        graph: documents with their tags.
        shares: (P,) p(tag | word, document), word by word within a document, as `mixture.credit_claims` has.

    Returns:
        Offsets (T + 1,) of the tags, and the words and tokens of each; words in the order in which the
        documents of the tag have them first.
    """
    T, claims, slot_doc = graph.n_tags, first_claims(graph), _slot_doc(graph)
    ranges = _edges_of_tags(graph, slot_doc)
    sizes = np.zeros(T + 1, dtype=np.int64)
    run_ranges(_count_words, ranges, 2, graph, slot_doc, sizes)
    offsets = np.cumsum(sizes)
    words, tokens = np.empty(offsets[-1], dtype=np.int32), np.zeros(offsets[-1])
    run_ranges(_add_tokens, ranges, 4, graph, claims, slot_doc, shares, offsets, words, tokens)
    return offsets, words, tokens


@kernel
def _count_words(first, last, graph, slot_doc, sizes):
    """Set `sizes[t + 1]` to the number of different words of the documents of tag t."""
    seen = np.zeros(_n_cells(graph), dtype=np.uint64)
    for t in range(first, last):
        _mark_words(t, graph, slot_doc, seen)
        for i in range(len(seen)):
            sizes[t + 1] += _n_bits(seen[i])
            seen[i] = 0


@inner
def _n_bits(x):
    """Return the number of bits that are set, added up in ever wider fields."""
    x -= x >> np.uint64(1) & np.uint64(0x5555555555555555)
    x = (x & np.uint64(0x3333333333333333)) + (x >> np.uint64(2) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64(x * np.uint64(0x0101010101010101) >> np.uint64(56))


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
