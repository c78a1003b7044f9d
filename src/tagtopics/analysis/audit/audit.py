"""Audit the tags of a collection: what may be wrong with each tagging, and with each tag."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp

from tagtopics._typing import CSR, Float32, Float64, Int64
from tagtopics.analysis.audit.changes import KINDS, Change, Finding
from tagtopics.analysis.audit.duplicates import Scored, duplicate_tags
from tagtopics.analysis.audit.names import NameWords, name_words, namesakes
from tagtopics.analysis.audit.taggings import Taggings, collect_taggings, doubtful_taggings, missing_taggings
from tagtopics.analysis.records import OnProgress
from tagtopics.corpus.core import Corpus
from tagtopics.corpus.tags import bare_name, kind_of, tags_together
from tagtopics.errors import InputError
from tagtopics.jit.threads import thread_limit
from tagtopics.models.base import TopicModel
from tagtopics.models.documents import align_words
from tagtopics.recommend.recommender import TagRecommender, fit_recommender

_MOST_COMPARED = 200  # documents of a tag that are compared with a document
_DOCUMENTS = 3  # documents named with a finding
_RARELY = 0.01  # tags are persons if fewer of their names are in the texts, and most have several words
_NO_NAMESAKE, _MANY_NAMES = 0.2, 100  # factor for a name that no other has; names that show which are common
_FEWEST = 5  # documents that a tag must have to imply another
_CONFIDENCE = 0.8  # least share of them with the other tag
_LIFT = 2.0  # least ratio of this share to that of all documents


def audit(
    model: TopicModel,
    corpus: Corpus,
    *,
    kinds: Sequence[str] = KINDS,
    min_score: float = 0.05,
    n_words: int = 5,
    refused: Collection[Change] = (),
    on_progress: OnProgress = lambda share: None,
) -> list[Finding]:
    """Return what may be wrong with the tags of a corpus, each with a score and a proposed change.

    Every document is judged by the others: what the recommender predicts without it, in closed form, and how
    often the tag occurs with the document's other tags elsewhere. The names of tags are those of the
    thesaurus, if there is one; a tag whose name is in the text is not doubtful. Neither the model nor the
    corpus changes. If the recommender of the model was trained on other documents or tags, one is trained for
    the audit.

    Args:
        model: a fitted model, best of this corpus.
        corpus: the documents with their tags.
        kinds: what to look for; see `Finding`.
        min_score: leave out findings with a lower score, from 0 to 1.
        n_words: words given with each finding, at most.
        refused: changes that were refused before, as `refused_changes` reads them; they are not found again.
        on_progress: called with the share of the work done, from 0 to 1.

    Returns:
        The findings by kind, in the order of `KINDS`, and within a kind by score, highest first.
    """
    _check(kinds, min_score, n_words)
    if not corpus.n_tags or not corpus.tags.nnz:
        return []
    counts = align_words(model, corpus)
    doc_topic = model.transform(corpus)
    thesaurus = corpus.thesaurus or (model.names_ and model.names_.thesaurus)
    names = name_words(corpus, [_name_of(tag, thesaurus) for tag in corpus.tag_names])
    search: dict[str, Callable[[], Scored]] = {
        "duplicate": lambda: duplicate_tags(corpus, names),
        "implied": lambda: implied_tags(corpus),
        "single": lambda: single_tags(corpus),
    }
    if {"doubtful", "missing"} & set(kinds):
        recommender = _recommender_for(model, corpus, counts, doc_topic)
        if recommender is not None:
            taggings = collect_taggings(corpus, recommender, counts, doc_topic, names, on_progress)
            search["doubtful"] = lambda: _doubtful_tags(taggings, names)
            search["missing"] = lambda: missing_taggings(taggings)
    reasons = _Reasons(corpus)
    found: list[Finding] = []
    for kind in KINDS:
        if kind in kinds and kind in search:
            found += _findings(kind, search[kind](), corpus, reasons, min_score, n_words)
    on_progress(1.0)
    known = {_key(change) for change in refused}
    twice = known | {_key(one) for one in found if one.kind == "missing"}
    found = [one for one in found if _key(one) not in (twice if one.kind == "implied" else known)]
    labels = thesaurus.labels(corpus.tag_names) if thesaurus else {}
    return [replace(one, name=labels.get(one.tag), other_name=labels.get(one.other)) for one in found]


def _key(one: Finding | Change) -> tuple[str, str | None, frozenset[str | None]]:
    """Return what makes two changes the same."""
    return one.change, one.document, frozenset((one.tag, one.other if one.document is None else None))


def _name_of(tag: str, thesaurus: Any) -> str:
    """Return the name of a tag, from the thesaurus if there is one, with the kind of the tag."""
    named = thesaurus.name_of(tag) if thesaurus else None
    return ":".join(filter(None, (kind_of(tag), named or bare_name(tag))))


def _check(kinds: Sequence[str], min_score: float, n_words: int) -> None:
    unknown = [kinds] if isinstance(kinds, str) else [kind for kind in kinds if kind not in KINDS]
    if unknown:
        raise InputError(f"kinds: expected some of {', '.join(KINDS)}, got {str(unknown[0])[:40]!r}")
    if not 0 <= min_score <= 1:
        raise InputError(f"min_score must be from 0 to 1, not {min_score}")
    if n_words < 0:
        raise InputError(f"n_words must be 0 or more, not {n_words}")


def _recommender_for(
    model: TopicModel, corpus: Corpus, counts: CSR, doc_topic: Float32
) -> TagRecommender | None:
    """Return a recommender trained on exactly these documents and tags: that of the model, or a new one.

    If that of the model has vectors of all documents with words, they are used. None if no document has words
    and tags.
    """
    own = model.recommender_
    usable = (np.diff(counts.indptr) > 0) & (np.diff(corpus.tags.indptr) > 0)
    if own is not None and own.tag_names == corpus.tag_names and len(own.rows) <= usable.sum():
        rows = own.rows
        if not len(rows) or rows[-1] < corpus.n_docs:
            same = abs(counts[rows] - own.counts), abs(corpus.tags[rows] - own.tags)
            if all(part.sum() == 0 for part in same):
                complete = len(own.coefficients) and len(rows) == np.count_nonzero(np.diff(counts.indptr))
                return (complete and own.with_vectors) or own
    if not usable.any():
        return None
    with thread_limit(model.n_jobs):
        return fit_recommender(counts, corpus.tags, doc_topic, corpus.tag_names)


def _findings(
    kind: str, scored: Scored, corpus: Corpus, reasons: _Reasons, min_score: float, n_words: int
) -> Iterator[Finding]:
    """Yield findings of one kind with their words and documents."""
    for i in np.flatnonzero(scored.scores >= min_score):
        tag, score = int(scored.tags[i]), float(scored.scores[i])
        others = [int(scored.others[i])] if len(scored.others) else []
        about: dict[str, Any] = {"other": corpus.tag_names[others[0]]} if others else {}
        if len(scored.docs):
            doc = int(scored.docs[i])
            about |= {"document": corpus.ids[doc], "row": doc}
            words, documents = reasons.of_tagging(tag, doc, n_words, lacking=kind == "doubtful")
        else:
            words, documents = reasons.of_tags([tag, *others], n_words)
        yield Finding(kind, corpus.tag_names[tag], score, **about, words=words, documents=documents)


def _doubtful_tags(taggings: Taggings, names: NameWords) -> Scored:
    """Return doubtful taggings; of persons, those first whose name another may have.

    A person writes about more than one subject, so that a paper unlike the others is no error, but a common
    name may stand for two persons: decision 270.
    """
    found = doubtful_taggings(taggings)
    n_words = np.diff(sp.csc_array(names.shares).indptr)
    in_text = taggings.named[taggings.carried]
    if len(n_words) < _MANY_NAMES or np.median(n_words) < 2 or in_text.mean() >= _RARELY:
        return found
    scores = found.scores * np.maximum(namesakes(names), _NO_NAMESAKE)[found.tags]
    order = np.argsort(-scores, kind="stable")
    return Scored(found.tags[order], scores[order], docs=found.docs[order])


def implied_tags(corpus: Corpus) -> Scored:
    """Return tags that documents lack although another tag of theirs, of the same kind, implies them.

    A tag implies one that is on more documents if most of its documents have it, and twice as large a share
    as of all documents. The score is (m + 1) / (n + 2) for m of n documents. If several tags of a document
    imply one, that with the highest score is given.
    """
    columns = sp.csc_array(corpus.tags, dtype=np.float64)
    n_docs = np.diff(columns.indptr)
    pairs = tags_together(sp.csr_array(columns)).tocoo()
    narrow, wide, share = pairs.row, pairs.col, pairs.data / n_docs[pairs.row]
    usual = (share >= _CONFIDENCE) & (share * corpus.n_docs >= _LIFT * n_docs[wide])
    kinds = np.array([kind_of(name) for name in corpus.tag_names])
    rules = (
        usual & (n_docs[narrow] >= _FEWEST) & (n_docs[narrow] < n_docs[wide]) & (kinds[narrow] == kinds[wide])
    )
    best: dict[tuple[int, int], tuple[float, int]] = {}
    for at in np.flatnonzero(rules).tolist():
        one, other = int(narrow[at]), int(wide[at])
        score = float((pairs.data[at] + 1) / (n_docs[one] + 2))
        rows, others = (columns.indices[columns.indptr[t] : columns.indptr[t + 1]] for t in (one, other))
        for row in np.setdiff1d(rows, others).tolist():
            best[row, other] = max(best.get((row, other), (0.0, 0)), (score, one))
    found = sorted((-score, row, tag, one) for (row, tag), (score, one) in best.items())
    scores, docs, tags, ones = np.array(found).reshape(-1, 4).T
    return Scored(tags.astype(np.int64), -scores, ones.astype(np.int64), docs.astype(np.int64))


def single_tags(corpus: Corpus) -> Scored:
    """Return the tags on a single document, with the share of other tags among all tags of the document."""
    tags, n_of_doc = corpus.tags.indices, np.diff(corpus.tags.indptr)
    single = np.bincount(tags, minlength=corpus.n_tags)[tags] == 1
    found, scores = tags[single].astype(np.int64), 1 - 1 / np.repeat(n_of_doc, n_of_doc)[single]
    order = np.lexsort((found, -scores))
    return Scored(found[order], scores[order])


# ------------------------------------------------------------------------------------------------- reasons


class _Reasons:
    """Finds typical words and similar documents; counts of documents, each word once per document."""

    def __init__(self, corpus: Corpus) -> None:
        counts = corpus.counts
        self._corpus = corpus
        self._present = sp.csr_array((np.ones(counts.nnz), counts.indices, counts.indptr), shape=counts.shape)
        self._n_docs = np.bincount(counts.indices, minlength=corpus.n_words).astype(np.float64)
        self._carriers = sp.csc_array(corpus.tags)
        self._of_tag = lru_cache(maxsize=256)(self._count_words)

    def of_tags(self, tags: list[int], n: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return up to n words most typical of the documents of all the given tags, and such documents."""
        strength = np.minimum.reduce([self._strength(tag) for tag in tags])
        some = _DOCUMENTS if len(tags) == 1 else 1
        rows = [row for tag in tags for row in self._of_tag(tag)[0][:some]]
        documents = dict.fromkeys(self._corpus.ids[row] for row in rows)
        return self._best_words(strength, np.arange(len(strength)), n), tuple(documents)

    def of_tagging(
        self, tag: int, doc: int, n: int, *, lacking: bool
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return n words of a document most typical of the others with a tag, and similar ones of these.

        With `lacking`, words that the document does not have.
        """
        own = self._words_of(doc)
        words = np.delete(np.arange(self._corpus.n_words), own) if lacking else own
        best = self._best_words(self._strength(tag, doc)[words], words, n)
        return best, self._similar(tag, doc, own)

    def _similar(self, tag: int, doc: int, own: Int64) -> tuple[str, ...]:
        """Return the ids of the documents with a tag that share most words with a document."""
        rows, matrix, _ = self._of_tag(tag)
        weights = np.zeros(self._corpus.n_words)
        weights[own] = np.log((self._corpus.n_docs + 1) / (self._n_docs[own] + 1))
        alike = (matrix @ weights) / np.sqrt(np.diff(matrix.indptr) + 1)
        alike[rows[: len(alike)] == doc] = -1.0
        best = np.argsort(-alike, kind="stable")[:_DOCUMENTS]
        return tuple(self._corpus.ids[rows[i]] for i in best if alike[i] >= 0)

    def _words_of(self, doc: int) -> Int64:
        begin, end = self._present.indptr[doc : doc + 2]
        return np.asarray(self._present.indices[begin:end])

    def _count_words(self, tag: int) -> tuple[Int64, CSR, Float64]:
        """Return the documents of a tag, the words of some, and how many of all have each word, (W,)."""
        begin, end = self._carriers.indptr[tag : tag + 2]
        rows = np.asarray(self._carriers.indices[begin:end], dtype=np.int64)
        matrix = sp.csr_array(self._present[rows])
        sums = np.bincount(matrix.indices, minlength=matrix.shape[1]).astype(np.float64)
        return rows, sp.csr_array(matrix[:_MOST_COMPARED]), sums

    def _strength(self, tag: int, without: int | None = None) -> Float64:
        """Return (W,): the share of a tag's documents with each word, times the log of how typical it is."""
        rows, _, found = self._of_tag(tag)
        n = len(rows)
        if without is not None and self._corpus.tags[without, tag]:
            found, n = found.copy(), n - 1
            found[self._words_of(without)] -= 1
        share = found / (n + 1)
        usual = (self._n_docs + 1) / (self._corpus.n_docs + 1)
        return np.asarray(share * np.maximum(np.log(np.maximum(share, 1e-12) / usual), 0))

    def _best_words(self, strength: Float64, words: Int64, n: int) -> tuple[str, ...]:
        best = np.argsort(-strength, kind="stable")[:n]
        return tuple(self._corpus.vocabulary[words[i]] for i in best if strength[i] > 0)
