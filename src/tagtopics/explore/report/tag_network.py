"""The network of tags that the page shows: frequent tags, joined if they are on the same documents."""

from __future__ import annotations

from collections import Counter

import numpy as np

from tagtopics.explore.record.topic_data import TopicData
from tagtopics.explore.report.groups import tag_matrix
from tagtopics.jit.top import largest

_MOST_TAGS = 60
_EDGES_PER_TAG = 3
"""An edge is kept while one of its tags has fewer; `static/network.js` does the same."""


def tag_network(data: TopicData) -> list[tuple[int, int, int]]:
    """Return pairs of frequent tags with their number of common documents, strongest first.

    The strength of a pair is its number of common documents over the root of the product of the numbers of
    documents of both tags.
    """
    n_docs = np.asarray(data.tags.n_docs, dtype=np.float64)
    tags = np.sort([t for t in largest(n_docs, _MOST_TAGS) if n_docs[t] > 1]).astype(np.int64)
    if not len(tags):
        return []
    chosen = tag_matrix(data).tocsc()[:, tags].astype(np.int64)
    common = (chosen.T @ chosen).toarray()
    a, b = np.nonzero(np.triu(common, 1) > 1)
    strength = common[a, b] / np.sqrt(n_docs[tags[a]] * n_docs[tags[b]])
    kept: list[tuple[int, int, int]] = []
    degree: Counter[int] = Counter()
    for i in np.lexsort((b, a, -strength)):
        pair = (int(tags[a[i]]), int(tags[b[i]]))
        if min(degree[t] for t in pair) < _EDGES_PER_TAG:
            degree.update(pair)
            kept.append((*pair, int(common[a[i], b[i]])))
    return kept
