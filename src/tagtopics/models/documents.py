"""How estimators read documents: corpora, raw text, tables with text, and matrices of counts."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from tagtopics.corpus.align import admit_words
from tagtopics.corpus.columns import Columns
from tagtopics.corpus.core import Corpus
from tagtopics.corpus.read import read_corpus
from tagtopics.corpus.recipe import TextRecipe
from tagtopics.corpus.tags import tags_of_labels
from tagtopics.errors import CorpusWarning, InputError
from tagtopics.models.inputs import (
    align_tags,
    align_words,
    canonical,
    check_codebooks,
    corpus_from_matrices,
    is_unnamed,
)
from tagtopics.models.journal import Curation
from tagtopics.models.validation import INFERRED


def is_raw(X: Any) -> bool:
    """Tell whether documents are text, or a table with text, rather than a corpus or numbers."""
    if isinstance(X, str | Path):
        return True
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        return not all(_is_numeric(dtype) for dtype in X.dtypes)
    if isinstance(X, np.ndarray):
        return X.ndim == 1 and len(X) > 0 and isinstance(X[0], str)
    if hasattr(X, "dtype") and hasattr(X, "to_list"):  # a pandas or polars series
        return len(X) > 0 and isinstance(X.to_list()[0], str)
    return isinstance(X, list | tuple) and len(X) > 0 and isinstance(X[0], str | Mapping)


def _is_numeric(dtype: Any) -> bool:
    """Tell whether a column of pandas or polars holds numbers."""
    kind = getattr(dtype, "kind", None)
    return kind in "biufc" if kind is not None else bool(dtype.is_numeric())


class DocumentReader:
    """The part of `TopicModel` that turns what users give as X and tags into counts and tags."""

    vocabulary_: tuple[str, ...]
    tag_names_: tuple[str, ...]
    doc_ids_: tuple[str, ...]
    recipe_: TextRecipe | None
    visual_: Any
    curation_: Curation
    columns_: Columns | None = None  # of the table that the documents came from

    def training_corpus(self, X: Any, y: Any) -> Corpus:
        """Return the documents to fit a model to."""
        if isinstance(X, Corpus):
            if y is not None:
                raise InputError("fit: a corpus has its own tags; omit y")
            return X
        if is_raw(X):
            return _with_tags(read_corpus(_as_list(X)), y)
        X = self._validated(X, reset=True)
        return corpus_from_matrices(X, y, vocabulary=getattr(self, "feature_names_in_", None))

    def _tagged_documents(self, X: Any, y: Any) -> Corpus:
        """Return documents with tags, which may be new, in the words of the model."""
        if isinstance(X, Corpus):
            return X
        if is_raw(X):
            return _with_tags(self._read(X, vocabulary=self.vocabulary_), y)
        counts = self._validated(X, reset=False)
        return corpus_from_matrices(counts, y, vocabulary=self.vocabulary_, tag_names=self._columns_of(y))

    def _more_documents(self, X: Any, y: Any) -> Corpus:
        """Return more documents to learn from, in their own columns; they continue the numbering."""
        if isinstance(X, Corpus):
            if y is not None:
                raise InputError("partial_fit: a corpus has its own tags; omit y")
            check_codebooks(X.visual, self.visual_)
            return X
        if is_raw(X):
            recipe = self._text_recipe()
            new = self._read(X, recipe=replace(recipe, min_df=1, max_df=1.0, max_words=None))
            if new.ids == tuple(map(str, range(new.n_docs))):
                n = len(self.doc_ids_)
                new = replace(new, ids=tuple(map(str, range(n, n + new.n_docs))))
            return _with_tags(admit_words(new, self.vocabulary_, recipe), y)
        counts = self._validated(X, reset=False)
        return corpus_from_matrices(
            counts,
            y,
            vocabulary=self.vocabulary_,
            tag_names=self._columns_of(y),
            first_id=len(self.doc_ids_),
        )

    def _as_corpus(self, X: Any) -> Any:
        """Return raw documents as a corpus in the columns of the model; anything else as it is."""
        if not is_raw(X):
            return X
        return self._read(X, vocabulary=self.vocabulary_, tag_names=self.tag_names_)

    def new_documents(self, X: Any, tags: Any) -> tuple[Any, Any]:
        """Return new documents and their tags, as CSR in the columns of the fit; None or "inferred" stay."""
        check_is_fitted(self)
        if isinstance(X, str) and tags is not X and tags is not None:
            tags = _of_one_text(tags)
        if isinstance(tags, str) and tags != INFERRED and tags is not X:
            raise InputError(f"tags must be the tags of each document, or {INFERRED!r}, not {tags[:40]!r}")
        documents = self._as_corpus(X)
        if isinstance(documents, Corpus):
            check_codebooks(documents.visual, self.visual_)
            counts = align_words(documents, self.vocabulary_, self.curation_.banned)
            if tags is X:
                return counts, align_tags(documents, self.tag_names_)
        else:
            counts = canonical(self._validated(X, reset=False))
        if isinstance(tags, str):
            return counts, tags
        return counts, None if tags is None else tags_of_labels(tags, counts.shape[0], self.tag_names_)[0]

    def _text_recipe(self) -> TextRecipe:
        if self.recipe_ is None:
            raise InputError("the model was fitted to counts, so it cannot read text; give counts (D, W)")
        return self.recipe_

    def _read(self, X: Any, *, recipe: TextRecipe | None = None, **columns: Any) -> Corpus:
        """Read raw documents as those of the fit; what is usual for new documents is not a warning."""
        check_is_fitted(self)
        recipe = recipe or self._text_recipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CorpusWarning)
            return read_corpus(_as_list(X), recipe=recipe, columns=self.columns_, **columns)

    def _columns_of(self, y: Any) -> tuple[str, ...] | None:
        """Return the tags that the columns of an indicator without names stand for."""
        return (self.tag_names_ or None) if is_unnamed(y) else None

    def _validated(self, X: Any, reset: bool) -> Any:
        """Check a matrix as scikit-learn does: finite, non-negative, as many columns as in the fit."""
        named = isinstance(X, Mapping) and not hasattr(X, "shape")  # some sparse matrices are mappings
        if named or (isinstance(X, list | tuple) and len(X) and _are_words(X[0])):
            what = "a dictionary" if named else "lists of words"
            raise InputError(f"documents must be texts, a table, a corpus or counts (D, W), not {what}")
        dtypes = [np.float64, np.float32, np.int64, np.int32]
        rules = {"accept_sparse": "csr", "dtype": dtypes, "ensure_non_negative": True}
        return validate_data(self, X, reset=reset, **rules)


def _are_words(document: Any) -> bool:
    return isinstance(document, list | tuple) and any(isinstance(word, str) for word in document)


def _as_list(X: Any) -> Any:
    """Return one text as a list of one; a series of texts as a list; anything else as it is."""
    if isinstance(X, str):
        return [X]
    return X.to_list() if hasattr(X, "to_list") and not hasattr(X, "columns") else X


def _of_one_text(tags: Any) -> Any:
    """Return the tags of a single text as those of one document."""
    if isinstance(tags, str):
        return tags if tags == INFERRED else [[tags]]
    plain = isinstance(tags, list | tuple | set) and all(isinstance(tag, str) for tag in tags)
    return [list(tags)] if plain else tags


def _with_tags(corpus: Corpus, y: Any) -> Corpus:
    """Return raw documents with the tags that were given with them."""
    if y is None:
        return corpus
    if corpus.tags.nnz:
        raise InputError("the table has a column of tags, so y cannot be given; drop one of them")
    tags, names = tags_of_labels(y, corpus.n_docs)
    return replace(corpus, tags=tags, tag_names=names)
