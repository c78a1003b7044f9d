"""Tags without information: no typical words, on most documents, or always with the same other tag."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.special import ndtr

from tagtopics._typing import Float32, Float64
from tagtopics.analysis.audit.profiles import Scored
from tagtopics.analysis.audit.taggings import Taggings
from tagtopics.corpus.core import Corpus

_WIDE = 0.2  # share of the documents that a tag must have to be called broad
_FEWEST = 3  # documents that a tag must have to be judged


def dead_tags(corpus: Corpus, taggings: Taggings) -> Scored:
    """Return tags with the probability that a tag on random documents is predicted as well as this one.

    Each document of a tag has a place among the random taggings, by the score of the regression without it,
    and a tag on random documents has places around one half. Tags on one or two documents are not judged; a
    tag on no document gets 1.
    """
    n_docs = np.bincount(corpus.tags.indices, minlength=corpus.n_tags)
    scores = np.where(n_docs == 0, 1.0, 0.0)
    shown, random = taggings.carried & (taggings.n_others > 0), taggings.random
    if shown.any() and random.any():
        # (1) the predicted score of a tagging in units of the share of documents with the tag
        lift = taggings.signals[:, 1] / np.exp(taggings.signals[:, 3])
        # (2) its place among those of random taggings, the middle of equal ones
        reference = np.sort(lift[random])
        sides = (np.searchsorted(reference, lift[shown], side) for side in ("left", "right"))
        places = sum(sides) / (2.0 * len(reference))
        # (3) how far the mean place of a tag is above one half, in standard deviations
        n = np.bincount(taggings.tags[shown], minlength=corpus.n_tags)
        sums = np.bincount(taggings.tags[shown], weights=places, minlength=corpus.n_tags)
        judged = n >= _FEWEST
        z = (sums[judged] / n[judged] - 0.5) * np.sqrt(12.0 * n[judged])
        scores[judged] = np.minimum(2 * ndtr(-z), 1.0)
    return _sort_by_score(scores)


def broad_tags(corpus: Corpus, doc_topic: Float32) -> Scored:
    """Return tags with their share of the documents, times the overlap of their topics with those of all.

    Tags on less than a fifth of the documents are left out; `doc_topic` has the topic proportions (D, K).
    """
    n_docs = np.bincount(corpus.tags.indices, minlength=corpus.n_tags)
    tags = sp.csr_array(corpus.tags, dtype=np.float64)
    theta = doc_topic.astype(np.float64)
    profiles = np.asarray(tags.T @ theta) / np.maximum(n_docs, 1)[:, np.newaxis]
    overlap = np.minimum(profiles, theta.mean(0)).sum(1)
    scores = n_docs / corpus.n_docs * np.minimum(overlap, 1.0)
    return _sort_by_score(np.where(n_docs >= max(_WIDE * corpus.n_docs, _FEWEST), scores, 0.0))


def inseparable_tags(corpus: Corpus) -> Scored:
    """Return pairs of tags on exactly the same documents, two or more, with (n + 1) / (n + 2).

    Of several such tags, each is paired with the first one.
    """
    columns = sp.csc_array(corpus.tags)
    columns.sort_indices()
    first: dict[bytes, int] = {}
    found = []
    for tag in range(corpus.n_tags):
        rows = columns.indices[columns.indptr[tag] : columns.indptr[tag + 1]]
        kept = first.setdefault(rows.astype(np.int64).tobytes(), tag)
        if kept != tag and len(rows) > 1:
            found.append((kept, (len(rows) + 1) / (len(rows) + 2), tag))
    tags, scores, others = np.array(sorted(found, key=lambda pair: -pair[1])).reshape(-1, 3).T
    return Scored(tags.astype(np.int64), scores, others.astype(np.int64))


def _sort_by_score(scores: Float64) -> Scored:
    """Return the tags with a score above 0."""
    order = np.argsort(-scores, kind="stable")
    order = order[scores[order] > 0]
    return Scored(order, scores[order])
