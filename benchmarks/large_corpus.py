"""Generated tagged corpora of any size, a chunk of documents at a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from tagtopics.corpus.core import canonical_tags

_Ranks = npt.NDArray[np.int32]

_TABLE_BITS = 20


def make_large_corpus(
    n_docs: int,
    words_per_doc: int = 100,
    n_words: int = 20_000,
    n_tags: int = 1_000,
    tags_per_doc: int = 3,
    seed: int = 0,
    n_topics: int = 100,
    chunk_size: int = 10_000,
) -> Iterator[tuple[sp.csr_array, sp.csr_array]]:
    """Draw a large tagged corpus in chunks of documents.

    Words and tags are Zipfian. Half of the tokens come from a common distribution; each of the others picks a
    tag of its document, and the topic of the tag is the same Zipf distribution shifted within the vocabulary.
    A chunk depends only on the seed and on its number.

    Args:
        n_docs: documents in all chunks.
        words_per_doc: tokens per document.
        n_words: words, W.
        n_tags: tags, T.
        tags_per_doc: tags drawn per document; repeated ones count once.
        seed: seed of the random numbers.
        n_topics: topics; tag t has topic t modulo `n_topics`.
        chunk_size: documents per chunk; the last may have fewer.

    Yields:
        Counts (chunk, W) of int32 and tags (chunk, T) of int8, both canonical CSR arrays.
    """
    word_table, tag_table = _zipf_table(n_words), _zipf_table(n_tags)
    for number, start in enumerate(range(0, n_docs, chunk_size)):
        rng = np.random.default_rng([seed, number])
        rows = min(chunk_size, n_docs - start)
        doc_tags = _draw(tag_table, (rows, tags_per_doc), rng)
        words = _draw(word_table, (rows, words_per_doc), rng).astype(np.int64)
        words += _topic_starts(doc_tags, words_per_doc, n_topics, n_words, rng)
        yield (
            _count_rows(words % n_words, n_words),
            canonical_tags(_count_rows(doc_tags.astype(np.int64), n_tags)),
        )


def _zipf_table(n: int) -> _Ranks:
    """Return ranks below n in Zipfian proportions (1 / rank), as a table to draw from."""
    cumulative = np.cumsum(1.0 / np.arange(1, n + 1))
    points = (np.arange(2**_TABLE_BITS) + 0.5) / 2**_TABLE_BITS * cumulative[-1]
    ranks: _Ranks = np.searchsorted(cumulative, points).astype(np.int32)
    return ranks


def _draw(table: _Ranks, shape: tuple[int, int], rng: np.random.Generator) -> _Ranks:
    drawn: _Ranks = table[rng.integers(0, len(table), size=shape, dtype=np.int32)]
    return drawn


def _topic_starts(
    doc_tags: _Ranks, words_per_doc: int, n_topics: int, n_words: int, rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Return the shift of each token in the vocabulary: 0 for half of them, else that of its tag's topic."""
    rows, n_slots = doc_tags.shape
    slots = rng.integers(0, 2 * n_slots, size=(rows, words_per_doc), dtype=np.int32)
    topics = np.take_along_axis(doc_tags, slots % n_slots, axis=1) % n_topics
    starts = (topics.astype(np.int64) + 1) * n_words // (n_topics + 1)
    return np.where(slots < n_slots, starts, 0)


def _count_rows(columns: npt.NDArray[np.int64], n_columns: int) -> sp.csr_array:
    """Count the column numbers in each row into a sorted CSR array (rows, n_columns)."""
    rows = len(columns)
    cells, counts = np.unique(columns + np.arange(rows)[:, None] * n_columns, return_counts=True)
    indptr = np.searchsorted(cells, np.arange(rows + 1) * n_columns).astype(np.int32)
    indices = (cells % n_columns).astype(np.int32)
    return sp.csr_array((counts.astype(np.int32), indices, indptr), shape=(rows, n_columns))
