"""The packed index of a report: as many documents as its space allows."""

from __future__ import annotations

import numpy as np

from tagtopics._typing import Int64
from tagtopics.errors import InputError
from tagtopics.explore.record.topic_data import TopicData
from tagtopics.explore.report.page import packed
from tagtopics.explore.report.prepare import documents_of, fixed_index, index_of, posted, ragged, tag_rows

_FOR_BODIES = 0.4
"""Share reserved for texts of what topics, words and tags leave, if the list of documents is large."""

_SAMPLE = 2000
"""Documents from which the size of a list of many more is estimated."""


def base64_size(n_bytes: int) -> int:
    """Return how many characters bytes take as base64."""
    return -(-n_bytes // 3) * 4


def fitting_index(data: TopicData, space: int) -> tuple[Int64, bytes]:
    """Return the documents to list and the packed index; fewer if texts would not fit otherwise.

    The tags of documents that are not listed are counted in the index, if there is room for them.
    """
    sizes, order = IndexSizes(data), data.documents.by_topic()
    for_list, for_all = (1 - _FOR_BODIES, 1 - _FOR_BODIES / 2) if data.documents.has_words else (1, 1)
    if len(order) <= 2 * _SAMPLE and sizes.index(order) <= for_list * space:
        return order, packed(index_of(data, order, sizes.fixed))
    least = sizes.index(order[:0])  # topics, words and tags alone
    if least > space:
        raise InputError(f"the topics, words and tags alone need {least / 1e6:.1f} MB; raise max_mb")
    limit = least + (space - least) * for_list
    n = min(_estimated(sizes, order, limit), len(order))
    while (size := sizes.index(order[:n])) > limit and n:
        n = min(int(n * 0.95 * (limit - least) / (size - least)), n - 1)
    rest = order[n:] if size + sizes.counted(order[n:]) <= for_all * space else order[:0]
    return order[:n], packed(index_of(data, order[:n], sizes.fixed, rest))


class IndexSizes:
    """Sizes of the index of a record as base64. What does not depend on the documents is compressed once."""

    def __init__(self, data: TopicData) -> None:
        self._data, self.fixed = data, fixed_index(data)
        self._n_fixed = len(packed(self.fixed)) + 200

    def index(self, docs: Int64) -> int:
        """Return the size of an index that lists some documents."""
        listed = [ragged(*posted(self._data, docs)), documents_of(self._data, docs)]
        return base64_size(self._n_fixed + len(packed(listed)))

    def counted(self, docs: Int64) -> int:
        """Return the size of the tags of documents that are only counted."""
        return base64_size(len(packed(tag_rows(self._data, docs))))


def _estimated(sizes: IndexSizes, order: Int64, limit: float) -> int:
    """Return how many documents probably fit: the sizes of two even samples, and the line through them.

    The list of the documents of each word is nearly as long for the smaller one, so its size alone would
    promise too little.
    """
    few, many = min(len(order), _SAMPLE), min(len(order), 3 * _SAMPLE)
    small, large = (
        sizes.index(order[np.linspace(0, len(order) - 1, n).astype(np.int64)]) for n in (few, many)
    )
    if few == many:
        return int(0.98 * few * limit / small)
    each = max((large - small) / (many - few), 1.0)
    return max(int(few + 0.98 * (limit - small) / each), 0)
