"""Pairs of tags that mean the same: alike in spelling, words and co-occurrence, and seldom on one document.

What duplicates look like in a collection is learned from the collection: some tags are split into two halves,
which are duplicates by construction, and compared with pairs of different tags that are alike.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from tagtopics._blas import single_thread
from tagtopics._typing import CSR, Bool, Float64, Int64
from tagtopics.analysis.audit.names import EVIDENCE, NameWords, differ_in_words, name_words, spelling_pairs
from tagtopics.corpus.core import Corpus
from tagtopics.corpus.tags import tags_together
from tagtopics.jit.top import largest_of_rows
from tagtopics.recommend.logistic import logistic_weights

_SPLIT_TAGS, _FEWEST_DOCS = 300, 4  # tags that are split to learn from, and the documents that each needs
_FEWEST_SPLIT = 10  # with fewer tags to split, only spelling counts
_PROFILE_WORDS = 40  # words of the profile of a tag: the largest ones
_NEIGHBOURS = 10  # nearest tags by profile that are compared with a tag
_PRIOR, _MOST = 0.01, 0.1  # least and largest share of tags that are taken to have a duplicate
_FOUND = np.linspace(0.2, 0.8, 7)  # shares of the halves of tags above the levels at which pairs are counted
_UNLIKE = 0.5  # evidence of a pair whose names are not alike; see `EVIDENCE`
_CHUNK = 1024  # tags whose neighbours are searched at a time
_PAIRS = 20_000  # pairs of rows to multiply at a time
_NONE = np.zeros(0, dtype=np.int64)


class Scored(NamedTuple):
    """N tags with scores from 0 to 1, highest first; each with another tag, or of a document, or alone."""

    tags: Int64  # (N,); of two tags, the one to keep
    scores: Float64  # (N,)
    others: Int64 = _NONE  # (N,) or empty
    docs: Int64 = _NONE  # (N,) or empty


class _Profiles(NamedTuple):
    """What tags are compared by; all rows have length 1 or 0."""

    sums: CSR  # (T, W) of the documents of each tag, not of length 1
    words: CSR  # (T, W) the largest entries of the sums
    cooccurrence: CSR  # (T, T) other tags on the same documents
    together: CSR  # (T, T) documents with both tags
    n_docs: Float64  # (T,)
    n_all: int


@single_thread()
def duplicate_tags(corpus: Corpus, names: NameWords | None = None) -> Scored:
    """Return pairs of tags with scores: how likely both mean the same.

    Work and memory are proportional to the number of tags: only tags with similar names, or among the nearest
    by words, are compared. Tags whose names differ in words of the texts are no duplicates, however they are
    used, unless the names are spellings of one.
    """
    weighted = weighted_words(corpus)
    names = name_words(corpus, corpus.tag_names) if names is None else names
    spelled = spelling_pairs(corpus.tag_names)
    profiles = _make_profiles(weighted, sp.csr_array(corpus.tags, dtype=np.float64))
    near = _neighbours(profiles)
    pairs = sorted(set(near) | set(spelled))
    if not pairs:
        return Scored(_NONE, np.zeros(0), _NONE)
    a, b = np.array(pairs, dtype=np.int64).T
    evidence = np.array([EVIDENCE.get(spelled.get(pair, ""), _UNLIKE) for pair in pairs])
    unlike = np.array([pair not in spelled for pair in pairs])
    margin = _learned_margin(corpus, weighted, _features(profiles, a, b, near), unlike) + np.log(evidence)
    scores = 1 / (1 + np.exp(-np.clip(margin, -50, 50)))
    larger = profiles.n_docs[b] > profiles.n_docs[a]
    order = np.lexsort((b, a, -scores))
    used, wording = names.in_texts(), names.names
    known = {stem for stem, column in names.stems.items() if used[column]}
    different = np.array([
        spelled.get((s, t), "part") == "part" and differ_in_words(wording[s], wording[t], known)
        for s, t in pairs
    ])  # fmt: skip
    order = order[~different[order]]
    return Scored(np.where(larger, b, a)[order], scores[order], np.where(larger, a, b)[order])


def _learned_margin(corpus: Corpus, weighted: CSR, features: Float64, unlike: Bool) -> Float64:
    """Return (P,): the log odds that pairs are duplicates by words and co-occurrence; see the module.

    How many tags have a duplicate with another name, such as a translation, is seen in the collection: the
    pairs whose names are unlike are counted from levels on that given shares of the halves reach.
    """
    tags, halves = _split_tags(corpus)
    if len(halves) < _FEWEST_SPLIT:
        return np.full(len(features), np.log(_PRIOR))
    profiles = _make_profiles(weighted, tags)
    near = _neighbours(profiles)
    same = dict.fromkeys(halves, True)
    pairs = sorted(set(near) | set(same))
    a, b = np.array(pairs, dtype=np.int64).T
    outcome = np.array([pair in same for pair in pairs])
    learned = _features(profiles, a, b, near)
    shift, scale = learned.mean(0), learned.std(0) + 1e-9
    shift[0], scale[0] = 0.0, 1.0
    weights = logistic_weights(((learned - shift) / scale)[:, 1:], outcome)
    margin = np.asarray((features - shift) / scale @ weights)
    of_halves = (learned[outcome] - shift) / scale @ weights
    share = np.where(unlike, _share_of_duplicates(margin[unlike], of_halves, corpus.n_tags), _PRIOR)
    odds = np.log(max(outcome.sum(), 1) / max((~outcome).sum(), 1))
    per_pair = share * corpus.n_tags / max(len(features), 1)
    return np.asarray(margin - odds + np.log(per_pair / (1 - np.minimum(per_pair, 0.5))))


def _share_of_duplicates(margins: Float64, of_halves: Float64, n_tags: int) -> float:
    """Return the largest share of tags that can have a duplicate, given the margins of pairs and of halves.

    Above every level, there are at least as many pairs as duplicates, which are as halves.
    """
    levels = np.quantile(of_halves, 1 - _FOUND)
    n_above = (margins[:, np.newaxis] >= levels).sum(0) + 1.0
    return float(np.clip((n_above / _FOUND).min() / n_tags, _PRIOR, _MOST))


def _split_tags(corpus: Corpus) -> tuple[CSR, list[tuple[int, int]]]:
    """Return tags (D, T + S) of which S are divided into two halves, and the S pairs of halves."""
    generator = np.random.default_rng(0)
    columns = sp.csc_array(corpus.tags)
    often = np.flatnonzero(np.diff(columns.indptr) >= _FEWEST_DOCS)
    chosen = np.sort(generator.permutation(often)[: max(_SPLIT_TAGS, 0)])
    indices = np.repeat(np.arange(corpus.n_tags), np.diff(columns.indptr))
    for place, tag in enumerate(chosen):
        begin, end = columns.indptr[tag : tag + 2]
        moved = generator.permutation(end - begin)[: (end - begin) // 2]
        indices[begin + moved] = corpus.n_tags + place
    shape = (corpus.n_docs, corpus.n_tags + len(chosen))
    tags = sp.csr_array((np.ones(len(indices)), (columns.indices, indices)), shape=shape)
    return tags, [(int(tag), corpus.n_tags + place) for place, tag in enumerate(chosen)]


# ----------------------------------------------------------------------------------------------- profiles


def weighted_words(corpus: Corpus) -> CSR:
    """Return CSR (D, W): the words of each document weighted by rarity; rows have length 1."""
    counts = corpus.counts
    n_docs = np.bincount(counts.indices, minlength=corpus.n_words)
    rarity = np.log((corpus.n_docs + 1) / (n_docs + 1.0)) + 1e-6
    values = (1 + np.log(counts.data)) * rarity[counts.indices]
    return normalize_rows(sp.csr_array((values, counts.indices, counts.indptr), shape=counts.shape))


def row_products(one: CSR, a: Int64, other: CSR, b: Int64) -> Float64:
    """Return (P,): the products of rows `a` of a sparse matrix and rows `b` of another."""
    parts = [
        np.asarray((one[a[first : first + _PAIRS]] * other[b[first : first + _PAIRS]]).sum(1))
        for first in range(0, len(a), _PAIRS)
    ]
    return np.concatenate([np.empty(0), *parts])


def largest(matrix: CSR, n: int) -> CSR:
    """Return a CSR matrix with the n largest entries of each row; of equal ones the first."""
    ordered = matrix.sorted_indices()
    places = largest_of_rows(ordered.indptr.astype(np.int64), ordered.data, n)
    rows, kept = np.nonzero(places >= 0)[0], places[places >= 0]
    return sp.csr_array((ordered.data[kept], (rows, ordered.indices[kept])), shape=matrix.shape)


def normalize_rows(matrix: CSR) -> CSR:
    """Return a CSR matrix whose rows have length 1, or 0 if they are empty."""
    lengths = np.sqrt(np.asarray((matrix * matrix).sum(1)).ravel())
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    values = matrix.data / np.maximum(lengths, 1e-12)[rows]
    return sp.csr_array((values, matrix.indices, matrix.indptr), shape=matrix.shape)


def _make_profiles(weighted: CSR, tags: CSR) -> _Profiles:
    n_docs = np.bincount(tags.indices, minlength=tags.shape[1]).astype(np.float64)
    together = tags_together(tags)
    sums = sp.csr_array(tags.T @ weighted)
    rarity = np.log((tags.shape[0] + 1) / (n_docs + 1))
    cooccurrence = normalize_rows(sp.csr_array(together * np.maximum(rarity, 1e-6)))
    words = normalize_rows(largest(sums, _PROFILE_WORDS))
    return _Profiles(sums, words, cooccurrence, together, n_docs, tags.shape[0])


def _neighbours(profiles: _Profiles) -> dict[tuple[int, int], tuple[int, int]]:
    """Return pairs of tags that are nearest by words or by co-occurrence, and their ranks, from 0.

    The first rank is the better one of the two tags in each other's lists, by words; the second the worse.
    """
    often = np.flatnonzero(profiles.n_docs > 1)
    ranks = _rank_neighbours(profiles.words, often)
    by_tags = _rank_neighbours(profiles.cooccurrence, often)
    pairs = {(min(pair), max(pair)) for part in (ranks, by_tags) for pair in part}
    far = 2 * _NEIGHBOURS
    both = {(a, b): (ranks.get((a, b), far), ranks.get((b, a), far)) for a, b in pairs}
    return {pair: (min(found), max(found)) for pair, found in both.items()}


def _rank_neighbours(rows: CSR, often: Int64) -> dict[tuple[int, int], int]:
    """Return the nearest tags of each tag of `often` among these, by products of rows, ranked from 0."""
    rows = sp.csr_array(rows[often])
    turned, ranks = sp.csr_array(rows.T), dict[tuple[int, int], int]()
    for first in range(0, len(often), _CHUNK):
        alike = sp.csr_array(rows[first : first + _CHUNK] @ turned)
        for i in range(alike.shape[0]):
            begin, end = alike.indptr[i : i + 2]
            found, values = alike.indices[begin:end], alike.data[begin:end]
            values = np.where(found == first + i, -1.0, values)
            best = np.lexsort((found, -values))[:_NEIGHBOURS]
            for rank, place in enumerate(best[values[best] > 0]):
                ranks[int(often[first + i]), int(often[found[place]])] = rank
    return ranks


def _features(
    profiles: _Profiles, a: Int64, b: Int64, near: dict[tuple[int, int], tuple[int, int]]
) -> Float64:
    """Return (P, C): what pairs of tags have in common; the first column is all ones."""
    few, many = (f(profiles.n_docs[a], profiles.n_docs[b]) for f in (np.minimum, np.maximum))
    words, cooccurrence = (row_products(part, a, part, b) for part in (profiles.words, profiles.cooccurrence))
    both = np.asarray(profiles.together[a, b]).ravel()
    unity = _unity(profiles, a, b)
    expected = few * many / profiles.n_all
    far = (2 * _NEIGHBOURS, 2 * _NEIGHBOURS)
    ranks = np.log1p([near.get(pair, far) for pair in zip(a.tolist(), b.tolist(), strict=True)])
    return np.column_stack([
        np.ones(len(a)), words, cooccurrence, np.log(few + 1), np.log(many + 1), words * np.log(few + 1),
        cooccurrence * np.log(few + 1), ranks[:, 0], ranks[:, 1], both / np.maximum(few, 1),
        np.log((both + 0.5) / (expected + 0.5)), unity, unity * np.log(few + 1),
    ])  # fmt: skip


def _unity(profiles: _Profiles, a: Int64, b: Int64) -> Float64:
    """Return (P,): the similarity of documents of different tags over that within each; 1 for duplicates.

    From 0 to 2, whatever the number of documents; 1 if a tag has one document.
    """
    n = profiles.n_docs
    squares = np.asarray((profiles.sums * profiles.sums).sum(1)).ravel()
    within = np.maximum((squares - n) / np.maximum(n * (n - 1), 1), 1e-4)
    between = row_products(profiles.sums, a, profiles.sums, b) / np.maximum(n[a] * n[b], 1)
    ratio = np.clip(between / np.sqrt(within[a] * within[b]), 0, 2)
    return np.where((n[a] > 1) & (n[b] > 1), ratio, 1.0)
