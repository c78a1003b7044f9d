"""The specification: one short function for each equation of the paper, in NumPy and double precision.

It enumerates what the equations enumerate (pairs and tuples of documents), so it is slow on purpose.
`compiled` computes the same numbers in closed form; the tests compare the two function by function.
Names in brackets are the labels of the equations in the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from typing import Any

import numpy as np
import numpy.typing as npt

from tagtopics._typing import Float32, Float64
from tagtopics.graph import FactorGraph, Groups, Priors, TopicState, group_by
from tagtopics.kernels.bp.edges import RECALLS
from tagtopics.kernels.bp.fold import FOLD_STRIDE
from tagtopics.kernels.bp.start import PATTERNS, READ_PRIOR, READS
from tagtopics.kernels.bp.words import LEAST, ROOTS
from tagtopics.kernels.randomness import CREDIT_STREAM, NOISE_STREAM


def normalised(vector: Any) -> Float64:
    """Scale a non-negative vector to add up to one; a vector of zeros becomes uniform."""
    vector = np.asarray(vector, dtype=np.float64)
    total = vector.sum()
    return vector / total if total > 0 else np.full(len(vector), 1.0 / len(vector))


def edge_message(
    own: Any,
    count: float,
    doc_sum: Any,
    word_sum: Any,
    word_share: Any,
    mix: Any,
    priors: Priors,
) -> Float64:
    """Return count times mu(z_wd) of one edge, from the sums with the edge's own part taken out [f2v2].

    The topic's total keeps the own part, a token in thousands. A word's message counts with a weight; both
    are in the word's share. The paper's weight is one (decision 012).

    Args:
        own: (K,) what the edge has put into the sums, count times its last message.
        count: how often the word occurs in the document.
        doc_sum: (K,) sum of the document's messages.
        word_sum: (K,) sum of the word's messages.
        word_share: (K,) from `word_shares`.
        mix: (K,) what pairwise and hyperedge messages add, from `tag_mixture`.
        priors: alpha, beta and the weights.
    """
    alpha, beta = priors.doc_topic.astype(np.float64), priors.topic_word
    others_in_doc = np.maximum(doc_sum - own, 0) + alpha
    others_of_word = np.maximum(word_sum - own, 0) + beta
    theta_message = others_in_doc / (np.sum(doc_sum) - count + alpha.sum())
    return count * normalised(((1 - mix.sum()) * theta_message + mix) * others_of_word * word_share)


def relaxed_sums(sums: Float64, past: Float32, stride: float) -> Float64:
    """Return the word sums (W, K) that a sweep goes by: further in the direction they come from.

    Args:
        sums: (W, K) sums of the messages.
        past: (W, K) those that the messages were computed from; (0, K) if from none.
        stride: how much further, in units of the last move.
    """
    return np.maximum(sums + stride * (sums - past), LEAST * sums) if len(past) else sums


def word_shares(used: Float64, priors: Priors) -> Float64:
    """Return (W, K): phi to the power of the words' weight less one, by the topic's total."""
    topic_sum = used.sum(0) + len(used) * priors.topic_word
    parts = round((1.0 - priors.word_weight) * 2**ROOTS)
    shares: Float64 = ((used + priors.topic_word) / topic_sum) ** (-parts / 2**ROOTS) / topic_sum
    return shares


def credit(messages: Any, profiles: Any) -> Float64:
    """Return p(x_wd = t), (E_d, T_d): how much of each word each tag of a document accounts for [credit].

    Args:
        messages: (E_d, K) messages of the document's edges, on any scale.
        profiles: (T_d, K) what the document's tags stand for elsewhere, from `slot_profile`. The paper takes
            the tags' messages here; those are cubes of the profiles, and let one of several tags that share
            a topic take all of it (decision 003).
    """
    likelihood = np.asarray(messages, dtype=np.float64) @ np.asarray(profiles, dtype=np.float64).T
    total = likelihood.sum(1, keepdims=True)
    uniform = np.full_like(likelihood, 1.0 / max(likelihood.shape[1], 1))
    shares: Float64 = np.divide(likelihood, total, out=uniform, where=total > 0)
    return shares


def slot_mean(messages: Any, credit_of_tag: Any) -> Float64:
    """Return mu-bar_dt (K,): the mean of messages (E_d, K, with counts), weighted by a tag's credit [dt]."""
    return normalised(np.asarray(credit_of_tag) @ np.asarray(messages, dtype=np.float64))


def pairwise_factor(slot_means: Any) -> Float64:
    """Return f_gamma_t (K,): the mean Hadamard product of all ordered pairs of a tag's slot means [pairwise].

    Args:
        slot_means: (n_t, K), one row a document that carries the tag. No pair makes a factor of zeros.
    """
    n = len(slot_means)
    pairs = [slot_means[i] * slot_means[j] for i, j in product(range(n), repeat=2) if i != j]
    return np.mean(pairs, axis=0, dtype=np.float64) if pairs else np.zeros(slot_means.shape[1])


def slot_profile(slot_means: Any, me: int) -> Float64:
    """Return (K,): the mean of a tag's slot means over all documents but `me`; uniform if that is none."""
    return normalised(np.sum(np.delete(slot_means, me, axis=0), axis=0, dtype=np.float64))


def slot_message(slot_means: Any, me: int) -> Float64:
    """Return the message (K,) of a tag to its document `me`: factor times sum over the others [gamma2z]."""
    others = [row for i, row in enumerate(slot_means) if i != me]
    return pairwise_factor(slot_means) * np.sum(others, axis=0, dtype=np.float64)


def hyperedge_factor(slot_means_of_tags: Sequence[Any], order: int) -> Float64:
    """Return f_delta_d (K,): the mean over all tuples of documents, one document a tag [3order].

    A tuple names one document of each of m = min(order, number of tags) different tags; the same document
    may stand for two of its tags. Sums over the ways to choose m of the tags.
    """
    m = min(order, len(slot_means_of_tags))
    total = np.zeros(slot_means_of_tags[0].shape[1])
    for chosen in combinations(slot_means_of_tags, m):
        total += np.mean([np.prod(rows, axis=0) for rows in product(*chosen)], axis=0)
    return total


def hyperedge_message(slot_means_of_tags: Sequence[Any], me: Sequence[int], order: int) -> Float64:
    """Return the message (K,) of hyperedge d: factor times sum over tuples of the other documents [delta2z].

    Args:
        slot_means_of_tags: for each tag of the document, (n_t, K): the slot means of all its documents.
        me: for each tag, the row of the document itself.
        order: the most tags a factor joins.
    """
    m = min(order, len(slot_means_of_tags))
    total = np.zeros(slot_means_of_tags[0].shape[1])
    others = [np.delete(rows, i, axis=0) for rows, i in zip(slot_means_of_tags, me, strict=True)]
    for chosen in combinations(others, m - 1):
        for rows in product(*chosen):
            total += np.prod(rows, axis=0)
    return hyperedge_factor(slot_means_of_tags, order) * total


def tag_mixture(slot_messages: Sequence[Any], hyperedge: Any, priors: Priors) -> Float64:
    """Return w1 pairwise + w2 hyperedge (K,), each normalised [f2v2]; what says nothing has no weight.

    The weight of a message that does not exist goes back to theta: the result adds up to the weight used.
    """
    speaking = [normalised(message) for message in slot_messages if np.sum(message) > 0]
    mix = np.zeros(len(priors.doc_topic))
    if speaking:
        mix += priors.pairwise_weight * np.mean(speaking, axis=0)
    if np.sum(hyperedge) > 0:
        mix += priors.higher_order_weight * normalised(hyperedge)
    return mix


def group_sums(groups: Groups, rows: Any) -> Float64:
    """Return (G, K): the sum of the rows of each group."""
    spans = zip(groups.offsets[:-1], groups.offsets[1:], strict=True)
    sums = [rows[groups.members[a:b]].sum(0, dtype=np.float64) for a, b in spans]
    return np.reshape(sums, (len(groups.offsets) - 1, rows.shape[1]))


def sweep(graph: FactorGraph, state: TopicState, priors: Priors, n_threads: int) -> tuple[TopicState, float]:
    """Update every message once; return the next state and how far the messages moved, in tokens.

    Words and tags answer from the sums at the start of the sweep, those of words relaxed; within a document
    each edge sees the edges before it. `n_threads` is there for the signature: a specification is serial.
    """
    return _swept(graph, state, priors, state.messages.astype(np.float64))


def lean_sweep(
    graph: FactorGraph, state: TopicState, priors: Priors, n_threads: int
) -> tuple[TopicState, float]:
    """Do the same with messages recalled from the sums of the sweep before, and forgotten afterwards.

    The change is that of the documents' sums, for the last messages are known only nearly.
    """
    messages = recall(graph, state, priors)
    after, _ = _swept(graph, state, priors, messages)
    change = float(np.abs(after.doc_sums - state.doc_sums.astype(np.float64)).sum())
    return after._replace(messages=state.messages), change


def recall(graph: FactorGraph, state: TopicState, priors: Priors) -> Float64:
    """Return (E, K): the messages that the last sweep must have ended with.

    A message is the fixed point of its update; this iterates it, from nothing taken out, then going half of
    the way: what is taken out makes the next message avoid it, and whole steps would swing to and fro.
    """
    messages = np.zeros((graph.n_edges, state.n_topics))
    past = state.past_word_sums.astype(np.float64)
    shares = word_shares(past, priors)
    for d in range(graph.n_docs):
        mix = _mixture_of(graph, state, priors, d)[0]
        for e in range(graph.doc_edges[d], graph.doc_edges[d + 1]):
            count, w = float(graph.edge_count[e]), graph.edge_word[e]
            sums = (state.doc_sums[d].astype(np.float64), past[w], shares[w])
            for i in range(RECALLS):
                way = 1.0 if i == 0 else 0.5
                messages[e] += way * (edge_message(messages[e], count, *sums, mix, priors) - messages[e])
    return messages


def _swept(
    graph: FactorGraph, state: TopicState, priors: Priors, messages: Float64
) -> tuple[TopicState, float]:
    used = relaxed_sums(state.word_sums, state.past_word_sums, priors.stride)
    words = (used, word_shares(used, priors))
    slot_means = state.slot_means.astype(np.float64)
    doc_sums = np.zeros((graph.n_docs, state.n_topics))
    change = 0.0
    for d in range(graph.n_docs):
        edges = slice(graph.doc_edges[d], graph.doc_edges[d + 1])
        if edges.start == edges.stop:
            continue
        mix, profiles = _mixture_of(graph, state, priors, d)
        before = messages[edges].copy()
        _update_document(graph, words, priors, messages, range(edges.start, edges.stop), mix)
        change += float(np.abs(messages[edges] - before).sum())
        doc_sums[d] = messages[edges].sum(0)
        if profiles:
            shares = credit(messages[edges], profiles)
            for i, s in enumerate(range(graph.doc_slots[d], graph.doc_slots[d + 1])):
                slot_means[s] = slot_mean(messages[edges], shares[:, i])
    after = summed(graph, _narrow(messages), _narrow(doc_sums), _narrow(slot_means))
    return after._replace(past_word_sums=_narrow(used)), change


def summed(graph: FactorGraph, messages: Float32, doc_sums: Float32, slot_means: Float32) -> TopicState:
    """Return the state of some messages and slot means, with the sums that follow."""
    return TopicState(
        messages=messages,
        doc_sums=doc_sums,
        word_sums=group_sums(group_by(graph.edge_word, graph.n_words), messages),
        slot_means=slot_means,
        tag_sums=group_sums(graph.tag_slots, slot_means),
        tag_squares=group_sums(graph.tag_slots, slot_means.astype(np.float64) ** 2),
        past_word_sums=np.empty((0, messages.shape[1]), dtype=np.float32),
    )


def _mixture_of(
    graph: FactorGraph, state: TopicState, priors: Priors, d: int
) -> tuple[Float64, list[Float64]]:
    """Return what the tags of a document add to its messages (K,), and the profile of each tag elsewhere."""
    if graph.doc_edges[d] == graph.doc_edges[d + 1]:
        return np.zeros(state.n_topics), []
    means, me = _neighbourhood(graph, state, d)
    pairwise = [slot_message(rows, i) for rows, i in zip(means, me, strict=True)]
    hyperedge = hyperedge_message(means, me, priors.order) if len(means) > 1 else np.zeros(state.n_topics)
    profiles = [slot_profile(rows, i) for rows, i in zip(means, me, strict=True)]
    return tag_mixture(pairwise, hyperedge, priors), profiles


def _neighbourhood(graph: FactorGraph, state: TopicState, d: int) -> tuple[list[Float64], list[int]]:
    """Return for each tag of a document the slot means (n_t, K) of all its documents, and which row is d."""
    means, me = [], []
    for s in range(graph.doc_slots[d], graph.doc_slots[d + 1]):
        t = graph.slot_tag[s]
        members = graph.tag_slots.members[graph.tag_slots.offsets[t] : graph.tag_slots.offsets[t + 1]]
        means.append(state.slot_means[members].astype(np.float64))
        me.append(int(np.flatnonzero(members == s)[0]))
    return means, me


def _update_document(
    graph: FactorGraph,
    words: tuple[Float64, Float64],
    priors: Priors,
    messages: Float64,
    edges: range,
    mix: Float64,
) -> None:
    """Update the messages of one document's edges, one after the other, in place.

    `words` are the sums and the shares of the words, (W, K) each.
    """
    doc_sum = messages[edges.start : edges.stop].sum(0)
    for e in edges:
        own, count, w = messages[e].copy(), float(graph.edge_count[e]), graph.edge_word[e]
        messages[e] = edge_message(own, count, doc_sum, words[0][w], words[1][w], mix, priors)
        doc_sum += messages[e] - own


def _narrow(array: Float64) -> Float32:
    return array.astype(np.float32)


def fold_in(
    graph: FactorGraph, phi: Float32, prior: Float32, max_iter: int, tol: float, n_threads: int
) -> Float32:
    """Return sums of messages (D, K) of new documents under frozen topics.

    All words of a document answer at once, each with what one of its tokens has said taken out, and theta
    goes a little further than they say. The first messages follow from the prior alone (decision 013).

    Args:
        graph: the new documents; tags play no part here.
        phi: (W, K) p(word | topic).
        prior: (D, K) pseudo-counts of each document: alpha, and what its known tags add.
        max_iter: steps of a document at the most, after the first messages.
        tol: stop a document when the mean change of a token's message in a step falls below.
        n_threads: there for the signature.
    """
    sums = np.zeros((graph.n_docs, phi.shape[1]))
    for d in range(graph.n_docs):
        edges = slice(graph.doc_edges[d], graph.doc_edges[d + 1])
        counts, words = graph.edge_count[edges].astype(np.float64), phi[graph.edge_word[edges]]
        alpha = prior[d].astype(np.float64)
        for e in range(len(counts)):
            sums[d] += counts[e] * normalised(alpha * words[e])
        theta = sums[d] + alpha
        for _ in range(max_iter):
            sums[d] = 0
            for e in range(len(counts)):
                others = np.maximum(theta - normalised(theta * words[e]), alpha)
                sums[d] += counts[e] * normalised(others * words[e])
            fresh = sums[d] + alpha
            if np.abs(fresh - theta).sum() < tol * counts.sum():
                break
            theta = np.maximum(fresh + FOLD_STRIDE * (fresh - theta), alpha)
    return _narrow(sums)


def initial_state(graph: FactorGraph, word_topics: Float32, seed: int, n_threads: int) -> TopicState:
    """Return a random start: messages drawn around what each document seems to be about, credits at random.

    It is read by the topics of p(topic | word), (W, K). A uniform `word_topics` makes it wholly random; see
    `anchors` for a better one.
    """
    n_topics = word_topics.shape[1]
    patterns = 0.5 + mixed(hashed(seed, NOISE_STREAM + np.arange(PATTERNS)), n_topics)
    choice = hashed(seed, graph.whole.first_edge + np.arange(graph.n_edges)) % np.uint64(PATTERNS)
    drawn = _readings(graph, word_topics) * patterns[choice]
    messages = np.array([normalised(row) for row in drawn]).reshape(-1, n_topics)
    messages *= graph.edge_count[:, np.newaxis]
    slot_means = np.zeros((graph.n_slots, n_topics))
    doc_sums = np.zeros((graph.n_docs, n_topics))
    for d in range(graph.n_docs):
        edges = slice(graph.doc_edges[d], graph.doc_edges[d + 1])
        doc_sums[d] = messages[edges].sum(0)
        for s in range(graph.doc_slots[d], graph.doc_slots[d + 1]):
            if edges.stop > edges.start:
                counter = CREDIT_STREAM + graph.whole.first_slot + s
                draws = mixed(hashed(seed, np.array([counter])), edges.stop - edges.start)
                slot_means[s] = slot_mean(messages[edges], draws[0])
    return summed(graph, _narrow(messages), _narrow(doc_sums), _narrow(slot_means))


def _readings(graph: FactorGraph, word_topics: Float32) -> Float64:
    """Return (E, K): p(topic | word, document), up to a factor, after some steps of EM with topics frozen."""
    topics = np.array([normalised(row) for row in word_topics.astype(np.float64)])
    words = (topics / np.maximum(graph.whole.word_docs @ topics, 1e-30))[graph.edge_word]
    readings = np.empty(words.shape)
    for d in range(graph.n_docs):
        edges = slice(graph.doc_edges[d], graph.doc_edges[d + 1])
        theta = np.ones(words.shape[1])
        for _ in range(READS):
            said = [
                count * normalised(theta * row)
                for count, row in zip(graph.edge_count[edges], words[edges], strict=True)
            ]
            theta = np.sum(said, axis=0) + READ_PRIOR
        readings[edges] = theta * words[edges]
    return readings


def lean_initial_state(graph: FactorGraph, word_topics: Float32, seed: int, n_threads: int) -> TopicState:
    """Return the same start without its messages."""
    state = initial_state(graph, word_topics, seed, n_threads)
    return state._replace(messages=state.messages[:0], past_word_sums=_narrow(state.word_sums))


def hashed(seed: int, counters: Any) -> npt.NDArray[np.uint64]:
    """Return 64 random bits for each counter: SplitMix64 of seed and counter.

    Random numbers by position, not by order: any thread can draw any of them.
    """
    with np.errstate(over="ignore"):
        z = (np.asarray(counters).astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        z += np.uint64(seed) * np.uint64(0xD1342543DE82EF95)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        bits: npt.NDArray[np.uint64] = z ^ (z >> np.uint64(31))
    return bits


def hashed_uniform(seed: int, counters: Any) -> Float64:
    """Return a number in (0, 1) for each counter."""
    return ((hashed(seed, counters) >> np.uint64(40)).astype(np.float64) + 0.5) / (1 << 24)


def mixed(bits: npt.NDArray[np.uint64], n: int) -> Float64:
    """Return (len(bits), n) numbers in (0, 1): a 32-bit mix of each row's bits and the column."""
    columns = np.arange(n, dtype=np.uint32) * np.uint32(0x9E3779B9)
    x = bits.astype(np.uint32)[:, np.newaxis] + columns
    x = (x ^ (x >> np.uint32(16))) * np.uint32(0x7FEB352D)
    x = (x ^ (x >> np.uint32(15))) * np.uint32(0x846CA68B)
    x ^= x >> np.uint32(16)
    draws: Float64 = ((x >> np.uint32(8)).astype(np.float64) + 0.5) / (1 << 24)
    return draws
