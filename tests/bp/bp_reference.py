"""The specification: one short function for each equation of the paper, in NumPy and double precision.

It enumerates what the equations enumerate (pairs and tuples of documents), so it is deliberately slow.
`sweep` and the other compiled modules compute the same numbers in closed form; the tests compare the two
function by function. Names in brackets are the labels of the equations in the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from typing import Any

import numpy as np
import numpy.typing as npt

from tagtopics._typing import Float32, Float64
from tagtopics.bp import constants as const
from tagtopics.bp.graph import (
    CorpusSums,
    DocState,
    FactorGraph,
    Groups,
    Priors,
    SweepInput,
    WordInput,
    group_by,
    normalise,
)


def edge_message(
    own: Any,
    count: float,
    doc_sum: Any,
    word_sum: Any,
    word_share: Any,
    mix: Any,
    priors: Priors,
    own_counts: Any = 0.0,
) -> Float64:
    """Return count times mu(z_wd) of one edge, from the sums with the edge's own part excluded [f2v2].

    At most `own_tokens` are excluded, in the paper all (decision 208). The topic's total keeps the own part,
    a token in thousands, and a word's message is raised to an exponent, in the paper one (decision 206).
    `own` (K,) is count times the last message, `word_share` (K,) is from `word_shares`, `mix` (K,) from
    `tag_mixture`. `own_counts` (K,) of the document are added to alpha.
    """
    alpha, beta = priors.doc_topic.astype(np.float64) + own_counts, priors.topic_word
    excluded = min(count, priors.own_tokens) / count
    others_in_doc = np.maximum(doc_sum - excluded * own, 0) + alpha
    others_of_word = np.maximum(word_sum - excluded * own, 0) + beta
    theta_message = others_in_doc / (np.sum(doc_sum) - excluded * count + alpha.sum())
    return count * normalise(((1 - mix.sum()) * theta_message + mix) * others_of_word * word_share)


def relaxed_sums(sums: Float64, previous: Float32, relaxation: float) -> Float64:
    """Return the word sums (W, K) that a sweep uses, moved further in the direction of their last move."""
    if not len(previous):
        return sums.copy()
    return np.maximum(sums + relaxation * (sums - previous), const.LEAST * sums)


def word_shares(used: Float64, priors: Priors) -> Float64:
    """Return (W, K): phi to the power of the word exponent less one, divided by the topic's total."""
    topic_sum = used.sum(0) + len(used) * priors.topic_word
    parts = round((1.0 - priors.word_exponent) * 2**const.ROOTS)
    return np.asarray(((used + priors.topic_word) / topic_sum) ** (-parts / 2**const.ROOTS) / topic_sum)


def credit(messages: Any, profiles: Any) -> Float64:
    """Return p(x_wd = t), (E_d, T_d): how much of each word each tag of a document accounts for [credit].

    `profiles` (T_d, K) are from `slot_profile`. The paper uses the tags' messages here; those are cubes of
    the profiles, and let one of several tags that share a topic take all of it (decision 223).
    """
    likelihood = np.asarray(messages, dtype=np.float64) @ np.asarray(profiles, dtype=np.float64).T
    total = likelihood.sum(1, keepdims=True)
    uniform = np.full_like(likelihood, 1.0 / max(likelihood.shape[1], 1))
    return np.asarray(np.divide(likelihood, total, out=uniform, where=total > 0))


def slot_mean(messages: Any, credit_of_tag: Any) -> Float64:
    """Return mu-bar_dt (K,): the mean of messages (E_d, K, with counts), weighted by a tag's credit [dt]."""
    return normalise(np.asarray(credit_of_tag) @ np.asarray(messages, dtype=np.float64))


def pairwise_factor(slot_means: Any) -> Float64:
    """Return f_gamma_t (K,): the mean Hadamard product of all ordered pairs of a tag's slot means [pairwise].

    `slot_means` (n_t, K) has one row for each document with the tag. Without a pair the factor is zero.
    """
    n = len(slot_means)
    pairs = [slot_means[i] * slot_means[j] for i, j in product(range(n), repeat=2) if i != j]
    return np.mean(pairs, axis=0, dtype=np.float64) if pairs else np.zeros(slot_means.shape[1])


def slot_profile(slot_means: Any, me: int) -> Float64:
    """Return (K,): the mean of a tag's slot means over all documents but `me`; uniform if that is none."""
    return normalise(np.sum(np.delete(slot_means, me, axis=0), axis=0, dtype=np.float64))


def slot_message(slot_means: Any, me: int) -> Float64:
    """Return the message (K,) of a tag to its document `me`: factor times sum over the others [gamma2z]."""
    others = [row for i, row in enumerate(slot_means) if i != me]
    return pairwise_factor(slot_means) * np.sum(others, axis=0, dtype=np.float64)


def hyperedge_factor(slot_means_of_tags: Sequence[Any], order: int) -> Float64:
    """Return f_delta_d (K,): the mean over all tuples of documents, one document per tag [3order].

    A tuple has one document for each of m = min(order, number of tags) different tags; the same document
    may stand for two of its tags. The result is a sum over all choices of m tags.
    """
    m = min(order, len(slot_means_of_tags))
    total = np.zeros(slot_means_of_tags[0].shape[1])
    for chosen in combinations(slot_means_of_tags, m):
        total += np.mean([np.prod(rows, axis=0) for rows in product(*chosen)], axis=0)
    return total


def hyperedge_message(slot_means_of_tags: Sequence[Any], me: Sequence[int], order: int) -> Float64:
    """Return the message (K,) of hyperedge d: factor times sum over tuples of the other documents [delta2z].

    For each tag of the document, `me` is its row among the slot means (n_t, K).
    """
    m = min(order, len(slot_means_of_tags))
    total = np.zeros(slot_means_of_tags[0].shape[1])
    others = [np.delete(rows, i, axis=0) for rows, i in zip(slot_means_of_tags, me, strict=True)]
    for chosen in combinations(others, m - 1):
        for rows in product(*chosen):
            total += np.prod(rows, axis=0)
    return hyperedge_factor(slot_means_of_tags, order) * total


def tag_mixture(slot_messages: Sequence[Any], hyperedge: Any, priors: Priors) -> Float64:
    """Return w1 pairwise + w2 hyperedge (K,), each normalised [f2v2]; zero messages have no weight.

    The weight of a message that does not exist goes to theta: the result adds up to the weight used.
    """
    messages = [normalise(message) for message in slot_messages if np.sum(message) > 0]
    mix = np.zeros(len(priors.doc_topic))
    if messages:
        mix += priors.pairwise_weight * np.mean(messages, axis=0)
    if np.sum(hyperedge) > 0:
        mix += priors.higher_order_weight * normalise(hyperedge)
    return mix


def group_sums(groups: Groups, rows: Any) -> Float64:
    """Return (G, K): the sum of the rows of each group."""
    spans = zip(groups.offsets[:-1], groups.offsets[1:], strict=True)
    sums = [rows[groups.members[a:b]].sum(0, dtype=np.float64) for a, b in spans]
    return np.reshape(sums, (len(groups.offsets) - 1, rows.shape[1]))


def sweep_input(sums: CorpusSums, tag_docs: Any, previous: Float32, priors: Priors, lean: bool) -> SweepInput:
    """Return what a sweep reads about words; tags are enumerated, so their sums are not used."""
    used = relaxed_sums(sums.words, previous, priors.relaxation)
    before = previous.astype(np.float64) if lean else used[:0]
    words: Any = used, word_shares(used, priors)
    previous_words: Any = before, word_shares(before, priors) if lean else before
    pairs = WordInput(*words), WordInput(*previous_words)
    return SweepInput(*pairs, _narrow(sums.tags), _narrow(np.asarray(tag_docs)), _narrow(sums.tags))


def sweep(
    graph: FactorGraph,
    docs: DocState,
    given: SweepInput,
    priors: Priors,
    sums: CorpusSums,
    own_counts: Float32 | None = None,
) -> float:
    """Update every message once, in place, and add the documents to `sums`; return how far messages moved.

    Words and tags send the messages that follow from the sums at the start of the sweep; within a document
    each edge sees the updated edges before it. In lean mode messages are recalled from the sums of the
    previous sweep and discarded; the change is then that of the documents' sums.
    """
    lean = len(given.previous.sums) > 0
    own_counts = np.zeros(docs.doc_sums.shape, dtype=np.float32) if own_counts is None else own_counts
    messages = recall(graph, docs, given, priors, own_counts) if lean else docs.messages.astype(np.float64)
    before, slot_means = docs.doc_sums.astype(np.float64), docs.slot_means.astype(np.float64)
    moved = 0.0
    for d in range(graph.n_docs):
        edges = slice(graph.doc_edges[d], graph.doc_edges[d + 1])
        if edges.start == edges.stop:
            continue
        mix, profiles = _mixture_of(graph, docs, given, priors, d)
        old = messages[edges].copy()
        doc_sum = old.sum(0)
        for e in range(edges.start, edges.stop):
            own, count, w = messages[e].copy(), float(graph.edge_count[e]), graph.edge_word[e]
            read = (doc_sum, given.words.sums[w], given.words.shares[w])
            messages[e] = edge_message(own, count, *read, mix, priors, own_counts[d])
            doc_sum += messages[e] - own
        moved += float(np.abs(messages[edges] - old).sum())
        if profiles:
            shares = credit(messages[edges], profiles)
            for i, s in enumerate(range(graph.doc_slots[d], graph.doc_slots[d + 1])):
                slot_means[s] = slot_mean(messages[edges], shares[:, i])
    _store(graph, messages, slot_means, docs, sums, len(given.tag_sums) > 0)
    return float(np.abs(docs.doc_sums - before).sum()) if lean else moved


def recall(
    graph: FactorGraph, docs: DocState, given: SweepInput, priors: Priors, own_counts: Float32
) -> Float64:
    """Return (E, K): the messages that the previous sweep must have ended with.

    A message is the fixed point of its update. This iterates the update, first with nothing excluded, then
    with half steps: full steps would oscillate, since what is excluded pushes the next message away from it.
    """
    words = given.previous
    messages = np.zeros((graph.n_edges, words.sums.shape[1]))
    for d in range(graph.n_docs):
        mix = _mixture_of(graph, docs, given, priors, d)[0]
        for e in range(graph.doc_edges[d], graph.doc_edges[d + 1]):
            count, w = float(graph.edge_count[e]), graph.edge_word[e]
            sums = (docs.doc_sums[d].astype(np.float64), words.sums[w], words.shares[w])
            for i in range(const.RECALLS):
                step = 1.0 if i == 0 else 0.5
                fresh = edge_message(messages[e], count, *sums, mix, priors, own_counts[d])
                messages[e] += step * (fresh - messages[e])
    return messages


def _store(
    graph: FactorGraph, messages: Float64, slot_means: Float64, docs: DocState, sums: CorpusSums, tags: bool
) -> None:
    """Put messages (E, K) and slot means (S, K) into the state; add their sums, those of tags if asked."""
    narrow = _narrow(messages)
    docs.messages[:] = narrow[: len(docs.messages)]
    docs.slot_means[:] = slot_means
    for d in range(graph.n_docs):
        docs.doc_sums[d] = messages[graph.doc_edges[d] : graph.doc_edges[d + 1]].sum(0)
    sums.words[:] += group_sums(group_by(graph.edge_word, graph.n_words), narrow)
    if tags:
        sums.tags[:] += group_sums(graph.tag_slots, docs.slot_means)
        sums.tag_squares[:] += group_sums(graph.tag_slots, docs.slot_means.astype(np.float64) ** 2)


def _mixture_of(
    graph: FactorGraph, docs: DocState, given: SweepInput, priors: Priors, d: int
) -> tuple[Float64, list[Float64]]:
    """Return the weighted messages of a document's tags (K,), and each tag's mean over other documents."""
    K = docs.slot_means.shape[1]
    if graph.doc_edges[d] == graph.doc_edges[d + 1] or not len(given.tag_sums):
        return np.zeros(K), []
    means, me = _neighbourhood(graph, docs, d)
    pairwise = [slot_message(rows, i) for rows, i in zip(means, me, strict=True)]
    hyperedge = hyperedge_message(means, me, priors.order) if len(means) > 1 else np.zeros(K)
    profiles = [slot_profile(rows, i) for rows, i in zip(means, me, strict=True)]
    return tag_mixture(pairwise, hyperedge, priors), profiles


def _neighbourhood(graph: FactorGraph, docs: DocState, d: int) -> tuple[list[Float64], list[int]]:
    """Return for each tag of a document the slot means (n_t, K) of all its documents, and which row is d."""
    means, me = [], []
    for s in range(graph.doc_slots[d], graph.doc_slots[d + 1]):
        t = graph.slot_tag[s]
        members = graph.tag_slots.members[graph.tag_slots.offsets[t] : graph.tag_slots.offsets[t + 1]]
        means.append(docs.slot_means[members].astype(np.float64))
        me.append(int(np.flatnonzero(members == s)[0]))
    return means, me


def _narrow(array: Float64) -> Float32:
    return array.astype(np.float32)


def fold_in(graph: FactorGraph, phi: Float32, prior: Float32, max_iter: int, tol: float) -> Float32:
    """Return sums of messages (D, K) of new documents under fixed topics, phi (W, K).

    `prior` (D, K) has the pseudo-counts of each document: alpha, plus those of its known tags.
    """
    sums = np.zeros((graph.n_docs, phi.shape[1]))
    for d in range(graph.n_docs):
        edges = slice(graph.doc_edges[d], graph.doc_edges[d + 1])
        words, counts = phi[graph.edge_word[edges]].astype(np.float64), graph.edge_count[edges]
        sums[d] = mix_components(words, counts.astype(np.float64), prior[d], max_iter, tol)
    return _narrow(sums)


def mix_components(words: Float64, counts: Float64, prior: Any, max_iter: int, tol: float) -> Float64:
    """Return (C,): the tokens that a document gives to each component; `words` (E, C) is p(word | component).

    All words are updated at once, each excluding what one of its tokens contributes, and theta is
    over-relaxed. The first messages follow from the prior alone (decision 207). A document has converged when
    the mean change of a token's message in a step falls below `tol`.
    """
    prior = np.asarray(prior, dtype=np.float64)
    theta, sums = prior, np.zeros(len(prior))
    for iteration in range(max_iter + 1):
        sums = np.zeros(len(prior))
        for count, word in zip(counts, words, strict=True):
            joint = theta * word
            own = normalise(joint) if iteration > 0 and joint.any() else 0.0
            message = np.maximum(theta - own, prior) * word if joint.any() else np.ones(len(prior))
            if message.any():
                sums += count * normalise(message)
        fresh = sums + prior
        if iteration > 0 and np.abs(fresh - theta).sum() < tol * counts.sum():
            break
        step = const.FOLD_RELAXATION if iteration > 0 else 0.0
        theta = np.maximum(fresh + step * (fresh - theta), prior)
    return sums


def start(graph: FactorGraph, word_topics: Float32, seed: int, lean: bool, sums: CorpusSums) -> DocState:
    """Return a random initial state around p(topic | word), (W, K), and add its sums to `sums`.

    Messages are drawn around the result of a few EM steps on each document; its tags start with its topics.
    Uniform `word_topics` make the state entirely random; see `anchors` for a better choice.
    """
    K = word_topics.shape[1]
    patterns = 0.5 + mix_bits(hash_bits(seed, const.NOISE_STREAM + np.arange(const.PATTERNS)), K)
    choice = hash_bits(seed, graph.first_edge + np.arange(graph.n_edges)) % np.uint64(const.PATTERNS)
    drawn = _readings(graph, word_topics) * patterns[choice]
    messages = np.array([normalise(row) for row in drawn]).reshape(-1, K)
    messages *= graph.edge_count[:, np.newaxis]
    slot_means = np.zeros((graph.n_slots, K))
    for d in range(graph.n_docs):
        edges = slice(graph.doc_edges[d], graph.doc_edges[d + 1])
        for s in range(graph.doc_slots[d], graph.doc_slots[d + 1]):
            if edges.stop > edges.start:
                slot_means[s] = normalise(messages[edges].sum(0))
    sizes = (0 if lean else graph.n_edges, graph.n_docs, graph.n_slots)
    docs = DocState(*(np.zeros((n, K), dtype=np.float32) for n in sizes))
    _store(graph, messages, slot_means, docs, sums, True)
    return docs


def _readings(graph: FactorGraph, word_topics: Float32) -> Float64:
    """Return (E, K): p(topic | word, document), up to a factor, after some EM steps with fixed topics."""
    topics = np.array([normalise(row) for row in word_topics.astype(np.float64)])
    words = (topics / np.maximum(graph.totals.word_docs @ topics, 1e-30))[graph.edge_word]
    readings = np.empty(words.shape)
    for d in range(graph.n_docs):
        edges = slice(graph.doc_edges[d], graph.doc_edges[d + 1])
        theta = np.ones(words.shape[1])
        for _ in range(const.READS):
            rows = zip(graph.edge_count[edges], words[edges], strict=True)
            theta = np.sum([n * normalise(theta * row) for n, row in rows], axis=0) + const.READ_PRIOR
        readings[edges] = theta * words[edges]
    return readings


def hash_bits(seed: int, counters: Any) -> npt.NDArray[np.uint64]:
    """Return 64 random bits for each counter: SplitMix64 of seed and counter, so any thread can draw any."""
    with np.errstate(over="ignore"):
        z = (np.asarray(counters).astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        z += np.uint64(seed) * np.uint64(0xD1342543DE82EF95)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(z ^ (z >> np.uint64(31)))


def mix_bits(bits: npt.NDArray[np.uint64], n: int) -> Float64:
    """Return (len(bits), n) numbers in (0, 1): a 32-bit mix of each row's bits and the column."""
    columns = np.arange(n, dtype=np.uint32) * np.uint32(0x9E3779B9)
    x = bits.astype(np.uint32)[:, np.newaxis] + columns
    x = (x ^ (x >> np.uint32(16))) * np.uint32(0x7FEB352D)
    x = (x ^ (x >> np.uint32(15))) * np.uint32(0x846CA68B)
    x ^= x >> np.uint32(16)
    return np.asarray(((x >> np.uint32(8)).astype(np.float64) + 0.5) / (1 << 24))
