"""The specification of `mixture_loops` and `tag_word_loops`, in NumPy and double precision.

Signatures and symbols are those of the compiled kernels. A document's claims are a matrix (E_d, T_d), its
words by its tags.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from bp_reference import mix_components

from tagtopics._typing import Float64, Int64
from tagtopics.bp.graph import FactorGraph


class Document(NamedTuple):
    """Where the edges, slots and claims of a document are, and what they hold."""

    edges: slice
    slots: slice
    claims: slice
    words: Any  # (E_d,)
    counts: Float64  # (E_d,)
    tags: Any  # (T_d,)

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of words and of tags, of the matrix of claims."""
        return len(self.words), len(self.tags)


def documents(graph: FactorGraph) -> Iterator[Document]:
    """Yield the documents of a graph."""
    first = 0
    for d in range(graph.n_docs):
        edges, slots = (slice(a[d], a[d + 1]) for a in (graph.doc_edges, graph.doc_slots))
        words, tags = graph.edge_word[edges], graph.slot_tag[slots]
        claims = slice(first, first + len(words) * len(tags))
        yield Document(edges, slots, claims, words, graph.edge_count[edges].astype(np.float64), tags)
        first = claims.stop


def matrix_of(offsets: Any, words: Any, values: Any, n_words: int) -> Float64:
    """Return the values of pairs as a matrix (T, W); zero where a tag and a word do not occur together."""
    matrix = np.zeros((len(offsets) - 1, n_words))
    matrix[np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)), words] = values
    return matrix


def claim_probabilities(graph: FactorGraph, pairs: Any, profiles: Any, phi: Any) -> Float64:
    """Return psi_tw of every claim, (P,): psi = (c + M b) / (c_t + M) with b = profiles phi."""
    tokens, M = matrix_of(pairs.offsets, pairs.words, pairs.tokens, len(phi)), pairs.shrinkage[:, np.newaxis]
    predicted = np.asarray(profiles, dtype=np.float64) @ np.asarray(phi, dtype=np.float64).T
    psi = (tokens + M * predicted) / (pairs.totals[:, np.newaxis] + M)
    return _joined([psi[np.ix_(doc.tags, doc.words)].T for doc in documents(graph)])


def fold_in_mixture(
    graph: FactorGraph, phi: Any, claim_values: Any, prior: Any, slot_prior: Any, max_iter: int, tol: float
) -> tuple[Float64, Float64]:
    """Return the tokens of new documents given to topics, (D, K), and to their tags, (S,)."""
    K = phi.shape[1]
    sums, slot_sums = np.zeros((graph.n_docs, K)), np.zeros(graph.n_slots)
    for d, doc in enumerate(documents(graph)):
        said = np.reshape(claim_values[doc.claims], doc.shape)
        words = np.hstack([phi[doc.words], said]).astype(np.float64)
        given = np.concatenate([prior[d], slot_prior[doc.slots]]).astype(np.float64)
        found = mix_components(words, doc.counts, given, max_iter, tol)
        sums[d], slot_sums[doc.slots] = found[:K], found[K:]
    return sums, slot_sums


def expected_tokens(doc: Any, word: Any, sums: Any, phi: Any) -> Float64:
    """Return (N,): sum_k n_dk phi_kw of pairs of a document and a word."""
    return np.asarray((sums[doc].astype(np.float64) * phi[word].astype(np.float64)).sum(1))


def credit_claims(
    graph: FactorGraph, phi: Any, claim_values: Any, topics: Any, weights: Any, profiles: Any
) -> tuple[Float64, Float64]:
    """Return for every claim the share of its edge credited to the tag, and the share owed to its own words.

    What the topics of a document say of a word is divided among its tags by p(topic | tag).
    """
    shares, own = [], []
    for d, doc in enumerate(documents(graph)):
        of_tags = np.asarray(profiles[doc.tags], dtype=np.float64)
        total = of_tags.sum(0)
        of_tags = np.where(total > 0, of_tags / np.where(total > 0, total, 1.0), 1.0 / max(len(of_tags), 1))
        words = weights[doc.slots] * np.reshape(claim_values[doc.claims], doc.shape).astype(np.float64)
        all_of_tag = words + (topics[d] * phi[doc.words]).astype(np.float64) @ of_tags.T
        norm = all_of_tag.sum(1, keepdims=True)
        shares.append(all_of_tag / norm)
        own.append(words / norm)
    return _joined(shares), _joined(own)


def pair_predictions(offsets: Any, words: Any, profiles: Any, phi: Any) -> Float64:
    """Return b_tw of every pair, (U,)."""
    predicted = np.asarray(profiles, dtype=np.float64) @ np.asarray(phi, dtype=np.float64).T
    return np.asarray(predicted[np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)), words])


def topic_probabilities(graph: FactorGraph, phi: Any, doc_sums: Any, prior: Any) -> Float64:
    """Return p(word | topics of its document) of every edge, (E,), without a token's own part."""
    values = np.zeros(graph.n_edges)
    for d, doc in enumerate(documents(graph)):
        theta, words = (doc_sums[d] + prior).astype(np.float64), phi[doc.words].astype(np.float64)
        joint = theta * words
        rest = np.maximum(theta - joint / joint.sum(1, keepdims=True), prior)
        values[doc.edges] = (rest * words).sum(1) / rest.sum(1)
    return values


def claim_pairs(graph: FactorGraph, offsets: Any, words: Any) -> Int64:
    """Return (P,): the pair of every claim. Claims are numbered tag by tag within a document here."""
    pairs = [(t, doc.words) for doc in documents(graph) for t in doc.tags]
    found = [offsets[t] + np.searchsorted(words[offsets[t] : offsets[t + 1]], own) for t, own in pairs]
    return np.concatenate([np.empty(0, dtype=np.int64), *found])


def share_claims(
    graph: FactorGraph,
    numbers: Any,
    pairs: Any,
    topics: Any,
    topic_prior: float,
    slot_prior: Any,
    shares: Any,
    n_iter: int,
) -> None:
    """Divide the tokens of training documents between their topics and their tags; sets `shares` (P,).

    What a document itself has credited to its tags is subtracted from the tag words.
    """
    for doc in documents(graph):
        mine, pair = (np.reshape(values[doc.claims], doc.shape[::-1]).T for values in (shares, numbers))
        mine = mine.astype(np.float64)
        given, of_topics = slot_prior[doc.slots], topics[doc.edges]
        credited, M = mine * doc.counts[:, np.newaxis], pairs.shrinkage[doc.tags]
        known = np.maximum(pairs.tokens[pair] - credited, 0)
        total = np.maximum(pairs.totals[doc.tags] - credited.sum(0), 0) + M
        said = (known + M * pairs.predicted[pair]) / total
        for _ in range(n_iter):
            own = doc.counts @ mine
            left = doc.counts.sum() - own.sum()
            topic = (np.maximum(left - (1 - mine.sum(1)), 0) + topic_prior) * of_topics
            tag = (np.maximum(own - mine, 0) + given) * said
            total = topic[:, np.newaxis] + tag.sum(1, keepdims=True)
            mine = np.divide(tag, total, out=np.zeros_like(tag), where=total > 0)
        shares[doc.claims] = mine.T.ravel()


def collect_claims(graph: FactorGraph, numbers: Any, pairs: Any, shares: Any) -> Any:
    """Return the pairs with the tokens that the claims credit to each."""
    tokens, totals = np.zeros(len(pairs.words)), np.zeros(len(pairs.totals))
    for doc in documents(graph):
        mine = np.reshape(shares[doc.claims], doc.shape[::-1]).astype(np.float64) * doc.counts
        np.add.at(tokens, numbers[doc.claims], mine.ravel())
        totals[doc.tags] += mine.sum(1)
    return pairs._replace(tokens=tokens, totals=totals)


def credited_tokens(graph: FactorGraph, shares: Any) -> Float64:
    """Return (T, W): the tokens of each word that documents credit to each tag."""
    tokens = np.zeros((graph.n_tags, graph.n_words))
    for doc in documents(graph):
        mine = np.reshape(shares[doc.claims], doc.shape).astype(np.float64) * doc.counts[:, np.newaxis]
        tokens[np.ix_(doc.tags, doc.words)] += mine.T
    return tokens


def _joined(matrices: list[Any]) -> Float64:
    return np.concatenate([np.empty(0), *(matrix.ravel() for matrix in matrices)])
