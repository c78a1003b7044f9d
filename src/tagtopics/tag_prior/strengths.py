"""Strengths of the parts of a tag prior, learned on held-out documents.

With n_d the topic counts of a document's seen tokens, N_d their number, and e a held-out token of word w,

    p(e) = (n_d . phi_w + sum_c A_c (part_c . phi_w)) / (N_d + sum_c A_c |part_c|)

and the strengths A >= 0 that maximise the likelihood of held-out tokens are a fixed point of

    A_c  <-  A_c  sum_e [part_c . phi_w / numerator_e]  /  sum_e [|part_c| / denominator_e].

The words of tags are parts as well, with psi in place of phi. Parts that do not help on documents that their
strengths were not learned from are left out: first the words, then all that tags say.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np
import scipy.sparse as sp

from tagtopics._typing import CSR, Float32, Float64, Int64
from tagtopics.bp.graph import FactorGraph, build_graph
from tagtopics.bp.pilot import MOST_HELD_OUT
from tagtopics.corpus.splits import completion
from tagtopics.tag_prior import mixture_loops as mixture
from tagtopics.tag_prior.prior import Profiles, claims_of, pairs_of

# Shares of the tokens of a document that are seen; each document set aside gets one of them per draw.
SEEN = (0.05, 0.1, 0.2, 0.4, 0.8)
_ROWS = MOST_HELD_OUT  # how many draws of their tokens few documents have together
_MOST_DRAWS = 5
_ROUNDS, _STEPS = 8, 3  # rounds of inference, and steps of the fixed point in each
_ITERATIONS, _TOL = 30, 1e-2
_LEAST, _MOST = 1e-4, 1e4  # bounds of a strength; the lowest one counts as zero
_ERRORS = 2.0  # A gain counts if it exceeds this many standard errors

WORDS = (1, 2, 5, 10, 20, 40, 80)
"""Numbers of words seen for which it is learned what inferred tags add."""


class Rows(NamedTuple):
    """Documents set aside: what is seen of each, what is to be predicted, and what the parts say."""

    seen: FactorGraph  # with the tags as slots
    seen_tokens: Float64  # (D,)
    hidden: CSR  # CSR (D, W)
    edge_doc: Int64  # (E,) document of each held-out word
    slot_kind: Int64  # (S,)
    slot_shares: Float32  # (S,)
    parts: Float64  # (n, D, K) parts over topics
    topic_terms: Float64  # (n, E) part . phi of each held-out word
    document: Int64  # (D,) number of the document behind each row
    tags: CSR  # CSR (D, T)
    share: Float64  # (D,) share of the tokens of each document that is seen


class Words(NamedTuple):
    """p(word | tag) of the claims of the rows."""

    seen: Float32  # (P,)
    hidden: Float32  # (P',)
    claim_edge: Int64  # (P',) held-out edge of each claim
    claim_slot: Int64  # (P',)
    terms: Float64  # (G, E) the part of each kind


def draw_rows(counts: CSR, tags: CSR, profiles: Profiles, phi: Float32, seed: int) -> Rows:
    """Return rows of documents set aside, counts (D, W) and tags (D, T); a few are drawn several times.

    Profiles and phi (W, K) are learned without these documents.
    """
    D = counts.shape[0]
    draws = int(np.clip(_ROWS // max(D, 1), 1, _MOST_DRAWS))
    seen_rows, hidden_rows, documents, shares = [], [], [], []
    for draw in range(draws):
        large, hidden = completion(counts, seed + draw)
        for i, share in enumerate(SEEN):
            chosen = np.flatnonzero((np.arange(D) + draw) % len(SEEN) == i)
            part = large[chosen]
            less = share < SEEN[-1]
            seen_rows.append(completion(part, seed + draw, share / SEEN[-1])[0] if less else part)
            hidden_rows.append(hidden[chosen])
            documents.append(chosen)
            shares.append(np.full(len(chosen), share))
    document = np.concatenate(documents)
    seen, hidden = (sp.csr_array(sp.vstack(rows, format="csr")) for rows in (seen_rows, hidden_rows))
    tags = sp.csr_array(tags[document], dtype=np.float64)
    edge_doc = np.repeat(np.arange(hidden.shape[0]), np.diff(hidden.indptr))
    parts = profiles.parts(tags)
    words = phi[hidden.indices].astype(np.float64)
    terms = np.stack([np.einsum("ek,ek->e", part[edge_doc], words) for part in parts])
    return Rows(
        build_graph(seen, tags),
        np.asarray(seen.sum(1), dtype=np.float64).ravel(),
        hidden,
        edge_doc,
        profiles.kinds[tags.indices],
        profiles.slot_weights(tags).astype(np.float32),
        parts,
        terms,
        document,
        tags,
        np.concatenate(shares),
    )


def words_of(rows: Rows, tag_words: Any, shrinkage: Float64, profiles: Profiles, phi: Float32) -> Words:
    """Return the probabilities of the rows' words under the words of their tags."""
    pairs, means = pairs_of(tag_words, shrinkage), profiles.means
    hidden = build_graph(rows.hidden, rows.tags)
    seen_values = mixture.claim_probabilities(rows.seen, pairs, means, phi)
    values = mixture.claim_probabilities(hidden, pairs, means, phi)
    edge, slot = claims_of(rows.hidden.indptr, rows.tags.indptr)
    weighted, E = values * rows.slot_shares[slot], len(rows.edge_doc)
    kind = rows.slot_kind[slot]
    terms = [np.bincount(edge[kind == g], weighted[kind == g], E) for g in range(profiles.n_kinds)]
    return Words(seen_values, values, edge, slot, np.stack(terms))


class Fit(NamedTuple):
    """Strengths (n + G,) and the log likelihood of the held-out tokens of each row, (D,)."""

    values: Float64
    likelihoods: Float64


def maximise(
    rows: Rows,
    words: Words | None,
    phi: Float32,
    used: Float64,
    learn_from: Any = slice(None),
    start: Float64 | None = None,
    rounds: int = _ROUNDS,
) -> Fit:
    """Return the strengths that maximise the likelihood of the held-out tokens.

    Args:
        rows: documents set aside.
        words: of their tags, or None.
        phi: (W, K).
        used: (n + G,) ones for the parts to use, zeros for the others.
        learn_from: (D,) the rows that strengths are learned from.
        start: (n + G,) where to start; by default one token each.
        rounds: rounds of inference.
    """
    n, G = len(rows.parts), len(used) - len(rows.parts)
    values = used.astype(np.float64) if start is None else np.maximum(start, _LEAST) * used
    D = rows.hidden.shape[0]
    slot_doc = np.repeat(np.arange(D), np.diff(rows.tags.indptr))
    slot_totals = np.bincount(slot_doc + D * rows.slot_kind, rows.slot_shares, D * G).astype(np.float64)
    sizes = np.vstack([rows.parts.sum(2), slot_totals.reshape(G, D)])
    terms = np.vstack([rows.topic_terms, np.zeros((G, rows.hidden.nnz)) if words is None else words.terms])
    counts = np.zeros(D)
    counts[learn_from] = 1.0
    weight = rows.hidden.data * counts[rows.edge_doc]

    def fraction(known: Float64) -> tuple[Float64, Float64]:
        """Return the numerator and the denominator of p(e) of all held-out words, (E,)."""
        denominator = (rows.seen_tokens + values @ sizes + 1e-300)[rows.edge_doc]
        return known + values @ terms + 1e-300, denominator

    for step in range(rounds + 1):
        known = _predict(rows, words, phi, values, n)
        if step == rounds:
            break
        for _ in range(_STEPS):
            numerator, denominator = fraction(known)
            up, down = terms @ (weight / numerator), sizes[:, rows.edge_doc] @ (weight / denominator)
            ratio = np.where(down > 0, up / np.maximum(down, 1e-300), 0.0)
            values = np.clip(values * ratio, _LEAST, _MOST) * used
    numerator, denominator = fraction(known)
    logs = rows.hidden.data * np.log(numerator / denominator)
    likelihoods = np.bincount(rows.edge_doc, logs, D).astype(np.float64)
    return Fit(np.where(values > _LEAST, values, 0.0), likelihoods)


def _predict(rows: Rows, words: Words | None, phi: Float32, values: Float64, n: int) -> Float64:
    """Return (E,): what the seen tokens of each row say of its held-out words."""
    prior = (np.tensordot(values[:n], rows.parts, 1) + 1e-9).astype(np.float32)
    slot_prior = (values[n:][rows.slot_kind] * rows.slot_shares).astype(np.float32)
    graph, said = rows.seen, np.empty(0, np.float32) if words is None else words.seen
    if words is None:
        graph = graph._replace(doc_slots=np.zeros_like(graph.doc_slots), slot_tag=graph.slot_tag[:0])
        slot_prior = slot_prior[:0]
    sums, slot_sums = mixture.fold_in_mixture(graph, phi, said, prior, slot_prior, _ITERATIONS, _TOL)
    known = mixture.expected_tokens(rows.edge_doc, rows.hidden.indices, sums, phi)
    if words is not None:
        known += np.bincount(words.claim_edge, slot_sums[words.claim_slot] * words.hidden, len(known))
    return known


Attempt = TypeVar("Attempt", bound=tuple[Any, ...])


def climb(attempt: Callable[[int, Attempt | None], Attempt], n: int, first: int) -> tuple[int, Attempt]:
    """Return the best of n settings and what was found with it; the score is the first part of that.

    From `first` on, settings are tried in each direction as long as they are better. An attempt gets what was
    found with the setting before.
    """
    tried = {first: attempt(first, None)}
    for step in (1, -1):
        index = first + step
        while 0 <= index < n:
            tried[index] = attempt(index, tried[index - step])
            if tried[index][0] < tried[index - step][0]:
                break
            index += step
    best = max(tried, key=lambda i: tried[i][0])
    return best, tried[best]


def gains(better: Float64, plain: Float64, rows: Rows) -> bool:
    """Return whether likelihoods are higher by more than chance explains, document by document."""
    difference = np.bincount(rows.document, better - plain)
    error = np.sqrt(np.square(difference - difference.mean()).sum())
    return bool(difference.sum() > _ERRORS * error)
