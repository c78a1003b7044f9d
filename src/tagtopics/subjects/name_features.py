"""What the names in a text say about tags: one row of numbers for each pair of document and tag."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from tagtopics._typing import Float32, Float64, Int64
from tagtopics.jit.top import largest_in_rows
from tagtopics.subjects.name_index import ALTERNATIVE, SHORTENED, Matches

FEATURES = (
    "score", "seen", "rarity", "found", "alternative", "shortened", "shared", "often", "lead", "late",
    "length", "outermost", "common", "rate", "found seen", "words", "all words", "name words", "named",
    "crowd", "narrower",
)  # fmt: skip
"""The columns of `rows_of`, in order."""

_CANDIDATES = 40
"""Tags of a document that come from its words and topics; those whose names it has come on top."""

_LEAST_WORDS = 0.6
"""Share of a name's words, weighted by rarity, that a text must have if it does not have the name itself."""

_LEAD = 200
"""Most characters of a first line that counts as a title."""

_LEVELS = 3
"""How far up the names of narrower tags count."""

_MOST_ABOVE = 64
"""Steps to broader tags in one level, per tag; of a thesaurus with more, fewer levels count."""

_RATE, _TRUST = 0.03, 4.0
"""Share of documents with a name that carry its tag if nothing is known, and how many documents it weighs."""


class Names(NamedTuple):
    """What is known of U tags before a document is seen: V with names, then those without."""

    weights: sp.csr_array  # (S, V) share of each stem in the name of a tag; names of one word are left out
    n_words: Int64  # (U,) different words of each name, 0 without a name
    above: sp.csr_array  # (V, V) row v: the tags that are broader than v
    columns: Int64  # (T,) the tag of each column of the recommender
    n_docs: int  # training documents
    carriers: Int64  # (U,) training documents that carry each tag
    found: Int64  # (U,) training documents that have its name
    both: Int64  # (U,) both


class Found(NamedTuple):
    """The names in D documents, one row for each pair of document and tag, in this order."""

    doc: Int64
    tag: Int64
    kind: Int64
    times: Int64
    first: Int64  # place of the first word
    start: Int64  # in characters
    length: Int64  # words of the longest
    shared: Int64  # tags with the same name
    outermost: Int64  # 1 if it is not always part of a longer name


class Rows(NamedTuple):
    """Pairs of document and tag, in this order, with their features."""

    doc: Int64  # (M,)
    tag: Int64  # (M,)
    values: Float64  # (M, features)


def names_of(
    words: sp.csr_array, broader: Int64, columns: Int64, n_docs: int, counts: tuple[Int64, ...]
) -> Names:
    """Return what `rows_of` needs.

    Args:
        words: CSR (V, S) which stems the name of each tag has.
        broader: (R, 2) rows: the second tag is broader than the first.
        columns: (T,) the tag of each column of the recommender; tags without names follow the V.
        n_docs: training documents.
        counts: `carriers`, `found` and `both`, (U,) each.
    """
    V = words.shape[0]
    sizes = np.diff(words.indptr)
    rarity = np.log((V + 1.0) / (np.bincount(words.indices, minlength=words.shape[1]) + 0.5)).astype(
        np.float32
    )
    values = np.maximum(rarity, 0.05)[words.indices]
    rows = np.repeat(np.arange(V), sizes)
    total = np.bincount(rows, weights=values, minlength=V)
    values = np.where(sizes[rows] >= 2, values / np.maximum(total[rows], 1e-9), 0).astype(np.float32)
    weights = sp.csr_array((values, words.indices, words.indptr), shape=words.shape)
    weights.eliminate_zeros()
    n_words = np.concatenate([sizes, np.zeros(len(counts[0]) - V, dtype=np.int64)])
    return Names(sp.csr_array(weights.T), n_words, _above(broader, V), columns, n_docs, *counts)


def found_in(matches: Matches, n_tags: int) -> Found:
    """Return the names found, those of a tag in a document together; U tags in all."""
    outermost = _outermost(matches)
    keys = matches.doc * n_tags + matches.tag
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(np.diff(keys[order], prepend=-1))
    if not len(starts):
        return Found(*np.zeros((len(Found._fields), 0), dtype=np.int64))

    def least(values: Int64) -> Int64:
        return np.asarray(np.minimum.reduceat(values[order], starts))

    count = np.diff(starts, append=len(keys))
    longest, best = (np.maximum.reduceat(values[order], starts) for values in (matches.length, outermost))
    return Found(
        keys[order][starts] // n_tags, keys[order][starts] % n_tags, least(matches.kind), count,
        least(matches.first), least(matches.start), longest, least(matches.shared), best,
    )  # fmt: skip


def leads_of(texts: list[str]) -> Int64:
    """Return (D,): the characters of the title of each text: its first line, if it is short and not all."""
    lines = [text.partition("\n") for text in texts]
    return np.array(
        [len(line) if rest and len(line) <= _LEAD else 0 for line, _, rest in lines], dtype=np.int64
    )


def rows_of(
    names: Names,
    found: Found,
    occurs: sp.csr_array,
    leads: Int64,
    likely: Float32,
    truth: sp.csr_array | None,
) -> Rows:
    """Return the features of the tags that D documents may need.

    Args:
        names: what is known of U tags.
        found: the names in the documents.
        occurs: CSR (D, S) which stems the documents have.
        leads: (D,) of `leads_of`.
        likely: (D, T) probabilities by words and topics, of training documents each without itself.
        truth: CSR (D, U) the tags of training documents, whose own counts are then left out; None for others.
    """
    U, D = len(names.carriers), len(likely)
    near = names.columns[largest_in_rows(likely, _CANDIDATES)]
    covered = _covered(names, occurs)
    lent = _lent(names, found, D)
    keys = np.unique(np.concatenate([
        found.doc * U + found.tag, covered[0], lent[0],
        (np.arange(D)[:, np.newaxis] * U + near).ravel(),
    ]))  # fmt: skip
    doc, tag = keys // U, keys % U
    hit, place = _looked_up(keys, found.doc * U + found.tag)
    true = np.zeros(len(keys), dtype=bool) if truth is None else marks(truth, doc, tag)
    given = 0 if truth is None else 1
    carriers = names.carriers[tag] - true
    with_name, both = names.found[tag] - given * hit, names.both[tag] - (true & hit)
    column = np.full(U, -1)
    column[names.columns] = np.arange(len(names.columns))
    p = np.where(column[tag] >= 0, likely[doc, np.maximum(column[tag], 0)], 0.0).astype(np.float64)
    seen = carriers > 0
    n = names.n_docs + 1.0

    def of(values: Int64, otherwise: int) -> Int64:
        return np.asarray(np.where(hit, np.append(values, 0)[place], otherwise))

    crowd = np.bincount(found.doc, minlength=D)
    share = np.where(hit, 0.0, _values_at(keys, *covered))
    rate = np.log((both + _RATE * _TRUST) / (with_name - both + (1 - _RATE) * _TRUST))
    values = [
        np.where(seen, np.log(np.maximum(p, 1e-4) / (1 - np.minimum(p, 0.999))), 0.0),
        seen, np.log((carriers + 0.5) / 0.5), hit, of(found.kind, 0) == ALTERNATIVE,
        of(found.kind, 0) == SHORTENED, np.log(of(found.shared, 1)), np.log(of(found.times, 1)),
        hit & (of(found.start, 1 << 40) < leads[doc]), np.log1p(of(found.first, 0)) / 5,
        np.minimum(of(found.length, 0), 4), of(found.outermost, 0), hit * np.log((with_name + 0.5) / n),
        hit * rate, hit & seen, share, share >= 0.999, np.log1p(names.n_words[tag]),
        tag < names.weights.shape[1], hit * np.log1p(crowd[doc]), np.log1p(_values_at(keys, *lent)),
    ]  # fmt: skip
    return Rows(doc, tag, np.stack(values, axis=1, dtype=np.float64, casting="unsafe"))


def marks(matrix: sp.csr_array, rows: Int64, columns: Int64) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return (M,): whether each pair of row and column is an entry of a CSR matrix."""
    entries = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)) * matrix.shape[1] + matrix.indices
    return np.asarray(np.isin(rows * matrix.shape[1] + columns, entries))


def _above(broader: Int64, n_tags: int) -> sp.csr_array:
    """Return CSR (V, V): the tags up to so many levels above each; relations in circles do no harm."""
    ones = np.ones(len(broader), dtype=np.float32)
    step = sp.csr_array((ones, (broader[:, 0], broader[:, 1])), shape=(n_tags, n_tags))
    reached = level = step
    for _ in range(_LEVELS - 1):
        if np.diff(step.indptr)[level.indices].sum() > _MOST_ABOVE * n_tags:
            break
        level = sp.csr_array(level @ step)
        reached = sp.csr_array(reached + level)
    reached.data[:] = 1
    reached.setdiag(0)
    reached.eliminate_zeros()
    return reached


def _outermost(matches: Matches) -> Int64:
    """Return (M,): 0 for a name inside a longer one, else 1."""
    last = matches.first + matches.length
    order = np.lexsort((-last, matches.first, matches.doc))
    doc, first, last = matches.doc[order], matches.first[order], last[order]
    width = int(last.max(initial=0)) + 1
    reach = np.maximum.accumulate(doc * width + last) if len(doc) else doc  # a later document reaches further
    same = (
        (np.diff(doc, prepend=-1) == 0) & (np.diff(first, prepend=-1) == 0) & (np.diff(last, prepend=-1) == 0)
    )
    leader = np.maximum.accumulate(
        np.where(same, 0, np.arange(len(doc)))
    )  # first of the names with this span
    before = np.where(leader > 0, reach[np.maximum(leader - 1, 0)], -1)
    free = np.empty(len(doc), dtype=np.int64)
    free[order] = before < doc * width + last
    return free


def _covered(names: Names, occurs: sp.csr_array) -> tuple[Int64, Float64]:
    """Return the pairs, as document * U + tag, whose names are mostly in the text, and the shares."""
    shares = sp.csr_array(occurs @ names.weights)
    shares.sort_indices()
    rows = np.repeat(np.arange(shares.shape[0]), np.diff(shares.indptr))
    kept = shares.data >= _LEAST_WORDS
    keys = rows[kept] * len(names.carriers) + shares.indices[kept]
    return keys, np.minimum(shares.data[kept], 1.0).astype(np.float64)


def _lent(names: Names, found: Found, n_docs: int) -> tuple[Int64, Float64]:
    """Return the pairs whose narrower tags have their names in the text, and how many of them do."""
    V = names.above.shape[0]
    ones = np.ones(len(found.doc), dtype=np.float32)
    has = sp.csr_array((ones, (found.doc, found.tag)), shape=(n_docs, V))
    lent = sp.csr_array(has @ names.above)
    lent.sort_indices()
    rows = np.repeat(np.arange(n_docs), np.diff(lent.indptr))
    return rows * len(names.carriers) + lent.indices, lent.data.astype(np.float64)


def _looked_up(keys: Int64, known: Int64) -> tuple[np.ndarray[tuple[int], np.dtype[np.bool_]], Int64]:
    """Return which keys are known, and the place of each among the known ones, which ascend."""
    place = np.searchsorted(known, keys)
    return np.append(known, -1)[place] == keys, place


def _values_at(keys: Int64, known: Int64, values: Float64) -> Float64:
    hit, place = _looked_up(keys, known)
    return np.where(hit, np.append(values, 0)[place], 0.0)
