"""The initial state: messages around initial topics of words.

Each document gets a few EM steps with these topics held fixed, and its messages are drawn around the result,
so words that belong to several topics start in the right ones. Its tags start with its topics.
"""

from __future__ import annotations

import numpy as np

from tagtopics._typing import Float32
from tagtopics.bp.constants import NOISE_STREAM, PATTERNS, READ_PRIOR, READS
from tagtopics.bp.edges import longest_of, overlap, sum_rows
from tagtopics.bp.graph import CorpusSums, DocState, FactorGraph
from tagtopics.bp.sums import add_in_blocks, add_tags
from tagtopics.jit.compiling import inner, kernel
from tagtopics.jit.randomness import hash_bits, mix_bits


def start(graph: FactorGraph, word_topics: Float32, seed: int, lean: bool, sums: CorpusSums) -> DocState:
    """Return the initial state of a corpus, or of a part of one, and add its sums to `sums`.

    `word_topics` (W, K) is p(topic | word), up to a factor for each word. The result does not depend on the
    parts. A lean state has no messages.
    """
    K = word_topics.shape[1]
    messages = np.empty((0 if lean else graph.n_edges, K), dtype=np.float32)
    doc_sums = np.empty((graph.n_docs, K), dtype=np.float32)
    noise = np.empty((PATTERNS, K), dtype=np.float32)
    _draw_noise(np.uint64(seed), noise)
    # p(word | topic) from p(topic | word), both up to a factor for each word
    shares, word_docs = word_topics / word_topics.sum(1, keepdims=True), graph.totals.word_docs
    sizes = (word_docs.astype(np.float32)[:, np.newaxis] * shares).sum(0)  # a product would depend on BLAS
    likelihoods = shares / np.maximum(sizes, np.float32(1e-30))
    arguments = (likelihoods, noise, np.uint64(seed), messages, doc_sums)
    add_in_blocks(_initialise, graph, graph.totals.token_grid, sums.words, *arguments)
    doc_topic = doc_sums / np.maximum(doc_sums.sum(1, keepdims=True), np.float32(1e-30))
    slot_means = np.repeat(doc_topic, np.diff(graph.doc_slots), axis=0)
    add_tags(graph, slot_means, sums)
    return DocState(messages, doc_sums, slot_means)


@kernel
def _initialise(first, last, graph, likelihoods, noise, seed, messages, doc_sums, partial):
    """Draw messages for documents first to last.

    `likelihoods` (W, K) are p(w | k); messages are multiplied by rows of `noise` (PATTERNS, K). Without rows
    for them, the messages of a document are discarded once they are in the sums.
    """
    K, lean = doc_sums.shape[1], messages.shape[0] == 0
    theta, gain, wide = np.empty(K, dtype=np.float32), np.empty(K, dtype=np.float32), np.empty(K)
    rows = np.empty((longest_of(first, last, graph.doc_edges), K), dtype=np.float32) if lean else messages
    for d in range(first, last):
        base = graph.doc_edges[d] if lean else 0
        _read_document(d, graph, likelihoods, theta, gain)
        _draw_messages(d, base, graph, likelihoods, noise, seed, theta, rows, partial)
        start, stop = graph.doc_edges[d] - base, graph.doc_edges[d + 1] - base
        sum_rows(start, stop, rows, d, doc_sums, wide)


@kernel
def _draw_noise(seed, noise):
    """Fill `noise` (PATTERNS, K) with numbers from 0.5 to 1.5."""
    for i in range(noise.shape[0]):
        bits = hash_bits(seed, NOISE_STREAM + i)
        for k in range(noise.shape[1]):
            noise[i, k] = np.float32(0.5) + mix_bits(bits, k)


@inner
def _read_document(d, graph, likelihoods, theta, gain):
    """Set `theta` to the expected tokens of each topic in document d, plus a small prior."""
    K = theta.shape[0]
    theta[:] = 1
    for _ in range(READS):
        gain[:] = 0
        for e in range(graph.doc_edges[d], graph.doc_edges[d + 1]):
            w = graph.edge_word[e]
            total = overlap(w, likelihoods, theta)
            share = graph.edge_count[e] / total if total > 0 else np.float32(0)
            for k in range(K):
                gain[k] += share * likelihoods[w, k]
        for k in range(K):
            theta[k] = theta[k] * gain[k] + READ_PRIOR


@inner
def _draw_messages(d, base, graph, likelihoods, noise, seed, theta, messages, partial):
    """Draw the messages of document d; that of edge e goes to row e - base."""
    K = messages.shape[1]
    for e in range(graph.doc_edges[d], graph.doc_edges[d + 1]):
        r, w = e - base, graph.edge_word[e]
        row = hash_bits(seed, graph.first_edge + e) % np.uint64(PATTERNS)
        total = np.float32(0)
        for k in range(K):
            value = theta[k] * likelihoods[w, k] * noise[row, k]
            messages[r, k] = value
            total += value
        if not total > 0:
            messages[r, :] = 1
            total = np.float32(K)
        scale = graph.edge_count[e] / total
        for k in range(K):
            messages[r, k] *= scale
            partial[w, k] += messages[r, k]
