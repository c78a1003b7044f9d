"""The workbench inside the report: an `OfflineModel` in few bytes, for the page to decode.

Everything is rounded: p(word | topic) to 8 bits of its root, relative to the word's largest topic, which does
not change the topics of a document; coefficients to a step, with the rounding error of a document passed on
to the next one, because similar kernels multiply neighbouring documents and their errors then cancel.
"""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import scipy.sparse as sp

from tagtopics._typing import Float32, Int64
from tagtopics.explore.record.offline import OfflineModel, OfflineTags
from tagtopics.explore.record.topic_data import TopicData
from tagtopics.explore.report.page import packed, root_bytes
from tagtopics.explore.report.prepare import known_words

MOST_BYTES = 2_500_000  # what the workbench may add to a report, as base64
_STEPS = (0.0005, 0.001, 0.002, 0.004, 0.008)  # steps of coefficients, finest first
_MOST_COEFFICIENTS = 2_000_000
"""More coefficients do not fit; the nearest documents decide then, as in a recommender of many tags."""

_SHARES = (1.0, 0.7, 0.5, 0.35, 0.25)
"""Shares of the training documents that are kept, where the nearest documents decide."""


def bench_block(data: TopicData, model: OfflineModel) -> bytes | None:
    """Return the packed workbench; without tags if these would not fit, None if nothing fits."""
    chosen, number = known_words(data)
    phi = model.phi[chosen]
    ratio = phi / np.maximum(phi.max(1, keepdims=True), 1e-30)
    parts: dict[str, Any] = {
        "settings": model.settings,
        "phi": root_bytes(ratio, 8),
        "prior": [float(f"{value:.7g}") for value in model.prior.tolist()],
    }
    tags = None if model.tags is None else _fitting_tags(model.tags, number, len(packed(parts)))
    block = packed(parts | {"tags": tags})
    return block if _fits(len(block)) else None


def _fitting_tags(tags: OfflineTags, number: Int64, n_bytes: int) -> dict[str, Any] | None:
    """Return the best recommender that fits next to bytes that are there already; None if none does."""

    def size(found: dict[str, Any]) -> int:
        return n_bytes + len(packed(found))

    if 0 < tags.coefficients.size <= _MOST_COEFFICIENTS:
        for step in _STEPS:
            found = _tags(tags, number, step, 1.0)
            if _fits(size(found)):
                return found
    least = size(_tags(tags, number, 0.0, _SHARES[-1])) - n_bytes
    for share in _SHARES:
        if _fits(n_bytes + 0.9 * least * share / _SHARES[-1]):  # else it need not be tried
            found = _tags(tags, number, 0.0, share)
            if _fits(size(found)):
                return found
    return None


def _fits(n_bytes: float) -> bool:
    return -(-n_bytes // 3) * 4 <= MOST_BYTES


def _tags(tags: OfflineTags, number: Int64, step: float, share: float) -> dict[str, Any]:
    """Return the recommender, ready for JSON, with documents in an order that puts similar ones together."""
    N = tags.counts.shape[0]
    kept = np.unique(np.linspace(0, N - 1, max(int(share * N), 1)).astype(np.int64))
    best = np.argsort(-tags.topics[kept], axis=1, kind="stable")[:, :2]
    order = kept[np.lexsort((kept, best[:, -1], best[:, 0]))]
    counts = sp.csr_array(tags.counts[order])
    tokens = np.asarray(counts.sum(1, dtype=np.float64)).ravel()
    inside = number[counts.indices] >= 0
    rows = np.repeat(np.arange(len(order)), np.diff(counts.indptr))[inside]
    words, values = number[counts.indices][inside], counts.data[inside]
    carried = sp.csr_array(tags.tags[order])
    of_tags = np.repeat(np.arange(len(order)), np.diff(carried.indptr))
    return {
        "documents": len(order),
        "all": N,
        "words": _ragged(rows, words, len(order)),
        "counts": _bytes(values),
        "tokens": tokens.tolist(),
        "tags": _ragged(of_tags, carried.indices.astype(np.int64), len(order)),
        "carriers": np.bincount(tags.tags.indices, minlength=len(tags.columns)).tolist(),
        "columns": tags.columns.tolist(),
        "bandwidth": tags.bandwidth,
        "weights": tags.weights.tolist(),
        "company": tags.most_together if len(tags.coefficients) else 0,
        "step": step,
        "coefficients": _rounded(tags.coefficients[order], step) if step else None,
        "line": None if step else tags.line,
        "rows": tags.rows[order].tolist() if tags.line and not step else None,
    }


def _ragged(rows: Int64, values: Int64, n: int) -> dict[str, Any]:
    """Return ascending numbers by row: how many each row has, and their differences."""
    place = rows * (values.max(initial=0) + 1) + values
    if not (place[1:] > place[:-1]).all():
        order = np.lexsort((values, rows))
        rows, values = rows[order], values[order]
    first = np.diff(rows, prepend=-1) > 0
    gaps = np.where(first, values, np.diff(values, prepend=0))
    return {"sizes": np.bincount(rows, minlength=n).tolist(), "gaps": _bytes(gaps)}


def _bytes(values: Any) -> str:
    """Return whole numbers from 0 to 65535 as base64 of two planes of bytes, the low ones first."""
    whole = np.clip(np.rint(values), 0, 65535).astype(np.uint16)
    planes = np.concatenate([whole & 255, whole >> 8]).astype(np.uint8)
    return base64.b64encode(planes.tobytes()).decode()


def _rounded(coefficients: Float32, step: float) -> str:
    """Return coefficients in steps, tag by tag; what rounding leaves goes to the next document.

    A step s is stored as 2 s, or -2 s - 1 below zero, so that small ones have small numbers.
    """
    scaled = coefficients.astype(np.float64) / step
    sums = np.cumsum(scaled, axis=0)
    steps = np.diff(np.rint(sums), axis=0, prepend=0.0)
    return _bytes(np.where(steps < 0, -2 * steps - 1, 2 * steps).T.ravel())
