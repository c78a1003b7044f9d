"""Compiled collapsed Gibbs sampling: one pass over the tokens, one after the other, arrays changed in place.

A count c is c tokens; a remaining fraction is a token of that weight. Tokens are numbered along the edges,
document by document, so only what was drawn for them is stored: i K + k, for the author at place i of the
document's authors and topic k. In LDA each document is its only author. The random number of a token is a
function of seed, sweep and token. `tests/models/gibbs_reference.py` is the specification.
"""

from __future__ import annotations

import numpy as np

from tagtopics.jit.compiling import inner, kernel
from tagtopics.jit.randomness import hash_bits


@kernel
def start(graph, doc_tokens, authors, word_topics, seed, clock, drawn, sums, word_sums):
    """Draw the first topic of each token from its word's row of `word_topics` (W, K), its author uniformly.

    Add up the tokens of each author, `sums` (A, K), and of each word, `word_sums` (W, K).
    """
    K = word_topics.shape[1]
    running = np.empty(K)
    for d in range(graph.doc_edges.shape[0] - 1):
        n = doc_tokens[d]
        first = authors.offsets[d]
        n_authors = authors.offsets[d + 1] - first
        for e in range(graph.doc_edges[d], graph.doc_edges[d + 1]):
            w = graph.edge_word[e]
            for k in range(K):
                running[k] = word_topics[w, k]
            total = _accumulate(running, K)
            left = np.float64(graph.edge_count[e])
            while left > 0:
                weight = min(left, 1.0)
                k = _draw(running, K, total * uniform(seed, n))
                i = min(int(uniform(seed, clock + n) * n_authors), n_authors - 1)
                drawn[n] = i * K + k
                sums[authors.members[first + i], k] += weight
                word_sums[w, k] += weight
                left -= weight
                n += 1


@kernel
def sweep(
    graph, doc_tokens, authors, links, link_weights, doc_weights,
    alpha, beta, seed, clock, drawn, sums, word_sums,
):  # fmt: skip
    """Draw every token's author and topic given all others; return the weight of those with another topic.

    p(x = a, z = k) is (n_ak + alpha_k) / (n_a + sum of alpha) exp(eta_k / n_d sum of the linked zbar_k)
    (n_wk + beta) / (n_k + W beta), the token itself excluded, over the authors a of the document.
    """
    W, K = word_sums.shape
    alpha_total = alpha.sum()
    author_sums = sums.sum(1)
    topic_sums = word_sums.sum(0)
    inverse = 1.0 / (topic_sums + W * beta)
    running = np.empty(np.diff(authors.offsets).max() * K)
    tilt = np.empty(K)
    moved = 0.0
    for d in range(graph.doc_edges.shape[0] - 1):
        n = doc_tokens[d]
        first = authors.offsets[d]
        n_authors = authors.offsets[d + 1] - first
        _tilt(d, links, link_weights, doc_weights, sums, tilt)
        for e in range(graph.doc_edges[d], graph.doc_edges[d + 1]):
            w = graph.edge_word[e]
            left = np.float64(graph.edge_count[e])
            while left > 0:
                weight = min(left, 1.0)
                # (1) take the token out of all sums
                i = drawn[n] // K if n_authors > 1 else 0
                a, old = authors.members[first + i], drawn[n] - i * K
                _move(a, w, old, -weight, sums, author_sums, word_sums, topic_sums)
                inverse[old] = 1.0 / (topic_sums[old] + W * beta)
                # (2) draw an author and a topic
                for i in range(n_authors):
                    a = authors.members[first + i]
                    scale = 1.0 if n_authors == 1 else 1.0 / (author_sums[a] + alpha_total)
                    for k in range(K):
                        theta = scale * (sums[a, k] + alpha[k]) * tilt[k]
                        running[i * K + k] = theta * (word_sums[w, k] + beta) * inverse[k]
                total = _accumulate(running, n_authors * K)
                place = _draw(running, n_authors * K, total * uniform(seed, clock + n))
                # (3) add it to the sums of both
                i = place // K if n_authors > 1 else 0
                a, new = authors.members[first + i], place - i * K
                _move(a, w, new, weight, sums, author_sums, word_sums, topic_sums)
                inverse[new] = 1.0 / (topic_sums[new] + W * beta)
                drawn[n] = place
                moved += weight * (new != old)
                left -= weight
                n += 1
    return moved


@inner
def _move(a, w, k, weight, sums, author_sums, word_sums, topic_sums):
    """Add a weight to all sums of a token of author a, word w and topic k."""
    sums[a, k] += weight
    author_sums[a] += weight
    word_sums[w, k] += weight
    topic_sums[k] += weight


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


@inner
def uniform(seed, counter):
    """Return a number in (0, 1) for a counter."""
    return np.float32((np.float64(hash_bits(seed, counter) >> np.uint64(40)) + 0.5) / np.float64(1 << 24))
