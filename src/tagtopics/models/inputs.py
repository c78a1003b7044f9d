"""What users hand to an estimator, turned into the two CSR matrices that everything else works on."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tagtopics.corpus.align import extended, moved
from tagtopics.corpus.core import Corpus, tag_matrix
from tagtopics.corpus.recipe import TextRecipe
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
    return Tagged(csr, *read_tags(y, csr.shape[0], names))


def stacked(parts: Sequence[Tagged]) -> Tagged:
    """Return documents of several parts as one; tags are matched by name."""
    if len(parts) == 1:
        return parts[0]
    names: tuple[str, ...] = ()
    for part in parts:
        names = extended(names, part.tag_names)
    tags = [moved(part.tags, part.tag_names, names) for part in parts]
    counts = sp.csr_array(sp.vstack([part.counts for part in parts]))
    return Tagged(counts, sp.csr_array(sp.vstack(tags)), names)


def is_unnamed(y: Any) -> bool:
    """Tell whether tags are an indicator matrix whose columns have no names."""
    return y is not None and _is_matrix(y) and not hasattr(y, "columns")


def from_corpus(corpus: Corpus) -> TrainingData:
    """Take a corpus as it is."""
    c = corpus
    return TrainingData(c.counts, c.tags, c.vocabulary, c.tag_names, c.ids, c.recipe, c.visual)


def from_matrices(counts: Any, y: Any, feature_names: Sequence[str] | None) -> TrainingData:
    """Take scikit-learn's X (validated, D x W) and y (anything `read_tags` knows)."""
    D, W = counts.shape
    tags, tag_names = read_tags(y, D)
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


def read_tags(y: Any, n_docs: int, tag_names: Sequence[str] | None = None) -> tuple[Any, tuple[str, ...]]:
    """Return tags as (CSR (D, T) of ones, names).

    Args:
        y: None, one label a document, lists of strings, or an indicator matrix (sparse, dense or a table
            whose columns are the tags).
        n_docs: how many documents there must be.
        tag_names: the columns wanted; names outside are left out, with a warning. None takes all there are.
    """
    if y is None:
        names = tuple(tag_names or ())
        return sp.csr_array((n_docs, len(names)), dtype=np.int8), names
    if not isinstance(y, Sequence) and hasattr(y, "__array__") and not hasattr(y, "columns"):
        y = np.asarray(y)
    if _is_matrix(y):
        return _from_indicator(y, n_docs, tag_names)
    lists = [_names_of(value, d) for d, value in enumerate(y)]
    _same_length(len(lists), n_docs)
    found = sorted({name for names in lists for name in names})
    names = tuple(found if tag_names is None else tag_names)
    if unknown := set(found).difference(names):
        message = f"{len(unknown)} tag(s) unknown to the model left out, such as {min(unknown)!r}"
        warnings.warn(message, CorpusWarning, stacklevel=4)
    return tag_matrix(lists, names), names


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
    column = {name: i for i, name in enumerate(want)}
    to = np.array([column.get(name, -1) for name in have], dtype=np.int64)
    coo = matrix.tocoo()
    kept = to[coo.col] >= 0
    if lost := int(coo.data[~kept].sum()):
        message = f"{lost:,} {what}(s) of the new documents unknown to the model left out"
        warnings.warn(message, CorpusWarning, stacklevel=5)
    entries = (coo.data[kept], (coo.row[kept], to[coo.col[kept]]))
    return canonical(sp.coo_array(entries, shape=(matrix.shape[0], len(want))))


def _is_matrix(y: Any) -> bool:
    if sp.issparse(y) or hasattr(y, "columns"):
        return True
    return isinstance(y, np.ndarray) and y.ndim == 2 and y.dtype.kind in "biuf"


def _from_indicator(y: Any, n_docs: int, tag_names: Sequence[str] | None) -> tuple[Any, tuple[str, ...]]:
    columns = getattr(y, "columns", None)
    csr = canonical(y if sp.issparse(y) else np.asarray(y))
    _same_length(csr.shape[0], n_docs)
    if not np.isin(csr.data, (0, 1)).all():
        raise InputError("tags: an indicator matrix holds zeros and ones only")
    csr = csr.astype(np.int8)
    names = tag_names if columns is None else tuple(str(name) for name in columns)
    if names is None:
        names = tuple(f"tag{t}" for t in range(csr.shape[1]))
    if tag_names is not None and columns is not None:
        return _in_columns(csr, names, tag_names, "tag"), tuple(tag_names)
    if len(names) != csr.shape[1]:
        raise InputError(f"tags: the indicator has {csr.shape[1]} columns, the model has {len(names)} tags")
    return csr, tuple(names)


def _names_of(value: Any, doc: int) -> list[str]:
    """Return the tags of one document: a scalar is one tag, None and NaN are none."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, np.ndarray | list | tuple | set | frozenset):
        nested = [item for item in value if not np.isscalar(item)]
        if nested:
            raise InputError(f"tags: document {doc} has {type(nested[0]).__name__} where a name should be")
        return [str(item) for item in value]
    if value is None or (isinstance(value, float | np.floating) and math.isnan(value)):
        return []
    if isinstance(value, Iterable):
        raise InputError(f"tags: document {doc} has a {type(value).__name__}; give a list of names")
    return [str(value)]


def _same_length(found: int, expected: int) -> None:
    if found != expected:
        raise InputError(f"inconsistent numbers of samples: {expected} documents, tags for {found}")
