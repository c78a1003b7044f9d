"""The packed index of a report: as many documents as its space allows, compressed few times."""

from __future__ import annotations

import numpy as np

from tagtopics._gzip import Deflated, deflated, gzip_of
from tagtopics._typing import Int64
from tagtopics.errors import InputError
from tagtopics.explore.record.topic_data import TopicData
from tagtopics.explore.report.page import LEVEL, compact_json
from tagtopics.explore.report.prepare import documents_of, fixed_index, posted, ragged, sizes_of, tag_rows

_FOR_BODIES = 0.4
"""Share reserved for texts of what topics, words and tags leave, if the list of documents is large."""

_SAMPLE = 2000
"""Documents from which the size of a list of many more is estimated."""


class IndexPacker:
    """Packs the index of a record with different lists of documents.

    What does not depend on the list is compressed once.

    Args:
        data: the record.
    """

    def __init__(self, data: TopicData) -> None:
        self.data, fixed = data, fixed_index(data)
        words = fixed.pop("words")  # last, for the documents of each word follow
        self._head = deflated(compact_json(fixed | {"words": words})[:-2] + b',"documents":', LEVEL)

    def tail(self, docs: Int64) -> Deflated:
        """Return the part of the index that depends on the documents listed."""
        words = compact_json(ragged(*posted(self.data, docs)))
        documents = compact_json(documents_of(self.data, docs))
        return deflated(words + b'},"documents":' + documents + b",", LEVEL)

    def end(self, docs: Int64, counted: Int64) -> Deflated:
        """Return the last part of the index: sizes, and the tags of documents that are only counted."""
        sizes = sizes_of(self.data, docs, counted)
        return deflated(compact_json({"sizes": sizes, "counted": tag_rows(self.data, counted)})[1:], LEVEL)

    def size(self, *parts: Deflated) -> int:
        """Return the size of the index as base64."""
        return base64_size(self._head.size + sum(part.size for part in parts) + 200)

    def packed(self, *parts: Deflated) -> bytes:
        """Return the whole index, compressed."""
        return gzip_of([self._head, *parts])


def base64_size(n_bytes: int) -> int:
    """Return how many characters bytes take as base64."""
    return -(-n_bytes // 3) * 4


def fitting_index(packer: IndexPacker, space: int) -> tuple[Int64, bytes]:
    """Return the documents to list and the packed index; fewer if texts would not fit otherwise.

    The tags of documents that are not listed are counted in the index, if there is room for them.
    """
    documents = packer.data.documents
    order = documents.by_topic()
    for_list, for_all = (1 - _FOR_BODIES, 1 - _FOR_BODIES / 2) if documents.has_words else (1, 1)
    n, none = len(order), order[:0]
    if n <= 2 * _SAMPLE:
        tail = packer.tail(order)
        if packer.size(tail) <= for_list * space:
            return order, packer.packed(tail, packer.end(order, none))
    least = packer.size(packer.tail(none))  # topics, words and tags alone
    if least > space:
        raise InputError(f"the topics, words and tags alone need {least / 1e6:.1f} MB; raise max_mb")
    limit = least + (space - least) * for_list
    n = min(_estimated(packer, order, limit), n)
    while True:
        tail = packer.tail(order[:n])
        size = packer.size(tail)
        if size <= limit or n == 0:
            break
        n = min(int(n * 0.95 * (limit - least) / (size - least)), n - 1)
    end = packer.end(order[:n], order[n:])
    if n < len(order) and packer.size(tail, end) > for_all * space:
        end = packer.end(order[:n], none)
    return order[:n], packer.packed(tail, end)


def _estimated(packer: IndexPacker, order: Int64, limit: float) -> int:
    """Return how many documents probably fit: the sizes of two even samples, and the line through them.

    The list of the documents of each word is nearly as long for the smaller one, so its size alone would
    promise too little.
    """
    sizes = [min(len(order), _SAMPLE), min(len(order), 3 * _SAMPLE)]
    samples = [order[np.linspace(0, len(order) - 1, n).astype(np.int64)] for n in sizes]
    small, large = (packer.size(packer.tail(sample)) for sample in samples)
    if sizes[0] == sizes[1]:
        return int(0.98 * sizes[0] * limit / small)
    each = max((large - small) / (sizes[1] - sizes[0]), 1.0)
    return max(int(sizes[0] + 0.98 * (limit - small) / each), 0)
