"""Effects of numbers and tags of documents on topics, with intervals from refits on bootstrap samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import block_diag
from scipy.sparse.linalg import LinearOperator, cg
from sklearn.utils.validation import check_is_fitted

from tagtopics._blas import single_thread
from tagtopics._typing import CSR, Float64, Int64
from tagtopics.analysis.effects.measure import Measured, Sampling, TopicMean, measure
from tagtopics.analysis.effects.regressors import (
    Factor,
    Part,
    Term,
    Values,
    add_values,
    clusters_of,
    complete_rows,
    is_number,
    kind_matrix,
    make_part,
    numbers,
    parse_terms,
)
from tagtopics.analysis.records import OnProgress, Record
from tagtopics.corpus.core import Corpus
from tagtopics.errors import InputError
from tagtopics.models.base import TopicModel

_MOST_COLUMNS = 600  # regressors at the same time


@dataclass(frozen=True)
class Effect(Record):
    """The effect of one term on one topic, in shares of a document's tokens.

    Of a number, it is the change for one unit more. Of a tag of a kind of which documents have one tag each,
    it is the difference from the mean of the kind; else the difference from documents without the tag. Of a
    spline, it is the difference of the curve at `at` from its mean over the documents.
    """

    term: str
    topic: int
    estimate: float
    low: float
    high: float
    at: float | None = None

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

    terms: tuple[str, ...]  # names of the numbers, tags and splines
    units: tuple[str, ...]  # of the effects of each term times 100
    titles: tuple[str, ...]  # of the table that a term belongs to: a kind of tags, else its own
    given: tuple[str, ...]  # kinds of tags that were held constant
    n_docs: int  # documents with all values
    left_out: int  # documents without some value
    refits: int
    level: float  # of the intervals
    held: bool
    rows: tuple[Effect, ...]  # term after term; clear ones first, then by size, then by place on the curve
    topics: tuple[TopicMean, ...]

    def of(self, term: str) -> tuple[Effect, ...]:
        """Return the effects of one term."""
        if term not in self.terms:
            raise InputError(f"effects: there is no term {term[:60]!r}; see `terms`")
        return tuple(row for row in self.rows if row.term == term)

    def curves(self, term: str) -> list[tuple[Effect, ...]]:
        """Return the effects of one term by topic; several for a spline, else one."""
        return [tuple(rows) for _, rows in groupby(self.of(term), key=lambda row: row.topic)]

    def tables(self) -> list[tuple[str, str, list[tuple[Effect, ...]]]]:
        """Return title, unit and curves of each table: clear ones first, then by size."""
        found = dict[tuple[str, str], list[tuple[Effect, ...]]]()
        for term, unit, title in zip(self.terms, self.units, self.titles, strict=True):
            curves = self.curves(term)
            found.setdefault((title if curves[0][0].at is None else term, unit), []).extend(curves)
        return [(*key, sorted(curves, key=_rank)) for key, curves in found.items()]

    def mark(self, row: Effect) -> str:
        """Return the mark of an interval: "?" if the topic is not the model's, "*" if it excludes zero."""
        return ("*" if row.clear else " ") if self.topics[row.topic].agrees else "?"

    def __repr__(self) -> str:
        lines = []
        for term, unit in zip(self.terms, self.units, strict=True):
            for row in (row for curve in self.curves(term) for row in curve[::5]):
                at, topic = "" if row.at is None else f" = {row.at:g}", self.topics[row.topic]
                interval = f"[{100 * row.low:+.2f}, {100 * row.high:+.2f}] {unit}{self.mark(row)}"
                lines.append(
                    f"{term}{at}  {100 * row.estimate:+.2f} {interval} topic {row.topic}: {topic.name}"
                )
        return "\n".join(lines)


def effects(
    model: TopicModel,
    corpus: Corpus,
    *,
    on: Sequence[str] = (),
    kinds: Sequence[str] = (),
    given: Sequence[str] = (),
    cluster: str | None = None,
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
        on: numbers, or formulas such as "rating * s(day)", whose terms are added; one may be given alone. A
            number is "year" or "date" from the dates of the corpus, a kind of tags that are all numbers, or a
            name in `values`; another name is a kind of tags. `s(day)` is a spline, `rating:day` an
            interaction, and `a * b` is `a + b + a:b`.
        kinds: further kinds of tags, each tag a term; "tags" if tags have no kinds.
        given: kinds of tags to hold constant: each tag has a random effect with the variance of a document.
        cluster: a number or a kind of tags; documents that share it are sampled together.
        values: numbers or texts of documents by name, (D,), NaN or None where unknown; a data frame, too.
        refits: number of bootstrap samples.
        seed: of the samples.
        level: of the intervals.
        min_docs: tags on fewer documents are no terms.
        n_words: words that name a topic.
        n_jobs: threads; None or -1 for all cores.
        on_progress: called with the share of the work that is done.
    """
    check_is_fitted(model)
    on, kinds, given = ([one] if isinstance(one, str) else one for one in (on, kinds, given))
    corpus = corpus if corpus.columns else replace(corpus, columns=model.columns_)
    corpus, known = add_values(corpus, values)
    if not on and not kinds:
        raise InputError("effects: name numbers or formulas (on), or kinds of tags (kinds)")
    formula = parse_terms([f"`{one}`" if one in known or is_number(corpus, one) else one for one in on])
    factors = dict.fromkeys(factor for term in formula for factor in term)
    named = [name for name, basis in factors if basis or name in known or is_number(corpus, name)]
    columns = {name: numbers(corpus, name, known) for name in named}
    rows = complete_rows(list(columns.values()), corpus.n_docs, ", ".join(named) or "effects")
    part, columns = corpus.select(rows), {name: column[rows] for name, column in columns.items()}
    terms = [*formula, *((Factor(kind),) for kind in kinds)]
    design = make_design(part, terms, columns, given, min_docs)
    known = {name: column[rows] for name, column in known.items()}
    clusters = None if cluster is None else clusters_of(part, cluster, known)
    sampling = Sampling(refits, seed, level, n_jobs, on_progress, clusters)
    found = measure(model, corpus, rows, design.estimate, sampling, n_words)
    units = {name: (part.unit, part.title) for part in design.parts for name in part.names}
    return Effects(
        terms=tuple(units),
        units=tuple(unit for unit, _ in units.values()),
        titles=tuple(title for _, title in units.values()),
        given=tuple(given),
        n_docs=len(rows),
        left_out=corpus.n_docs - len(rows),
        refits=refits,
        level=level,
        held=found.held,
        rows=_rows(design.parts, found),
        topics=found.topics,
    )


class Design(NamedTuple):
    """The regressors of documents."""

    parts: tuple[Part, ...]
    fixed: Float64  # (D, Q) those of all terms
    report: Float64  # (P, Q) effects are these times the coefficients
    groups: CSR  # (D, G): tags with random effects; no columns if there are none

    def estimate(self, rows: Int64, shares: Float64) -> Float64:
        """Return the effects, (P, K), of the sampled documents; shares are (D, K)."""
        fixed = np.column_stack([np.ones(len(rows)), self.fixed[rows]])
        with single_thread():
            # V^-1 X with V = I + Z Z', for regressors X and random effects Z
            whitened = solve_ridge(sp.csr_array(self.groups[rows]), fixed, 1e-8)
            found = np.linalg.lstsq(whitened.T @ fixed, whitened.T @ shares, rcond=None)[0][1:]
            return np.asarray(self.report @ found)


def make_design(
    corpus: Corpus,
    terms: Sequence[Term],
    columns: Mapping[str, Float64],
    given: Sequence[str],
    min_docs: int,
) -> Design:
    """Return the regressors of terms; `columns` are numbers, (D,), tags of `given` have random effects."""
    parts = tuple(make_part(corpus, term, columns, min_docs) for term in terms)
    fixed = np.hstack([part.columns for part in parts])
    if fixed.shape[1] > _MOST_COLUMNS:
        raise InputError(
            f"effects: {fixed.shape[1]:,} regressors are too many; name fewer, or raise min_docs"
        )
    groups = [kind_matrix(corpus, kind, 2)[0] for kind in given]
    joined = sp.csr_array(sp.hstack(groups)) if groups else sp.csr_array((corpus.n_docs, 0))
    return Design(parts, fixed, block_diag(*(part.report for part in parts)), joined)


def _rows(parts: Sequence[Part], found: Measured) -> tuple[Effect, ...]:
    """Return the effects: term after term, in each topic after topic, clear ones first, then by size."""
    names = [(name, at) for part in parts for name, at in zip(part.names, part.at, strict=True)]
    curves = dict[tuple[str, int], list[Effect]]()
    for (name, at), *values in zip(names, found.estimate, found.low, found.high, strict=True):
        for k, (estimate, low, high) in enumerate(np.array(values).T.tolist()):
            curves.setdefault((name, k), []).append(Effect(name, k, estimate, low, high, at))
    order = {name: i for i, name in enumerate(dict.fromkeys(name for name, _ in names))}
    ranked = sorted(map(tuple, curves.values()), key=lambda rows: (order[rows[0].term], *_rank(rows)))
    return tuple(row for rows in ranked for row in rows)


def _rank(rows: Sequence[Effect]) -> tuple[bool, float, int]:
    """Return the place of a curve among others: clear ones first, then by size."""
    clear, size = any(row.clear for row in rows), max(abs(row.estimate) for row in rows)
    return not clear, -size, rows[0].topic


def solve_ridge(groups: CSR, values: Float64, tolerance: float) -> Float64:
    """Return (I + Z Z')^-1 Y for Z, CSR (N, G), and Y, (N, P), by conjugate gradients."""
    if 0 in groups.shape:
        return values
    back = sp.csr_array(groups.T)
    shape = (len(values), len(values))
    matrix = LinearOperator(shape, matvec=lambda v: v + groups @ (back @ v), dtype=np.float64)
    return np.column_stack([cg(matrix, column, rtol=tolerance)[0] for column in values.T])
