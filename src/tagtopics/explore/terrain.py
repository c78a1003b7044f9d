"""The map of the front page: places of documents, topics and tags, colours of regions, agreement."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp
from scipy.ndimage import gaussian_filter
from scipy.spatial import cKDTree

from tagtopics._typing import Float32, Float64, Int64
from tagtopics.explore.layout import NEIGHBOURS, document_layout, neighbours_of
from tagtopics.explore.page import rounded
from tagtopics.views.topic_data import TopicData

MOST_TAGS = 300
"""Tags with a label on the map."""

_TRIED_TAGS = 4000
"""Tags that may get a label: the most frequent ones."""

_LEAST_DOCS = 3
_TOGETHER = 0.4
"""Share of a tag's documents that must lie around its label."""

_CELLS = 64
_BLUR = 1.5
_REACH = 0.05
"""Radius around a label, in widths of the map."""

_SAMPLE = 2000
"""Documents, evenly spread, on which trustworthiness is measured."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Terrain:
    """Places are in the unit square, x to the right and y down."""

    places: Float64  # (D, 2) of documents
    region: Int64  # (D,) the topic that distinguishes each document most from the collection
    topics: Float64  # (K, 2) where the documents of each topic are densest
    hues: Float64  # (K,) colours in degrees; topics side by side on the map have similar ones
    tags: Int64  # tags with a label, most telling first
    tag_places: Float64  # (len(tags), 2)
    agreement: dict[str, float]  # see `agreement_of`


_made: WeakKeyDictionary[TopicData, Terrain] = WeakKeyDictionary()


def terrain_of(data: TopicData, on_progress: Callable[[float], None] = lambda share: None) -> Terrain:
    """Return the map of a collection, computed once per record; equal records give equal bits."""
    if data not in _made:
        _made[data] = _terrain(data, on_progress)
    return _made[data]


def _terrain(data: TopicData, on_progress: Callable[[float], None]) -> Terrain:
    theta = data.documents.topics
    near = neighbours_of(theta) if len(theta) > 1 else None
    places = document_layout(theta, on_progress, near)
    region = regions(theta, data.topic_share)
    topics = np.array([_peak(places, theta[:, k].astype(np.float64) ** 2) for k in range(data.n_topics)])
    tags, tag_places = _tags(data, places)
    return Terrain(
        places=places,
        region=region,
        topics=topics,
        hues=hues_around(topics),
        tags=tags,
        tag_places=tag_places,
        agreement=agreement_of(theta, places, near),
    )


def regions(theta: Float32, share: Float64) -> Int64:
    """Return (D,): the topic with the largest part in the divergence of a document from the collection.

    A topic that is large everywhere says little about a document; the largest topic would paint most of the
    map in its colour.
    """
    p = np.maximum(theta.astype(np.float64), 1e-12)
    return np.asarray(np.argmax(p * np.log(p / np.maximum(share, 1e-12)), axis=1))


def hues_around(topics: Float64) -> Float64:
    """Return (K,): evenly spaced hues, in the order of the angles of topics around their centre."""
    if not len(topics):
        return np.zeros(0)
    away = topics - topics.mean(0)
    order = np.argsort(np.arctan2(away[:, 1], away[:, 0]), kind="stable")
    hues = np.empty(len(topics))
    hues[order] = (20 + 360 * np.arange(len(topics)) / len(topics)) % 360
    return hues


def agreement_of(theta: Float32, places: Float64, near: Int64 | None = None) -> dict[str, float]:
    """Return how well the map preserves the neighbours of documents.

    `kept`: the share of the nearest documents in topics (Hellinger distance) that are also the nearest on the
    map, for `neighbours` documents each; `chance`: the same for a random map; `trustworthiness`: that of
    Venna and Kaski (2001) for 12 neighbours, on a sample.
    """
    D = len(places)
    n = min(NEIGHBOURS, D - 1)
    if n < 1 or D < 4:
        return {}
    of_topics = neighbours_of(theta) if near is None else near
    around = cKDTree(places).query(places, k=n + 1)[1]
    own = around == np.arange(D)[:, np.newaxis]
    own[~own.any(1), -1] = True  # among equal places the document itself may be missing
    of_map = around[~own].reshape(D, n)
    kept = sum(int((of_map == column[:, np.newaxis]).sum()) for column in of_topics.T) / of_map.size
    some = np.unique(np.linspace(0, D - 1, min(D, _SAMPLE)).astype(np.int64))
    figures = {"neighbours": float(n), "kept": kept, "chance": n / (D - 1)}
    if len(some) > 2 * 12 + 2:
        from sklearn.manifold import trustworthiness

        figures["trustworthiness"] = float(
            trustworthiness(np.sqrt(theta[some]), places[some], n_neighbors=12)
        )
    return figures


def _peak(places: Float64, weights: Float64) -> Float64:
    """Return (2,): where weighted places are densest."""
    if not weights.sum() > 0:
        return np.full(2, 0.5)
    cells = np.minimum((places * _CELLS).astype(np.int64), _CELLS - 1)
    counts = np.bincount(cells[:, 1] * _CELLS + cells[:, 0], weights, _CELLS * _CELLS)
    smooth = gaussian_filter(counts.reshape(_CELLS, _CELLS), _BLUR, mode="constant")
    y, x = divmod(int(np.argmax(smooth)), _CELLS)
    top = (np.array([x, y]) + 0.5) / _CELLS
    near = weights * (((places - top) ** 2).sum(1) < _REACH**2)
    return (near @ places) / near.sum() if near.sum() > 0 else top


def _tags(data: TopicData, places: Float64) -> tuple[Int64, Float64]:
    """Return the tags whose documents lie together on the map, and the place of each.

    They are ordered by the documents around the label, times the log of how much denser they are there than
    all documents.
    """
    table, T, D = data.documents, len(data.tags.names), len(places)
    if not len(table.tag_index):
        return np.zeros(0, dtype=np.int64), np.zeros((0, 2))
    rows = np.repeat(np.arange(D), np.diff(table.tag_offsets))
    ones = np.ones(len(rows), dtype=np.int8)
    docs = sp.csr_array((ones, (table.tag_index, rows)), shape=(T, D))
    n_docs = np.diff(docs.indptr)
    tree = cKDTree(places)
    scored = []
    for t in np.argsort(-n_docs, kind="stable")[:_TRIED_TAGS].tolist():
        own = docs.indices[docs.indptr[t] : docs.indptr[t + 1]]
        if len(own) < _LEAST_DOCS:
            break
        place = _peak(places[own], np.ones(len(own)))
        inside = int((((places[own] - place) ** 2).sum(1) < _REACH**2).sum())
        if inside >= max(_TOGETHER * len(own), 2):
            crowd = max(int(tree.query_ball_point(place, _REACH, return_length=True)), 1)
            scored.append((-inside * float(np.log(max(inside / len(own) * D / crowd, 1))), t, place))
    scored.sort(key=lambda row: row[:2])
    best = [row for row in scored if row[0] < 0][:MOST_TAGS]
    chosen = np.array([t for _, t, _ in best], dtype=np.int64)
    return chosen, np.array([place for _, _, place in best]).reshape(-1, 2)


def map_index(terrain: Terrain, docs: Int64) -> dict[str, Any]:
    """Return the map, ready for JSON: first the documents of a list, in its order, then all others."""
    rest = np.ones(len(terrain.places), dtype=bool)
    rest[docs] = False
    order = np.concatenate([docs, np.flatnonzero(rest)])
    return {
        "x": _short(terrain.places[order, 0] * 65535),
        "y": _short(terrain.places[order, 1] * 65535),
        "region": _short(terrain.region[order]),
        "topics": {"x": rounded(terrain.topics[:, 0]), "y": rounded(terrain.topics[:, 1])},
        "hues": rounded(terrain.hues),
        "tags": {
            "tags": terrain.tags.tolist(),
            "x": rounded(terrain.tag_places[:, 0]),
            "y": rounded(terrain.tag_places[:, 1]),
        },
        "agreement": terrain.agreement,
    }


def _short(values: Any) -> str:
    return base64.b64encode(np.rint(values).astype("<u2").tobytes()).decode()
