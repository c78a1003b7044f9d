"""Compiled loops of credit attribution; `credit.reference` is their readable twin.

Claims are not stored: claim p is tag j of edge e of document d, counted document by document, edge by edge.
Sums run in that order, so the results equal those of the reference to the last bit.
"""

from __future__ import annotations

import numpy as np

from tagtopics.kernels.compiling import exact_kernel


@exact_kernel
def place_claims(doc_edges, edge_word, doc_slots, tag_slots, slot_doc, pair_offsets, pair_word, place):
    """Set `place` (P,) to the number of the (tag, word) pair of each claim.

    The documents are `doc_edges` (D + 1,), `edge_word` (E,) and `doc_slots` (D + 1,); `tag_slots` are offsets
    (T + 1,) and members of the slots of each tag, `slot_doc` (S,) the document of each slot; `pair_offsets`
    and `pair_word` are the CSR pattern (T, W) of the pairs that occur.
    """
    offsets, members = tag_slots
    n_docs = len(doc_edges) - 1
    first_claim = np.zeros(n_docs, dtype=np.int64)
    for d in range(1, n_docs):
        n_edges = doc_edges[d] - doc_edges[d - 1]
        first_claim[d] = first_claim[d - 1] + n_edges * (doc_slots[d] - doc_slots[d - 1])
    number = np.zeros(0 if len(pair_word) == 0 else pair_word.max() + 1, dtype=np.int64)
    for t in range(len(offsets) - 1):
        for u in range(pair_offsets[t], pair_offsets[t + 1]):
            number[pair_word[u]] = u
        for m in range(offsets[t], offsets[t + 1]):
            s = members[m]
            d = slot_doc[s]
            p = first_claim[d] + s - doc_slots[d]
            for e in range(doc_edges[d], doc_edges[d + 1]):
                place[p] = number[edge_word[e]]
                p += doc_slots[d + 1] - doc_slots[d]


@exact_kernel
def sum_claims(doc_edges, edge_count, doc_slots, place, shares, tokens, of_slot):
    """Set `tokens` (U,) and `of_slot` (S,) to the tokens credited to each pair and to each slot."""
    tokens[:] = 0.0
    of_slot[:] = 0.0
    p = 0
    for d in range(len(doc_edges) - 1):
        for e in range(doc_edges[d], doc_edges[d + 1]):
            for s in range(doc_slots[d], doc_slots[d + 1]):
                own = shares[p] * edge_count[e]
                tokens[place[p]] += own
                of_slot[s] += own
                p += 1


@exact_kernel
def learn(doc_edges, edge_count, doc_slots, slot_tag, place, pair_tag, topics, settings, shares, tokens):
    """Share the tokens of all documents among their tags; set `shares` (P,) and `tokens` (U,).

    The documents are `doc_edges` (D + 1,), `edge_count` (E,), `doc_slots` (D + 1,) and `slot_tag` (S,);
    `place` (P,) is from `place_claims`, `pair_tag` (U,) the tag of each pair, `topics` (U,) the probability
    of its word under the topics of the tag; `settings` are the number of sweeps, M, A and the number of tags.
    """
    sweeps, topic_tokens, even_tokens, n_tags = settings
    n_docs = len(doc_edges) - 1
    of_tag, of_slot = np.zeros(n_tags), np.zeros(len(slot_tag))
    p = 0
    for d in range(n_docs):
        width = doc_slots[d + 1] - doc_slots[d]
        for _ in range(doc_edges[d], doc_edges[d + 1]):
            total = 0.0
            for j in range(p, p + width):
                shares[j] = max(topics[place[j]], 1e-300)
                total += shares[j]
            for j in range(p, p + width):
                shares[j] /= total
            p += width
    for _ in range(sweeps):
        sum_claims(doc_edges, edge_count, doc_slots, place, shares, tokens, of_slot)
        of_tag[:] = 0.0
        for u in range(len(pair_tag)):
            of_tag[pair_tag[u]] += tokens[u]
        p = 0
        for d in range(n_docs):
            first = doc_slots[d]
            width = doc_slots[d + 1] - first
            for e in range(doc_edges[d], doc_edges[d + 1]):
                total = 0.0
                for j in range(width):
                    u, own = place[p + j], shares[p + j] * edge_count[e]
                    word = tokens[u] - own + topic_tokens * topics[u]
                    word /= of_tag[slot_tag[first + j]] - own + topic_tokens
                    shares[p + j] = word * (of_slot[first + j] - own + even_tokens)
                    total += shares[p + j]
                for j in range(p, p + width):
                    shares[j] /= total
                p += width
    sum_claims(doc_edges, edge_count, doc_slots, place, shares, tokens, of_slot)


@exact_kernel
def credit(doc_edges, edge_count, doc_slots, said, settings, shares):
    """Share the tokens of new documents among their tags; set `shares` (P,).

    The documents are `doc_edges` (D + 1,), `edge_count` (E,) and `doc_slots` (D + 1,); `said` (P,) is the
    probability that each claim's tag produces its word; `settings` are the number of sweeps and A.
    """
    sweeps, even_tokens = settings
    n_docs, start, widest = len(doc_edges) - 1, 0, 0
    for d in range(n_docs):
        widest = max(widest, doc_slots[d + 1] - doc_slots[d])
    of_slot = np.zeros(widest)
    for d in range(n_docs):
        width = doc_slots[d + 1] - doc_slots[d]
        for sweep in range(sweeps + 1):
            p = start
            for e in range(doc_edges[d], doc_edges[d + 1]):
                total = 0.0
                for j in range(width):
                    value = said[p + j]
                    if sweep > 0:
                        value *= of_slot[j] - shares[p + j] * edge_count[e] + even_tokens
                    shares[p + j] = value
                    total += value
                for j in range(p, p + width):
                    shares[j] /= total
                p += width
            of_slot[:width] = 0.0
            p = start
            for e in range(doc_edges[d], doc_edges[d + 1]):
                for j in range(width):
                    of_slot[j] += shares[p + j] * edge_count[e]
                p += width
        start += (doc_edges[d + 1] - doc_edges[d]) * width
