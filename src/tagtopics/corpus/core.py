"""The corpus, what readers get and hand over, and the checks of matrices."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from tagtopics._html import html_table
from tagtopics._typing import CSR, Bool, Int64
from tagtopics.corpus.recipe import Columns, TextRecipe
from tagtopics.errors import InputError, one_line

INT32_MAX = int(np.iinfo(np.int32).max)
_FINITE = float(np.finfo(np.float64).max)
Tokenizer = Callable[[str], Iterable[str]]
Where = Callable[[int], str]  # names a row of a source in errors
PER_DOCUMENT = ("labels", "texts", "split", "titles", "dates", "urls")  # optional fields of a corpus


def document_number(row: int) -> str:
    """Name a document by its row, if nothing better is known."""
    return f"document {row}"


@dataclass(frozen=True, eq=False, kw_only=True)
class Corpus:
    """A tagged collection of D documents over W words and T tags.

    Build one with `read_corpus`; the constructor checks that all parts fit together.

    Attributes:
        counts: CSR array (D, W) of int32, sorted, without explicit zeros; how often each word occurs.
        tags: CSR array (D, T) of int8 ones, sorted; which tags each document has.
        vocabulary: the W words, in column order of `counts`.
        tag_names: the T tags, in column order of `tags`. A tag with a kind is written `kind:name`.
        ids: a name for each document.
        labels: a class for each document, None where unknown.
        links: CSR array (D, D) of int8 ones; directed links between documents (citations, See Also).
        texts: the raw text of each document.
        split: "train" or "test" for each document, if there is an official split.
        titles: a title for each document, None where unknown.
        dates: likewise; ISO strings of a year, a month or a day, such as 2020, 2020-05 or 2020-05-03.
        urls: likewise; http or https links.
        recipe: how text became counts, so that new text is treated the same way.
        columns: which columns of a table it was read from, so that later tables are read the same way.
        visual: the `VisualVocabulary` that made words from images, for new images.
        thesaurus: the `Thesaurus` with the names of tags; see `with_thesaurus`.
        notices: one line for each decision that the reader made for the user.
    """

    counts: sp.csr_array
    tags: sp.csr_array
    vocabulary: tuple[str, ...]
    tag_names: tuple[str, ...]
    ids: tuple[str, ...]
    labels: tuple[str | None, ...] | None = None
    links: sp.csr_array | None = None
    texts: Sequence[str] | None = None
    split: tuple[str, ...] | None = None
    titles: tuple[str | None, ...] | None = None
    dates: tuple[str | None, ...] | None = None
    urls: tuple[str | None, ...] | None = None
    recipe: TextRecipe | None = None
    columns: Columns | None = None
    visual: Any = None
    thesaurus: Any = None
    notices: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        D, W = self.counts.shape
        _require(self.tags.shape[0] == D, f"tags have {self.tags.shape[0]} rows, counts have {D}")
        n, n_names, n_tags = len(self.vocabulary), len(self.tag_names), self.tags.shape[1]
        _require(n == W, f"vocabulary has {n} words, counts have {W} columns")
        _require(n_names == n_tags, f"{n_names} tag names for {n_tags} columns of tags")
        for name in ("ids", *PER_DOCUMENT):
            n = D if getattr(self, name) is None else len(getattr(self, name))
            _require(n == D, f"{name} has {n} entries for {D} documents")
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

    @property
    def shape(self) -> tuple[int, int]:
        """Documents and words, as of `counts`; scikit-learn asks for it."""
        return self.n_docs, self.n_words

    def __len__(self) -> int:
        return self.n_docs

    def __getitem__(self, docs: Any) -> Corpus:
        """Return some documents as `select` does: a row number, a slice, row numbers or a boolean mask."""
        if isinstance(docs, tuple) and docs[1:] == (Ellipsis,):  # how scikit-learn asks for rows
            docs = docs[0]
        return self.select(np.atleast_1d(np.arange(self.n_docs)[docs] if isinstance(docs, slice) else docs))

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
        """Return some documents (row numbers or a boolean mask) as a corpus with the same columns."""
        rows = np.asarray(docs)
        if rows.dtype == bool:
            _require(
                rows.shape == (self.n_docs,), f"{rows.size} values for a mask of {self.n_docs} documents"
            )
            rows = np.flatnonzero(rows)
        elif rows.size and rows.dtype.kind not in "iu":
            raise InputError("corpus: choose documents by row numbers, a slice or a boolean mask")
        rows = rows.astype(np.int64)
        return replace(
            self,
            counts=sp.csr_array(self.counts[rows]),
            tags=sp.csr_array(self.tags[rows]),
            ids=_pick(self.ids, rows),
            links=None if self.links is None else sp.csr_array(self.links[rows][:, rows]),
            notices=(),
            **{name: _pick(getattr(self, name), rows) for name in PER_DOCUMENT},
        )

    def _repr_html_(self) -> str:
        rows = []
        for d in range(min(5, self.n_docs)):
            words = self.counts.indices[slice(*self.counts.indptr[d : d + 2])][:20].tolist()
            shown = [self.vocabulary[w] for w in words] if self.texts is None else self.texts[d][:200].split()
            rows.append((self.ids[d], "; ".join(self.tags_of(d)), " ".join(shown)))
        return html_table(["document", "tags", "text"], rows, repr(self))

    def __repr__(self) -> str:
        s = self.statistics
        return (
            f"Corpus({self.n_docs:,} documents, {self.n_words:,} words, {self.n_tags:,} tags; "
            f"{s['tokens_per_doc']:.1f} tokens and {s['tags_per_doc']:.1f} tags a document)"
        )


class ReadKeywords(TypedDict, total=False):
    """The keyword arguments of `read_corpus`, which says what they mean, and of `shard_corpus`."""

    text: str | Sequence[str] | None
    tags: Any
    id: Any
    label: Any
    title: Any
    date: Any
    url: Any
    recipe: TextRecipe | None
    vocabulary: Sequence[str] | None
    tag_names: Sequence[str] | None
    tag_separator: str | None
    format: str | None
    delimiter: str | None
    encoding: str | None
    query: str | None
    columns: Columns | None
    visual: Any


@dataclass(frozen=True, kw_only=True)
class FileOptions:
    """How to read a file of documents; None where that is to be detected."""

    delimiter: str | None = None  # between the values of a line
    encoding: str | None = None  # of text
    query: str | None = None  # to a database


@dataclass(frozen=True, kw_only=True)
class ReadOptions(FileOptions):
    """The keyword arguments of `read_corpus` and `shard_corpus`, with their defaults.

    Where the source is a table, `text`, `tags`, `id`, `label`, `title`, `date` and `url` name columns;
    elsewhere all but `text` are the values themselves.
    """

    text: Any = None
    tags: Any = None
    id: Any = None
    label: Any = None
    title: Any = None
    date: Any = None
    url: Any = None
    recipe: TextRecipe = field(default_factory=TextRecipe)
    vocabulary: Sequence[str] | None = None
    tag_names: Sequence[str] | None = None
    tag_separator: str | None = None
    format: str | None = None
    columns: Columns | None = None  # of an earlier table, for what is None here
    visual: Any = None

    @classmethod
    def of(cls, given: ReadKeywords) -> ReadOptions:
        """Return keyword arguments as options; a recipe of None is the default one."""
        return cls(**{**given, "recipe": given.get("recipe") or TextRecipe()})  # type: ignore[arg-type]

    @property
    def metadata(self) -> dict[str, Any]:
        """Titles, dates and addresses, where they are given."""
        given = {"title": self.title, "date": self.date, "url": self.url}
        return {what: value for what, value in given.items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class Documents:
    """What a reader found in a source, before words and tags get the columns of a corpus.

    The words come as `counts`, else as `texts`.
    """

    source: str  # names the source in errors
    texts: Sequence[str] | None = None
    counts: Any = None  # documents x words, any matrix that `canonical_counts` takes
    vocabulary: Sequence[str] | None = None  # of the columns of `counts`; None if they have no names
    tags: Any = None  # a list of tags for each document, or a documents x tags matrix; None for no tags
    tag_names: Sequence[str] | None = None  # of the columns of `tags`, if it is a matrix with names
    ids: Sequence[str] | None = None
    labels: Sequence[str | None] | None = None
    split: Sequence[str] | None = None  # "train" or "test"
    titles: Sequence[str | None] | None = None
    dates: Sequence[str | None] | None = None  # ISO
    urls: Sequence[str | None] | None = None
    links: CSR | None = None  # documents x documents
    recipe: TextRecipe | None = None  # how text became `counts`
    columns: Columns | None = None  # of a table
    visual: Any = None  # the `VisualVocabulary` that made `counts`
    notices: Sequence[str] = ()  # for `Corpus.notices`; those that are `Unusual` become warnings

    def with_notices(self, lines: Sequence[str]) -> Documents:
        """Return the documents with more notices before those there are."""
        return replace(self, notices=[*lines, *self.notices])


def canonical_counts(matrix: Any, what: str = "counts") -> CSR:
    """Return a documents x words matrix of any kind as the CSR array that a `Corpus` holds.

    Duplicate entries are added, explicit zeros dropped, columns sorted.

    Raises:
        InputError: if an entry, or the sum of duplicates, is no count from 0 to 2^31 - 1.
    """
    csr = _csr(matrix, what)
    if csr.data.dtype.kind not in "biuf":
        raise InputError(f"{what}: entries must be numbers, not {csr.data.dtype}")
    if csr.data.dtype.kind == "f":
        _refuse(csr, ~np.isfinite(csr.data), what, "is not a finite number; counts are 0, 1, 2, ...")
        _refuse(csr, csr.data != np.rint(csr.data), what, "is fractional; counts are 0, 1, 2, ...")
    _refuse(csr, csr.data < 0, what, "is negative; counts are 0, 1, 2, ...")
    _refuse(csr, csr.data > INT32_MAX, what, "is too large for a count")
    if not csr.has_canonical_format:
        csr = csr.astype(np.int64, copy=True)
        csr.sum_duplicates()
        _refuse(csr, csr.data > INT32_MAX, what, "is too large for a count")
    csr = csr.astype(np.int32, copy=True)
    csr.eliminate_zeros()
    return csr


def canonical_tags(matrix: Any, what: str = "tags") -> CSR:
    """Return a documents x tags indicator of any kind as the CSR array that a `Corpus` holds: int8 ones."""
    csr = canonical_counts(matrix, what)
    csr.data = np.ones(csr.nnz, dtype=np.int8)
    return csr


def checked_csr(
    data: Any, indices: Any, indptr: Any, shape: tuple[int, ...], what: str, *, canonical: bool = False
) -> CSR:
    """Return the CSR array of data (nnz,), columns (nnz,) and row pointers (rows + 1,) from a file.

    Parts that do not make up a matrix are an `InputError` about `what`, and so are columns that do not ascend
    within each row, if the matrix must be canonical.
    """
    flat = all(part.ndim == 1 for part in (data, indices, indptr))
    whole = all(part.dtype.kind in "iu" for part in (indices, indptr))
    if not (flat and whole and data.dtype.kind in "biuf" and len(shape) == 2):
        raise InputError(f"{what}: damaged matrix, its parts have wrong types")
    if not (len(indptr) and indptr[-1] == len(data) and shape[1] < 2**31):
        raise InputError(f"{what}: damaged matrix, its parts do not fit its shape {shape}")
    try:
        csr = sp.csr_array((data, indices, indptr), shape=shape)
        csr.check_format(full_check=True)
    except (ValueError, IndexError, OverflowError, MemoryError) as error:
        raise InputError(f"{what}: damaged matrix, {one_line(error)}") from None
    if canonical and not csr.has_canonical_format:
        raise InputError(f"{what}: damaged matrix, its columns do not ascend within a row")
    return csr


def check_array(
    array: Any, shape: tuple[int, ...], dtype: Any, what: str, *, least: float = 0.0, most: float = _FINITE
) -> None:
    """Raise an `InputError` about `what` unless an array from a file has this shape, dtype and range."""
    if array.shape != shape or array.dtype != dtype:
        found = f"{array.dtype} {array.shape}"
        raise InputError(f"{what} is {found}, but should be {np.dtype(dtype)} {shape}")
    if array.size and not (float(array.min()) >= least and float(array.max()) <= most):  # also of NaN
        raise InputError(f"{what} holds numbers that are not finite, too small or too large")


def tag_matrix(doc_tags: Iterable[Iterable[str]], tag_names: Sequence[str] | Mapping[str, int]) -> CSR:
    """Return the (D, T) indicator of lists of tag names; repeats count once, unknown names are left out.

    Args:
        doc_tags: the tags of each document.
        tag_names: the T tags in column order, or the column of each.
    """
    column = tag_names if isinstance(tag_names, Mapping) else {name: t for t, name in enumerate(tag_names)}
    lists = [list(names) for names in doc_tags]
    docs = np.array([d for d, names in enumerate(lists) for _ in names], dtype=np.int32)
    tags = np.array([column.get(name, -1) for names in lists for name in names], dtype=np.int32)
    places = docs[tags >= 0], tags[tags >= 0]
    matrix = sp.csr_array((np.ones(len(places[0]), dtype=np.int8), places), (len(lists), len(tag_names)))
    matrix.data[:] = 1
    return matrix


def _csr(matrix: Any, what: str) -> CSR:
    """Return a matrix as CSR, duplicates kept apart."""
    if sp.issparse(matrix) and matrix.format == "coo" and matrix.ndim == 2:
        order = np.argsort(matrix.row, kind="stable")
        index_type = np.int64 if matrix.nnz > INT32_MAX else matrix.row.dtype
        indptr = np.zeros(matrix.shape[0] + 1, dtype=index_type)
        np.cumsum(np.bincount(matrix.row, minlength=matrix.shape[0]), out=indptr[1:])
        return sp.csr_array((matrix.data[order], matrix.col[order], indptr), shape=matrix.shape)
    if sp.issparse(matrix):
        return sp.csr_array(matrix)
    array = np.asarray(matrix)
    if array.ndim != 2:
        raise InputError(f"{what}: expected a matrix of documents x columns, got {array.ndim} dimension(s)")
    return sp.csr_array(array)


def _refuse(csr: CSR, bad: Bool, what: str, problem: str) -> None:
    """Raise an `InputError` that names the first bad entry, if there is one."""
    if not bad.any():
        return
    at = int(np.flatnonzero(bad)[0])
    row = int(np.searchsorted(csr.indptr, at, side="right")) - 1
    raise InputError(f"{what}: row {row}, column {csr.indices[at]}, value {csr.data[at]} {problem}")


def _pick(values: tuple[Any, ...] | None, rows: Int64) -> Any:
    return None if values is None else tuple(values[i] for i in rows)


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise InputError(f"corpus: {message}")
