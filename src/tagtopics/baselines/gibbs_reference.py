"""Collapsed Gibbs sampling written like its equations: the reference of `gibbs_loops`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tagtopics._typing import Float64
from tagtopics.bp.graph import FactorGraph, Groups
from tagtopics.bp.reference import hashed_uniform


def tokens(graph: FactorGraph, doc_tokens: Any) -> Iterator[tuple[int, int, int, float]]:
    """Yield document, word, number and weight of each token: ones, and a remaining fraction."""
    for d in range(graph.n_docs):
        n = int(doc_tokens[d])
        for e in range(graph.doc_edges[d], graph.doc_edges[d + 1]):
            count = float(graph.edge_count[e])
            for i in range(int(np.ceil(count))):
                yield d, int(graph.edge_word[e]), n, min(count - i, 1.0)
                n += 1


def drawn(weights: Any, seed: Any, counter: int) -> int:
    """Return an index drawn with probability proportional to the weights."""
    running = np.cumsum(np.asarray(weights, dtype=np.float64))
    goal = running[-1] * float(hashed_uniform(int(seed), np.array([counter]))[0])
    return min(int(np.searchsorted(running, goal, side="right")), len(running) - 1)


def start(
    graph: FactorGraph,
    doc_tokens: Any,
    word_topics: Any,
    seed: Any,
    topics: Any,
    doc_sums: Any,
    word_sums: Any,
) -> None:
    """Draw the first topics from the rows of `word_topics`."""
    for d, w, n, weight in tokens(graph, doc_tokens):
        k = drawn(word_topics[w], seed, n)
        topics[n] = k
        doc_sums[d, k] += weight
        word_sums[w, k] += weight


def topic_chances(doc_sum: Any, tilt: Any, word_sum: Any, topic_sums: Any, W: int, priors: Any) -> Float64:
    """Return p(z = k | all other tokens), up to a factor: the sums do not count the token itself."""
    theta = (doc_sum + priors.alpha) * tilt
    phi = (word_sum + priors.beta) / (topic_sums + W * priors.beta)
    return np.asarray(theta * phi)


def link_tilt(d: int, links: Groups, link_weights: Any, doc_weights: Any, doc_sums: Any) -> Float64:
    """Return exp(eta / n_d sum of the linked documents' mean topics): the factor of the links of d."""
    others = links.members[links.offsets[d] : links.offsets[d + 1]]
    means = doc_sums[others] / np.maximum(doc_weights[others], 1e-300)[:, np.newaxis]
    return np.asarray(np.exp(link_weights * means.sum(0) / max(doc_weights[d], 1.0)))


def sweep(
    graph: FactorGraph,
    doc_tokens: Any,
    links: Groups,
    link_weights: Any,
    doc_weights: Any,
    priors: Any,
    seed: Any,
    clock: int,
    topics: Any,
    doc_sums: Any,
    word_sums: Any,
) -> float:
    """Draw every token's topic given all others; return the weight of the tokens that changed."""
    moved = 0.0
    for d, w, n, weight in tokens(graph, doc_tokens):
        if n == doc_tokens[d]:
            tilt = link_tilt(d, links, link_weights, doc_weights, doc_sums)
        old = topics[n]
        doc_sums[d, old] -= weight
        word_sums[w, old] -= weight
        chances = topic_chances(doc_sums[d], tilt, word_sums[w], word_sums.sum(0), graph.n_words, priors)
        new = drawn(chances, seed, clock + n)
        doc_sums[d, new] += weight
        word_sums[w, new] += weight
        topics[n] = new
        moved += weight * (new != old)
    return moved


def author_chances(author_sums: Any, word_sum: Any, topic_sums: Any, W: int, priors: Any) -> Float64:
    """Return p(x = a, z = k | all other tokens), (A_d, K), up to a factor."""
    totals = author_sums.sum(1, keepdims=True) + priors.alpha.sum()
    theta = (author_sums + priors.alpha) / totals
    phi = (word_sum + priors.beta) / (topic_sums + W * priors.beta)
    return np.asarray(theta * phi)


def sweep_authors(
    graph: FactorGraph,
    doc_tokens: Any,
    priors: Any,
    seed: Any,
    clock: int,
    topics: Any,
    slots: Any,
    author_sums: Any,
    word_sums: Any,
) -> float:
    """Draw every token's author and topic given all others; return the weight of those that changed."""
    moved = 0.0
    for d, w, n, weight in tokens(graph, doc_tokens):
        authors = graph.slot_tag[graph.doc_slots[d] : graph.doc_slots[d + 1]]
        old = int(topics[n])
        author_sums[authors[slots[n]], old] -= weight
        word_sums[w, old] -= weight
        chances = author_chances(author_sums[authors], word_sums[w], word_sums.sum(0), graph.n_words, priors)
        slot, new = divmod(drawn(chances.ravel(), seed, clock + n), word_sums.shape[1])
        author_sums[authors[slot], new] += weight
        word_sums[w, new] += weight
        topics[n], slots[n] = new, slot
        moved += weight * (new != old)
    return moved


def first_authors(
    graph: FactorGraph, doc_tokens: Any, seed: Any, clock: int, topics: Any, slots: Any, author_sums: Any
) -> None:
    """Draw the first author of each token uniformly among the document's."""
    for d, _, n, weight in tokens(graph, doc_tokens):
        authors = graph.slot_tag[graph.doc_slots[d] : graph.doc_slots[d + 1]]
        chance = float(hashed_uniform(int(seed), np.array([clock + n]))[0])
        slots[n] = min(int(chance * len(authors)), len(authors) - 1)
        author_sums[authors[slots[n]], topics[n]] += weight


def topic_counts(graph: FactorGraph, doc_tokens: Any, topics: Any, doc_sums: Any) -> None:
    """Add up the tokens of each document by topic, (D, K)."""
    for d, _, n, weight in tokens(graph, doc_tokens):
        doc_sums[d, topics[n]] += weight
