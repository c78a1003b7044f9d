"""The input of the estimators as a `Corpus`, in the columns of the model."""

from __future__ import annotations

import hashlib
import math
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from tagtopics.corpus.core import Corpus, tag_matrix
from tagtopics.errors import CorpusWarning, InputError
from tagtopics.models.validation import Preset

_MOST_TOKENS = 2**31 - 1
"""Largest entry of a matrix of counts, as in a corpus."""


def is_unnamed(y: Any) -> bool:
    """Return whether tags are an indicator matrix whose columns have no names."""
    return y is not None and _is_matrix(y) and not hasattr(y, "columns")


def corpus_from_matrices(
    counts: Any,
    y: Any,
    *,
    vocabulary: Sequence[str] | None = None,
    tag_names: Sequence[str] | None = None,
    first_id: int = 0,
) -> Corpus:
    """Return scikit-learn's X and y as a corpus, whose documents are numbered.

    Args:
        counts: validated, (D, W); weights that are no whole numbers stay as they are.
        y: tags, anything that `read_tags` reads.
        vocabulary: the W words; by default word0, word1, ...
        tag_names: the columns of an indicator that does not name them.
        first_id: the number of the first document.
    """
    D, W = counts.shape
    if counts.size and counts.max() > _MOST_TOKENS:
        raise InputError(f"counts: an entry of {counts.max():g} is too large; at most {_MOST_TOKENS:,}")
    tags, names = read_tags(y, D, tag_names)
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


def identity_of(model: BaseEstimator, digest: str) -> dict[str, Any]:
    """Return what determines the result of a fit, as JSON; fits with equal identities have equal results.

    Args:
        model: an estimator.
        digest: of the corpus; see `digest_of`.
    """
    parameters = {
        name: plain_parameter(value)
        for name, value in model.get_params(deep=False).items()
        if name not in ("n_jobs", "max_iter", "tol")  # these may change when a fit is resumed
    }
    return {"model": type(model).__name__, "parameters": parameters, "corpus": digest}


def plain_parameter(value: Any) -> Any:
    """Return a parameter as JSON has it: presets as objects, numbers of NumPy as numbers."""
    if isinstance(value, Preset):
        return {name: plain_parameter(part) for name, part in vars(value).items()}
    return value.item() if isinstance(value, np.generic) else value


def digest_of(corpus: Corpus) -> str:
    """Return the SHA-256 of the counts, the tags and their names."""
    digest = hashlib.sha256()
    for matrix in (corpus.counts, corpus.tags):
        for array in (np.array(matrix.shape), matrix.indptr, matrix.indices, matrix.data):
            digest.update(np.ascontiguousarray(array).data)
    digest.update("\n".join((*corpus.vocabulary, "", *corpus.tag_names)).encode("utf-8", "replace"))
    return digest.hexdigest()


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
    """Return the counts of a corpus in the columns of a model; unknown words are dropped with a warning."""
    return _in_columns(corpus.counts, corpus.vocabulary, vocabulary, "word")


def check_codebooks(of_corpus: Any, of_model: Any) -> None:
    """Raise `InputError` for images whose visual words come from other codebooks."""
    if of_corpus is not None and of_model is not None and not of_model.same_words(of_corpus):
        raise InputError("these images have other visual words; read them with visual=model.visual_")


def align_tags(corpus: Corpus, tag_names: Sequence[str]) -> Any:
    """Return the tags of a corpus in the columns of a model; unknown tags are dropped with a warning."""
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
