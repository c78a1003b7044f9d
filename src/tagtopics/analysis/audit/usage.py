"""Findings from the use of tags alone: tags that other tags imply, and tags on a single document."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from tagtopics.analysis.audit.duplicates import Scored
from tagtopics.corpus.core import Corpus
from tagtopics.corpus.tags import kind_of, tags_together

_FEWEST = 5  # documents that a tag must have to imply another
_CONFIDENCE = 0.8  # least share of them with the other tag
_LIFT = 2.0  # least ratio of this share to that of all documents


def implied_tags(corpus: Corpus) -> Scored:
    """Return tags that documents lack although another tag of theirs, of the same kind, implies them.

    A tag implies one that is on more documents if most of its documents have it, and twice as large a share
    as of all documents. The score is (m + 1) / (n + 2) for m of n documents. If several tags of a document
    imply one, that with the highest score is given.
    """
    columns = sp.csc_array(corpus.tags, dtype=np.float64)
    n_docs = np.diff(columns.indptr)
    pairs = tags_together(sp.csr_array(columns)).tocoo()
    narrow, wide, share = pairs.row, pairs.col, pairs.data / n_docs[pairs.row]
    usual = (share >= _CONFIDENCE) & (share * corpus.n_docs >= _LIFT * n_docs[wide])
    kinds = np.array([kind_of(name) for name in corpus.tag_names])
    rules = (
        usual & (n_docs[narrow] >= _FEWEST) & (n_docs[narrow] < n_docs[wide]) & (kinds[narrow] == kinds[wide])
    )
    best: dict[tuple[int, int], tuple[float, int]] = {}
    for at in np.flatnonzero(rules).tolist():
        one, other = int(narrow[at]), int(wide[at])
        score = float((pairs.data[at] + 1) / (n_docs[one] + 2))
        rows, others = (columns.indices[columns.indptr[t] : columns.indptr[t + 1]] for t in (one, other))
        for row in np.setdiff1d(rows, others).tolist():
            best[row, other] = max(best.get((row, other), (0.0, 0)), (score, one))
    found = sorted((-score, row, tag, one) for (row, tag), (score, one) in best.items())
    scores, docs, tags, ones = np.array(found).reshape(-1, 4).T
    return Scored(tags.astype(np.int64), -scores, ones.astype(np.int64), docs.astype(np.int64))


def single_tags(corpus: Corpus) -> Scored:
    """Return the tags on a single document, with the share of other tags among all tags of the document."""
    tags, n_of_doc = corpus.tags.indices, np.diff(corpus.tags.indptr)
    single = np.bincount(tags, minlength=corpus.n_tags)[tags] == 1
    found, scores = tags[single].astype(np.int64), 1 - 1 / np.repeat(n_of_doc, n_of_doc)[single]
    order = np.lexsort((found, -scores))
    return Scored(found[order], scores[order])
