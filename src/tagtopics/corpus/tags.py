"""Tags as they are in a corpus: kinds, tags on the same documents, and the labels `y` of estimators.

In `y`, one string per document is one tag and is never split; for the tags of tables, and of a table `y`, see
`tagtopics.corpus.cells`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
import scipy.sparse as sp

from tagtopics._typing import CSR, Int64
from tagtopics.corpus.align import align_columns
from tagtopics.corpus.cells import TagLists, TagStyle, name_of, read_tags, tags_of_cells
from tagtopics.corpus.core import document_number, tag_matrix
from tagtopics.corpus.formats.tables import frame_of, is_numeric
from tagtopics.errors import InputError, Unusual, warn

MOST_TOGETHER = 256  # documents with more tags do not count: n tags are n² pairs, and most mean little
MOST_KINDS = 8  # with more different kinds than this, tags count as having none


def split_kind(tag: str) -> tuple[str, str]:
    """Return kind and name of a tag `kind:name`; of any other tag, an empty kind and the tag.

    An address such as `http://example.org` has no kind.
    """
    kind, _, name = tag.partition(":")
    has_kind = kind.strip() and name.strip() and not name.startswith("//")
    return (kind, name) if has_kind else ("", tag)


def kind_of(tag: str) -> str:
    """Return the kind of a tag; empty if it has none."""
    return split_kind(tag)[0]


def bare_name(tag: str) -> str:
    """Return the name of a tag without its kind: `Jane Doe` of `author:Jane Doe`."""
    return split_kind(tag)[1]


def tags_together(tags: CSR) -> CSR:
    """Return CSR (T, T): how many documents have both tags; 0 for a tag and itself.

    The work is at most `MOST_TOGETHER` times the number of entries of `tags`.

    Args:
        tags: CSR (D, T), 1 where a document has a tag; the result has its type.
    """
    few = np.diff(tags.indptr) <= MOST_TOGETHER
    counted = tags if few.all() else tags[few]
    together = sp.csr_array(counted.T @ counted)
    together.setdiag(0)
    together.eliminate_zeros()
    return together


def n_partners(tags: CSR) -> Int64:
    """Return (D,): the number of other tags that each tag of a document is counted with, 0 for too many."""
    n = np.diff(tags.indptr)
    return np.asarray(np.where(n <= MOST_TOGETHER, np.maximum(n - 1, 0), 0))


def tags_of_labels(
    y: Any, n_docs: int, tag_names: Sequence[str] | None = None
) -> tuple[CSR, tuple[str, ...]]:
    """Return the `y` of an estimator as tags: CSR (D, T) of int8 ones, and T names.

    Args:
        y: None, one label per document, lists of names, an indicator matrix (sparse, dense, or a table whose
            columns are the tags), or a table with a column for each kind of tag.
        n_docs: the number of documents, D.
        tag_names: the columns wanted; other tags are left out with a warning. None for all tags.
    """
    if y is None:
        names = tuple(tag_names or ())
        return sp.csr_array((n_docs, len(names)), dtype=np.int8), names
    if not isinstance(y, Sequence) and hasattr(y, "__array__") and not hasattr(y, "columns"):
        y = np.asarray(y)
    if is_indicator(y):
        return _tags_of_indicator(y, n_docs, tag_names)
    if hasattr(y, "columns"):
        lists = _tags_of_columns(frame_of(y))
    else:
        lists = tags_of_cells(y, lambda label: [label], document_number)
    _check_length(len(lists), n_docs)
    found = tuple(sorted(set(chain.from_iterable(lists))))
    names = found if tag_names is None else tuple(tag_names)
    if unknown := set(found).difference(names):
        warn(f"{len(unknown)} tag(s) unknown to the model left out, such as {min(unknown)!r}")
    return tag_matrix(lists, names), names


def is_indicator(y: Any) -> bool:
    """Tell whether labels are an indicator matrix: sparse, or a table or 2-D array of numbers."""
    if sp.issparse(y) or hasattr(y, "columns"):
        return sp.issparse(y) or is_numeric(y)
    return isinstance(y, np.ndarray) and y.ndim == 2 and y.dtype.kind in "biuf"


def _tags_of_columns(frame: Any) -> TagLists:
    """Return the tags of all columns of a table; their kinds are the names of the columns."""
    columns, unusual = list[TagLists](), list[str]()
    for name in frame.columns:
        cells = frame[name].to_list()
        style = TagStyle.of(cells)
        columns.append(read_tags(cells, style=style, kind=name))
        unusual += [line for line in style.notices(name) if isinstance(line, Unusual)]
    if unusual:
        warn("; ".join(unusual))
    return [list(chain.from_iterable(of_doc)) for of_doc in zip(*columns, strict=True)]


def _tags_of_indicator(y: Any, n_docs: int, tag_names: Sequence[str] | None) -> tuple[CSR, tuple[str, ...]]:
    csr = sp.csr_array(y if sp.issparse(y) else np.asarray(y), copy=True)
    csr.sum_duplicates()
    csr.eliminate_zeros()
    _check_length(csr.shape[0], n_docs)
    if not np.isin(csr.data, (0, 1)).all():
        raise InputError("tags: an indicator matrix holds zeros and ones only; give tags as lists or strings")
    csr = csr.astype(np.int8)
    if hasattr(y, "columns"):
        have = [name_of(name, lambda: "tags") or "" for name in y.columns]  # equal ones are one tag
        names = tuple(dict.fromkeys(have)) if tag_names is None else tuple(tag_names)
        tags, n_lost = align_columns(csr, have, names)
        tags.data = np.ones(tags.nnz, dtype=np.int8)
        if n_lost:
            warn(f"{n_lost:,} tag(s) of the new documents unknown to the model left out")
        return tags, names
    names = tuple(f"tag{t}" for t in range(csr.shape[1])) if tag_names is None else tuple(tag_names)
    if len(names) != csr.shape[1]:
        raise InputError(f"tags: the indicator has {csr.shape[1]} columns, the model has {len(names)} tags")
    return csr, names


def _check_length(found: int, expected: int) -> None:
    if found != expected:
        raise InputError(f"inconsistent numbers of samples: {expected} documents, tags for {found}")
