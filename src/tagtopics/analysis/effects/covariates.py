"""Regressors of documents: numbers such as the year, and kinds of tags."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, cg

from tagtopics._typing import CSR, Float64, Int64
from tagtopics.corpus.core import Corpus
from tagtopics.corpus.tags import bare_name, kind_of
from tagtopics.errors import InputError

Values = Mapping[str, npt.ArrayLike]  # numbers of documents by name, each (D,); NaN where unknown

_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
_DATE = re.compile(r"(\d{4})(?:-(\d{2}))?(?:-(\d{2}))?")
DATES = ("year", "date")  # fractions of years: 2020.5 is the middle of 2020; a year is whole


def kind_columns(corpus: Corpus, kind: str) -> Int64:
    """Return the columns of the tags of a kind; "tags" are all tags of a corpus without kinds."""
    kinds = [kind_of(tag) for tag in corpus.tag_names]
    columns = [t for t, own in enumerate(kinds) if own == kind]
    if not columns and kind in ("tags", "tag"):
        columns = [t for t, own in enumerate(kinds) if not own] or list(range(corpus.n_tags))
    if not columns:
        known = ", ".join(sorted({own for own in kinds if own})[:8]) or "none (use: tags)"
        raise InputError(f"the corpus has no tags of kind {kind[:40]!r}; its kinds are: {known}")
    return np.array(columns, dtype=np.int64)


def kind_matrix(corpus: Corpus, kind: str, min_docs: int = 1) -> tuple[CSR, tuple[str, ...]]:
    """Return the tags of a kind that enough documents have: CSR (D, N) of float64, and their names."""
    return pick_tags(corpus, kind_columns(corpus, kind), min_docs)


def pick_tags(corpus: Corpus, columns: Int64, min_docs: int) -> tuple[CSR, tuple[str, ...]]:
    """Return the tags of some columns that enough documents have: CSR (D, N) of float64, and their names."""
    docs = np.asarray(corpus.tags.sum(0), dtype=np.int64).ravel()[columns]
    kept = columns[docs >= min_docs]
    matrix = sp.csr_array(sp.csc_array(corpus.tags)[:, kept].astype(np.float64))
    return matrix, tuple(corpus.tag_names[t] for t in kept)


def numbers(corpus: Corpus, name: str, values: Values | None = None) -> Float64:
    """Return a number for each document, (D,); NaN where it is unknown.

    Args:
        corpus: the documents.
        name: of `values`, else "year" or "date" for the dates of the corpus, else a kind of tags whose names
            are numbers, as in `year:2020`; a document with several has their mean.
        values: numbers that the corpus does not have.
    """
    if values is not None and name in values:
        given = np.asarray(values[name], dtype=np.float64)
        if given.shape != (corpus.n_docs,):
            raise InputError(f"{name}: {given.shape} values for {corpus.n_docs} documents")
        return np.where(np.isfinite(given), given, np.nan)
    if name in DATES and any(corpus.dates or ()):
        return np.array([_year(date, name) for date in corpus.dates or ()])
    if name in DATES and name not in {kind_of(tag) for tag in corpus.tag_names}:
        raise InputError(f"{name}: the documents have no dates; name their column when you fit, with --date")
    return _from_tags(corpus, name)


def _year(date: str | None, name: str) -> float:
    match = _DATE.match(date or "")
    if match is None:
        return float("nan")
    year, month, day = (int(part) if part else 0 for part in match.groups())
    if name == "year" or not month:
        return float(year)
    return year + (month - 1) / 12 + max(day - 1, 0) / 372


def _from_tags(corpus: Corpus, name: str) -> Float64:
    tags, names = kind_matrix(corpus, name)
    bare = [bare_name(tag) for tag in names]
    wrong = next((tag for tag in bare if not _NUMBER.fullmatch(tag.strip())), None)
    if wrong is not None:
        raise InputError(f"{name}: the tag {wrong[:40]!r} is not a number; use it as a kind instead")
    n = np.asarray(tags.sum(1)).ravel()
    total = np.asarray(tags @ np.array([float(tag) for tag in bare])).ravel()
    return np.where(n > 0, total / np.maximum(n, 1), np.nan)


def complete_rows(columns: Sequence[Float64], n_docs: int, what: str) -> Int64:
    """Return the rows, ascending, in which all numbers are known; too few are an `InputError`."""
    rows = np.flatnonzero(np.isfinite(np.reshape(columns, (-1, n_docs))).all(0))
    if len(rows) < 10:
        raise InputError(f"{what}: only {len(rows)} documents have all values; 10 or more are needed")
    return rows


def solve_ridge(groups: CSR, values: Float64, tolerance: float) -> Float64:
    """Return (I + Z Z')^-1 Y for Z, CSR (N, G), and Y, (N, P), by conjugate gradients."""
    if 0 in groups.shape:
        return values
    back = sp.csr_array(groups.T)
    shape = (len(values), len(values))
    matrix = LinearOperator(shape, matvec=lambda v: v + groups @ (back @ v), dtype=np.float64)
    return np.column_stack([cg(matrix, column, rtol=tolerance)[0] for column in values.T])
