"""Where to start: topics around anchor words, words that hardly occur outside one topic.

Random messages start all topics near the mean of the corpus, and the first sweeps do nothing but tell them
apart. Anchor words (Arora et al. 2013) tell them apart at once. Each word has a profile, the words it occurs
with; a word of one topic has the profile of that topic, all others are mixtures of those. So the corners of
the cloud of profiles are the topics:

    profile_w = sum_d c_wd (x_d - e_w) / (n_d (n_d - 1)),  scaled to mean     `cooccurrence_profiles`
    corners   = greedily the farthest from the span of those before           `farthest_rows`
    p(k | w)  = argmin over distributions c of |profile_w - sum_k c_k corner_k|^2    `mixture_weights`

Profiles are projected to a few dimensions by random signs, which keeps distances, so all of it costs about as
much as a few sweeps. `anchors_reference` is the same in NumPy.
"""

from __future__ import annotations

import numpy as np

from tagtopics._typing import Float32, Int64
from tagtopics.graph import FactorGraph
from tagtopics.kernels.compiling import kernel
from tagtopics.kernels.loops import SIGN_STREAM, hashed, mixed
from tagtopics.kernels.threads import run_ranges

CANDIDATES_PER_TOPIC = 8
"""Anchors are sought among that many times K of the commonest words: rare words have noisy profiles."""

FEWEST_DOCS = 3
"""And never among words in fewer documents."""

WEIGHT_STEPS = 5
"""Steps of exponentiated gradient for the mixture weights; a start need not be exact."""

STEP_SIZE = 40.0
"""Length of a step, in units of the largest squared corner."""


def anchored_topics(graph: FactorGraph, n_topics: int, seed: int, n_threads: int) -> Float32:
    """Return p(topic | word), (W, K), of topics around anchor words; uniform where no corner was left."""
    profiles = cooccurrence_profiles(graph, max(32, n_topics + n_topics // 2), seed, n_threads)
    candidates = anchor_candidates(graph, n_topics)
    chosen = candidates[farthest_rows(profiles[candidates], n_topics)]
    weights = np.full((graph.n_words, n_topics), 1.0 / n_topics, dtype=np.float32)
    if len(chosen) > 1:
        share = len(chosen) / n_topics
        weights[:, : len(chosen)] = share * mixture_weights(profiles, profiles[chosen], n_threads)
    return weights


def anchor_candidates(graph: FactorGraph, n_topics: int) -> Int64:
    """Return the words, ascending, that are in enough documents to have a profile worth trusting."""
    docs = np.diff(graph.word_edges.offsets)
    common = np.argsort(-docs, kind="stable")[: CANDIDATES_PER_TOPIC * n_topics]
    return np.sort(common[docs[common] >= FEWEST_DOCS])


def cooccurrence_profiles(graph: FactorGraph, n_dims: int, seed: int, n_threads: int) -> Float32:
    """Return (W, n_dims): the mean of the words that each word occurs with, projected by random signs."""
    signs = np.empty((graph.n_words, n_dims), dtype=np.float32)
    run_ranges(_draw_signs, np.arange(graph.n_words + 1), n_dims, n_threads, np.uint64(seed), signs)
    docs = np.empty((graph.n_docs, n_dims), dtype=np.float32)
    tokens = np.empty(graph.n_docs)
    run_ranges(_project_documents, graph.doc_edges, n_dims, n_threads, graph, signs, docs, tokens)
    edge_doc = np.repeat(np.arange(graph.n_docs, dtype=np.int32), np.diff(graph.doc_edges))
    profiles = np.empty((graph.n_words, n_dims), dtype=np.float32)
    arguments = (graph, edge_doc, tokens, signs, docs, profiles)
    run_ranges(_project_words, graph.word_edges.offsets, n_dims, n_threads, *arguments)
    return profiles


def farthest_rows(rows: Float32, n: int) -> Int64:
    """Return the numbers of up to n rows, each the farthest from the affine span of those before."""
    found: Int64 = _farthest(rows.astype(np.float64), min(n, len(rows)))
    return found


def mixture_weights(profiles: Float32, corners: Float32, n_threads: int) -> Float32:
    """Return (W, n): the distributions over corners (n, dims) that come near the profiles (W, dims)."""
    weights = np.empty((len(profiles), len(corners)), dtype=np.float32)
    gram = np.empty((len(corners), len(corners)), dtype=np.float32)
    _products(0, len(corners), corners, corners, gram)
    rate = np.float32(STEP_SIZE / max(float(np.abs(gram).max()), 1e-30))
    offsets = np.arange(len(profiles) + 1)
    work = len(corners) * (len(corners) * WEIGHT_STEPS + profiles.shape[1])
    run_ranges(_weigh, offsets, work, n_threads, profiles, corners, gram, rate, WEIGHT_STEPS, weights)
    return weights


@kernel
def _draw_signs(first, last, seed, signs):
    n_dims = signs.shape[1]
    scale = np.float32(1.0 / np.sqrt(n_dims))
    for w in range(first, last):
        bits = hashed(seed, SIGN_STREAM + w)
        for j in range(n_dims):
            signs[w, j] = scale if mixed(bits, j) > np.float32(0.5) else -scale


@kernel
def _project_documents(first, last, graph, signs, docs, tokens):
    n_dims = signs.shape[1]
    for d in range(first, last):
        docs[d, :] = 0
        tokens[d] = 0
        for e in range(graph.doc_edges[d], graph.doc_edges[d + 1]):
            w = graph.edge_word[e]
            tokens[d] += graph.edge_count[e]
            for j in range(n_dims):
                docs[d, j] += graph.edge_count[e] * signs[w, j]


@kernel
def _project_words(first, last, graph, edge_doc, tokens, signs, docs, profiles):
    n_dims = signs.shape[1]
    for w in range(first, last):
        profiles[w, :] = 0
        mass = 0.0
        for i in range(graph.word_edges.offsets[w], graph.word_edges.offsets[w + 1]):
            e = graph.word_edges.members[i]
            d = edge_doc[e]
            if tokens[d] > 1:
                share = np.float32(graph.edge_count[e] / (tokens[d] * (tokens[d] - 1.0)))
                mass += graph.edge_count[e] / tokens[d]
                for j in range(n_dims):
                    profiles[w, j] += share * (docs[d, j] - signs[w, j])
        if mass > 0:
            scale = np.float32(1.0 / mass)
            for j in range(n_dims):
                profiles[w, j] *= scale


@kernel
def _farthest(rows, n):
    """Choose rows by Gram-Schmidt; `rows` is consumed. Stops where nothing stands out any more."""
    n_rows, n_dims = rows.shape
    chosen = np.empty(n, dtype=np.int64)
    direction = np.zeros(n_dims)
    largest = 0.0
    for i in range(n):
        best, at = -1.0, 0
        for r in range(n_rows):
            along = 0.0
            for j in range(n_dims):
                along += rows[r, j] * direction[j]
            for j in range(n_dims):
                rows[r, j] -= along * direction[j]
            length = 0.0
            for j in range(n_dims):
                length += rows[r, j] * rows[r, j]
            if length > best:
                best, at = length, r
        largest = max(largest, best)
        if not best > 1e-10 * largest:
            return chosen[:i]
        chosen[i] = at
        if i == 0:  # from here on, seen from the first corner
            origin = rows[at].copy()
            for r in range(n_rows):
                for j in range(n_dims):
                    rows[r, j] -= origin[j]
        else:
            for j in range(n_dims):
                direction[j] = rows[at, j] / np.sqrt(best)
    return chosen


@kernel
def _products(first, last, left, right, out):
    for i in range(first, last):
        for j in range(right.shape[0]):
            total = np.float32(0)
            for k in range(left.shape[1]):
                total += left[i, k] * right[j, k]
            out[i, j] = total


@kernel
def _weigh(first, last, profiles, corners, gram, rate, steps, weights):
    n = corners.shape[0]
    target = np.empty(n, dtype=np.float32)
    slope = np.empty(n, dtype=np.float32)
    for w in range(first, last):
        for i in range(n):
            weights[w, i] = np.float32(1) / np.float32(n)
            total = np.float32(0)
            for j in range(corners.shape[1]):
                total += profiles[w, j] * corners[i, j]
            target[i] = total
        for _ in range(steps):
            for i in range(n):
                total = np.float32(0)
                for j in range(n):
                    total += gram[i, j] * weights[w, j]
                slope[i] = total - target[i]
            least = slope.min()
            for i in range(n):
                slope[i] = np.exp(-min(rate * (slope[i] - least), np.float32(50)))
            for i in range(n):
                weights[w, i] *= slope[i]
            total = np.float32(0)
            for i in range(n):
                total += weights[w, i]
            for i in range(n):
                weights[w, i] /= total
