"""Tag recommendation: kernel ridge regression on words and topics, calibrated."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tagtopics._blas import single_thread
from tagtopics._typing import Float32, Float64, Int64
from tagtopics.corpus.cooccurrence import tags_together
from tagtopics.corpus.tags import kind_of
from tagtopics.errors import InputError
from tagtopics.jit.threads import resolve_threads, results_of
from tagtopics.recommend.calibration import (
    N_COLUMNS,
    Calibration,
    best_columns,
    candidates,
    evidence,
    fair_handicap,
    fair_thresholds,
    picked,
    probabilities,
)
from tagtopics.recommend.logistic import logistic_weights
from tagtopics.recommend.ridge import (
    LEAST,
    NEIGHBOURS,
    PART,
    Documents,
    Votes,
    at_least,
    bandwidth_of,
    documents_of,
    kernel_of,
    neighbours,
    solve_part,
    votes_of,
)

_FEW_TAGS, _MOST_COEFFICIENTS = 1000, 1 << 24
"""Up to this many tags, of many training documents only so many are kept that the table stays this small."""

_LARGEST_TABLE = 1 << 26
"""Training documents times tags up to which all documents are used; above, the nearest ones."""

HALVED_FROM = 1 << 23
"""Coefficients from which they are rounded to half precision, and saved in it: decision 230."""

_PAIRS_FOR_WIDTH = 300
"""Documents whose mean distance sets the width of the kernel."""

MOST_DOCS = 1 << 16
"""Training documents that are kept; of more, a random sample."""

_CALIBRATED_DOCS, _CALIBRATED_BY_NEIGHBOURS = 2000, 1000
"""Training documents that calibration uses, if all documents answer, and if the nearest ones do."""

_CALIBRATED_PAIRS = 1 << 24
"""Most document-tag pairs that calibration uses."""

_BALANCED_PAIRS = 1 << 21
"""Document-tag pairs that the balance of lists is learned from."""

_BATCH_PAIRS = 1 << 22
"""Document-tag pairs in memory at a time."""

_IMPROBABLE = 0.01
"""Less probable pairs are left out when thresholds are learned."""


class Recommendation(NamedTuple):
    """A tag for a document."""

    tag: str
    probability: float
    words: tuple[tuple[str, float], ...] = ()  # the words behind it with their weights, if requested
    name: str = ""  # of the tag, if there is a thesaurus
    found: tuple[str, ...] = ()  # the pieces of the text that are names of the tag


class Choice(NamedTuple):
    """Which tags to recommend."""

    top: int = 5
    balanced: bool = False
    threshold: float = 0.0  # only tags at least this probable
    kind: str | None = None  # only tags that are written `kind:name`

    def check(self) -> None:
        """Raise an `InputError` if it makes no sense."""
        if self.top < 1:
            raise InputError(f"recommend: top must be 1 or more, not {self.top}")
        if not 0 <= self.threshold <= 1:
            raise InputError(f"recommend: threshold must be from 0 to 1, not {self.threshold:g}")

    def admits(self, tags: Sequence[str]) -> Any:
        """Return (T,) booleans: which tags are of the kind wanted; an unknown kind is an `InputError`."""
        if self.kind is None:
            return np.ones(len(tags), dtype=bool)
        admitted = np.array([kind_of(tag) == self.kind for tag in tags], dtype=bool)
        if not admitted.any():
            kinds = sorted({kind_of(tag) for tag in tags} - {""})
            known = f"its kinds are {', '.join(kinds[:10])}" if kinds else "its tags have no kinds"
            raise InputError(f"recommend: the model has no tags of kind {self.kind[:40]!r}; {known[:300]}")
        return admitted


@dataclass(frozen=True)
class TagRecommender:
    """A fitted recommender; users call `TopicModel.recommend`.

    Attributes:
        counts: CSR (N, W) the training documents that have words and tags.
        topics: (N, K) their topic proportions, tags hidden.
        tags: CSR (N, T) their tags, 0 or 1.
        rows: (N,) their places among the documents of the fit.
        coefficients: (N, T) of the regression on all documents; (0, T) if tags are many.
        own: (N,) what each document adds to its own answer, per coefficient; (0,) likewise.
        bandwidth: of the kernel exp(-bandwidth (1 - similarity)).
        calibration: from scores to probabilities, predictions and lists.
        tag_names: the T tags.
        n_threads: of queries; the result does not depend on it.
    """

    counts: Any
    topics: Float32
    tags: Any
    rows: Int64
    coefficients: Float32
    own: Float32
    bandwidth: float
    calibration: Calibration
    tag_names: tuple[str, ...]
    n_threads: int = field(default=0, compare=False)

    def probabilities(self, counts: Any, doc_topic: Float32) -> Float32:
        """Return (D, T): the probability of each tag; that of all documents for one without words.

        Args:
            counts: CSR (D, W) in the columns of the model.
            doc_topic: (D, K) topic proportions, tags hidden.
        """
        parts = [likely for _, _, likely in self._answered(counts, doc_topic)]
        return np.concatenate(parts) if parts else np.zeros((0, len(self.tag_names)), dtype=np.float32)

    def left_out(self, rows: Any) -> Float32:
        """Return (D, T): the probabilities of tags of training documents, each answered without itself.

        Args:
            rows: (D,) numbers of the documents, from 0 to N - 1; `rows` tells which of the fit they are.
        """
        likely = np.zeros((len(rows), len(self.tag_names)), dtype=np.float32)
        for batch in self._batches(len(rows)):
            own = np.asarray(rows)[batch]
            known, _ = self._evidence_without(own)
            likely[batch] = probabilities(known, self.calibration.weights)
        return likely

    def scores_without(self, counts: Any, doc_topic: Float32, own: Int64) -> Float32:
        """Return (D, T): what the regression predicts for documents, each without itself.

        All are compared with the training documents; `left_out` has faster answers for these, if they are in
        one regression.

        Args:
            counts: CSR (D, W) in the columns of the model.
            doc_topic: (D, K) topic proportions, tags hidden.
            own: (D,) the number of each document among the training documents, -1 for any other.
        """
        return self._scores(documents_of(sp.csr_array(counts, dtype=np.float32), doc_topic), own)

    def votes_without(self, counts: Any, doc_topic: Float32, own: Int64, most: int) -> Votes:
        """Return what the nearest training documents say, at most so many; arguments as `scores_without`."""
        new = documents_of(sp.csr_array(counts, dtype=np.float32), doc_topic)
        found = neighbours(new, self.index, self.bandwidth, self._threads, own, most)
        return votes_of(found, self.tags)

    def predicted(self, likely: Float32) -> Any:
        """Return (D, T) booleans: the tags that are probable enough, given their probabilities."""
        return likely >= self.calibration.threshold

    def picked(self, likely: Float32, top: int, balanced: bool = False) -> Int64:
        """Return (D, top): the tags recommended, given their probabilities (D, T), most probable first."""
        return picked(likely, self.calibration.handicap, top) if balanced else best_columns(likely, top)

    def recommend(
        self,
        counts: Any,
        doc_topic: Float32,
        choice: Choice,
        vocabulary: Sequence[str] = (),
        n_words: int = 0,
    ) -> list[list[Recommendation]]:
        """Return for each document its tags, most probable first; none for a document without words.

        With `n_words` above 0, each has the words behind it, as in `reasons`.
        """
        admitted = choice.admits(self.tag_names)
        top = min(choice.top, int(admitted.sum()))
        answers: list[list[Recommendation]] = []
        for batch, new, likely in self._answered(counts, doc_topic):
            shown = likely if admitted.all() else np.where(admitted, likely, np.float32(-1))
            for d, tags in enumerate(self.picked(shown, top, choice.balanced)):
                if batch.indptr[d] == batch.indptr[d + 1]:
                    answers.append([])
                    continue
                tags = tags[likely[d, tags] >= choice.threshold]
                reasons = self._reasons(
                    batch[d : d + 1], new.topics[d : d + 1] ** 2, tags, vocabulary, n_words
                )
                named = zip(tags, reasons, strict=True)
                answers.append(
                    [Recommendation(self.tag_names[t], float(likely[d, t]), why) for t, why in named]
                )
        return answers

    def reasons(
        self, counts: Any, doc_topic: Float32, tags: Sequence[str], vocabulary: Sequence[str], n_words: int
    ) -> list[tuple[tuple[str, float], ...]]:
        """Return for each tag the words of one document that suggest it; none for a tag without documents.

        The weight of a word is its part in the mean similarity to the neighbours that carry the tag, less
        that of all neighbours; words with a negative weight are omitted.
        """
        columns = np.array([self._column.get(tag, -1) for tag in tags], dtype=np.int64)
        answers: list[tuple[tuple[str, float], ...]] = [()] * len(tags)
        known = np.flatnonzero(columns >= 0)
        for i, why in zip(
            known, self._reasons(counts, doc_topic, columns[known], vocabulary, n_words), strict=True
        ):
            answers[i] = why
        return answers

    def _reasons(
        self, counts: Any, doc_topic: Float32, tags: Int64, vocabulary: Sequence[str], n_words: int
    ) -> list[tuple[tuple[str, float], ...]]:
        row = sp.csr_array(counts)
        if not (n_words and len(tags) and row.nnz):
            return [()] * len(tags)
        strength = self._pull(row, doc_topic, tags)
        return [_strongest(row.indices, part, vocabulary, n_words) for part in strength]

    @cached_property
    def _column(self) -> dict[str, int]:
        """The column of each tag."""
        return {tag: t for t, tag in enumerate(self.tag_names)}

    def _pull(self, document: sp.csr_array, theta: Float32, tags: Int64) -> Float64:
        """Return (tags, words of the document): how much more of each word the carriers of each tag share."""
        alike = kernel_of(documents_of(document, theta), self.index, self.bandwidth, self._threads)
        rows = best_columns(alike, NEIGHBOURS)[0]
        near = sp.csr_array(self.counts[rows])
        x = document.data / document.data.sum()
        y = near[:, document.indices].toarray() / near.sum(1)[:, np.newaxis]
        shared = 2 * x * y / np.maximum(x + y, LEAST)
        carried = self.tags[rows][:, tags].toarray()
        mean = carried.T @ shared / np.maximum(carried.sum(0), 1)[:, np.newaxis]
        return np.asarray(np.where(carried.any(0)[:, np.newaxis], mean - shared.mean(0), 0), dtype=np.float64)

    @cached_property
    def tag_docs(self) -> Int64:
        """(T,) how many training documents carry each tag."""
        return np.bincount(self.tags.indices, minlength=len(self.tag_names)).astype(np.int64)

    @cached_property
    def _company(self) -> sp.csr_array:
        """CSR (T, T), row t: the share of its documents with each other tag; empty if tags are many."""
        if not len(self.coefficients):
            return sp.csr_array((len(self.tag_names), len(self.tag_names)), dtype=np.float32)
        together = tags_together(self.tags)
        together.data /= np.repeat(self.tag_docs, np.diff(together.indptr)).astype(np.float32)
        return together

    @cached_property
    def index(self) -> Documents:
        """The training documents as the kernel needs them, computed once."""
        return documents_of(self.counts, self.topics)

    def _batches(self, n: int) -> Iterator[slice]:
        step = max(1, min(256, _BATCH_PAIRS // (2 * N_COLUMNS * max(len(self.tag_names), 1))))
        return (slice(first, min(first + step, n)) for first in range(0, n, step))

    def _answered(self, counts: Any, doc_topic: Float32) -> Iterator[tuple[Any, Documents, Float32]]:
        """Yield documents in batches, each with the probabilities of all tags."""
        for batch in self._batches(counts.shape[0]):
            part = sp.csr_array(counts[batch])
            new = documents_of(part, doc_topic[batch])
            known = evidence(self._scores(new), self.tag_docs, len(self.rows), self._company)
            likely = probabilities(known, self.calibration.weights)
            likely[np.diff(part.indptr) == 0] = self.tag_docs / len(self.rows)
            yield part, new, likely

    def _evidence_without(self, own: Int64) -> tuple[Float32, Any]:
        """Return the evidence of training documents, each without itself, and (D, T) the tags they carry."""
        new = documents_of(sp.csr_array(self.counts[own]), self.topics[own])
        truth = self.tags[own].toarray() > 0
        n_docs = self.tag_docs - truth
        return evidence(self._scores(new, own), n_docs, len(self.rows) - 1, self._company), truth

    @single_thread()
    def _scores(self, new: Documents, own: Int64 | None = None) -> Float32:
        """Return (D, T): what the ridge predicts; `own` are numbers of training documents, -1 for others."""
        N = len(self.rows)
        share = (self.tag_docs / N).astype(np.float32)
        if len(self.coefficients):
            scores = kernel_of(new, self.index, self.bandwidth, self._threads) @ self.coefficients + share
            if own is not None:
                known = own >= 0
                scores[known] -= self.own[own[known], np.newaxis] * self.coefficients[own[known]]
            return np.asarray(scores, dtype=np.float32)
        votes = votes_of(neighbours(new, self.index, self.bandwidth, self._threads, own), self.tags)
        return np.asarray(votes.table.toarray() + votes.rest[:, np.newaxis] * share, dtype=np.float32)

    @property
    def _threads(self) -> int:
        return self.n_threads or resolve_threads(None)


def fit_recommender(
    counts: Any,
    tags: Any,
    doc_topic: Float32,
    tag_names: tuple[str, ...],
    seed: int = 0,
    n_threads: int = 0,
    on_progress: Callable[[float], None] = lambda share: None,
) -> TagRecommender:
    """Train a recommender on tagged documents; the result does not depend on the number of threads.

    Args:
        counts: CSR (D, W); a weight below 1.2e-38 is no word.
        tags: CSR (D, T).
        doc_topic: (D, K) topic proportions inferred with tags hidden, as those of new documents will be.
        tag_names: the T tags.
        seed: for drawing documents for the bandwidth and calibration where there are many.
        n_threads: 0 for all cores.
        on_progress: called with the share of the work done, from 0 to 1.
    """
    counts = at_least(counts, LEAST)
    used = np.flatnonzero((np.diff(counts.indptr) > 0) & (np.diff(tags.indptr) > 0))
    if not len(used):
        raise InputError("fit_recommender: no document has both words and tags")
    generator = np.random.default_rng(seed)
    few = _MOST_COEFFICIENTS // len(tag_names) if len(tag_names) <= _FEW_TAGS else MOST_DOCS
    used = used[_drawn(generator, len(used), min(MOST_DOCS, few))]
    counts, theta = (
        sp.csr_array(counts[used], dtype=np.float32),
        np.asarray(doc_topic[used], dtype=np.float32),
    )
    carried = sp.csr_array(tags[used], dtype=np.float32)
    for matrix in (counts, carried):
        matrix.sum_duplicates()
    carried.data[:] = 1
    bandwidth = bandwidth_of(counts, theta, _drawn(generator, len(used), _PAIRS_FOR_WIDTH))
    T = len(tag_names)
    coefficients, own = _regressed(counts, carried, theta, bandwidth, generator, n_threads)
    on_progress(0.5)
    unset = Calibration(np.zeros(N_COLUMNS), np.ones(T), np.full(T, 0.5))
    trained = TagRecommender(
        counts, theta, carried, used, coefficients, own, bandwidth, unset, tag_names, n_threads
    )
    most = _CALIBRATED_DOCS if len(coefficients) else _CALIBRATED_BY_NEIGHBOURS
    sample = _drawn(generator, len(used), min(most, _CALIBRATED_PAIRS // T + 1))
    try:
        return replace(trained, calibration=_calibrated(trained, sample, on_progress))
    finally:
        on_progress(1.0)  # also if it failed


def uses_all(n_docs: int, n_tags: int) -> bool:
    """Return whether tags are regressed on all training documents, not only on the nearest ones."""
    return n_docs * n_tags <= _LARGEST_TABLE


@single_thread()
def _regressed(
    counts: Any, tags: Any, theta: Float32, bandwidth: float, generator: np.random.Generator, n_threads: int
) -> tuple[Float32, Float32]:
    """Return `coefficients` and `own` of a recommender; both are empty if tags are many.

    Each part of the documents has a regression of its own; the answers of the parts are averaged.
    """
    N, T = tags.shape
    if not uses_all(N, T):
        return np.zeros((0, T), dtype=np.float32), np.zeros(0, dtype=np.float32)
    coefficients, own = np.zeros((N, T), dtype=np.float32), np.zeros(N, dtype=np.float32)
    share = np.asarray(tags.mean(0), dtype=np.float32)
    n_parts = -(-N // PART)
    order = generator.permutation(N)
    for rows in (np.sort(order[first::n_parts]) for first in range(n_parts)):
        docs = documents_of(sp.csr_array(counts[rows]), theta[rows])
        kernel = kernel_of(docs, docs, bandwidth, n_threads or resolve_threads(None))
        solution, own[rows] = solve_part(kernel, tags[rows].toarray() - share)
        solution /= n_parts
        coefficients[rows] = solution if N * T < HALVED_FROM else solution.astype(np.float16)
    return coefficients, own


def _calibrated(
    recommender: TagRecommender, sample: Int64, on_progress: Callable[[float], None]
) -> Calibration:
    """Learn from the answers to training documents of a sample, each without itself."""
    T, n_threads, company = len(recommender.tag_names), recommender._threads, recommender._company
    n_all = len(recommender.index.topics) - 1  # the index is computed here, not by each thread
    batches, rows = list(recommender._batches(len(sample))), max(1, _BALANCED_PAIRS // T)

    def answered(batch: slice) -> tuple[Any, ...]:
        known, truth = recommender._evidence_without(sample[batch])
        return *candidates(known, truth), known[:, :, 1].copy(), truth

    chosen, outcomes, scores, truths = zip(*results_of(answered, batches, n_threads), strict=True)
    on_progress(0.8)
    weights = logistic_weights(np.concatenate(chosen)[:, 1:], np.concatenate(outcomes))

    def judged(i: int) -> tuple[Any, ...]:
        known = evidence(scores[i], recommender.tag_docs - truths[i], n_all, company)
        likely = probabilities(known, weights)
        docs, tags = np.nonzero(likely >= _IMPROBABLE)
        first = likely[: max(rows - batches[i].start, 0)].copy()
        return likely.sum(0, dtype=np.float64), first, tags, likely[docs, tags], truths[i][docs, tags]

    sums, *parts = zip(*results_of(judged, range(len(batches)), n_threads), strict=True)
    balanced, tags, likely, truth = map(np.concatenate, parts)
    expected = np.add.reduce(sums)
    n_true = int(recommender.tags[sample].sum())
    threshold = fair_thresholds(tags, likely, truth, expected, n_true)
    frequency = np.asarray((recommender.tag_docs + 0.5) / (len(recommender.rows) + 1.0), dtype=np.float64)
    handicap = fair_handicap(balanced, recommender.tags[sample[: len(balanced)]].toarray() > 0, frequency)
    return Calibration(weights, handicap, threshold)


def _drawn(generator: np.random.Generator, n: int, most: int) -> Int64:
    return np.arange(n) if n <= most else np.sort(generator.permutation(n)[:most])


def _strongest(
    words: Int64, strength: Float64, vocabulary: Sequence[str], n: int
) -> tuple[tuple[str, float], ...]:
    best = np.argsort(-strength, kind="stable")[:n]
    return tuple((vocabulary[words[i]], float(strength[i])) for i in best if strength[i] > 0)
