"""Tags that say nothing: without telling words, on most documents, or always with the same other tag."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import ndtr

from tagtopics._typing import Float32, Float64, Int64
from tagtopics.analysis.audit.taggings import Taggings
from tagtopics.corpus.core import Corpus

_WIDE = 0.2
"""Share of the documents that a tag must have to be called broad."""

_FEWEST = 3
"""Documents that a tag must have for its words to be judged."""


class TagScores(NamedTuple):
    """Tags with scores from 0 to 1, highest first."""

    tags: Int64
    scores: Float64


def dead_tags(corpus: Corpus, taggings: Taggings) -> TagScores:
    """Return tags with the probability that a tag on random documents is predicted as well as this one.

    Each document of a tag has a place among the random taggings, by the score of the regression without it,
    and a tag on random documents has places around one half. Tags on one or two documents are not judged; a
    tag on no document gets 1.
    """
    n_docs = np.bincount(corpus.tags.indices, minlength=corpus.n_tags)
    scores = np.where(n_docs == 0, 1.0, 0.0)
    shown, random = taggings.carried & (taggings.n_others > 0), taggings.random
    if shown.any() and random.any():
        lift = _lift(taggings)
        reference = np.sort(lift[random])
        places = (
            np.searchsorted(reference, lift[shown], "left") + np.searchsorted(reference, lift[shown], "right")
        ) / (2.0 * len(reference))
        n = np.bincount(taggings.tags[shown], minlength=corpus.n_tags)
        sums = np.bincount(taggings.tags[shown], weights=places, minlength=corpus.n_tags)
        judged = n >= _FEWEST
        z = (sums[judged] / n[judged] - 0.5) * np.sqrt(12.0 * n[judged])
        scores[judged] = np.minimum(2 * ndtr(-z), 1.0)
    return _sort_by_score(scores)


def _lift(taggings: Taggings) -> Float64:
    """Return (P,): the predicted score of a tagging in units of the share of documents with the tag."""
    return np.asarray(taggings.signals[:, 1] / np.exp(taggings.signals[:, 3]))


def broad_tags(corpus: Corpus, doc_topic: Float32) -> TagScores:
    """Return tags with their share of the documents, times the overlap of their topics with those of all.

    Tags on less than a fifth of the documents get 0.

    Args:
        corpus: D documents.
        doc_topic: (D, K) topic proportions.
    """
    n_docs = np.bincount(corpus.tags.indices, minlength=corpus.n_tags)
    tags = sp.csr_array(corpus.tags, dtype=np.float64)
    theta = doc_topic.astype(np.float64)
    profiles = np.asarray(tags.T @ theta) / np.maximum(n_docs, 1)[:, np.newaxis]
    overlap = np.minimum(profiles, theta.mean(0)).sum(1)
    scores = n_docs / corpus.n_docs * np.minimum(overlap, 1.0)
    return _sort_by_score(np.where(n_docs >= max(_WIDE * corpus.n_docs, 3), scores, 0.0))


def inseparable_tags(corpus: Corpus) -> list[tuple[int, int, float]]:
    """Return pairs of tags on exactly the same documents, two or more, with (n + 1) / (n + 2).

    Of several such tags, each is paired with the first one.
    """
    columns = sp.csc_array(corpus.tags)
    columns.sort_indices()
    first: dict[bytes, int] = {}
    found = []
    for tag in range(corpus.n_tags):
        rows = columns.indices[columns.indptr[tag] : columns.indptr[tag + 1]]
        if len(rows) < 2:
            continue
        kept = first.setdefault(rows.astype(np.int64).tobytes(), tag)
        if kept != tag:
            found.append((kept, tag, (len(rows) + 1) / (len(rows) + 2)))
    return sorted(found, key=lambda pair: -pair[2])


def _sort_by_score(scores: Float64) -> TagScores:
    order = np.argsort(-scores, kind="stable")
    return TagScores(order, scores[order])
