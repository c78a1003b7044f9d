"""The input of the estimators as a `Corpus`, in the columns of the model."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from tagtopics.corpus.align import align_columns, in_columns
from tagtopics.corpus.core import Corpus
from tagtopics.corpus.tags import is_indicator, tags_of_labels
from tagtopics.errors import CorpusWarning, InputError

_MOST_TOKENS = 2**31 - 1
"""Largest entry of a matrix of counts, as in a corpus."""


def is_unnamed(y: Any) -> bool:
    """Return whether tags are an indicator matrix whose columns have no names."""
    return y is not None and is_indicator(y) and not hasattr(y, "columns")


def corpus_from_matrices(
    counts: Any,
    y: Any,
    *,
    vocabulary: Sequence[str] | None = None,
    tag_names: Sequence[str] | None = None,
    first_id: int = 0,
) -> Corpus:
    """Return scikit-learn's X and y as a corpus, whose documents are numbered from `first_id` on.

    Counts are validated; weights that are no whole numbers stay as they are. Words without a vocabulary are
    word0, word1, ...; `tag_names` are the columns of an indicator that does not name them.
    """
    D, W = counts.shape
    if counts.size and counts.max() > _MOST_TOKENS:
        raise InputError(f"counts: an entry of {counts.max():g} is too large; at most {_MOST_TOKENS:,}")
    tags, names = tags_of_labels(y, D, tag_names)
    return Corpus(
        counts=canonical(counts),
        tags=tags,
        vocabulary=tuple(f"word{w}" for w in range(W)) if vocabulary is None else tuple(vocabulary),
        tag_names=names,
        ids=tuple(str(d) for d in range(first_id, first_id + D)),
    )


def without_tags(corpus: Corpus) -> Corpus:
    """Return a corpus without its tags."""
    return replace(corpus, tags=sp.csr_array((corpus.n_docs, 0), dtype=np.int8), tag_names=())


def canonical(counts: Any) -> Any:
    """Return non-negative weights of any dtype as sorted CSR without zeros or duplicates."""
    csr = sp.csr_array(counts)
    if csr is counts or np.shares_memory(csr.data, getattr(counts, "data", np.empty(0))):
        csr = csr.copy()
    csr.sum_duplicates()
    csr.eliminate_zeros()
    csr.sort_indices()
    return csr


def align_words(corpus: Corpus, vocabulary: Sequence[str], banned: Sequence[str] = ()) -> Any:
    """Return the counts of a corpus in the columns of a model; unknown words are dropped with a warning.

    Banned words are dropped without one.
    """
    corpus = without_words(corpus, banned)
    return _in_columns(corpus.counts, corpus.vocabulary, vocabulary, "word")


def without_words(corpus: Corpus, banned: Sequence[str]) -> Corpus:
    """Return a corpus without some words."""
    gone = set(banned) & set(corpus.vocabulary) if banned else set()
    kept = tuple(word for word in corpus.vocabulary if word not in gone) if gone else ()
    return in_columns(corpus, kept, corpus.tag_names) if gone else corpus


def check_codebooks(of_corpus: Any, of_model: Any) -> None:
    """Raise `InputError` for images whose visual words come from other codebooks."""
    if of_corpus is not None and of_model is not None and not of_model.same_words(of_corpus):
        raise InputError("these images have other visual words; read them with visual=model.visual_")


def align_tags(corpus: Corpus, tag_names: Sequence[str]) -> Any:
    """Return the tags of a corpus in the columns of a model; unknown tags are dropped with a warning."""
    return _in_columns(corpus.tags, corpus.tag_names, tag_names, "tag")


_MOST_INFERRED, _LEAST_PROBABILITY = 20, 0.01
"""Per document: at most 20 inferred tags, each with a probability of at least 0.01."""


def inferred_tags(probabilities: Any, have: Sequence[str], want: Sequence[str]) -> sp.csr_array:
    """Return CSR (D, T): the most probable tags of documents, with their probabilities.

    Args:
        probabilities: (D, T') of the tags named `have`.
        have: T' names.
        want: T names, the columns of the result.
    """
    n = min(_MOST_INFERRED, probabilities.shape[1])
    rows = np.arange(len(probabilities))[:, np.newaxis]
    best = np.sort(np.argsort(-probabilities, axis=1, kind="stable")[:, :n], axis=1)
    values = np.where(probabilities[rows, best] >= _LEAST_PROBABILITY, probabilities[rows, best], 0.0)
    offsets = n * np.arange(len(probabilities) + 1)
    tags = sp.csr_array((values.ravel().astype(np.float64), best.ravel(), offsets), probabilities.shape)
    tags.eliminate_zeros()
    return align_columns(tags, have, want)[0]


def _in_columns(matrix: Any, have: Sequence[str], want: Sequence[str], what: str) -> Any:
    if tuple(have) == tuple(want):
        return matrix
    aligned, lost = align_columns(matrix, have, want)
    if lost:
        message = f"{lost:,} {what}(s) of the new documents unknown to the model left out"
        warnings.warn(message, CorpusWarning, stacklevel=5)
    return aligned
