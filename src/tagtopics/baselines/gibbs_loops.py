"""Compiled collapsed Gibbs sampling: one pass over the tokens, one after the other, arrays changed in place.

A count c is c tokens; a remaining fraction is a token of that weight. Tokens are numbered along the edges,
document by document, so only their topics are stored. The random number of a token is a function of seed,
sweep and token. `gibbs_reference` is the specification.
"""

from __future__ import annotations

import numpy as np

from tagtopics.jit.compiling import inner, kernel
from tagtopics.jit.randomness import uniform


@kernel
def start(graph, doc_tokens, word_topics, seed, topics, doc_sums, word_sums):
    """Draw the first topic of each token from its word's row of `word_topics` (W, K), and add up the sums."""
    K = word_topics.shape[1]
    running = np.empty(K)
    for d in range(graph.doc_edges.shape[0] - 1):
        n = doc_tokens[d]
        for e in range(graph.doc_edges[d], graph.doc_edges[d + 1]):
            w = graph.edge_word[e]
            total = 0.0
            for k in range(K):
                total += word_topics[w, k]
                running[k] = total
            left = np.float64(graph.edge_count[e])
            while left > 0:
                weight = min(left, 1.0)
                k = _draw(running, K, total * uniform(seed, n))
                topics[n] = k
                doc_sums[d, k] += weight
                word_sums[w, k] += weight
                left -= weight
                n += 1


@kernel
def sweep(
    graph, doc_tokens, links, link_weights, doc_weights, priors, seed, clock, topics, doc_sums, word_sums
):
    """Draw every token's topic given all others; return the weight of the tokens that changed.

    p(z = k) is (n_dk + alpha_k) exp(eta_k / n_d sum of the linked zbar_k) (n_wk + beta) / (n_k + W beta), the
    token itself excluded. Without links it is LDA.
    """
    W, K = word_sums.shape
    beta = priors.beta
    topic_sums = word_sums.sum(0)
    inverse = 1.0 / (topic_sums + W * beta)
    running = np.empty(K)
    tilt = np.empty(K)
    moved = 0.0
    for d in range(graph.doc_edges.shape[0] - 1):
        n = doc_tokens[d]
        _tilt(d, links, link_weights, doc_weights, doc_sums, tilt)
        for e in range(graph.doc_edges[d], graph.doc_edges[d + 1]):
            w = graph.edge_word[e]
            left = np.float64(graph.edge_count[e])
            while left > 0:
                weight = min(left, 1.0)
                old = topics[n]
                doc_sums[d, old] -= weight
                word_sums[w, old] -= weight
                topic_sums[old] -= weight
                inverse[old] = 1.0 / (topic_sums[old] + W * beta)
                for k in range(K):
                    theta = (doc_sums[d, k] + priors.alpha[k]) * tilt[k]
                    running[k] = theta * (word_sums[w, k] + beta) * inverse[k]
                total = _accumulate(running, K)
                new = _draw(running, K, total * uniform(seed, clock + n))
                doc_sums[d, new] += weight
                word_sums[w, new] += weight
                topic_sums[new] += weight
                inverse[new] = 1.0 / (topic_sums[new] + W * beta)
                topics[n] = new
                if new != old:
                    moved += weight
                left -= weight
                n += 1
    return moved


@inner
def _tilt(d, links, link_weights, doc_weights, doc_sums, tilt):
    """Set `tilt` to exp(eta / n_d times the sum of the mean topics of the linked documents)."""
    K = tilt.shape[0]
    tilt[:] = 0
    for i in range(links.offsets[d], links.offsets[d + 1]):
        other = links.members[i]
        if doc_weights[other] > 0:
            share = 1.0 / doc_weights[other]
            for k in range(K):
                tilt[k] += share * doc_sums[other, k]
    scale = 1.0 / max(doc_weights[d], 1.0)
    for k in range(K):
        tilt[k] = np.exp(scale * link_weights[k] * tilt[k])


@kernel
def sweep_authors(graph, doc_tokens, priors, seed, clock, topics, slots, author_sums, word_sums):
    """Draw every token's author and topic given all others; return the weight of those that changed.

    p(x = a, z = k) is (n_ak + alpha_k) / (n_a + sum of alpha) (n_wk + beta) / (n_k + W beta), the token
    itself excluded, over the authors of the document. `slots` is the author's index among them.
    """
    W, K = word_sums.shape
    beta = priors.beta
    alpha_total = priors.alpha.sum()
    topic_sums = word_sums.sum(0)
    author_totals = author_sums.sum(1)
    widest = 1
    for d in range(graph.doc_edges.shape[0] - 1):
        widest = max(widest, graph.doc_slots[d + 1] - graph.doc_slots[d])
    running = np.empty(widest * K)
    word = np.empty(K)
    moved = 0.0
    for d in range(graph.doc_edges.shape[0] - 1):
        n = doc_tokens[d]
        first = graph.doc_slots[d]
        n_slots = graph.doc_slots[d + 1] - first
        for e in range(graph.doc_edges[d], graph.doc_edges[d + 1]):
            w = graph.edge_word[e]
            left = np.float64(graph.edge_count[e])
            while left > 0:
                weight = min(left, 1.0)
                k, i = topics[n], slots[n]
                a = graph.slot_tag[first + i]
                author_sums[a, k] -= weight
                author_totals[a] -= weight
                word_sums[w, k] -= weight
                topic_sums[k] -= weight
                for j in range(K):
                    word[j] = (word_sums[w, j] + beta) / (topic_sums[j] + W * beta)
                for s in range(n_slots):
                    b = graph.slot_tag[first + s]
                    scale = 1.0 / (author_totals[b] + alpha_total)
                    for j in range(K):
                        running[s * K + j] = scale * (author_sums[b, j] + priors.alpha[j]) * word[j]
                total = _accumulate(running, n_slots * K)
                drawn = _draw(running, n_slots * K, total * uniform(seed, clock + n))
                new_i, new_k = drawn // K, drawn % K
                b = graph.slot_tag[first + new_i]
                author_sums[b, new_k] += weight
                author_totals[b] += weight
                word_sums[w, new_k] += weight
                topic_sums[new_k] += weight
                topics[n], slots[n] = new_k, new_i
                if new_k != k:
                    moved += weight
                left -= weight
                n += 1
    return moved


@inner
def _accumulate(values, n):
    """Replace the first n values by their running sums; return the last."""
    total = 0.0
    for k in range(n):
        total += values[k]
        values[k] = total
    return total


@inner
def _draw(running, n, goal):
    """Return the first index whose running sum exceeds the goal."""
    for k in range(n - 1):
        if running[k] > goal:
            return k
    return n - 1


@kernel
def first_authors(graph, doc_tokens, seed, clock, topics, slots, author_sums):
    """Draw the first author of each token uniformly among the document's, and add up `author_sums`."""
    for d in range(graph.doc_edges.shape[0] - 1):
        n = doc_tokens[d]
        first = graph.doc_slots[d]
        n_slots = graph.doc_slots[d + 1] - first
        for e in range(graph.doc_edges[d], graph.doc_edges[d + 1]):
            left = np.float64(graph.edge_count[e])
            while left > 0:
                weight = min(left, 1.0)
                i = min(int(uniform(seed, clock + n) * n_slots), n_slots - 1)
                slots[n] = i
                author_sums[graph.slot_tag[first + i], topics[n]] += weight
                left -= weight
                n += 1


@kernel
def topic_counts(graph, doc_tokens, topics, doc_sums):
    """Add up the tokens of each document by topic, (D, K)."""
    for d in range(graph.doc_edges.shape[0] - 1):
        n = doc_tokens[d]
        for e in range(graph.doc_edges[d], graph.doc_edges[d + 1]):
            left = np.float64(graph.edge_count[e])
            while left > 0:
                doc_sums[d, topics[n]] += min(left, 1.0)
                left -= 1.0
                n += 1
