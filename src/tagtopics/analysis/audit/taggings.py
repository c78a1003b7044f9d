"""The evidence for and against single taggings, each document answered without itself.

A tagging is a pair of a document and a tag. Its signals are what the recommender's regression predicts
without the document, how rare the tag is, how often it occurs with the other tags of the document elsewhere,
whether its name is in the text, and how close the text is to others with words of the name. Logistic
regressions on the taggings of the collection turn signals into ranks, and what is observed at a rank into
scores; nothing has to be known to be right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from tagtopics._blas import single_thread
from tagtopics._typing import CSR, Bool, Float32, Float64, Int64
from tagtopics.analysis.audit.duplicates import Scored, largest, normalize_rows, row_products, weighted_words
from tagtopics.analysis.audit.margins import margins_of, observed_odds
from tagtopics.analysis.audit.names import NameWords, name_words
from tagtopics.analysis.records import OnProgress
from tagtopics.corpus.core import Corpus
from tagtopics.corpus.tags import n_partners, tags_together
from tagtopics.jit.top import largest_in_rows, largest_of_rows
from tagtopics.recommend.recommender import TagRecommender
from tagtopics.recommend.ridge import PART, leave_one_out_best, leave_one_out_scores
from tagtopics.subjects.pair_keys import entry_keys, find_keys, values_at

_FLOOR = 3e-3  # added to scores and shares before the logarithm, as in the recommender's calibration
_NEAR, _SOME = 1e-3, 1e-2  # added to mean products of documents, and to cosines, before the logarithm
_CONTEXT_WORDS = 100  # words of the documents that have a word of a name: the largest ones
_BATCH_PAIRS = 1 << 23  # pairs of document and tag in memory at a time
_BATCH_DOCS = 1024  # most documents of a batch
_CANDIDATES = 20  # tags of a document that may be missing, by each of three signals: words, tags, names
_NEIGHBOURS = 50  # nearest documents that score a document, where not all are used
_RANDOM = 3  # random taggings that are compared with each tagging of the collection
_MOST_ERRORS = 0.1  # largest share of the taggings that may be wrong, and that may be missing: decision 270
_FEW_ERRORS = 0.005  # share of wrong taggings below which data allow hardly any: decision 270
_NOVEL = 0.1  # right taggings unlike all others of their tag: this over the number of its documents
_NOVEL_ONLY = 0.5  # the same, if hardly any tagging is wrong
_OTHERS = 0.15  # part of the mean margin of the document's other tags that is subtracted
_SMALL_TABLE = 1 << 22  # documents times tags up to which all their products are computed, not only some

# Signals that doubtful and missing taggings use: those of `_pairs_of`, then those of `_closeness`.
_DOUBT, _OMISSION, _N_CLOSENESS = (*range(10), *range(13, 22)), tuple(range(13)), 9


class Taggings(NamedTuple):
    """P pairs of a document and a tag, with their signals."""

    docs: Int64  # (P,)
    tags: Int64  # (P,)
    carried: Bool  # (P,) whether the document has the tag
    random: Bool  # (P,) a tag drawn at random that the document does not have
    frequent: Bool  # (P,) the same, tags drawn by the number of their documents
    candidate: Bool  # (P,) among the best tags of the document by some signal
    named: Bool  # (P,) the whole name of the tag is in the text, and says something
    n_others: Float64  # (P,) other documents with the tag
    signals: Float64  # (P, C); the first column is all ones


class _Counts(NamedTuple):
    """What is counted once for all batches."""

    tags: CSR  # (D, T) float64
    n_docs: Float64  # (T,)
    together: CSR  # (T, T) documents with both tags, no diagonal
    names: NameWords
    usual: float  # mean number of tags of the documents that have any


@single_thread()
def collect_taggings(
    corpus: Corpus,
    recommender: TagRecommender,
    counts: CSR,
    doc_topic: Float32,
    names: NameWords,
    on_progress: OnProgress = lambda share: None,
) -> Taggings:
    """Return all taggings of a corpus, random ones to compare them with, and candidates for missing ones.

    The recommender is trained on these documents, or on a sample of them, with the same columns of words
    (`counts`, CSR (D, W)) and tags; `names` are those of the tags. Documents without words are left out.
    """
    own = np.full(corpus.n_docs, -1, dtype=np.int64)
    own[recommender.rows] = np.arange(len(recommender.rows))
    tags = sp.csr_array(corpus.tags, dtype=np.float64)
    known = _Counts(
        tags,
        np.bincount(tags.indices, minlength=corpus.n_tags).astype(np.float64),
        tags_together(tags),
        names,
        tags.nnz / max(np.count_nonzero(np.diff(tags.indptr)), 1),
    )
    generators = np.random.default_rng(0), np.random.default_rng(1)
    worded = np.flatnonzero(np.diff(counts.indptr) > 0)
    parts, n_done = [], 0
    for rows in _batches(worded, own, corpus.n_tags):
        scores = _leave_one_out(recommender, sp.csr_array(counts[rows]), doc_topic[rows], own[rows])
        parts.append(_pairs_of(rows, scores, known, corpus, generators))
        n_done += len(rows)
        on_progress(n_done / len(worded))
    found = Taggings(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
    some = np.flatnonzero((found.carried | found.random | found.frequent) & (found.n_others > 0))
    docs, tags = found.docs[some], found.tags[some]
    words, theta = weighted_words(corpus), doc_topic.astype(np.float64)
    closeness = [
        *_closeness(corpus, words, docs, tags, found.carried[some]),
        *_name_closeness(names, words, theta, docs, tags),
        np.log1p(counts.sum(1))[docs],  # the length of the text
        (names.shares.T @ names.in_texts())[tags],  # whether texts use the words of the name at all
        *_related_names(corpus, names, docs, tags),
    ]
    found.signals[some, -_N_CLOSENESS:] = np.column_stack(closeness)
    return found


@single_thread()
def doubtful_taggings(taggings: Taggings) -> Scored:
    """Return the taggings of the collection by how much each looks like a random one: a rank, no probability.

    With R the ratio of the densities of signals of random taggings and of all, and s the share of wrong ones,
    a tagging is wrong with odds s R. Random taggings are drawn from all pairs, or tags by frequency; the sort
    counts of which the data allow a larger share, and this is s. If it is hardly any of either sort, which is
    larger is chance, and tags by frequency count. A right tagging may also look random, as the first of its
    sort: the less likely, the more other documents, n, have the tag. With this, the score is
    s R / (s R + 1 + c R / (n + 1)): decision 270. Left out are tags without other documents, of which nothing
    is known, and those whose name is in the text.
    """
    judged = taggings.carried & (taggings.n_others > 0)
    drawn = [sort & (taggings.n_others > 0) for sort in (taggings.random, taggings.frequent)]
    if not judged.any() or not all(sort.any() for sort in drawn):
        return _sort_by_score(taggings, judged, *np.zeros((2, judged.sum())))
    uniform, frequent = (_compare(taggings, judged, sort) for sort in drawn)
    few = max(uniform[0], frequent[0]) < _FEW_ERRORS
    share, ratio, margin = frequent if few or frequent[0] > uniform[0] else uniform
    novel = (_NOVEL_ONLY if few else _NOVEL) / (taggings.n_others[judged] + 1)
    scores = share * ratio / (share * ratio + 1 + novel * ratio)
    listed = ~taggings.named[judged]
    judged[judged] = listed
    return _sort_by_score(taggings, judged, scores[listed], margin[listed])


def _compare(taggings: Taggings, judged: Bool, drawn: Bool) -> tuple[float, Float64, Float64]:
    """Return the largest share of taggings that may be as those drawn, and the ratio and margin of each.

    Logistic regressions rank the taggings, compared with the other tags of the document; the ratio of
    densities is that observed at a rank.
    """
    used = judged | drawn
    random, known = drawn[used], judged[used]
    margin = margins_of(taggings.signals[used][:, _DOUBT], random)
    margin -= _OTHERS * _others_of_document(taggings.docs[used], margin, known)
    ratio = observed_odds(margin, random, margin[known]) * known.sum() / random.sum()
    return _wrong_share(margin[known], margin[random]), ratio, margin[known]


@single_thread()
def missing_taggings(taggings: Taggings) -> Scored:
    """Return tags that documents lack with scores: how likely each was left out.

    With p the share of documents with equal signals that have the tag, and a share s of all taggings left out
    at random, the probability is s / (1 - s) times p / (1 - p). Logistic regressions rank the pairs, the odds
    are those observed at a rank, and s is the largest share that the data allow, up to a tenth.
    """
    used = taggings.candidate & (taggings.n_others > 0)
    absent = used & ~taggings.carried
    if not absent.any():
        return _sort_by_score(taggings, absent, np.zeros(0), np.zeros(0))
    carried = taggings.carried[used]
    margin = margins_of(taggings.signals[used][:, _OMISSION], carried)
    share = _omitted_share(margin[carried], margin[~carried])
    odds = observed_odds(margin, carried, margin[~carried])
    ratio = share / (1 - share) * odds
    return _sort_by_score(taggings, absent, ratio / (1 + ratio**4) ** 0.25, margin[~carried])


def _others_of_document(docs: Int64, margins: Float64, carried: Bool) -> Float64:
    """Return (P,): the mean margin of the document's other tags, and one with that of all taggings."""
    own = np.where(carried, margins, 0)
    sums, n = np.bincount(docs, weights=own)[docs] - own, np.bincount(docs, weights=carried)[docs] - carried
    return np.asarray((sums + margins[carried].mean()) / (n + 1))


def _wrong_share(real: Float64, random: Float64) -> float:
    """Return the largest share of the taggings that can be random, given the margins of both.

    For every threshold, the taggings above it are at least as many as the random ones among them.
    """
    levels = np.quantile(random, np.linspace(0.1, 0.9, 17))
    above = (real[:, np.newaxis] >= levels).sum(0) + 1.0
    shares = above / len(real) / ((random[:, np.newaxis] >= levels).mean(0) + 1e-9)
    return float(min(shares.min(), _MOST_ERRORS))


def _omitted_share(carried: Float64, absent: Float64) -> float:
    """Return the share of absent tags among the candidates with the highest margins, where it is smallest."""
    if not len(carried):
        return 0.0
    levels = np.quantile(carried, np.linspace(0.5, 0.95, 10))
    there, gone = ((margins[:, np.newaxis] >= levels).sum(0) for margins in (carried, absent))
    return float(min(((gone + 1.0) / (gone + there + 2.0)).min(), _MOST_ERRORS))


def _sort_by_score(taggings: Taggings, chosen: Bool, scores: Float64, margins: Float64) -> Scored:
    """Return the taggings chosen by score; equal ones by margin, and then in the order of the taggings."""
    docs, tags = taggings.docs[chosen], taggings.tags[chosen]
    by_margin = np.argsort(-margins, kind="stable")
    order = by_margin[np.argsort(-scores[by_margin], kind="stable")]  # fast, as scores rise with margins
    return Scored(tags[order], scores[order], docs=docs[order])


# ------------------------------------------------------------------------------------------------ signals


def _batches(rows: Int64, own: Int64, n_tags: int) -> Iterator[Int64]:
    """Yield rows of documents, those that the recommender was trained on first.

    Its answers to the others need its whole table of coefficients, for one document as for a hundred.
    """
    step = max(1, min(_BATCH_DOCS, _BATCH_PAIRS // max(n_tags, 1)))
    for some in (rows[own[rows] >= 0], rows[own[rows] < 0]):
        yield from (some[first : first + step] for first in range(0, len(some), step))


class _Scores(NamedTuple):
    """What the regression predicts for D documents and T tags; the key of a pair is d * T + t."""

    best: Int64  # the keys of the best tags of each document
    at: Callable[[Int64, Bool], Float64]  # takes keys and whether documents have the tags; returns scores


def _leave_one_out(recommender: TagRecommender, counts: CSR, doc_topic: Float32, own: Int64) -> _Scores:
    """Return what the recommender predicts for documents, each without itself; see `leave_one_out_scores`.

    A recommender that asks the nearest documents asks fewer of them here: decision 270.
    """
    known, T = recommender, len(recommender.tag_names)
    if 0 < len(known.coefficients) <= PART and (own >= 0).all():  # no table is needed
        n = min(_CANDIDATES, T)
        best = leave_one_out_best(known.coefficients, known.own, known.tags, own, n)

        def at(pairs: Int64, carried: Bool) -> Float64:
            docs, tags = own[pairs // T], pairs % T
            scores = leave_one_out_scores(known.coefficients[docs, tags], known.own[docs], carried)
            return scores.astype(np.float64)

        return _Scores((np.arange(len(own))[:, np.newaxis] * T + best)[best >= 0], at)
    if len(known.coefficients):
        table = known.leave_one_out_scores(counts, doc_topic, own)
        return _Scores(_best_scores(table), lambda pairs, _: table.ravel()[pairs].astype(np.float64))
    votes = known.leave_one_out_votes(counts, doc_topic, own, _NEIGHBOURS)
    votes.table.sort_indices()
    share = known.tag_docs / len(known.rows)
    return _Scores(
        _best_entries(votes.table),
        lambda pairs, _: _entries(votes.table, pairs) + votes.rest[pairs // T] * share[pairs % T],
    )


def _pairs_of(
    rows: Int64, scores: _Scores, known: _Counts, corpus: Corpus, generators: Sequence[np.random.Generator]
) -> Taggings:
    """Return the taggings of some documents that any question is about, without `_closeness`.

    Of the D x T pairs few matter, so all but some scores are sparse. Documents without tags get as many
    random ones as others: decision 270.
    """
    T, tags = corpus.n_tags, sp.csr_array(known.tags[rows])
    cooccurrence, observed = _cooccurrence(tags, known)
    name_shares = sp.csr_array(known.names.present[rows] @ known.names.shares)
    name_shares.sort_indices()
    own = entry_keys(tags)
    n_random = _RANDOM * (len(own) or round(len(rows) * known.usual))
    random = generators[0].integers(0, max(len(rows) * T, 1), n_random)
    frequent = generators[1].integers(0, max(len(rows), 1), n_random) * T
    if known.tags.nnz:
        frequent += generators[1].choice(known.tags.indices, n_random)
    random, frequent = (np.setdiff1d(drawn, own) for drawn in (random, frequent))
    best = [scores.best, *(_best_entries(table) for table in (cooccurrence, name_shares))]
    pairs = np.unique(np.concatenate([own, random, frequent, *best]))
    carried, drawn, likely, candidate = (
        np.isin(pairs, keys) for keys in (own, random, frequent, np.concatenate(best))
    )
    d, t = np.divmod(pairs, T)
    others = known.n_docs[t] - carried
    score, rarity = scores.at(pairs, carried), np.log((others + 0.5) / corpus.n_docs)
    shares, together, name = (_entries(table, pairs) for table in (cooccurrence, observed, name_shares))
    expected = ((tags @ known.n_docs)[d] - carried * known.n_docs[t]) * others / corpus.n_docs
    better = _ranks(d, score, candidate)
    partners = np.diff(corpus.tags.indptr)[rows[d]] - carried  # other tags of the document
    signals = np.column_stack([
        np.ones(len(d)), score, np.log(np.maximum(score, 0) + _FLOOR), rarity, score * rarity,
        np.log(np.maximum(shares, 0) + _FLOOR), np.log((together + 0.1) / (expected + 0.1)),
        name, np.log1p(partners), partners == 0, shares, np.log1p(better), name > 0.999,
        np.zeros((len(d), _N_CLOSENESS)),
    ])  # fmt: skip
    named = (name > 0.999) & known.names.telling[t]
    return Taggings(rows[d], t, carried, drawn, likely, candidate, named, others, signals)


def _cooccurrence(tags: CSR, known: _Counts) -> list[CSR]:
    """Return two CSR (D, T) on the other tags of each document, in all other documents.

    The sum of the shares of their documents that have the tag, and the number of these documents.
    """
    docs = np.repeat(np.arange(tags.shape[0]), np.diff(tags.indptr))
    rare = 1 / np.maximum(known.n_docs, 1)
    weighted = sp.csr_array(tags * rare)
    n_own = n_partners(tags)[docs]  # what the document itself contributed to `together`
    own_shares = np.where(n_own > 0, np.asarray(weighted.sum(1)).ravel()[docs] - rare[tags.indices], 0)
    own, tables = entry_keys(tags), []
    for others, part in ((weighted, own_shares), (tags, n_own)):
        table = sp.csr_array(others @ known.together)
        table.sort_indices()
        there, place = find_keys(own, entry_keys(table))  # not there if the document has no other tag
        table.data[place[there]] -= part[there]
        tables.append(table)
    return tables


def _entries(table: CSR, pairs: Int64) -> Float64:
    """Return (P,): the entries of a sparse table with sorted columns at given keys; 0 for none."""
    return values_at(pairs, entry_keys(table), table.data)


def _best_scores(scores: Float32) -> Int64:
    """Return the keys of the largest positive scores of each document; the first of equals."""
    best = largest_in_rows(scores, _CANDIDATES)
    keys = np.arange(len(scores))[:, np.newaxis] * scores.shape[1] + best
    return np.asarray(keys[np.take_along_axis(scores, best, 1) > 0])


def _best_entries(table: CSR) -> Int64:
    """Return the keys of the largest positive entries of each document; the first of equals."""
    offsets = np.asarray(table.indptr, dtype=np.int64)
    best = largest_of_rows(offsets, table.data, _CANDIDATES).ravel()
    best = best[best >= 0]
    return np.asarray(entry_keys(table)[best[table.data[best] > 0]])


def _closeness(
    corpus: Corpus, words: CSR, docs: Int64, tags: Int64, carried: Bool
) -> tuple[Float64, Float64]:
    """Return (P,) twice: how close documents are to the others with the tag, by words.

    The cosine of the document and the sum of the others, and the logarithm of its mean product with them over
    that with all documents. Words are weighted by rarity, documents have length 1.
    """
    sums = sp.csr_array(sp.csr_array(corpus.tags.T, dtype=np.float64) @ words)
    squares = np.asarray((sums * sums).sum(1)).ravel()[tags]
    own = carried * (np.diff(words.indptr)[docs] > 0)
    if corpus.n_docs * corpus.n_tags <= _SMALL_TABLE:
        product = np.asarray(words @ sums.T.toarray())[docs, tags]
    else:
        product = row_products(words, docs, sums, tags)
    without = product - own
    length = np.sqrt(np.maximum(squares - 2 * own * product + own, 1e-9))
    usual = (words @ np.asarray(words.sum(0)).ravel())[docs] / corpus.n_docs
    n_others = np.bincount(corpus.tags.indices, minlength=corpus.n_tags)[tags] - carried
    return without / length, np.log((without / n_others + _NEAR) / (usual + _NEAR))


def _name_closeness(
    names: NameWords, words: CSR, theta: Float64, docs: Int64, tags: Int64
) -> tuple[Float64, Float64, Float64]:
    """Return (P,) thrice: how close documents are to those with the words of a tag's name, tagged or not.

    The logarithm of the product of their topics over that with all documents, the cosine of their words and
    its logarithm. Each word of a name counts by its weight; one that no text has says nothing.
    """
    of_word = sp.csr_array(names.present.T)
    n, mean = np.diff(of_word.indptr)[:, np.newaxis], theta.mean(0)
    topics = mean + names.shares.T @ np.where(n > 0, of_word @ theta / np.maximum(n, 1) - mean, 0)
    alike = np.einsum("pk,pk->p", theta[docs], topics[tags])
    contexts = normalize_rows(largest(sp.csr_array(of_word @ words), _CONTEXT_WORDS))
    cosine = row_products(words, docs, sp.csr_array(names.shares.T @ contexts), tags)
    return np.log((alike + _NEAR) / ((theta @ mean)[docs] + _NEAR)), cosine, np.log(cosine + _SOME)


def _related_names(corpus: Corpus, names: NameWords, docs: Int64, tags: Int64) -> tuple[Float64, Float64]:
    """Return (P,) twice: which part of a tag's name the document has, in other words than the name's own.

    In words that begin alike, and in the names of the document's other tags.
    """
    loose = name_words(corpus, names.names, loose=True)
    shared = sp.csr_array(names.shares.T @ (names.shares > 0))  # (T, T) the part of a name in another
    shared.setdiag(0)
    in_text = row_products(loose.present, docs, sp.csr_array(loose.shares.T), tags)
    return in_text, np.minimum(row_products(corpus.tags, docs, shared, tags), 1)


def _ranks(docs: Int64, scores: Float64, candidate: Bool) -> Int64:
    """Return (P,): how many candidates of the document of a pair have a higher score; 0 for other pairs."""
    ranks = np.zeros(len(docs), dtype=np.int64)
    some = np.flatnonzero(candidate)
    order = some[np.lexsort((-scores[some], docs[some]))]
    starts = np.searchsorted(docs[order], docs[order])
    ranks[order] = np.arange(len(order)) - starts
    return ranks
