"""Effects of numbers and tags of documents on topics, with intervals from refits on bootstrap samples."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, cg
from sklearn.utils.validation import check_is_fitted

from tagtopics._blas import single_thread
from tagtopics._typing import CSR, Float64, Int64
from tagtopics.analysis.effects.measure import Measured, Sampling, TopicMean, measure
from tagtopics.analysis.records import OnProgress, Record
from tagtopics.corpus.core import Corpus
from tagtopics.corpus.tags import bare_name, kind_of
from tagtopics.errors import InputError
from tagtopics.models.base import TopicModel

Values = Mapping[str, npt.ArrayLike]  # numbers of documents by name, each (D,); NaN where unknown

_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
_DATE = re.compile(r"(\d{4})(?:-(\d{2}))?(?:-(\d{2}))?")
DATES = ("year", "date")  # fractions of years: 2020.5 is the middle of 2020; a year is whole
_MOST_TERMS = 300  # numbers and tags whose effects are estimated at the same time


@dataclass(frozen=True)
class Effect(Record):
    """The effect of one term on one topic, in shares of a document's tokens.

    Of a number, it is the change for one unit more. Of a tag of a kind of which documents have one tag each,
    it is the difference from the mean of the kind; else the difference from documents without the tag.
    """

    term: str
    topic: int
    estimate: float
    low: float
    high: float

    @property
    def clear(self) -> bool:
        """Whether the interval excludes zero."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True, eq=False)
class Effects(Record):
    """Effects on topics with their intervals.

    If topics are `held`, because they are edited, intervals include which documents there are, but little of
    how uncertain the topics are.
    """

    terms: tuple[str, ...]  # names of the numbers and tags
    given: tuple[str, ...]  # kinds of tags that were held constant
    n_docs: int  # documents with all values
    left_out: int  # documents without some value
    refits: int
    level: float  # of the intervals
    held: bool
    rows: tuple[Effect, ...]  # term after term; clear ones first, then by size
    topics: tuple[TopicMean, ...]

    def of(self, term: str) -> tuple[Effect, ...]:
        """Return the effects of one term."""
        if term not in self.terms:
            raise InputError(f"effects: there is no term {term[:60]!r}; see `terms`")
        return tuple(row for row in self.rows if row.term == term)

    def mark(self, row: Effect) -> str:
        """Return the mark of an interval: "?" if the topic is not the model's, "*" if it excludes zero."""
        return ("*" if row.clear else " ") if self.topics[row.topic].agrees else "?"

    def __repr__(self) -> str:
        return "\n".join(
            f"{row.term}  topic {row.topic:>3}  {100 * row.estimate:+.2f} "
            f"[{100 * row.low:+.2f}, {100 * row.high:+.2f}] %{self.mark(row)} "
            f"{' '.join(self.topics[row.topic].words)}"
            for row in self.rows
        )


def effects(
    model: TopicModel,
    corpus: Corpus,
    *,
    on: Sequence[str] = (),
    kinds: Sequence[str] = (),
    given: Sequence[str] = (),
    values: Values | None = None,
    refits: int = 200,
    seed: int = 0,
    level: float = 0.9,
    min_docs: int = 10,
    n_words: int = 6,
    n_jobs: int | None = None,
    on_progress: OnProgress | None = None,
) -> Effects:
    """Estimate how topic shares of documents depend on numbers and tags, all of them at the same time.

    A linear regression of topic shares. Topics are learned again from each bootstrap sample of the documents,
    so the intervals include how uncertain the topics are. Edited topics are held instead; if the documents
    have other ones nevertheless, it is an `InputError`. Equal arguments give equal results.

    Args:
        model: a fitted `LDA` or `TTM`; its topics keep their numbers.
        corpus: documents with words of the model, usually those it was fitted to.
        on: numbers: "year" or "date" from the dates of the corpus, a kind of tags whose names are numbers,
            or a name in `values`.
        kinds: kinds of tags, each tag a term; "tags" if tags have no kinds.
        given: kinds of tags to hold constant: each tag has a random effect with the variance of a document.
        values: numbers of documents by name, (D,), NaN where unknown.
        refits: number of bootstrap samples.
        seed: of the samples.
        level: of the intervals.
        min_docs: tags on fewer documents are no terms.
        n_words: words that name a topic.
        n_jobs: threads; None or -1 for all cores.
        on_progress: called with the share of the work that is done.
    """
    check_is_fitted(model)
    if not on and not kinds:
        raise InputError("effects: name a number (on) or a kind of tags (kinds)")
    columns = [numbers(corpus, name, values) for name in on]
    rows = complete_rows(columns, corpus.n_docs, ", ".join(on) or "effects")
    design = make_design(corpus.select(rows), on, [c[rows] for c in columns], kinds, given, min_docs)
    sampling = Sampling(refits, seed, level, n_jobs, on_progress)
    found = measure(model, corpus, rows, design.estimate, sampling, n_words)
    return Effects(
        terms=design.terms,
        given=tuple(given),
        n_docs=len(rows),
        left_out=corpus.n_docs - len(rows),
        refits=refits,
        level=level,
        held=found.held,
        rows=_rows(design.terms, found),
        topics=found.topics,
    )


class Design(NamedTuple):
    """The regressors of documents."""

    terms: tuple[str, ...]
    fixed: Float64  # (D, P) numbers minus their mean, and tags
    groups: CSR  # (D, G): tags with random effects; no columns if there are none
    centred: tuple[Any, ...]  # for each kind with one tag a document: its columns and their shares

    def estimate(self, rows: Int64, shares: Float64) -> Float64:
        """Return the coefficients, (P, K), of the sampled documents; shares are (D, K)."""
        fixed = np.column_stack([np.ones(len(rows)), self.fixed[rows]])
        with single_thread():
            # V^-1 X with V = I + Z Z', for regressors X and random effects Z
            whitened = solve_ridge(sp.csr_array(self.groups[rows]), fixed, 1e-8)
            found = np.linalg.lstsq(whitened.T @ fixed, whitened.T @ shares, rcond=None)[0][1:]
        for columns, weights in self.centred:
            found[columns] -= weights @ found[columns]
        return np.asarray(found)


def make_design(
    corpus: Corpus,
    on: Sequence[str],
    columns: Sequence[Float64],
    kinds: Sequence[str],
    given: Sequence[str],
    min_docs: int,
) -> Design:
    """Return the regressors: numbers (D,) each, tags of `kinds`, and tags of `given` as random effects."""
    terms, parts, centred = list(on), [column - column.mean() for column in columns], []
    for name, column in zip(on, columns, strict=True):
        if np.ptp(column) == 0:
            raise InputError(f"effects: {name} is {column[0]:g} for all documents; nothing to measure")
    for kind in kinds:
        tags, names = kind_matrix(corpus, kind, min_docs)
        if not names:
            raise InputError(f"effects: no tag of kind {kind[:40]!r} is on {min_docs} documents or more")
        if len(terms) + len(names) > _MOST_TERMS:
            raise InputError(f"effects: {len(names):,} tags of kind {kind[:40]!r} are too many terms; "
                             "raise min_docs, or give it as given")  # fmt: skip
        if np.asarray(tags.sum(1)).max() <= 1:
            share = np.asarray(tags.sum(0)).ravel()
            centred.append((np.arange(len(terms), len(terms) + len(names)), share / share.sum()))
        parts += list(tags.toarray().T)
        terms += names
    groups = [kind_matrix(corpus, kind, 2)[0] for kind in given]
    joined = sp.csr_array(sp.hstack(groups)) if groups else sp.csr_array((corpus.n_docs, 0))
    return Design(tuple(terms), np.array(parts).T, joined, tuple(centred))


def _rows(terms: Sequence[str], found: Measured) -> tuple[Effect, ...]:
    rows = []
    for p, term in enumerate(terms):
        parts = (part[p].tolist() for part in (found.estimate, found.low, found.high))
        own = [Effect(term, k, *values) for k, values in enumerate(zip(*parts, strict=True))]
        rows += sorted(own, key=lambda row: (not row.clear, -abs(row.estimate), row.topic))
    return tuple(rows)


# ---------------------------------------------------------------------------------------------- regressors


def kind_matrix(corpus: Corpus, kind: str, min_docs: int = 1) -> tuple[CSR, tuple[str, ...]]:
    """Return the tags of a kind that enough documents have: CSR (D, N) of float64, and their names.

    "tags" are all tags of a corpus without kinds.
    """
    kinds = [kind_of(tag) for tag in corpus.tag_names]
    columns = [t for t, own in enumerate(kinds) if own == kind]
    if not columns and kind in ("tags", "tag"):
        columns = [t for t, own in enumerate(kinds) if not own] or list(range(corpus.n_tags))
    if not columns:
        known = ", ".join(sorted({own for own in kinds if own})[:8]) or "none (use: tags)"
        raise InputError(f"the corpus has no tags of kind {kind[:40]!r}; its kinds are: {known}")
    return pick_tags(corpus, columns, min_docs)


def pick_tags(corpus: Corpus, columns: Sequence[int], min_docs: int) -> tuple[CSR, tuple[str, ...]]:
    """Return the tags of some columns that enough documents have: CSR (D, N) of float64, and their names."""
    docs = np.asarray(corpus.tags.sum(0), dtype=np.int64).ravel()
    kept = [t for t in columns if docs[t] >= min_docs]
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
