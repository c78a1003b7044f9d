"""What users give as documents, as a `Corpus`: estimators and commands read documents here.

A corpus, the path of a file or folder, texts, tables with text, and matrices of counts become a `Corpus` in
`read_documents`. Words and tags are then matched by name to those of a model.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted, validate_data

from tagtopics._typing import CSR, Float32
from tagtopics.corpus.align import admit_words, align_columns, in_columns
from tagtopics.corpus.core import Corpus
from tagtopics.corpus.formats.tables import frame_of, is_numeric
from tagtopics.corpus.read import read_corpus
from tagtopics.corpus.tags import is_indicator, tags_of_labels
from tagtopics.errors import CorpusWarning, InputError, warn
from tagtopics.jit.top import largest_in_rows

_MOST_TOKENS = 2**31 - 1  # the largest entry of a matrix of counts, as in a corpus
_MOST_INFERRED, _LEAST_PROBABILITY = 20, 0.01  # of the inferred tags of a document

Purpose = Literal["fit", "update", "recommender", "query"]
"""What documents are for. Those of a fit have their own words and tags, and so have those of an update, with
the recipe of the model. Those of a recommender have the model's words, those of a query also its tags."""


def read_documents(model: Any, X: Any, y: Any = None, purpose: Purpose = "query", **reading: Any) -> Corpus:
    """Return documents and their tags as a corpus.

    Args:
        model: the estimator; fitted, except for a fit.
        X: a `Corpus`, which keeps its columns; a path, texts, dictionaries or a data frame, which are read as
            `read_corpus` does, by a fitted model with its recipe and columns of tables; or counts (D, W).
        y: tags of texts or counts: None, one label per document, lists of strings, an indicator (D, T), or a
            data frame with a column for each kind of tag.
        purpose: see `Purpose`.
        reading: further arguments of `read_corpus`.
    """
    if isinstance(X, Corpus):
        if y is not None and purpose != "query":
            raise InputError("a corpus has its own tags; omit y")
        visual = None if purpose == "fit" else model.visual_
        if X.visual is not None and visual is not None and not visual.same_words(X.visual):
            raise InputError("these images have other visual words; read them with visual=model.visual_")
        return X
    if not is_raw(X):
        return _count_documents(model, validate_matrix(model, X, reset=purpose == "fit"), y, purpose)
    source = [X] if isinstance(X, str) else X
    if hasattr(X, "to_list") and not hasattr(X, "columns"):  # a series of pandas or polars
        source = X.to_list()
    if purpose == "fit":
        corpus = read_corpus(source, **reading)
    else:
        check_is_fitted(model)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CorpusWarning)  # what is usual for new documents
            corpus = _read_more(model, source, purpose, reading)
    if y is None:
        return corpus
    if corpus.tags.nnz:
        raise InputError("the table has a column of tags, so y cannot be given; drop one of them")
    tags, names = tags_of_labels(y, corpus.n_docs)
    return replace(corpus, tags=tags, tag_names=names)


def _read_more(model: Any, source: Any, purpose: Purpose, reading: Mapping[str, Any]) -> Corpus:
    """Read texts or tables as those that a model was fitted to."""
    recipe, is_path = model.recipe_, isinstance(source, Path)
    settings = {"recipe": recipe, "columns": model.columns_, "visual": model.visual_ if is_path else None}
    if purpose == "update" and recipe is not None:  # `admit_words` applies the limits
        settings["recipe"] = replace(recipe, min_df=1, max_df=1.0, max_words=None)
    if purpose != "update" or model.visual_ is not None:
        settings["vocabulary"] = model.vocabulary_
    if purpose == "query":
        settings["tag_names"] = model.tag_names_ or None
    corpus = read_corpus(source, **(settings | dict(reading)))
    if recipe is None and corpus.texts is not None and not (is_path and source.is_dir()):
        raise InputError(
            "the model was fitted to counts, so it cannot read text; give counts, or words with their counts"
        )
    if purpose == "query" and not model.tag_names_:
        return without_tags(corpus)
    if purpose == "update":
        if recipe is not None and corpus.texts is not None:
            corpus = admit_words(corpus, model.vocabulary_, recipe)
        if corpus.ids == tuple(map(str, range(corpus.n_docs))):  # row numbers continue
            n = len(model.doc_ids_)
            corpus = replace(corpus, ids=tuple(map(str, range(n, n + corpus.n_docs))))
    return corpus


def _count_documents(model: Any, counts: Any, y: Any, purpose: Purpose) -> Corpus:
    """Return scikit-learn's X and y as a corpus; weights that are no whole numbers stay as they are.

    Words without names are word0, word1, ...; an indicator without names has the tags of the model.
    """
    D, W = counts.shape
    if counts.size and counts.max() > _MOST_TOKENS:
        raise InputError(f"counts: an entry of {counts.max():g} is too large; at most {_MOST_TOKENS:,}")
    words, known_tags, first = getattr(model, "feature_names_in_", None), None, 0
    if purpose != "fit":
        words, first = model.vocabulary_, len(model.doc_ids_) if purpose == "update" else 0
        if y is not None and is_indicator(y) and not hasattr(y, "columns"):
            known_tags = model.tag_names_ or None
    tags, names = tags_of_labels(y, D, known_tags)
    return Corpus(
        counts=canonical(counts),
        tags=tags,
        vocabulary=tuple(f"word{w}" for w in range(W)) if words is None else tuple(words),
        tag_names=names,
        ids=tuple(map(str, range(first, first + D))),
    )


def is_raw(X: Any) -> bool:
    """Tell whether documents are text, or a table with text, rather than a corpus or numbers."""
    if isinstance(X, str | Path):
        return True
    if hasattr(X, "collect"):
        frame_of(X)  # refuses a lazy frame
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        return not is_numeric(X)
    if isinstance(X, np.ndarray):
        return X.ndim == 1 and len(X) > 0 and isinstance(X[0], str)
    if hasattr(X, "dtype") and hasattr(X, "to_list"):  # a pandas or polars series
        return len(X) > 0 and isinstance(X.to_list()[0], str)
    return isinstance(X, list | tuple) and len(X) > 0 and isinstance(X[0], str | Mapping)


def validate_matrix(model: Any, X: Any, reset: bool) -> Any:
    """Check a matrix as scikit-learn does: finite, non-negative, as many columns as in the fit."""
    if (isinstance(X, list | tuple) and not X) or (hasattr(X, "columns") and not len(X.columns)):
        raise InputError("documents: there are none; give texts, a table with columns, a corpus or counts")
    named = isinstance(X, Mapping) and not hasattr(X, "shape")  # some sparse matrices are mappings
    first = X[0] if isinstance(X, list | tuple) and len(X) else None
    if named or (isinstance(first, list | tuple) and any(isinstance(word, str) for word in first)):
        what = "a dictionary" if named else "lists of words"
        raise InputError(f"documents must be texts, a table, a corpus or counts (D, W), not {what}")
    if sp.issparse(X) and not getattr(X, "has_canonical_format", True):
        X = X.copy()  # scikit-learn looks for the smallest value, and SciPy then adds duplicates in place
    dtypes = [np.float64, np.float32, np.int64, np.int32]
    rules = {"accept_sparse": "csr", "dtype": dtypes, "ensure_non_negative": True}
    return validate_data(model, X, reset=reset, **rules)


def canonical(counts: Any) -> CSR:
    """Return non-negative weights of any dtype as sorted CSR without zeros or duplicates."""
    csr = sp.csr_array(counts, copy=True)
    csr.sum_duplicates()
    csr.eliminate_zeros()
    return csr


# ---------------------------------------------------------------------------------- columns of a model


def align_words(model: Any, corpus: Corpus) -> CSR:
    """Return counts in the columns of a model; a warning tells of unknown words, not of banned ones."""
    corpus = without_words(corpus, banned_words(model))
    return _align(corpus.counts, corpus.vocabulary, model.vocabulary_, "word")


def align_tags(model: Any, corpus: Corpus) -> CSR:
    """Return the tags of a corpus in the columns of a model; unknown tags are dropped with a warning."""
    return _align(corpus.tags, corpus.tag_names, model.tag_names_, "tag")


def in_model_columns(model: Any, corpus: Corpus) -> Corpus:
    """Return a corpus in the columns of a model; unknown words and tags are dropped with a warning."""
    corpus = corpus if model.tag_names_ else without_tags(corpus)
    return replace(
        corpus,
        counts=align_words(model, corpus),
        tags=align_tags(model, corpus),
        vocabulary=model.vocabulary_,
        tag_names=model.tag_names_,
    )


def _align(matrix: CSR, have: Sequence[str], want: Sequence[str], what: str) -> CSR:
    if tuple(have) == tuple(want):
        return matrix
    aligned, lost = align_columns(matrix, have, want)
    if lost:
        warn(f"{lost:,} {what}(s) of the new documents unknown to the model left out")
    return aligned


def titles_of(corpus: Corpus) -> tuple[str, ...]:
    """Return the titles of documents, empty where they are unknown."""
    return tuple(title or "" for title in corpus.titles or (None,) * corpus.n_docs)


def texts_of(X: Any) -> Sequence[str]:
    """Return the texts of documents, which names of tags are looked for in."""
    if not isinstance(X, Corpus) or X.texts is None:
        raise InputError(
            "recommend: this model looks for the names of tags; give a corpus that was read from texts"
        )
    return X.texts


def banned_words(model: Any) -> tuple[str, ...]:
    """Return the words that the user does not want in a model."""
    return () if model.curation_ is None else model.curation_.banned


def without_words(corpus: Corpus, banned: Sequence[str]) -> Corpus:
    """Return a corpus without some words."""
    gone = set(banned) & set(corpus.vocabulary) if banned else set()
    kept = tuple(word for word in corpus.vocabulary if word not in gone) if gone else ()
    return in_columns(corpus, kept, corpus.tag_names) if gone else corpus


def without_tags(corpus: Corpus) -> Corpus:
    """Return a corpus without its tags."""
    return replace(corpus, tags=sp.csr_array((corpus.n_docs, 0), dtype=np.int8), tag_names=())


def inferred_tags(probabilities: Float32, have: Sequence[str], want: Sequence[str]) -> CSR:
    """Return CSR (D, T): the most probable of the tags `have`, given (D, T'), in the columns `want`."""
    n = min(_MOST_INFERRED, probabilities.shape[1])
    rows = np.arange(len(probabilities))[:, np.newaxis]
    best = np.sort(largest_in_rows(probabilities, n), axis=1)
    values = np.where(probabilities[rows, best] >= _LEAST_PROBABILITY, probabilities[rows, best], 0.0)
    offsets = n * np.arange(len(probabilities) + 1)
    tags = sp.csr_array((values.ravel().astype(np.float64), best.ravel(), offsets), probabilities.shape)
    tags.eliminate_zeros()
    return align_columns(tags, have, want)[0]
