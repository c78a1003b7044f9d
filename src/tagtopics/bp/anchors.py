"""Initial topics around anchor words: words that hardly occur outside one topic.

Random messages start all topics near the mean of the corpus, and the first sweeps only tell them apart.
Anchor words (Arora et al. 2013) tell them apart at once. Each word has a profile, the words it occurs with;
a word of one topic has the profile of that topic, all others are mixtures of those. So the corners of the
cloud of profiles are the topics:

    profile_w = sum_d c_wd (x_d - e_w) / (n_d (n_d - 1)),  scaled to mean     `add_profiles`
    corners   = greedily the farthest from the span of those before           `farthest_rows`
    p(k | w)  = argmin over distributions c of |profile_w - sum_k c_k corner_k|^2    `mixture_weights`

Profiles are projected to a few dimensions by random signs, which preserves distances, so all of it costs
about as much as a few sweeps. `tests/bp/anchors_reference.py` has the same in NumPy.
"""

from __future__ import annotations

import numpy as np

from tagtopics._typing import Float32, Float64, Int64
from tagtopics.bp.constants import SIGN_STREAM
from tagtopics.bp.graph import FactorGraph
from tagtopics.bp.sums import add_in_blocks
from tagtopics.jit.compiling import inner, kernel
from tagtopics.jit.randomness import hash_bits, mix_bits
from tagtopics.jit.threads import run_ranges

# Anchors are chosen among the K times this many commonest words: rare words have noisy profiles.
CANDIDATES_PER_TOPIC = 8
MIN_DOCS = 3  # words in fewer documents are never anchors
WEIGHT_STEPS = 3  # steps of exponentiated gradient for the mixture weights; a start need not be exact
STEP_SIZE = 80.0  # length of a step, in units of the largest squared corner


def anchored_topics(profile_sums: Float64, word_docs: Int64, n_topics: int) -> Float32:
    """Return p(topic | word), (W, K), of topics around anchor words; uniform where no corner is left.

    Args:
        profile_sums: from `no_profiles` and `add_profiles`, over all documents.
        word_docs: (W,) number of documents that contain each word.
        n_topics: the number of topics, K.
    """
    profiles = scaled_profiles(profile_sums)
    common = np.argsort(-word_docs, kind="stable")[: CANDIDATES_PER_TOPIC * n_topics]
    candidates = np.sort(common[word_docs[common] >= MIN_DOCS])
    chosen = candidates[farthest_rows(profiles[candidates], n_topics)]
    weights = np.full((len(profiles), n_topics), 1.0 / n_topics, dtype=np.float32)
    if len(chosen) > 1:
        share = len(chosen) / n_topics
        weights[:, : len(chosen)] = share * mixture_weights(profiles, profiles[chosen])
    return weights


def no_profiles(n_words: int, n_topics: int) -> Float64:
    """Return zeros (W, dims + 1) to add profiles to: each word's sum, projected by signs, and its mass."""
    return np.zeros((n_words, max(32, n_topics + n_topics // 2) + 1))


def add_profiles(graph: FactorGraph, seed: int, sums: Float64) -> None:
    """Add the profiles of a corpus, or of a part of one, to `sums`; parts may come in any order."""
    signs = np.empty((graph.n_words, sums.shape[1] - 1), dtype=np.float32)
    offsets = np.arange(graph.n_words + 1)
    run_ranges(_draw_signs, offsets, signs.shape[1], np.uint64(seed), signs)
    add_in_blocks(_add_profiles, graph, graph.totals.doc_grid, sums, signs)


def scaled_profiles(sums: Float64) -> Float32:
    """Return (W, dims): the mean of the words that each word occurs with; zeros where there are none."""
    mass = sums[:, -1:]
    share = np.divide(1.0, mass, out=np.zeros_like(mass), where=mass > 0)
    return (share * sums[:, :-1]).astype(np.float32)


def farthest_rows(rows: Float32, n: int) -> Int64:
    """Return the indices of up to n rows, each the farthest from the affine span of those before."""
    found: Int64 = _farthest(rows.copy(), min(n, len(rows)))
    return found


def mixture_weights(profiles: Float32, corners: Float32) -> Float32:
    """Return (W, n): distributions over corners (n, dims) that approximate the profiles (W, dims)."""
    weights = np.empty((len(profiles), len(corners)), dtype=np.float32)
    gram = np.empty((len(corners), len(corners)), dtype=np.float32)
    _products(corners, corners, gram)
    rate = np.float32(STEP_SIZE / max(float(np.abs(gram).max()), 1e-30))
    offsets = np.arange(len(profiles) + 1)
    work = len(corners) * (len(corners) * WEIGHT_STEPS + profiles.shape[1])
    across = np.ascontiguousarray(corners.T)
    run_ranges(_weigh, offsets, work, profiles, across, gram, rate, WEIGHT_STEPS, weights)
    return weights


@kernel
def _draw_signs(first, last, seed, signs):
    n_dims = signs.shape[1]
    scale = np.float32(1.0 / np.sqrt(n_dims))
    for w in range(first, last):
        bits = hash_bits(seed, SIGN_STREAM + w)
        for j in range(n_dims):
            signs[w, j] = scale if mix_bits(bits, j) > np.float32(0.5) else -scale


@kernel
def _add_profiles(first, last, graph, signs, partial):
    """Add the contribution of documents first to last to the words' profiles and masses to `partial`."""
    n_dims = signs.shape[1]
    doc = np.empty(n_dims, dtype=np.float32)
    for d in range(first, last):
        doc[:] = 0
        tokens = 0.0
        for e in range(graph.doc_edges[d], graph.doc_edges[d + 1]):
            w = graph.edge_word[e]
            tokens += graph.edge_count[e]
            for j in range(n_dims):
                doc[j] += graph.edge_count[e] * signs[w, j]
        if tokens > 1:
            for e in range(graph.doc_edges[d], graph.doc_edges[d + 1]):
                w = graph.edge_word[e]
                share = np.float32(graph.edge_count[e] / (tokens * (tokens - 1.0)))
                for j in range(n_dims):
                    partial[w, j] += share * (doc[j] - signs[w, j])
                partial[w, n_dims] += np.float32(graph.edge_count[e] / tokens)


@kernel
def _farthest(rows, n):
    """Choose rows by Gram-Schmidt, overwriting `rows`; stop where all that is left is rounding."""
    n_rows, n_dims = rows.shape
    chosen = np.empty(n, dtype=np.int64)
    direction = np.zeros(n_dims, dtype=np.float32)
    lengths = np.empty(n_rows, dtype=np.float32)
    largest = 0.0
    for i in range(n):
        for r in range(n_rows):
            lengths[r] = _project_out(r, direction, rows)
        if i > 1:
            lengths[chosen[1:i]] = 0
        at = np.argmax(lengths)
        best = np.float64(lengths[at])
        largest = max(largest, best)
        if not best > 1e-10 * largest:
            return chosen[:i]
        chosen[i] = at
        if i == 0:  # from here on, relative to the first corner
            corner = rows[at].copy()
            for r in range(n_rows):
                for j in range(n_dims):
                    rows[r, j] -= corner[j]
        else:
            scale = np.float32(1.0 / np.sqrt(best))
            for j in range(n_dims):
                direction[j] = scale * rows[at, j]
    return chosen


@inner
def _project_out(r, direction, rows):
    """Remove the component of row r along a direction; return the squared length of the remainder."""
    along = np.float32(0)
    for j in range(direction.shape[0]):
        along += rows[r, j] * direction[j]
    length = np.float32(0)
    for j in range(direction.shape[0]):
        rest = rows[r, j] - along * direction[j]
        rows[r, j] = rest
        length += rest * rest
    return length


@kernel
def _products(left, right, out):
    for i in range(left.shape[0]):
        for j in range(right.shape[0]):
            total = np.float32(0)
            for k in range(left.shape[1]):
                total += left[i, k] * right[j, k]
            out[i, j] = total


@kernel
def _weigh(first, last, profiles, across, gram, rate, steps, weights):
    """Iterate from equal weights; `across` (dims, n) holds the corners, `gram` (n, n) their products."""
    n = gram.shape[0]
    target, slope = np.empty(n, dtype=np.float32), np.empty(n, dtype=np.float32)
    for w in range(first, last):
        target[:] = 0
        _add_rows(w, profiles, across, target)
        weights[w, :] = np.float32(1) / np.float32(n)
        for _ in range(steps):
            for i in range(n):
                slope[i] = -target[i]
            _add_rows(w, weights, gram, slope)
            _step(w, rate, slope, weights)


@inner
def _add_rows(w, scales, rows, total):
    """Add all rows, times their scales in row w of `scales`, to a vector, four at a time."""
    n = rows.shape[0]
    j = 0
    while j + 4 <= n:
        a, b, c, d = scales[w, j], scales[w, j + 1], scales[w, j + 2], scales[w, j + 3]
        for i in range(len(total)):
            total[i] += (a * rows[j, i] + b * rows[j + 1, i]) + (c * rows[j + 2, i] + d * rows[j + 3, i])
        j += 4
    while j < n:
        for i in range(len(total)):
            total[i] += scales[w, j] * rows[j, i]
        j += 1


@inner
def _step(w, rate, slope, weights):
    """Multiply the weights of a word by exp(-rate slope), and scale them to add up to one."""
    n = slope.shape[0]
    least = slope[0]
    for i in range(1, n):
        least = min(least, slope[i])
    for i in range(n):
        weights[w, i] *= _decay(min(rate * (slope[i] - least), np.float32(50)))
    total = np.float32(0)
    for i in range(n):
        total += weights[w, i]
    scale = np.float32(1) / total
    for i in range(n):
        weights[w, i] *= scale


@inner
def _decay(x):
    """Return exp(-x), approximate where it is tiny: a series and six squarings, which vectorise."""
    y = x * np.float32(-1 / 64)
    power = np.float32(1) + y * (
        np.float32(1) + y * (np.float32(1 / 2) + y * (np.float32(1 / 6) + y * np.float32(1 / 24)))
    )
    for _ in range(6):
        power *= power
    return power
