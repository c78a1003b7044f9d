"""The corpus: counts of words, tags, and the names of everything. Frozen once made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from tagtopics.corpus.recipe import TextRecipe
from tagtopics.errors import InputError


@dataclass(frozen=True, eq=False, kw_only=True)
class Corpus:
    """A tagged collection of D documents over W words and T tags.

    Build one with `read_corpus`; the constructor checks that all parts fit together.

    Attributes:
        counts: CSR array (D, W) of int32, sorted, without explicit zeros; how often each word occurs.
        tags: CSR array (D, T) of int8 ones, sorted; which tags each document carries.
        vocabulary: the W words, in column order of `counts`.
        tag_names: the T tags, in column order of `tags`. A tag of a kind is spelt `kind:name`.
        ids: a name for each document.
        labels: a class for each document, None where unknown.
        links: CSR array (D, D) of int8 ones; document to document, directed (citations, See Also).
        texts: the raw text of each document.
        split: "train" or "test" for each document, where an official split exists.
        recipe: how text became counts, so that new text can follow.
        visual: the `VisualVocabulary` that made words of images, so that new images can follow.
        notices: one line for each thing the reader decided for the user.
    """

    counts: sp.csr_array
    tags: sp.csr_array
    vocabulary: tuple[str, ...]
    tag_names: tuple[str, ...]
    ids: tuple[str, ...]
    labels: tuple[str | None, ...] | None = None
    links: sp.csr_array | None = None
    texts: tuple[str, ...] | None = None
    split: tuple[str, ...] | None = None
    recipe: TextRecipe | None = None
    visual: Any = None
    notices: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        D, W = self.counts.shape
        _require(self.tags.shape[0] == D, f"tags have {self.tags.shape[0]} rows, counts have {D}")
        _require(
            len(self.vocabulary) == W,
            f"vocabulary has {len(self.vocabulary)} words, counts have {W} columns",
        )
        _require(
            len(self.tag_names) == self.tags.shape[1],
            f"{len(self.tag_names)} tag names for {self.tags.shape[1]} columns of tags",
        )
        for name in ("ids", "labels", "texts", "split"):
            values = getattr(self, name)
            _require(
                values is None or len(values) == D,
                f"{name} has {len(values or ())} entries for {D} documents",
            )
        _require(self.links is None or self.links.shape == (D, D), "links must be documents x documents")
        for matrix in (self.counts, self.tags, self.links):
            if matrix is not None:
                for part in (matrix.data, matrix.indices, matrix.indptr):
                    part.flags.writeable = False

    @property
    def n_docs(self) -> int:
        """The number of documents, D."""
        return int(self.counts.shape[0])

    @property
    def n_words(self) -> int:
        """The size of the vocabulary, W."""
        return int(self.counts.shape[1])

    @property
    def n_tags(self) -> int:
        """The number of distinct tags, T."""
        return int(self.tags.shape[1])

    def __len__(self) -> int:
        return self.n_docs

    @cached_property
    def statistics(self) -> dict[str, float]:
        """The columns of the paper's Table II: D, T, W, and tokens, words, tags per document."""
        D = max(self.n_docs, 1)
        return {
            "n_docs": self.n_docs,
            "n_tags": self.n_tags,
            "n_words": self.n_words,
            "tokens_per_doc": float(self.counts.sum(dtype=np.int64)) / D,
            "words_per_doc": self.counts.nnz / D,
            "tags_per_doc": self.tags.nnz / D,
        }

    def tags_of(self, doc: int) -> tuple[str, ...]:
        """Return the names of the tags of one document, in column order."""
        start, stop = self.tags.indptr[doc : doc + 2]
        return tuple(self.tag_names[t] for t in self.tags.indices[start:stop])

    def select(self, docs: npt.ArrayLike) -> Corpus:
        """Return some documents (row numbers or a boolean mask) as a corpus; columns stay as they are."""
        rows = np.asarray(docs)
        rows = np.flatnonzero(rows) if rows.dtype == bool else rows.astype(np.int64)
        return replace(
            self,
            counts=sp.csr_array(self.counts[rows]),
            tags=sp.csr_array(self.tags[rows]),
            ids=_pick(self.ids, rows),
            labels=_pick(self.labels, rows),
            links=None if self.links is None else sp.csr_array(self.links[rows][:, rows]),
            texts=_pick(self.texts, rows),
            split=_pick(self.split, rows),
            notices=(),
        )

    def __repr__(self) -> str:
        s = self.statistics
        return (
            f"Corpus({self.n_docs:,} documents, {self.n_words:,} words, {self.n_tags:,} tags; "
            f"{s['tokens_per_doc']:.1f} tokens and {s['tags_per_doc']:.1f} tags a document)"
        )


def canonical_counts(matrix: Any, what: str = "counts") -> sp.csr_array:
    """Return a documents x words matrix of any kind as the CSR array that a `Corpus` holds.

    Duplicates are added, explicit zeros dropped, columns sorted. What is no count is an `InputError`.
    """
    csr = _csr(matrix, what)
    if csr.data.dtype.kind not in "biuf":
        raise InputError(f"{what}: entries must be numbers, not {csr.data.dtype}")
    if csr.data.dtype.kind == "f":
        if not np.isfinite(csr.data).all():
            where = _where(csr, ~np.isfinite(csr.data))
            raise InputError(f"{what}: {where} is not a finite number; counts are 0, 1, 2, ...")
        fractional = csr.data != np.rint(csr.data)
        if fractional.any():
            raise InputError(f"{what}: {_where(csr, fractional)} is fractional; counts are 0, 1, 2, ...")
    if csr.nnz and csr.data.min() < 0:
        raise InputError(f"{what}: {_where(csr, csr.data < 0)} is negative; counts are 0, 1, 2, ...")
    if csr.nnz and csr.data.max() > np.iinfo(np.int32).max:
        raise InputError(f"{what}: {_where(csr, csr.data > np.iinfo(np.int32).max)} is too large for a count")
    return _tidy(csr, np.int32)


def canonical_tags(matrix: Any, what: str = "tags") -> sp.csr_array:
    """Return a documents x tags indicator of any kind as the CSR array that a `Corpus` holds: int8 ones."""
    csr = canonical_counts(matrix, what)
    csr.data = np.ones(csr.nnz, dtype=np.int8)
    return csr


def tag_matrix(doc_tags: Iterable[Sequence[str]], tag_names: Sequence[str]) -> sp.csr_array:
    """Return the (D, T) indicator of lists of tag names; repeats count once, unknown names are left out."""
    column = {name: t for t, name in enumerate(tag_names)}
    indices: list[int] = []
    indptr = [0]
    for names in doc_tags:
        indices.extend(sorted({column[name] for name in names if name in column}))
        indptr.append(len(indices))
    ones = np.ones(len(indices), dtype=np.int8)
    shape = (len(indptr) - 1, len(tag_names))
    return sp.csr_array(
        (ones, np.array(indices, dtype=np.int32), np.array(indptr, dtype=np.int32)), shape=shape
    )


def _csr(matrix: Any, what: str) -> sp.csr_array:
    if sp.issparse(matrix):
        return sp.csr_array(matrix)
    array = np.asarray(matrix)
    if array.ndim != 2:
        raise InputError(f"{what}: expected a matrix of documents x columns, got {array.ndim} dimension(s)")
    return sp.csr_array(array)


def _tidy(csr: sp.csr_array, dtype: npt.DTypeLike) -> sp.csr_array:
    csr = csr.astype(dtype, copy=True)
    csr.sum_duplicates()
    csr.eliminate_zeros()
    csr.sort_indices()
    return csr


def _where(csr: sp.csr_array, bad: npt.NDArray[np.bool_]) -> str:
    """Name the first bad entry of a CSR array: its row, column and value."""
    at = int(np.flatnonzero(bad)[0])
    row = int(np.searchsorted(csr.indptr, at, side="right")) - 1
    return f"row {row}, column {int(csr.indices[at])}, value {csr.data[at]}"


def _pick(values: tuple[Any, ...] | None, rows: npt.NDArray[np.int64]) -> Any:
    return None if values is None else tuple(values[i] for i in rows)


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise InputError(f"corpus: {message}")
