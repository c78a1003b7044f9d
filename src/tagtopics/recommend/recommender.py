"""Tag recommendation: kernel regression on words and topics, calibrated with the tags that go together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tagtopics._blas import single_thread
from tagtopics._typing import Float32, Float64, Int64
from tagtopics.corpus.core import checked_csr
from tagtopics.errors import InputError
from tagtopics.recommend.calibration import Calibration, calibrate, evidence, picked, probabilities
from tagtopics.recommend.ridge import PARTS, chi2_features, dot_products, exact_ridge, landmark_ridge

TOPIC_WEIGHT = 0.1
"""Share of the topics in the similarity of two documents; the other share is that of the words."""

RIDGE = 0.1
"""Added to the diagonal of the kernel. Good from photographs to news: decision 030."""

_PAIRS_FOR_WIDTH = 1000
"""Documents whose mean distance sets the width of the kernel."""

_MOST_EXACT = 8000
"""Up to this many documents the full kernel is factorised; above, `_LANDMARKS` of them stand for all."""

_LANDMARKS = 3000
_CALIBRATED_PAIRS = 1 << 21
"""Most document-tag pairs that calibration uses."""

_BATCH_PAIRS = 1 << 22
"""Document-landmark and document-tag pairs in memory at a time while recommending."""

MOST_COMPANY = 100
"""Documents with more tags than this say nothing about which tags go together. This bounds the matrix of
connected tags by 100 times the number of taggings."""

_PREFIX = "recommender."
_MATRICES = ("landmark_counts", "company")
_ARRAYS = ("landmark_topics", "coefficients", "tag_docs")
_OF_CALIBRATION = ("weights", "handicap")

_LARGEST = 1e9
"""Largest number in the arrays of a loaded recommender; those of a fit stay far below."""


class Recommendation(NamedTuple):
    """A tag for a document."""

    tag: str
    probability: float
    words: tuple[tuple[str, float], ...] = ()  # the words behind it with their weights, if requested


class _Documents(NamedTuple):
    """Documents as the kernel sees them."""

    words: sp.csr_array  # (D, PARTS * W) rows of length one
    topics: Float32  # (D, K) square roots of the proportions: rows of length one

    def rows(self, rows: Any) -> _Documents:
        return _Documents(sp.csr_array(self.words[rows]), self.topics[rows])


def described(counts: Any, doc_topic: Float32) -> _Documents:
    """Return documents of counts (CSR, D x W) and topic proportions (D, K) as the kernel sees them."""
    return _Documents(chi2_features(counts), np.sqrt(doc_topic))


def distances(left: _Documents, right: _Documents) -> Float32:
    """Return (L, R): one minus the similarity in words and topics, from 0 to 1."""
    alike = (1 - TOPIC_WEIGHT) * dot_products(left.words, right.words)
    alike += TOPIC_WEIGHT * (left.topics @ right.topics.T)
    return np.asarray(1 - alike, dtype=np.float32)


@dataclass(frozen=True)
class TagRecommender:
    """A fitted recommender; users call `TopicModel.recommend`.

    Attributes:
        landmark_counts: CSR (M, W) the documents that new ones are compared with.
        landmark_topics: (M, K) their topic proportions.
        coefficients: (M, T) of the regression.
        bandwidth: of the kernel exp(-bandwidth * distance).
        tag_docs: (T,) how many training documents carry each tag.
        n_docs: how many training documents there were.
        company: CSR (T, T), row t: the share of the documents of t with each other tag; see `MOST_COMPANY`.
        calibration: from scores to probabilities and lists.
        tag_names: the T tags.
    """

    landmark_counts: Any
    landmark_topics: Float32
    coefficients: Float32
    bandwidth: float
    tag_docs: Int64
    n_docs: int
    company: Any
    calibration: Calibration
    tag_names: tuple[str, ...]

    @property
    def frequency(self) -> Float64:
        """(T,) the share of documents that carry each tag, half a document added."""
        return _frequency(self.tag_docs, self.n_docs)

    @single_thread()
    def probabilities(self, counts: Any, doc_topic: Float32) -> Float32:
        """Return (D, T): the probability of each tag.

        Args:
            counts: CSR (D, W) in the columns of the model.
            doc_topic: (D, K) topic proportions, tags hidden.
        """
        parts = [self._likely(kernel) for _, kernel in self._kernels(counts, doc_topic)]
        return np.concatenate(parts) if parts else np.zeros((0, len(self.tag_names)), dtype=np.float32)

    def picked(self, likely: Float32, top: int) -> Int64:
        """Return (D, top): the tags recommended, given their probabilities (D, T), most probable first."""
        return picked(likely, self.calibration.handicap, top)

    @single_thread()
    def recommend(self, counts: Any, doc_topic: Float32, top: int) -> list[list[Recommendation]]:
        """Return for each document its tags, most probable first."""
        answers = []
        for _, kernel in self._kernels(counts, doc_topic):
            likely = self._likely(kernel)
            for row, tags in zip(likely, self.picked(likely, top), strict=True):
                answers.append([Recommendation(self.tag_names[t], float(row[t])) for t in tags])
        return answers

    @single_thread()
    def reasons(
        self, counts: Any, doc_topic: Float32, top: int, vocabulary: Sequence[str], n_words: int
    ) -> list[list[Recommendation]]:
        """Return recommendations with the words behind each.

        The weight of a word is what the score would lose without the word's part in the similarity to the
        landmarks, to first order; words with a negative weight are omitted.
        """
        answers = []
        landmarks = self._landmarks.words
        for documents, kernel in self._kernels(counts, doc_topic):
            likely = self._likely(kernel)
            for d, tags in enumerate(self.picked(likely, top)):
                own = sp.csr_array(documents.words[d : d + 1])
                pull = (kernel[d][:, np.newaxis] * self.coefficients[:, tags]).T @ landmarks[:, own.indices]
                words, parts = _by_word(own, np.atleast_2d(pull))
                telling = [_strongest(words, part, vocabulary, n_words) for part in parts]
                rows = [
                    Recommendation(self.tag_names[t], float(likely[d, t]), words_of_tag)
                    for t, words_of_tag in zip(tags, telling, strict=True)
                ]
                answers.append(rows)
        return answers

    def _likely(self, kernel: Float32) -> Float32:
        scores = kernel @ self.coefficients + (self.tag_docs / self.n_docs).astype(np.float32)
        return probabilities(evidence(scores, self.frequency, self.company), self.calibration.weights)

    @cached_property
    def _landmarks(self) -> _Documents:
        """The landmarks as the kernel sees them, computed once."""
        return described(self.landmark_counts, self.landmark_topics)

    def _kernels(self, counts: Any, doc_topic: Float32) -> Iterator[tuple[_Documents, Float32]]:
        """Yield documents in batches, each with its kernel to the landmarks (batch, M)."""
        landmarks = self._landmarks
        step = max(1, _BATCH_PAIRS // max(len(self.coefficients), 8 * len(self.tag_names)))
        for first in range(0, counts.shape[0], step):
            batch = slice(first, first + step)
            documents = described(counts[batch], doc_topic[batch])
            yield documents, np.exp(-np.float32(self.bandwidth) * distances(documents, landmarks))


@single_thread()
def fit_recommender(
    counts: Any, tags: Any, doc_topic: Float32, tag_names: tuple[str, ...], seed: int = 0
) -> TagRecommender:
    """Train a recommender on tagged documents; the result does not depend on the number of cores.

    Args:
        counts: CSR (D, W).
        tags: CSR (D, T).
        doc_topic: (D, K) topic proportions inferred with tags hidden, as those of new documents will be.
        tag_names: the T tags.
        seed: for drawing documents for the bandwidth, landmarks and calibration where there are many.
    """
    used = np.flatnonzero((np.diff(counts.indptr) > 0) & (np.diff(tags.indptr) > 0))
    if not len(used):
        raise InputError("fit_recommender: no document has both words and tags")
    counts, tags, doc_topic = sp.csr_array(counts[used]), sp.csr_array(tags[used]), doc_topic[used]
    D = len(used)
    documents, generator = described(counts, doc_topic), np.random.default_rng(seed)
    some = documents.rows(_drawn(generator, D, _PAIRS_FOR_WIDTH))
    bandwidth = 1.0 / max(float(distances(some, some).mean(dtype=np.float64)), 1e-3)
    tag_docs = np.asarray(tags.sum(0), dtype=np.int64).ravel()
    landmarks = np.arange(D) if D <= _MOST_EXACT else _drawn(generator, D, _LANDMARKS)
    sample = _drawn(generator, D, max(1, _CALIBRATED_PAIRS // tags.shape[1]))
    coefficients, left_out = _regressed(documents, tags, tag_docs / D, bandwidth, landmarks, sample)
    company = _company(tags, tag_docs)
    calibration = calibrate(left_out, tags[sample], _frequency(tag_docs, D), company)
    chosen = sp.csr_array(counts[landmarks])
    return TagRecommender(
        chosen, doc_topic[landmarks], coefficients, bandwidth, tag_docs, D, company, calibration, tag_names
    )


def _regressed(
    documents: _Documents,
    tags: Any,
    share: Float64,
    bandwidth: float,
    landmarks: Int64,
    sample: Int64,
) -> tuple[Float32, Float32]:
    """Return coefficients (M, T), and leave-one-out scores (N, T) of the documents of a sample."""
    base, width = share.astype(np.float32), np.float32(bandwidth)

    def targets(rows: Any) -> Float32:
        return np.asarray(tags[rows].toarray() - base, dtype=np.float32)

    chosen = documents.rows(landmarks)
    if len(landmarks) == documents.words.shape[0]:
        kernel = np.exp(-width * distances(chosen, chosen))
        coefficients, left_out = exact_ridge(kernel, targets(landmarks), RIDGE)
        return coefficients, left_out[sample] + base

    def kernel_of(rows: Any) -> Float32:
        return np.asarray(np.exp(-width * distances(documents.rows(rows), chosen)))

    n_rows = documents.words.shape[0]
    coefficients, left_out = landmark_ridge(kernel_of, landmarks, targets, RIDGE, (n_rows, sample))
    return coefficients, left_out + base


def _frequency(tag_docs: Int64, n_docs: int) -> Float64:
    return np.asarray((tag_docs + 0.5) / (n_docs + 1.0), dtype=np.float64)


def _company(tags: Any, tag_docs: Int64) -> sp.csr_array:
    """Return CSR (T, T), row t: the share of the documents of t that also carry each other tag."""
    tags = tags[np.flatnonzero(np.diff(tags.indptr) <= MOST_COMPANY)]
    together = sp.csr_array(tags.astype(np.float32).T @ tags.astype(np.float32))
    together.setdiag(0)
    together.eliminate_zeros()
    together.data /= np.repeat(np.maximum(tag_docs, 1), np.diff(together.indptr)).astype(np.float32)
    return together


def _drawn(generator: np.random.Generator, n: int, most: int) -> Int64:
    return np.arange(n) if n <= most else np.sort(generator.permutation(n)[:most])


def _by_word(own: sp.csr_array, pull: Any) -> tuple[Int64, Float64]:
    """Add up the contributions (N, features of a document) of the parts of each word; return words, sums."""
    n_words = own.shape[1] // PARTS
    words, place = np.unique(own.indices % n_words, return_inverse=True)
    gathered = sp.csr_array((own.data, (np.arange(own.nnz), place)), shape=(own.nnz, len(words)))
    return words, np.asarray(pull @ gathered, dtype=np.float64)


def _strongest(
    words: Int64, strength: Float64, vocabulary: Sequence[str], n: int
) -> tuple[tuple[str, float], ...]:
    best = np.argsort(-strength, kind="stable")[:n]
    return tuple((vocabulary[words[i]], float(strength[i])) for i in best if strength[i] > 0)


def recommender_to_arrays(recommender: TagRecommender | None) -> dict[str, Any]:
    """Return the arrays of a recommender by name; an empty dictionary for None."""
    if recommender is None:
        return {}
    arrays = {name: getattr(recommender, name) for name in _ARRAYS}
    arrays |= {name: getattr(recommender.calibration, name) for name in _OF_CALIBRATION}
    for name in _MATRICES:
        arrays |= matrix_to_arrays(getattr(recommender, name), name)
    return {_PREFIX + name: np.ascontiguousarray(array) for name, array in arrays.items()}


def recommender_to_json(recommender: TagRecommender | None) -> dict[str, Any] | None:
    """Return the names and numbers of a recommender; None for None."""
    if recommender is None:
        return None
    return {
        "tag_names": list(recommender.tag_names),
        "bandwidth": recommender.bandwidth,
        "n_docs": recommender.n_docs,
        "threshold": recommender.calibration.threshold,
    }


def recommender_from(
    description: Any, arrays: dict[str, Any], n_words: int, n_topics: int
) -> TagRecommender | None:
    """Return the recommender that the two functions above converted; None for None.

    Raises:
        InputError: if its parts do not fit together.
    """
    if description is None:
        return None
    names = description["tag_names"]
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InputError("the recommender's tag_names must be a list of strings")
    own = {name[len(_PREFIX) :]: array for name, array in arrays.items() if name.startswith(_PREFIX)}
    _check(own, len(names), n_topics)
    M, T = own["coefficients"].shape
    calibration = Calibration(own["weights"], own["handicap"], float(description["threshold"]))
    return TagRecommender(
        landmark_counts=matrix_from(own, "landmark_counts", (M, n_words)),
        landmark_topics=own["landmark_topics"],
        coefficients=own["coefficients"],
        bandwidth=float(description["bandwidth"]),
        tag_docs=own["tag_docs"],
        n_docs=max(int(description["n_docs"]), 1),
        company=matrix_from(own, "company", (T, T)),
        calibration=calibration,
        tag_names=tuple(names),
    )


def _check(own: dict[str, Any], n_tags: int, n_topics: int) -> None:
    M = len(own["landmark_counts.indptr"]) - 1
    wanted = {
        "coefficients": ((M, n_tags), np.float32),
        "landmark_topics": ((M, n_topics), np.float32),
        "tag_docs": ((n_tags,), np.int64),
        "weights": ((6,), np.float64),
        "handicap": ((n_tags,), np.float64),
    }
    for name, (shape, dtype) in wanted.items():
        if own[name].shape != shape or own[name].dtype != dtype:
            found = f"{own[name].dtype} {own[name].shape}"
            raise InputError(f"the recommender's {name} is {found}, not {np.dtype(dtype)} {shape}")
        if not (np.abs(own[name]) <= _LARGEST).all():
            raise InputError(f"the recommender's {name} holds numbers that are not finite or too large")
    if (own["landmark_topics"] < 0).any() or (own["tag_docs"] < 0).any():
        raise InputError("the recommender's landmark_topics or tag_docs are negative")
    if (own["landmark_topics"] > 1.001).any():
        raise InputError("the recommender's landmark_topics are not proportions")
    if (own["handicap"] <= 0).any():
        raise InputError("the recommender's handicap holds numbers that are not positive")


def matrix_to_arrays(matrix: Any, name: str) -> dict[str, Any]:
    """Return the three arrays of a CSR array, by name; an empty dictionary for None."""
    if matrix is None:
        return {}
    return {
        f"{name}.data": np.asarray(matrix.data, dtype=np.float32),
        f"{name}.indices": np.asarray(matrix.indices, dtype=np.int64),
        f"{name}.indptr": np.asarray(matrix.indptr, dtype=np.int64),
    }


def matrix_from(arrays: dict[str, Any], name: str, shape: tuple[int, int]) -> sp.csr_array:
    """Return the CSR array that `matrix_to_arrays` converted; its entries must be finite and not negative."""
    data, indices, indptr = (arrays[f"{name}.{part}"] for part in ("data", "indices", "indptr"))
    matrix = checked_csr(data, indices, indptr, shape, name)
    if not np.isfinite(matrix.data).all() or (matrix.data < 0).any():
        raise InputError(f"{name} holds numbers that are negative or not finite")
    return matrix
