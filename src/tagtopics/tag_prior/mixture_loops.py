"""Compiled loops of documents that mix topics with the words of their own tags.

    p(w | d) proportional to  sum_k (n_dk + prior_dk) phi_kw  +  sum_t (m_dt + prior_dt) psi_tw

with n_dk and m_dt the tokens that document d gives to topic k and to its tag t. A *claim* is a pair of an
edge and a tag of its document: claim `first_claim[d] + i T_d + j` is edge i and tag j of document d. A *pair*
is a tag and a word that occur together: pairs are the non-zeros of the matrix of tag words, CSR (T, W).

    psi_tw = (c_tw + M_t b_tw) / (c_t + M_t),      b_tw = sum_k profile_t(k) phi_kw

where c_tw are the tokens of w credited to t, c_t their sum, and M_t how many tokens the topics of the tag
weigh. `tests/tag_prior/mixture_reference.py` has the same in NumPy.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tagtopics._typing import Float32, Float64, Int32, Int64
from tagtopics.bp.constants import FOLD_RELAXATION
from tagtopics.bp.graph import FactorGraph
from tagtopics.jit.compiling import inner, kernel
from tagtopics.jit.threads import run_ranges


class Pairs(NamedTuple):
    """The tags and words that occur together, CSR (T, W), with what is known of each pair."""

    offsets: Int64  # (T + 1,)
    words: Int32  # (U,) ascending within a tag
    tokens: Float32  # (U,) c_tw
    predicted: Float32  # (U,) b_tw; (0,) where it is computed on the fly
    totals: Float32  # (T,) c_t
    shrinkage: Float32  # (T,) M_t


def first_claims(graph: FactorGraph) -> Int64:
    """Return (D + 1,): the number of the first claim of each document."""
    return np.concatenate([[0], np.cumsum(np.diff(graph.doc_edges) * np.diff(graph.doc_slots))])


def claim_probabilities(graph: FactorGraph, pairs: Pairs, profiles: Float32, phi: Float32) -> Float32:
    """Return psi_tw of every claim, (P,), from profiles (T, K) and phi (W, K)."""
    claims = first_claims(graph)
    values = np.empty(int(claims[-1]), dtype=np.float32)
    arguments = (graph, claims, pairs, profiles, phi, values)
    run_ranges(_claim_probabilities, claims, phi.shape[1], *arguments)
    return values


@kernel
def _claim_probabilities(first, last, graph, claims, pairs, profiles, phi, values):
    K = phi.shape[1]
    for d in range(first, last):
        start, first_slot = graph.doc_edges[d], graph.doc_slots[d]
        n_edges, n_tags = graph.doc_edges[d + 1] - start, graph.doc_slots[d + 1] - first_slot
        for j in range(n_tags):
            t = graph.slot_tag[first_slot + j]
            total = pairs.totals[t] + pairs.shrinkage[t]
            for i in range(n_edges):
                w = graph.edge_word[start + i]
                predicted = np.float32(0)
                for k in range(K):
                    predicted += profiles[t, k] * phi[w, k]
                known = _tokens_of_pair(t, w, pairs)
                values[claims[d] + i * n_tags + j] = (known + pairs.shrinkage[t] * predicted) / total


@inner
def _tokens_of_pair(t, w, pairs):
    """Return the tokens of word w credited to tag t; the words of a tag ascend."""
    low, high = pairs.offsets[t], pairs.offsets[t + 1]
    while low < high:
        middle = (low + high) // 2
        if pairs.words[middle] < w:
            low = middle + 1
        else:
            high = middle
    found = low < pairs.offsets[t + 1] and pairs.words[low] == w
    return pairs.tokens[low] if found else np.float32(0)


def fold_in_mixture(
    graph: FactorGraph,
    phi: Float32,
    claim_values: Float32,
    prior: Float32,
    slot_prior: Float32,
    max_iter: int,
    tol: float,
) -> tuple[Float32, Float32]:
    """Return the tokens of new documents given to topics, (D, K), and to their tags, (S,).

    `claim_values` (P,) is p(word | tag) of every claim; `prior` (D, K) and `slot_prior` (S,) are the
    pseudo-counts of topics and tags. A document has converged when less than `tol` of its tokens move.
    """
    sums = np.empty((graph.n_docs, phi.shape[1]), dtype=np.float32)
    slot_sums = np.empty(graph.n_slots, dtype=np.float32)
    claims, settings = first_claims(graph), (max_iter, np.float32(tol))
    arguments = (graph, claims, phi, claim_values, prior, slot_prior, settings, sums, slot_sums)
    run_ranges(_fold_in_mixture, graph.doc_edges, 8 * phi.shape[1] * max_iter, *arguments)
    return sums, slot_sums


@kernel
def _fold_in_mixture(first, last, graph, claims, phi, values, prior, slot_prior, settings, sums, slot_sums):
    K = phi.shape[1]
    for d in range(first, last):
        start, first_slot = graph.doc_edges[d], graph.doc_slots[d]
        n_edges, n_tags = graph.doc_edges[d + 1] - start, graph.doc_slots[d + 1] - first_slot
        words = np.empty((n_edges, K + n_tags), dtype=np.float32)
        given = np.empty(K + n_tags, dtype=np.float32)
        for i in range(n_edges):
            w, p = graph.edge_word[start + i], claims[d] + i * n_tags
            for k in range(K):
                words[i, k] = phi[w, k]
            for j in range(n_tags):
                words[i, K + j] = values[p + j]
        for k in range(K):
            given[k] = prior[d, k]
        for j in range(n_tags):
            given[K + j] = slot_prior[first_slot + j]
        found, theta = np.zeros(K + n_tags, dtype=np.float32), given.copy()
        counts, part = graph.edge_count[start : start + n_edges], np.empty(K + n_tags, dtype=np.float32)
        _iterate(words, counts, given, settings, found, theta, part)
        for k in range(K):
            sums[d, k] = found[k]
        for j in range(n_tags):
            slot_sums[first_slot + j] = found[K + j]


@inner
def _iterate(words, counts, prior, settings, sums, theta, part):
    """Set `sums` to the tokens that a document gives to each component, until they converge.

    `words` is (E, C), the probability of each word under each component. A token's own part, theta w / t with
    t = sum theta w, is subtracted from theta before its message is computed; theta never falls below the
    prior. `theta` starts as the prior, `part` is scratch.
    """
    max_iter, tol = settings
    C = len(prior)
    one, relaxation = np.float32(1), np.float32(FOLD_RELAXATION)
    tokens = np.float32(0)
    for e in range(len(counts)):
        tokens += counts[e]
    for iteration in range(max_iter + 1):
        sums[:] = 0
        for e in range(len(counts)):
            own = np.float32(0)
            for c in range(C):
                own += theta[c] * words[e, c]
            if not own > 0:  # no component knows the word: every one gets the same share
                for c in range(C):
                    sums[c] += counts[e] / np.float32(C)
                continue
            own = one / own if iteration > 0 else np.float32(0)
            total = np.float32(0)
            for c in range(C):
                part[c] = max(theta[c] - theta[c] * words[e, c] * own, prior[c]) * words[e, c]
                total += part[c]
            scale = counts[e] / total if total > 0 else np.float32(0)
            for c in range(C):
                sums[c] += scale * part[c]
        moved = np.float32(0)
        for c in range(C):
            moved += abs(sums[c] + prior[c] - theta[c])
        if iteration > 0 and moved < tol * tokens:
            break
        step = relaxation if iteration > 0 else np.float32(0)
        for c in range(C):
            fresh = sums[c] + prior[c]
            theta[c] = max(fresh + step * (fresh - theta[c]), prior[c])


def expected_tokens(doc: Int64, word: Int32, sums: Float32, phi: Float32) -> Float64:
    """Return (N,): sum_k n_dk phi_kw of N documents and words, in double precision; `sums` (D, K) is n."""
    found = np.empty(len(doc))
    run_ranges(_expected_tokens, np.arange(len(doc) + 1), phi.shape[1], doc, word, sums, phi, found)
    return found


@kernel
def _expected_tokens(first, last, doc, word, sums, phi, found):
    for i in range(first, last):
        d, w, total = doc[i], word[i], 0.0
        for k in range(phi.shape[1]):
            total += np.float64(sums[d, k]) * np.float64(phi[w, k])
        found[i] = total


def credit_claims(
    graph: FactorGraph,
    phi: Float32,
    claim_values: Float32,
    topics: Float32,
    weights: Float32,
    profiles: Float32,
) -> tuple[Float32, Float32]:
    """Return for every claim the share of its edge credited to the tag, and the share owed to its own words.

    What the topics of a document predict of a word is divided among its tags by p(topic | tag), `profiles`
    (T, K). `topics` (D, K) and `weights` (S,) are tokens of topics and tags, priors included.
    """
    claims = first_claims(graph)
    shares, own = np.empty(int(claims[-1]), np.float32), np.empty(int(claims[-1]), np.float32)
    arguments = (graph, claims, phi, claim_values, topics, weights, profiles, shares, own)
    run_ranges(_credit_claims, claims, phi.shape[1], *arguments)
    return shares, own


@kernel
def _credit_claims(first, last, graph, claims, phi, values, topics, weights, profiles, shares, own):
    K = phi.shape[1]
    for d in range(first, last):
        first_slot = graph.doc_slots[d]
        n_tags = graph.doc_slots[d + 1] - first_slot
        parts = np.empty((n_tags, K), dtype=np.float32)  # the share of each tag in a topic
        for k in range(K):
            total = np.float32(0)
            for j in range(n_tags):
                parts[j, k] = profiles[graph.slot_tag[first_slot + j], k]
                total += parts[j, k]
            for j in range(n_tags):
                parts[j, k] = parts[j, k] / total if total > 0 else np.float32(1) / np.float32(n_tags)
        p = claims[d]
        for e in range(graph.doc_edges[d], graph.doc_edges[d + 1]):
            w = graph.edge_word[e]
            of_tags = np.float32(0)
            for j in range(n_tags):
                own[p + j] = weights[first_slot + j] * values[p + j]
                shares[p + j] = own[p + j]
                for k in range(K):
                    shares[p + j] += topics[d, k] * phi[w, k] * parts[j, k]
                of_tags += shares[p + j]
            for j in range(n_tags):
                own[p + j] /= of_tags
                shares[p + j] /= of_tags
            p += n_tags
