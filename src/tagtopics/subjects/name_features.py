"""Features of pairs of document and tag, from the names of tags in texts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from tagtopics._typing import CSR, Float32, Float64, Int64
from tagtopics.jit.top import largest_in_rows
from tagtopics.subjects.name_index import ALTERNATIVE, SHORTENED, Matches
from tagtopics.subjects.pair_keys import entry_keys, find_keys, has_entries, values_at

FEATURES = (
    "score", "seen", "rarity", "found", "alternative", "shortened", "shared", "n_hits", "in_title",
    "first_position", "length", "outermost", "common", "rate", "found seen", "words", "all words",
    "name words", "named", "names_in_text", "narrower_hits",
)  # fmt: skip
"""The columns of `PairFeatures.values`, in order."""

_CANDIDATES = 40  # tags of a document from its words and topics; those whose names it has come on top
_LEAST_WORDS = 0.6  # share of a name's words, weighted by rarity, that stands for the name
_LONGEST_TITLE = 200  # characters of a first line that counts as a title
_LEVELS = 3  # levels of broader tags to which the names of narrower ones count
_MOST_ABOVE = 64  # steps to broader tags in one level, per tag; of a thesaurus with more, fewer levels count
_RATE, _TRUST = 0.03, 4.0  # prior share of documents with a name that carry its tag, and its weight


class NameStatistics(NamedTuple):
    """What is known of U tags before a document is seen: V with names, then those without."""

    weights: CSR  # (S, V) share of each stem in the name of a tag; names of one word are left out
    n_words: Int64  # (U,) different words of each name, 0 without a name
    above: CSR  # (V, V) row v: the tags that are broader than v
    columns: Int64  # (T,) the tag of each column of the recommender
    n_docs: int  # training documents
    carriers: Int64  # (U,) training documents that carry each tag
    found: Int64  # (U,) training documents that have its name
    both: Int64  # (U,) both


class NameHits(NamedTuple):
    """The names in D documents, one row for each pair of document and tag, in this order."""

    doc: Int64
    tag: Int64
    kind: Int64
    n_hits: Int64
    first: Int64  # position of the first word
    start: Int64  # in characters
    length: Int64  # words of the longest
    shared: Int64  # tags with the same name
    outermost: Int64  # 1 if it is not always part of a longer name


class PairFeatures(NamedTuple):
    """Pairs of document and tag, in this order, with their features."""

    doc: Int64  # (M,)
    tag: Int64  # (M,)
    values: Float64  # (M, features)


def name_statistics(
    words: CSR, broader: Int64, columns: Int64, n_docs: int, counts: tuple[Int64, ...]
) -> NameStatistics:
    """Return what `pair_features` needs.

    Args:
        words: CSR (V, S) which stems the name of each tag has.
        broader: (R, 2) rows: the second tag is broader than the first.
        columns: (T,) the tag of each column of the recommender; tags without names follow the V.
        n_docs: training documents.
        counts: `carriers`, `found` and `both`, (U,) each.
    """
    V = words.shape[0]
    sizes = np.diff(words.indptr)
    n_names = np.bincount(words.indices, minlength=words.shape[1])
    rarity = np.log((V + 1.0) / (n_names + 0.5)).astype(np.float32)
    values = np.maximum(rarity, 0.05)[words.indices]
    rows = np.repeat(np.arange(V), sizes)
    total = np.bincount(rows, weights=values, minlength=V)
    values = np.where(sizes[rows] >= 2, values / np.maximum(total[rows], 1e-9), 0).astype(np.float32)
    weights = sp.csr_array((values, words.indices, words.indptr), shape=words.shape)
    weights.eliminate_zeros()
    n_words = np.concatenate([sizes, np.zeros(len(counts[0]) - V, dtype=np.int64)])
    return NameStatistics(
        sp.csr_array(weights.T), n_words, _broader_tags(broader, V), columns, n_docs, *counts
    )


def group_matches(matches: Matches, n_tags: int) -> NameHits:
    """Return the names found, those of a tag in a document together; U tags in all."""
    keys = matches.doc * n_tags + matches.tag
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(np.diff(keys[order], prepend=-1))
    if not len(starts):
        return NameHits(*np.zeros((len(NameHits._fields), 0), dtype=np.int64))
    kind, first, start, shared = (
        np.minimum.reduceat(values[order], starts)
        for values in (matches.kind, matches.first, matches.start, matches.shared)
    )
    length, outermost = (
        np.maximum.reduceat(values[order], starts) for values in (matches.length, _outermost(matches))
    )
    doc, tag = np.divmod(keys[order][starts], n_tags)
    n_hits = np.diff(starts, append=len(keys))
    return NameHits(doc, tag, kind, n_hits, first, start, length, shared, outermost)


def title_lengths(texts: list[str]) -> Int64:
    """Return (D,): the characters of the title of each text: its first line, if it is short and not all."""
    lines = [text.partition("\n") for text in texts]
    titles = [line if rest and len(line) <= _LONGEST_TITLE else "" for line, _, rest in lines]
    return np.array([len(title) for title in titles], dtype=np.int64)


def pair_features(
    names: NameStatistics,
    found: NameHits,
    occurs: CSR,
    titles: Int64,
    likely: Float32,
    truth: CSR | None,
) -> PairFeatures:
    """Return the features of the tags that D documents may need.

    Args:
        names: what is known of U tags.
        found: the names in the documents.
        occurs: CSR (D, S) which stems the documents have.
        titles: (D,) of `title_lengths`.
        likely: (D, T) probabilities by words and topics, of training documents each without itself.
        truth: CSR (D, U) the tags of training documents, whose own counts are then left out; None for others.
    """
    U, D = len(names.carriers), len(likely)
    # (1) The pairs: likely tags, tags whose names are in the text, mostly in it, or above such tags.
    near = names.columns[largest_in_rows(likely, _CANDIDATES)]
    shares = sp.csr_array(occurs @ names.weights)  # of the words of each name that are in the text
    shares.sort_indices()
    kept = shares.data >= _LEAST_WORDS
    covered = entry_keys(shares, U)[kept], np.minimum(shares.data[kept], 1.0).astype(np.float64)
    narrower = _narrower_hits(names, found, D)
    keys = np.unique(np.concatenate([
        found.doc * U + found.tag, covered[0], narrower[0],
        (np.arange(D)[:, np.newaxis] * U + near).ravel(),
    ]))  # fmt: skip
    doc, tag = np.divmod(keys, U)
    hit, place = find_keys(keys, found.doc * U + found.tag)
    # (2) What is known of the tags, without the document itself.
    true = np.zeros(len(keys), dtype=bool) if truth is None else has_entries(truth, doc, tag)
    given = 0 if truth is None else 1
    carriers = names.carriers[tag] - true
    with_name, both = names.found[tag] - given * hit, names.both[tag] - (true & hit)
    column = np.full(U, -1)
    column[names.columns] = np.arange(len(names.columns))
    p = np.where(column[tag] >= 0, likely[doc, np.maximum(column[tag], 0)], 0.0).astype(np.float64)
    seen = carriers > 0
    n = names.n_docs + 1.0

    # (3) The features, in the order of `FEATURES`.
    def of(values: Int64, otherwise: int) -> Int64:
        return np.asarray(np.where(hit, np.append(values, 0)[place], otherwise))

    names_in_text = np.bincount(found.doc, minlength=D)
    share = np.where(hit, 0.0, values_at(keys, *covered))
    rate = np.log((both + _RATE * _TRUST) / (with_name - both + (1 - _RATE) * _TRUST))
    values = [
        np.where(seen, np.log(np.maximum(p, 1e-4) / (1 - np.minimum(p, 0.999))), 0.0),
        seen, np.log((carriers + 0.5) / 0.5), hit, of(found.kind, 0) == ALTERNATIVE,
        of(found.kind, 0) == SHORTENED, np.log(of(found.shared, 1)), np.log(of(found.n_hits, 1)),
        hit & (of(found.start, 1 << 40) < titles[doc]), np.log1p(of(found.first, 0)) / 5,
        np.minimum(of(found.length, 0), 4), of(found.outermost, 0), hit * np.log((with_name + 0.5) / n),
        hit * rate, hit & seen, share, share >= 0.999, np.log1p(names.n_words[tag]),
        tag < names.weights.shape[1], hit * np.log1p(names_in_text[doc]),
        np.log1p(values_at(keys, *narrower)),
    ]  # fmt: skip
    return PairFeatures(doc, tag, np.stack(values, axis=1, dtype=np.float64, casting="unsafe"))


def _broader_tags(broader: Int64, n_tags: int) -> CSR:
    """Return CSR (V, V): the tags up to `_LEVELS` levels above each; relations in circles do no harm."""
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
    # (1) How far the names so far reach; a later document reaches further.
    ends = doc * (int(last.max(initial=0)) + 1) + last
    reach = np.maximum.accumulate(ends)
    # (2) The first of the names with the same span, and the reach before it.
    new = np.diff(np.stack([doc, first, last]), prepend=-1, axis=1).any(0)
    leader = np.maximum.accumulate(np.where(new, np.arange(len(doc)), 0))
    before = np.where(leader > 0, reach[np.maximum(leader - 1, 0)], -1)
    outermost = np.empty(len(doc), dtype=np.int64)
    outermost[order] = before < ends
    return outermost


def _narrower_hits(names: NameStatistics, found: NameHits, n_docs: int) -> tuple[Int64, Float64]:
    """Return the pairs whose narrower tags have their names in the text, and how many of them do."""
    V = names.above.shape[0]
    ones = np.ones(len(found.doc), dtype=np.float32)
    has = sp.csr_array((ones, (found.doc, found.tag)), shape=(n_docs, V))
    hits = sp.csr_array(has @ names.above)
    hits.sort_indices()
    return entry_keys(hits, len(names.carriers)), hits.data.astype(np.float64)
