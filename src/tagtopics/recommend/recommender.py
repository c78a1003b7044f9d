"""Tag recommendation: kernel ridge regression on words and topics, calibrated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from tagtopics._blas import single_thread
from tagtopics._typing import CSR, Float32, Float64, Int64
from tagtopics.corpus.tags import tags_together
from tagtopics.errors import InputError
from tagtopics.jit.threads import results_of
from tagtopics.jit.top import largest_in_rows
from tagtopics.recommend import ridge
from tagtopics.recommend.calibration import (
    N_FEATURES,
    Calibration,
    calibration_features,
    candidates,
    fair_thresholds,
    pick_tags,
    popularity_penalty,
    probabilities,
)
from tagtopics.recommend.choice import Choice, Recommendation
from tagtopics.recommend.logistic import logistic_weights
from tagtopics.recommend.loops import KernelDocuments

# Up to 1,000 tags, training documents are sampled so that the table of coefficients stays below 2^24.
_FEW_TAGS, _MOST_COEFFICIENTS = 1000, 1 << 24
_PAIRS_FOR_WIDTH = 300  # documents whose mean distance sets the width of the kernel
MOST_DOCS = 1 << 16  # training documents that are kept; of more, a random sample
# Training documents that calibration uses, with scores of all documents, and of the nearest ones.
_CALIBRATED_DOCS, _CALIBRATED_BY_NEIGHBOURS = 2000, 1000
# Documents without evidence that calibration adds at most; with 1,000 of its own, none.
_ADDED_DOCS, _ENOUGH_DOCS = 5.0, 1000
_CALIBRATED_PAIRS = 1 << 24  # most document-tag pairs that calibration uses
_BALANCED_PAIRS = 1 << 21  # document-tag pairs that the balance of lists is learned from
_BATCH_PAIRS = 1 << 22  # document-tag pairs in memory at a time
_SURE = np.float32(0.9)  # largest probability of a tag when documents are compared
_IMPROBABLE = 0.01  # less probable pairs are left out when thresholds are learned


def _most_docs(n_tags: int) -> int:
    """Return how many training documents are kept."""
    return min(MOST_DOCS, _MOST_COEFFICIENTS // n_tags) if n_tags <= _FEW_TAGS else MOST_DOCS


def recommender_bytes(n_docs: int, n_tags: int, n_topics: int) -> int:
    """Return how many bytes a saved recommender takes, without the counts and tags of its documents."""
    N = min(n_docs, _most_docs(n_tags))
    coefficients, inverse = ridge.stored_sizes(N, n_tags)
    table = N * coefficients
    return (4 if table < ridge.HALVED_FROM else 2) * table + 2 * inverse + 4 * N * n_topics


@dataclass(frozen=True)
class TagRecommender:
    """A fitted recommender; users call `TopicModel.recommend`.

    New documents are counts (D, W) in the columns of the model and topic proportions (D, K), tags hidden.
    """

    counts: CSR  # (N, W) the training documents that have words and tags
    topics: Float32  # (N, K) their topic proportions, tags hidden
    tags: CSR  # (N, T) 0 or 1
    rows: Int64  # (N,) their places among the documents of the fit
    coefficients: Float32  # (N, T) of the regression on all documents; (0, T) if tags are many
    inverse: Float32  # (N, N) if tags are many, see `ridge.fit_inverse`; (0, 0) if documents are, too
    own: Float32  # (N,) what each document adds to its own score, per coefficient; (0,) likewise
    bandwidth: float  # of the kernel exp(-bandwidth (1 - similarity))
    calibration: Calibration  # from scores to probabilities, predictions and lists
    tag_names: tuple[str, ...]  # the T tags
    vectors: Float32 | None = None  # (N, n) of length one, if they are part of the similarity
    vector_weight: float | None = None  # their share in it; 0 if they predict no tags, None if there are none
    with_vectors: TagRecommender | None = None  # the recommender for new documents that have vectors

    def probabilities(self, counts: CSR, doc_topic: Float32, vectors: Float32 | None = None) -> Float32:
        """Return (D, T): the probability of each tag; that of all documents for one without words.

        Vectors (D, n) of length one are needed if the recommender has vectors of its own.
        """
        parts = [likely for _, _, likely in self._batch_probabilities(counts, doc_topic, vectors)]
        return np.concatenate(parts) if parts else np.zeros((0, len(self.tag_names)), dtype=np.float32)

    def leave_one_out(self, rows: Any) -> Float32:
        """Return (D, T): the probabilities of tags of training documents (D,), each scored without itself."""
        likely = np.zeros((len(rows), len(self.tag_names)), dtype=np.float32)
        for batch in self._batches(len(rows)):
            own = np.asarray(rows)[batch]
            features, _ = self._leave_one_out_features(own)
            likely[batch] = probabilities(features, self.calibration.weights)
        return likely

    def leave_one_out_scores(self, counts: CSR, doc_topic: Float32, own: Int64) -> Float32:
        """Return (D, T): what the regression predicts for documents, each without itself.

        All are compared with the training documents; `ridge.leave_one_out_scores` is faster for those that
        are in one regression. `own` (D,) is the number among the training documents, -1 for any other.
        """
        new = ridge.documents_of(sp.csr_array(counts, dtype=np.float32), doc_topic)
        return self._scores(new, own, None if self.vectors is None else self.vectors[own])

    def leave_one_out_votes(self, counts: CSR, doc_topic: Float32, own: Int64, most: int) -> ridge.Votes:
        """Return the scores by at most `most` nearest documents; arguments as in `leave_one_out_scores`."""
        return self._votes(ridge.documents_of(sp.csr_array(counts, dtype=np.float32), doc_topic), own, most)

    def relate(
        self, counts: CSR, doc_topic: Float32, known: CSR | None, vectors: Float32 | None = None
    ) -> Float32:
        """Return (D, N): how related new documents are to the training documents.

        That is 1 - (1 - p)(1 - s), with p the probability that both have a tag in common and s the similarity
        of their words, topics and vectors. `known`, CSR (D, T), are tags of the new documents; the others
        are predicted. No tag is surer than `_SURE`, so that s orders documents with the same tags.
        """
        related = np.zeros((counts.shape[0], len(self.rows)), dtype=np.float32)
        for batch in (slice(d, d + 1) for d in range(len(related))):  # bits do not depend on other documents
            part = sp.csr_array(counts[batch], dtype=np.float32)
            own_vectors = None if vectors is None else vectors[batch]
            likely = self.probabilities(part, doc_topic[batch], own_vectors)
            if known is not None:
                likely = np.maximum(likely, known[batch].toarray())
            missed = np.exp((self.tags @ np.log1p(-np.minimum(likely, _SURE)).T).T)
            new = ridge.documents_of(part, doc_topic[batch])
            alike = ridge.similarities(new, self.index, self._cosines(own_vectors))
            related[batch] = 1 - missed * (1 - np.maximum(alike, 0))
        return related

    def predict_tags(self, likely: Float32) -> Any:
        """Return (D, T) booleans: the tags that are probable enough, given their probabilities."""
        return likely >= self.calibration.threshold

    def pick_tags(self, likely: Float32, top: int, balanced: bool = False) -> Int64:
        """Return (D, top): the tags recommended, given their probabilities (D, T), most probable first."""
        if balanced:
            return pick_tags(likely, self.calibration.popularity_penalty, top)
        return largest_in_rows(likely, top)

    def recommend(
        self,
        counts: CSR,
        doc_topic: Float32,
        choice: Choice,
        vocabulary: Sequence[str] = (),
        n_words: int = 0,
        vectors: Float32 | None = None,
    ) -> list[list[Recommendation]]:
        """Return for each document its tags, most probable first; none for a document without words.

        With `n_words` above 0, each has the words behind it, as in `reasons`. Vectors as in `probabilities`.
        """
        admitted = choice.admits(self.tag_names)
        top = min(choice.top, int(admitted.sum()))
        answers: list[list[Recommendation]] = []
        for batch, new, likely in self._batch_probabilities(counts, doc_topic, vectors):
            shown = likely if admitted.all() else np.where(admitted, likely, np.float32(-1))
            for d, tags in enumerate(self.pick_tags(shown, top, choice.balanced)):
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
        self, counts: CSR, doc_topic: Float32, tags: Sequence[str], vocabulary: Sequence[str], n_words: int
    ) -> list[tuple[tuple[str, float], ...]]:
        """Return for each tag the words of one document that suggest it; none for a tag without documents.

        The weight of a word is its part in the mean similarity to the neighbours that carry the tag, less
        that of all neighbours; words with a negative weight are omitted. Vectors are not
        used: neighbours are those of words and topics.
        """
        columns = np.array([self._column.get(tag, -1) for tag in tags], dtype=np.int64)
        found = iter(self._reasons(counts, doc_topic, columns[columns >= 0], vocabulary, n_words))
        return [next(found) if column >= 0 else () for column in columns]

    def _reasons(
        self, counts: CSR, doc_topic: Float32, tags: Int64, vocabulary: Sequence[str], n_words: int
    ) -> list[tuple[tuple[str, float], ...]]:
        row = sp.csr_array(counts)
        if not (n_words and len(tags) and row.nnz):
            return [()] * len(tags)
        answers = []
        # (1) How much the nearest training documents share of each word of the document, with each tag.
        alike = ridge.kernel_of(ridge.documents_of(row, doc_topic), self.index, self.bandwidth)
        rows = largest_in_rows(alike, ridge.NEIGHBOURS)[0]
        near = sp.csr_array(self.counts[rows])
        x = row.data / row.data.sum()
        y = near[:, row.indices].toarray() / near.sum(1)[:, np.newaxis]
        shared = 2 * x * y / np.maximum(x + y, ridge.LEAST)
        carried = self.tags[rows][:, tags].toarray()
        mean = carried.T @ shared / np.maximum(carried.sum(0), 1)[:, np.newaxis]
        strengths = np.where(carried.any(0)[:, np.newaxis], mean - shared.mean(0), 0).astype(np.float64)
        # (2) The words that documents with the tag share more than others do.
        for strength in strengths:
            best = np.argsort(-strength, kind="stable")[:n_words]
            chosen = [i for i in best if strength[i] > 0]
            answers.append(tuple((vocabulary[row.indices[i]], float(strength[i])) for i in chosen))
        return answers

    @cached_property
    def _column(self) -> dict[str, int]:
        """The column of each tag."""
        return {tag: t for t, tag in enumerate(self.tag_names)}

    @cached_property
    def tag_docs(self) -> Int64:
        """(T,) how many training documents carry each tag."""
        return np.bincount(self.tags.indices, minlength=len(self.tag_names)).astype(np.int64)

    @cached_property
    def _cooccurrence(self) -> sp.csr_array:
        """CSR (T, T), row t: the share of its documents with each other tag; empty if tags are many."""
        if not len(self.own):
            return sp.csr_array((len(self.tag_names), len(self.tag_names)), dtype=np.float32)
        together = tags_together(self.tags)
        together.data /= np.repeat(self.tag_docs, np.diff(together.indptr)).astype(np.float32)
        return together

    @cached_property
    def index(self) -> KernelDocuments:
        """The training documents as the kernel needs them, computed once."""
        return ridge.documents_of(self.counts, self.topics)

    def _batches(self, n: int) -> Iterator[slice]:
        step = max(1, min(256, _BATCH_PAIRS // (2 * N_FEATURES * max(len(self.tag_names), 1))))
        return (slice(first, min(first + step, n)) for first in range(0, n, step))

    def _cosines(self, vectors: Float32 | None) -> ridge.Cosines | None:
        """Return how vectors of new documents, (D, n), enter the similarity; None without."""
        if vectors is None or self.vectors is None:
            return None
        return ridge.Cosines(vectors, self.vectors, self.vector_weight or 0.0)

    def _batch_probabilities(
        self, counts: CSR, doc_topic: Float32, vectors: Float32 | None
    ) -> Iterator[tuple[Any, KernelDocuments, Float32]]:
        """Yield documents in batches, each with the probabilities of all tags."""
        for batch in self._batches(counts.shape[0]):
            part = sp.csr_array(counts[batch])
            new = ridge.documents_of(part, doc_topic[batch])
            features = calibration_features(
                self._scores(new, None, None if vectors is None else vectors[batch]),
                self.tag_docs,
                len(self.rows),
                self._cooccurrence,
            )
            likely = probabilities(features, self.calibration.weights)
            likely[np.diff(part.indptr) == 0] = self.tag_docs / len(self.rows)
            yield part, new, likely

    def _leave_one_out_features(self, own: Int64) -> tuple[Float32, Any]:
        """Return the evidence of training documents, each without itself, and (D, T) the tags they carry."""
        truth = self.tags[own].toarray() > 0
        if len(self.coefficients) <= ridge.PART and 0 < self.coefficients.size < ridge.HALVED_FROM:
            # All documents are in one regression, whose coefficients are not rounded.
            parts = self.own[own, np.newaxis]
            scores = ridge.leave_one_out_scores(self.coefficients[own], parts, truth)
        else:
            scores = self.leave_one_out_scores(self.counts[own], self.topics[own], own)
        n_docs = self.tag_docs - truth
        return calibration_features(scores, n_docs, len(self.rows) - 1, self._cooccurrence), truth

    @single_thread()
    def _scores(
        self, new: KernelDocuments, own: Int64 | None = None, vectors: Float32 | None = None
    ) -> Float32:
        """Return (D, T): what the ridge predicts; `own` are numbers of training documents, -1 for others."""
        share = (self.tag_docs / len(self.rows)).astype(np.float32)
        if not len(self.own):
            votes = self._votes(new, own, ridge.NEIGHBOURS)
            return np.asarray(votes.table.toarray() + votes.rest[:, np.newaxis] * share, dtype=np.float32)
        known = np.zeros(0, dtype=np.int64) if own is None else np.flatnonzero(own >= 0)
        own_rows = known if own is None else own[known]
        kernel = ridge.kernel_of(new, self.index, self.bandwidth, self._cosines(vectors))
        if len(self.inverse):
            weights = np.concatenate([kernel @ self.inverse, self.inverse[own_rows]])
            products = weights @ self.tags - weights.sum(1, keepdims=True) * share
            scores, coefficients = products[: len(kernel)], products[len(kernel) :]
        else:
            scores, coefficients = kernel @ self.coefficients, self.coefficients[own_rows]
        scores += share
        scores[known] -= self.own[own_rows, np.newaxis] * coefficients
        return np.asarray(scores, dtype=np.float32)

    @single_thread()
    def _votes(self, new: KernelDocuments, own: Int64 | None, most: int) -> ridge.Votes:
        """Return the scores of at most `most` nearest documents; arguments as in `_scores`."""
        alike = ridge.similarities(new, self.index)
        if own is not None:
            known, most = np.flatnonzero(own >= 0), min(most, len(self.rows) - 1)
            alike[known, own[known]] = -1
        weights = ridge.neighbour_weights(alike, self.counts, self.topics, self.bandwidth, most)
        return ridge.Votes(weights @ self.tags, 1 - weights.sum(1, dtype=np.float64))


def fit_recommender(
    counts: CSR,
    tags: CSR,
    doc_topic: Float32,
    tag_names: tuple[str, ...],
    seed: int = 0,
    vectors: Float32 | None = None,
) -> TagRecommender:
    """Train a recommender on counts (D, W) and tags (D, T); a weight below 1.2e-38 is no word.

    Topic proportions (D, K) are inferred with tags hidden, as those of new documents will be. The seed is for
    drawing documents where there are many. Vectors (D, n) of length one train a second recommender,
    `with_vectors`, if they help to predict tags.
    """
    counts = ridge.at_least(counts, ridge.LEAST)
    used = np.flatnonzero((np.diff(counts.indptr) > 0) & (np.diff(tags.indptr) > 0))
    if not len(used):
        raise InputError("fit_recommender: no document has both words and tags")
    generator = np.random.default_rng(seed)
    used = used[_draw(generator, len(used), _most_docs(len(tag_names)))]
    counts = sp.csr_array(counts[used], dtype=np.float32)
    theta = np.asarray(doc_topic[used], dtype=np.float32)
    carried = sp.csr_array(tags[used], dtype=np.float32)
    for matrix in (counts, carried):
        matrix.sum_duplicates()
    carried.data[:] = 1
    bandwidth = ridge.bandwidth_of(counts, theta, _draw(generator, len(used), _PAIRS_FOR_WIDTH))
    T = len(tag_names)
    none = (
        np.zeros((0, T), dtype=np.float32),
        np.zeros((0, 0), dtype=np.float32),
        np.zeros(0, dtype=np.float32),
    )
    unset = Calibration(np.zeros(N_FEATURES), np.ones(T), np.full(T, 0.5))
    blank = TagRecommender(counts, theta, carried, used, *none, bandwidth, unset, tag_names)
    trained = _train(blank, generator)
    if vectors is None:
        return trained
    more, own = None, vectors[used]
    if len(trained.own):
        some = _draw(generator, len(own), _sample_size(_CALIBRATED_DOCS, T))
        docs = ridge.documents_of(sp.csr_array(counts[some]), theta[some])
        weight, bandwidth = ridge.choose_vector_weight(docs, carried[some], own[some])
        if weight:  # else they predict no tags
            blank = replace(blank, vectors=own, vector_weight=weight, bandwidth=bandwidth)
            more = _train(blank, generator)
    return replace(trained, vector_weight=more.vector_weight if more else 0.0, with_vectors=more)


def _train(blank: TagRecommender, generator: np.random.Generator) -> TagRecommender:
    """Return a recommender with coefficients, or the inverse of the kernel, and calibration."""
    (N, T), cosines, trained = blank.tags.shape, blank._cosines(blank.vectors), blank
    n_coefficients, n_inverse = ridge.stored_sizes(N, T)
    if n_coefficients:
        data = blank.counts, blank.tags, blank.topics, blank.bandwidth
        coefficients, own = ridge.fit_coefficients(*data, generator, cosines)
        trained = replace(blank, coefficients=coefficients, own=own)
    elif n_inverse:
        inverse, own = ridge.fit_inverse(blank.index, blank.bandwidth, cosines)
        trained = replace(blank, inverse=inverse, own=own)
    most = _CALIBRATED_DOCS if len(trained.own) else _CALIBRATED_BY_NEIGHBOURS
    sample = _draw(generator, N, _sample_size(most, T))
    return replace(trained, calibration=_calibrate(trained, sample))


def _sample_size(most: int, n_tags: int) -> int:
    return min(most, _CALIBRATED_PAIRS // n_tags + 1)


def _calibrate(recommender: TagRecommender, sample: Int64) -> Calibration:
    """Learn from the leave-one-out scores of a sample of training documents."""
    T, cooccurrence = len(recommender.tag_names), recommender._cooccurrence
    n_all = len(recommender.index.topics) - 1  # the index is computed here, not by each thread
    batches, rows = list(recommender._batches(len(sample))), max(1, _BALANCED_PAIRS // T)

    def score_batch(batch: slice) -> tuple[Any, ...]:
        features, truth = recommender._leave_one_out_features(sample[batch])
        return *candidates(features, truth), features[:, :, 1].copy(), truth

    chosen, outcomes, scores, truths = zip(*results_of(score_batch, batches), strict=True)
    weights = _weights(recommender, np.concatenate(chosen), np.concatenate(outcomes))

    def calibrate_batch(i: int) -> tuple[Any, ...]:
        features = calibration_features(scores[i], recommender.tag_docs - truths[i], n_all, cooccurrence)
        likely = probabilities(features, weights)
        docs, tags = np.nonzero(likely >= _IMPROBABLE)
        first = likely[: max(rows - batches[i].start, 0)].copy()
        return likely.sum(0, dtype=np.float64), first, tags, likely[docs, tags], truths[i][docs, tags]

    sums, *parts = zip(*results_of(calibrate_batch, range(len(batches))), strict=True)
    balanced, tags, likely, truth = map(np.concatenate, parts)
    expected = np.add.reduce(sums)
    n_true = int(recommender.tags[sample].sum())
    threshold = fair_thresholds(tags, likely, truth, expected, n_true)
    frequency = np.asarray((recommender.tag_docs + 0.5) / (len(recommender.rows) + 1.0), dtype=np.float64)
    penalty = popularity_penalty(balanced, recommender.tags[sample[: len(balanced)]].toarray() > 0, frequency)
    return Calibration(weights, penalty, threshold)


def _weights(recommender: TagRecommender, columns: Float32, outcomes: Any) -> Float64:
    """Return the weights of the features, from those of candidates and their outcomes.

    With few documents, outcomes say little about scores between those of true and of wrong tags. Then a few
    documents without evidence are added, whose scores and probabilities are the base rates.
    """
    n_all = len(recommender.rows)
    added = _ADDED_DOCS * (1 - n_all / _ENOUGH_DOCS)
    if added <= 0:
        return logistic_weights(columns[:, 1:], outcomes)
    rates = (recommender.tag_docs / n_all)[np.newaxis].astype(np.float32)
    even = calibration_features(rates, recommender.tag_docs, n_all, recommender._cooccurrence)
    more, share = candidates(even, rates)
    weight = np.concatenate([np.ones(len(outcomes)), added * share, added * (1 - share)])
    truth = np.concatenate([outcomes, np.repeat([True, False], len(share))])
    return logistic_weights(np.concatenate([columns, more, more])[:, 1:], truth, weight)


def _draw(generator: np.random.Generator, n: int, most: int) -> Int64:
    return np.arange(n) if n <= most else np.sort(generator.permutation(n)[:most])
