"""The words and documents behind a finding."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from tagtopics._typing import Float64, Int64
from tagtopics.corpus.core import Corpus

_MOST_COMPARED = 200
"""Documents of a tag that are compared with a document."""


class Reasons:
    """Finds typical words and similar documents; counts of documents, each word once per document."""

    def __init__(self, corpus: Corpus) -> None:
        counts = corpus.counts
        ones = np.ones(counts.nnz)
        self._corpus = corpus
        self._present = sp.csr_array((ones, counts.indices, counts.indptr), shape=counts.shape)
        self._n_docs = np.bincount(counts.indices, minlength=corpus.n_words).astype(np.float64)
        self._carriers = sp.csc_array(corpus.tags)
        self._tag_words: dict[int, tuple[Float64, Int64, Any]] = {}
        self._rarity = np.log((corpus.n_docs + 1) / (self._n_docs + 1))

    def carriers(self, tag: int) -> Int64:
        """Return the rows of the documents with a tag."""
        begin, end = self._carriers.indptr[tag : tag + 2]
        return np.asarray(self._carriers.indices[begin:end], dtype=np.int64)

    def typical(self, tags: list[int], n: int, without: int | None = None) -> tuple[str, ...]:
        """Return the words most typical of the documents of all the given tags.

        Args:
            tags: one tag or more.
            n: how many words at most.
            without: a document to leave out.
        """
        strength = np.minimum.reduce([self._strength(tag, without) for tag in tags])
        return self._words(strength, np.arange(len(strength)), n)

    def shared(self, tag: int, doc: int, n: int) -> tuple[str, ...]:
        """Return the words of a document most typical of the other documents with a tag."""
        words = self._words_of(doc)
        return self._words(self._strength(tag, doc)[words], words, n)

    def lacking(self, tag: int, doc: int, n: int) -> tuple[str, ...]:
        """Return the words most typical of the other documents with a tag that this document lacks."""
        strength = self._strength(tag, doc).copy()
        strength[self._words_of(doc)] = 0
        return self._words(strength, np.arange(len(strength)), n)

    def similar(self, tag: int, doc: int, n: int) -> tuple[str, ...]:
        """Return the ids of the documents with a tag that share most words with a document."""
        _, rows, matrix = self._of_tag(tag)
        weights = np.zeros(matrix.shape[1])
        words = self._words_of(doc)
        weights[words] = self._rarity[words]
        alike = np.where(rows == doc, -1.0, (matrix @ weights) / np.sqrt(np.diff(matrix.indptr) + 1))
        best = np.argsort(-alike, kind="stable")[:n]
        return tuple(self._corpus.ids[rows[i]] for i in best if alike[i] >= 0)

    def examples(self, tag: int, n: int) -> tuple[str, ...]:
        """Return the ids of the first documents with a tag."""
        return tuple(self._corpus.ids[row] for row in self.carriers(tag)[:n])

    def _words_of(self, doc: int) -> Any:
        begin, end = self._present.indptr[doc : doc + 2]
        return self._present.indices[begin:end]

    def _of_tag(self, tag: int) -> tuple[Float64, Int64, Any]:
        """Return how many documents of a tag have each word, (W,), some of its documents, and their words."""
        if tag not in self._tag_words:
            if len(self._tag_words) > 256:
                self._tag_words.clear()
            rows = self.carriers(tag)
            matrix = sp.csr_array(self._present[rows])
            sums = np.bincount(matrix.indices, minlength=matrix.shape[1]).astype(np.float64)
            some = slice(0, _MOST_COMPARED)
            self._tag_words[tag] = sums, rows[some], sp.csr_array(matrix[some])
        return self._tag_words[tag]

    def _strength(self, tag: int, without: int | None) -> Float64:
        """Return (W,): the share of a tag's documents with each word, times the log of how typical it is."""
        found, n = self._of_tag(tag)[0], len(self.carriers(tag))
        if without is not None and self._corpus.tags[without, tag]:
            found, n = found.copy(), n - 1
            found[self._words_of(without)] -= 1
        share = found / (n + 1)
        usual = (self._n_docs + 1) / (self._corpus.n_docs + 1)
        return np.asarray(share * np.maximum(np.log(np.maximum(share, 1e-12) / usual), 0))

    def _words(self, strength: Float64, words: Any, n: int) -> tuple[str, ...]:
        best = np.argsort(-strength, kind="stable")[:n]
        return tuple(self._corpus.vocabulary[words[i]] for i in best if strength[i] > 0)
