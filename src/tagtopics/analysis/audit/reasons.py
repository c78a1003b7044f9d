"""The words and documents behind a finding."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import scipy.sparse as sp

from tagtopics._typing import CSR, Float64, Int64
from tagtopics.corpus.core import Corpus

_MOST_COMPARED = 200  # documents of a tag that are compared with a document
_DOCUMENTS = 3  # documents named with a finding


class Reasons:
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
        rows = [row for tag in tags for row in self._rows(tag)[:some]]
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
        _, rows, matrix = self._of_tag(tag)
        weights = np.zeros(self._corpus.n_words)
        weights[own] = np.log((self._corpus.n_docs + 1) / (self._n_docs[own] + 1))
        alike = np.where(rows == doc, -1.0, (matrix @ weights) / np.sqrt(np.diff(matrix.indptr) + 1))
        best = np.argsort(-alike, kind="stable")[:_DOCUMENTS]
        return tuple(self._corpus.ids[rows[i]] for i in best if alike[i] >= 0)

    def _rows(self, tag: int) -> Int64:
        begin, end = self._carriers.indptr[tag : tag + 2]
        return np.asarray(self._carriers.indices[begin:end], dtype=np.int64)

    def _words_of(self, doc: int) -> Int64:
        begin, end = self._present.indptr[doc : doc + 2]
        return np.asarray(self._present.indices[begin:end])

    def _count_words(self, tag: int) -> tuple[Float64, Int64, CSR]:
        """Return how many documents of a tag have each word, (W,), some of its documents, and their words."""
        rows = self._rows(tag)
        matrix = sp.csr_array(self._present[rows])
        sums = np.bincount(matrix.indices, minlength=matrix.shape[1]).astype(np.float64)
        return sums, rows[:_MOST_COMPARED], sp.csr_array(matrix[:_MOST_COMPARED])

    def _strength(self, tag: int, without: int | None = None) -> Float64:
        """Return (W,): the share of a tag's documents with each word, times the log of how typical it is."""
        found, n = self._of_tag(tag)[0], len(self._rows(tag))
        if without is not None and self._corpus.tags[without, tag]:
            found, n = found.copy(), n - 1
            found[self._words_of(without)] -= 1
        share = found / (n + 1)
        usual = (self._n_docs + 1) / (self._corpus.n_docs + 1)
        return np.asarray(share * np.maximum(np.log(np.maximum(share, 1e-12) / usual), 0))

    def _best_words(self, strength: Float64, words: Int64, n: int) -> tuple[str, ...]:
        best = np.argsort(-strength, kind="stable")[:n]
        return tuple(self._corpus.vocabulary[words[i]] for i in best if strength[i] > 0)
