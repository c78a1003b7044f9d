"""Collapsed Gibbs sampling written like its equations: the reference of `gibbs_loops`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from bp_reference import hash_bits

from tagtopics._typing import Float64
from tagtopics.bp.graph import FactorGraph, Groups


def tokens(graph: FactorGraph, doc_tokens: Any) -> Iterator[tuple[int, int, int, float]]:
    """Yield document, word, number and weight of each token: ones, and a remaining fraction."""
    for d in range(graph.n_docs):
        n = int(doc_tokens[d])
        for e in range(graph.doc_edges[d], graph.doc_edges[d + 1]):
            count = float(graph.edge_count[e])
            for i in range(int(np.ceil(count))):
                yield d, int(graph.edge_word[e]), n, min(count - i, 1.0)
                n += 1


def draw(weights: Any, seed: Any, counter: int) -> int:
    """Return an index drawn with probability proportional to the weights."""
    running = np.cumsum(np.asarray(weights, dtype=np.float64))
    goal = running[-1] * float(uniform(seed, counter))
    return min(int(np.searchsorted(running, goal, side="right")), len(running) - 1)


def uniform(seed: Any, counters: Any) -> Float64:
    """Return a number in (0, 1) for each counter."""
    return ((hash_bits(int(seed), counters) >> np.uint64(40)).astype(np.float64) + 0.5) / (1 << 24)


def start(
    graph: FactorGraph,
    doc_tokens: Any,
    authors: Groups,
    word_topics: Any,
    seed: Any,
    clock: int,
    drawn: Any,
    sums: Any,
    word_sums: Any,
) -> None:
    """Draw the first topics from the rows of `word_topics`, and authors uniformly among the document's."""
    K = word_topics.shape[1]
    for d, w, n, weight in tokens(graph, doc_tokens):
        own = authors.members[authors.offsets[d] : authors.offsets[d + 1]]
        k, i = draw(word_topics[w], seed, n), int(uniform(seed, clock + n) * len(own))
        drawn[n] = i * K + k
        sums[own[i], k] += weight
        word_sums[w, k] += weight


def chances(sums: Any, alpha: Any, tilt: Any, word_sum: Any, topic_sums: Any, W: int, beta: float) -> Float64:
    """Return p(x = a, z = k | all other tokens), (A_d, K), up to a factor."""
    theta = (sums + alpha) / (sums.sum(1, keepdims=True) + alpha.sum())
    phi = (word_sum + beta) / (topic_sums + W * beta)
    return np.asarray(theta * tilt * phi)


def link_tilt(d: int, links: Groups, link_weights: Any, doc_weights: Any, doc_sums: Any) -> Float64:
    """Return exp(eta / n_d sum of the linked documents' mean topics): the factor of the links of d."""
    others = links.members[links.offsets[d] : links.offsets[d + 1]]
    means = doc_sums[others] / np.maximum(doc_weights[others], 1e-300)[:, np.newaxis]
    return np.asarray(np.exp(link_weights * means.sum(0) / max(doc_weights[d], 1.0)))


def sweep(
    graph: FactorGraph,
    doc_tokens: Any,
    authors: Groups,
    links: Groups,
    link_weights: Any,
    doc_weights: Any,
    alpha: Any,
    beta: float,
    seed: Any,
    clock: int,
    drawn: Any,
    sums: Any,
    word_sums: Any,
) -> float:
    """Draw every token's author and topic given all others; return the weight of those with another topic."""
    (W, K), moved = word_sums.shape, 0.0
    for d, w, n, weight in tokens(graph, doc_tokens):
        if n == doc_tokens[d]:
            tilt = link_tilt(d, links, link_weights, doc_weights, sums)
        own = authors.members[authors.offsets[d] : authors.offsets[d + 1]]
        i, old = divmod(int(drawn[n]), K)
        sums[own[i], old] -= weight
        word_sums[w, old] -= weight
        p = chances(sums[own], alpha, tilt, word_sums[w], word_sums.sum(0), W, beta)
        drawn[n] = draw(p.ravel(), seed, clock + n)
        i, new = divmod(int(drawn[n]), K)
        sums[own[i], new] += weight
        word_sums[w, new] += weight
        moved += weight * (new != old)
    return moved
