"""Regressors of `effects`: numbers, kinds of tags, splines and interactions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import chain, combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from tagtopics._typing import CSR, Float64, Int64
from tagtopics.corpus.core import Corpus
from tagtopics.corpus.tags import bare_name, kind_of
from tagtopics.errors import InputError

Values = Mapping[str, npt.ArrayLike]  # of documents by name, each (D,): numbers, NaN where unknown, or texts

_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
_DATE = re.compile(r"(\d{4})(?:-(\d{2}))?(?:-(\d{2}))?")
DATES = ("year", "date")  # fractions of years: 2020.5 is the middle of 2020; a year is whole
_MOST_TERMS = 300  # numbers and tags whose effects are estimated at the same time
_BASIS = 10  # functions of a spline
_POINTS = 21  # at which a curve is reported

_NAME = r"`[^`]+`|[^\W\d][\w.]*"
_FACTOR = re.compile(
    rf"\s*(?:s\(\s*(?P<smooth>{_NAME})\s*(?:,\s*(?P<basis>\d+)\s*)?\)|(?P<name>{_NAME}))\s*(?P<mark>[+:*]|\Z)"
)


class Factor(NamedTuple):
    """A number or kind of tags in a term; `basis` is the number of functions of its spline, 0 without one."""

    name: str
    basis: int = 0

    def __str__(self) -> str:
        return f"s({self.name})" if self.basis else self.name


Term = tuple[Factor, ...]  # several are an interaction


def parse_terms(formulas: Sequence[str]) -> list[Term]:
    """Return the terms of formulas such as `rating * s(day)`.

    `a + b` are two terms, `a:b` is an interaction, `a * b` is `a + b + a:b`, and `s(a)` or `s(a, 5)` a spline
    of 10 or 5 functions. A name that is not a word is written between backquotes; `~` may come first.
    """
    text, place, mark = " + ".join(one.strip().removeprefix("~") for one in formulas), 0, "+"
    sums = list[list[list[Factor]]]()
    while mark and formulas:
        if mark == "+":
            sums.append([[]])
        elif mark == "*":
            sums[-1].append([])
        match = _FACTOR.match(text, place)
        if match is None:
            raise InputError(
                f"effects: {text[place:].strip()[:40]!r} is not a name or s(name), then + : or *; write "
                "'year', or 'rating * s(day)', and a name that is no word between backquotes"
            )
        smooth = match["smooth"]
        basis = int(match["basis"] or _BASIS) if smooth else 0
        if smooth and not 3 <= basis <= 50:
            raise InputError(f"effects: s({smooth[:40]}, {basis}) must have 3 to 50 functions")
        sums[-1][-1].append(Factor((smooth or match["name"]).strip("`"), basis))
        mark, place = match["mark"], match.end()
    terms = dict[frozenset[Factor], Term]()
    for product in sums:
        for n in range(1, len(product) + 1):
            for some in combinations(product, n):
                term = tuple(dict.fromkeys(chain(*some)))
                terms.setdefault(frozenset(term), term)
    return list(terms.values())


# ---------------------------------------------------------------------------------------------------- parts


class Part(NamedTuple):
    """A term: regressors of D documents, and the effects that are reported of their coefficients."""

    title: str
    names: tuple[str, ...]  # (P,) of the effects
    at: tuple[float | None, ...]  # (P,) the number at which a spline is evaluated
    columns: Float64  # (D, Q)
    report: Float64  # (P, Q) the effects are these times the coefficients
    unit: str


def make_part(corpus: Corpus, term: Term, columns: Mapping[str, Float64], min_docs: int) -> Part:
    """Return the regressors of a term; `columns` are the numbers, all other names are kinds of tags."""
    parts = []
    for factor in term:
        if factor.name not in columns:
            parts.append(_tag_part(corpus, factor.name, min_docs))
        elif np.ptp(values := columns[factor.name]) == 0:
            raise InputError(f"effects: {factor.name} is {values[0]:g} for all documents; nothing to measure")
        elif factor.basis:
            parts.append(_spline_part(factor, values))
        else:
            unit = f"points per {'year' if is_date(corpus, factor.name) else f'unit of {factor.name}'}"
            column = (values - values.mean())[:, np.newaxis]
            parts.append(Part(factor.name, (factor.name,), (None,), column, np.eye(1), unit))
    return reduce(_interaction, parts)


def _tag_part(corpus: Corpus, kind: str, min_docs: int) -> Part:
    """Return an indicator of each tag; if documents have one each, effects are differences from the mean."""
    tags, names = kind_matrix(corpus, kind, min_docs)
    if not names:
        raise InputError(f"effects: no tag of kind {kind[:40]!r} is on {min_docs} documents or more")
    if len(names) > _MOST_TERMS:
        raise InputError(f"effects: {len(names):,} tags of kind {kind[:40]!r} are too many terms; "
                         "raise min_docs, or give it as given")  # fmt: skip
    dense, report = np.asarray(tags.toarray()), np.eye(len(names), dtype=np.float64)
    if len(names) > 1 and dense.sum(1).max() <= 1:
        # Contrasts whose mean over the documents is zero, and a column for documents without a tag.
        docs, has = dense.sum(0), dense.sum(1)[:, np.newaxis]
        report = np.asarray(np.vstack([np.eye(len(names) - 1), -docs[:-1] / docs[-1]]), dtype=np.float64)
        dense, rest = dense @ report, has - has.mean()
        dense, report = np.hstack([dense, rest]), np.hstack([report, np.zeros((len(names), 1))])
    return Part(kind, names, (None,) * len(names), dense, report, "points")


def _spline_part(factor: Factor, values: Float64) -> Part:
    """Return a cubic B-spline of a number, reported at equal distances, minus its mean."""
    from sklearn.preprocessing import SplineTransformer

    distinct = np.unique(values)
    basis = min(factor.basis, len(distinct) - 1)
    if basis < 3:
        raise InputError(f"effects: {factor.name} has {len(distinct)} values, too few for s({factor.name})")
    knots = np.quantile(distinct, np.linspace(0, 1, basis - 1))[:, np.newaxis]
    spline = SplineTransformer(knots=knots, include_bias=False).fit(values[:, np.newaxis])
    points = np.linspace(distinct[0], distinct[-1], _POINTS)
    columns = spline.transform(values[:, np.newaxis])
    mean, names = columns.mean(0), (str(factor),) * _POINTS
    report = spline.transform(points[:, np.newaxis]) - mean
    return Part(str(factor), names, tuple(points.tolist()), columns - mean, report, "points")


def _interaction(first: Part, second: Part) -> Part:
    if first.at[0] is not None and second.at[0] is not None:
        raise InputError("effects: an interaction may have one spline")
    return Part(
        f"{first.title} × {second.title}",
        tuple(f"{a} × {b}" for a in first.names for b in second.names),
        tuple(a if b is None else b for a in first.at for b in second.at),
        np.einsum("dp,dq->dpq", first.columns, second.columns).reshape(len(first.columns), -1),
        np.asarray(np.kron(first.report, second.report), dtype=np.float64),
        first.unit if second.unit == "points" else second.unit,
    )


# ----------------------------------------------------------------------------------------------- covariates


def add_values(corpus: Corpus, values: Values | None) -> tuple[Corpus, dict[str, Float64]]:
    """Return a corpus in which given texts are tags, and the given numbers, NaN where unknown."""
    numeric = dict[str, Float64]()
    for name, given in (values or {}).items():
        column = np.asarray(given)
        if column.shape != (corpus.n_docs,):
            raise InputError(f"{name}: {column.shape} values for {corpus.n_docs} documents")
        if column.dtype.kind in "biuf":
            numeric[name] = np.where(np.isfinite(column), column, np.nan).astype(np.float64)
            continue
        texts = np.array(["" if text is None or text != text else str(text) for text in column.tolist()])
        levels = [level for level in np.unique(texts).tolist() if level]
        own = sp.csr_array((texts[:, np.newaxis] == np.array(levels)).astype(np.int8))
        kept = [t for t, tag in enumerate(corpus.tag_names) if kind_of(tag) != name]
        names = *(corpus.tag_names[t] for t in kept), *(f"{name}:{level}" for level in levels)
        tags = sp.csr_array(sp.hstack([sp.csc_array(corpus.tags)[:, kept], own]))
        corpus = replace(corpus, tags=tags, tag_names=names)
    return corpus, numeric


def is_date(corpus: Corpus, name: str) -> bool:
    """Return whether a number counts years: year, date, or the column that the dates were read from."""
    return name in DATES or (corpus.columns is not None and name == corpus.columns.date)


def is_number(corpus: Corpus, name: str) -> bool:
    """Return whether a name is a date, or a kind of tags that are all numbers."""
    tags = [bare_name(tag) for tag in corpus.tag_names if kind_of(tag) == name]
    return is_date(corpus, name) or (bool(tags) and all(_NUMBER.fullmatch(tag.strip()) for tag in tags))


def clusters_of(corpus: Corpus, name: str, known: Mapping[str, Float64]) -> Int64:
    """Return the number of the cluster of each document, (D,): those of equal number, or of the same tag."""
    if name in known or is_number(corpus, name):
        values = numbers(corpus, name, known)
        return np.unique(values, return_inverse=True, equal_nan=False)[1].astype(np.int64)
    tags = kind_matrix(corpus, name)[0]
    if np.asarray(tags.sum(1)).max() > 1:
        raise InputError(f"cluster {name[:40]!r}: documents must have one tag of this kind, not several")
    lone = tags.shape[1] + np.arange(corpus.n_docs)  # a document without a tag is a cluster
    lone[tags.nonzero()[0]] = tags.nonzero()[1]
    return np.unique(lone, return_inverse=True)[1].astype(np.int64)


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
        dated = "; for the dates of documents use: year" if corpus.dates else ""
        raise InputError(f"the corpus has no tags of kind {kind[:40]!r}; its kinds are: {known}{dated}")
    return pick_tags(corpus, columns, min_docs)


def pick_tags(corpus: Corpus, columns: Sequence[int], min_docs: int) -> tuple[CSR, tuple[str, ...]]:
    """Return the tags of some columns that enough documents have: CSR (D, N) of float64, and their names."""
    docs = np.asarray(corpus.tags.sum(0), dtype=np.int64).ravel()
    kept = [t for t in columns if docs[t] >= min_docs]
    matrix = sp.csr_array(sp.csc_array(corpus.tags)[:, kept].astype(np.float64))
    return matrix, tuple(corpus.tag_names[t] for t in kept)


def numbers(corpus: Corpus, name: str, known: Mapping[str, Float64]) -> Float64:
    """Return a number for each document, (D,); NaN where it is unknown.

    Args:
        corpus: the documents.
        name: of `known`, else "year", "date" or the name of their column for the dates of the corpus, else a
            kind of tags whose names are numbers, as in `year:2020`; a document with several has their mean.
        known: numbers that the corpus does not have.
    """
    if name in known:
        return known[name]
    if is_date(corpus, name) and any(corpus.dates or ()):
        return np.array([_year(date, name) for date in corpus.dates or ()])
    if name in DATES and name not in {kind_of(tag) for tag in corpus.tag_names}:
        raise InputError(f"{name}: the documents have no dates; name their column when you fit, with --date")
    tags, names = kind_matrix(corpus, name)
    bare = [bare_name(tag) for tag in names]
    wrong = next((tag for tag in bare if not _NUMBER.fullmatch(tag.strip())), None)
    if wrong is not None:
        raise InputError(f"{name}: the tag {wrong[:40]!r} is not a number; use it as a kind instead")
    n = np.asarray(tags.sum(1)).ravel()
    total = np.asarray(tags @ np.array([float(tag) for tag in bare])).ravel()
    return np.where(n > 0, total / np.maximum(n, 1), np.nan)


def _year(date: str | None, name: str) -> float:
    match = _DATE.match(date or "")
    if match is None:
        return float("nan")
    year, month, day = (int(part) if part else 0 for part in match.groups())
    if name == "year" or not month:
        return float(year)
    return year + (month - 1) / 12 + max(day - 1, 0) / 372


def complete_rows(columns: Sequence[Float64], n_docs: int, what: str) -> Int64:
    """Return the rows, ascending, in which all numbers are known; too few are an `InputError`."""
    rows = np.flatnonzero(np.isfinite(np.reshape(columns, (-1, n_docs))).all(0))
    if len(rows) < 10:
        raise InputError(f"{what}: only {len(rows)} documents have all values; 10 or more are needed")
    return rows
