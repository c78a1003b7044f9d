"""What users hand to an estimator, turned into the two CSR matrices that everything else works on."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tagtopics.corpus.align import align_columns, extended
from tagtopics.corpus.core import Corpus
from tagtopics.corpus.recipe import TextRecipe
from tagtopics.corpus.tags import is_indicator, tags_of_labels
from tagtopics.errors import CorpusWarning, InputError


@dataclass(frozen=True)
class TrainingData:
    """A tagged collection as the estimators see it."""

    counts: Any  # CSR (D, W), float or int, canonical
    tags: Any  # CSR (D, T) of ones
    vocabulary: tuple[str, ...]
    tag_names: tuple[str, ...]
    ids: tuple[str, ...]
    recipe: TextRecipe | None
    visual: Any = None  # the VisualVocabulary of a corpus of images


class Given(NamedTuple):
    """Documents a model learned from, kept for what is learned from them later."""

    X: Any  # a Corpus, or CSR (D, W) in the first columns of the model
    y: Any  # tags of a matrix, as the user gave them
    tag_names: tuple[str, ...] | None = None  # the columns of y, where it does not name them itself

    @property
    def tagged(self) -> bool:
        """Whether there may be tags to learn from."""
        return bool(self.X.tags.nnz > 0) if isinstance(self.X, Corpus) else self.y is not None


def given(X: Any, y: Any, data: TrainingData) -> Given:
    """Return what a user gave to `fit`, a matrix as it was validated."""
    return Given(X, None) if isinstance(X, Corpus) else Given(data.counts, y)


class Tagged(NamedTuple):
    """Documents in the words of a model, with tags of their own."""

    counts: Any  # CSR (D, W)
    tags: Any  # CSR (D, T)
    tag_names: tuple[str, ...]


def tagged(documents: Given, vocabulary: Sequence[str]) -> Tagged:
    """Return documents in the columns of a model that may have grown since."""
    X, y, names = documents
    if isinstance(X, Corpus):
        return Tagged(align_words(X, vocabulary), X.tags, X.tag_names)
    csr = canonical(X)
    csr.resize((csr.shape[0], len(vocabulary)))
    return Tagged(csr, *tags_of_labels(y, csr.shape[0], names))


def stacked(parts: Sequence[Tagged]) -> Tagged:
    """Return documents of several parts as one; tags are matched by name."""
    if len(parts) == 1:
        return parts[0]
    names: tuple[str, ...] = ()
    for part in parts:
        names = extended(names, part.tag_names)
    tags = [align_columns(part.tags, part.tag_names, names)[0] for part in parts]
    counts = sp.csr_array(sp.vstack([part.counts for part in parts]))
    return Tagged(counts, sp.csr_array(sp.vstack(tags)), names)


def is_unnamed(y: Any) -> bool:
    """Tell whether tags are an indicator matrix whose columns have no names."""
    return y is not None and is_indicator(y) and not hasattr(y, "columns")


def from_corpus(corpus: Corpus) -> TrainingData:
    """Take a corpus as it is."""
    c = corpus
    return TrainingData(c.counts, c.tags, c.vocabulary, c.tag_names, c.ids, c.recipe, c.visual)


def from_matrices(counts: Any, y: Any, feature_names: Sequence[str] | None) -> TrainingData:
    """Take scikit-learn's X (validated, D x W) and y (anything `tags_of_labels` knows)."""
    D, W = counts.shape
    tags, tag_names = tags_of_labels(y, D)
    vocabulary = tuple(f"word{w}" for w in range(W)) if feature_names is None else tuple(feature_names)
    return TrainingData(canonical(counts), tags, vocabulary, tag_names, tuple(map(str, range(D))), None)


def canonical(counts: Any) -> Any:
    """Return non-negative weights of any dtype as sorted CSR without zeros or duplicates."""
    csr = sp.csr_array(counts)
    if csr is counts or np.shares_memory(csr.data, getattr(counts, "data", np.empty(0))):
        csr = csr.copy()
    csr.sum_duplicates()
    csr.eliminate_zeros()
    csr.sort_indices()
    return csr


def align_words(corpus: Corpus, vocabulary: Sequence[str]) -> Any:
    """Return the counts of a corpus in the columns of a model; words it never saw are left out."""
    return _in_columns(corpus.counts, corpus.vocabulary, vocabulary, "word")


def check_codebooks(of_corpus: Any, of_model: Any) -> None:
    """Refuse images whose visual words are those of other codebooks: equal names mean other tiles there."""
    if of_corpus is not None and of_model is not None and not of_model.same_words(of_corpus):
        raise InputError("these images have other visual words; read them with visual=model.visual_")


def align_tags(corpus: Corpus, tag_names: Sequence[str]) -> Any:
    """Return the tags of a corpus in the columns of a model; tags it never saw are left out."""
    return _in_columns(corpus.tags, corpus.tag_names, tag_names, "tag")


def _in_columns(matrix: Any, have: Sequence[str], want: Sequence[str], what: str) -> Any:
    if tuple(have) == tuple(want):
        return matrix
    aligned, lost = align_columns(matrix, have, want)
    if lost:
        message = f"{lost:,} {what}(s) of the new documents unknown to the model left out"
        warnings.warn(message, CorpusWarning, stacklevel=5)
    return aligned
