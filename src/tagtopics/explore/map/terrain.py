"""The map of the front page: places of documents, topics and tags, colours of regions, agreement."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.ndimage import gaussian_filter
from scipy.spatial import cKDTree

from tagtopics._typing import Bool, Float32, Float64, Int64
from tagtopics.explore.map.layout import NEIGHBOURS, document_layout, neighbours_of
from tagtopics.explore.record.areas import Areas, areas_of
from tagtopics.explore.record.topic_data import TopicData
from tagtopics.explore.report.page import round_numbers
from tagtopics.jit.threads import beside
from tagtopics.jit.top import largest_in_rows

MOST_TAGS = 300  # tags with a label on the map
_TRIED_TAGS = 4000  # tags that may get a label: the most frequent ones
_AT_A_TIME = 200  # tags whose labels are placed at a time
_LEAST_DOCS = 3
_TOGETHER = 0.4  # share of a tag's documents that must lie around its label
_CELLS = 64
_BLUR = 1.5
_REACH = 0.05  # radius around a label, in widths of the map
# Hue, lightness and chroma (OKLCH) of the colours of topics. Any two are at least 0.18 apart in OKLab, and
# 0.13 as people see them who lack red or green cones.
FAMILIES = (
    (26, 0.46, 0.18), (65, 0.61, 0.14), (98, 0.8, 0.16), (172, 0.69, 0.11), (205, 0.51, 0.09),
    (261, 0.61, 0.19), (294, 0.46, 0.19), (325, 0.8, 0.16),
)  # fmt: skip
_ROUNDS = 50  # at most, in which topics choose a family
_SAMPLE = 2000  # documents, evenly spread, on which trustworthiness is measured


@dataclass(frozen=True, eq=False, kw_only=True)
class Terrain:
    """Places are in the unit square, x to the right and y down."""

    places: Float64  # (D, 2) of documents
    region: Int64  # (D,) the topic that distinguishes each document most from the collection
    topics: Float64  # (K, 2) where the documents of each topic are densest
    family: Int64  # (K,) colours of topics, as numbers of `FAMILIES`
    areas: Areas  # of neighbouring topics
    tags: Int64  # tags with a label, most telling first
    tag_places: Float64  # (len(tags), 2)
    agreement: dict[str, float]  # see `agreement_of`


def terrain_of(data: TopicData) -> Terrain:
    """Return the map of a collection; equal records give equal bits."""
    theta = data.documents.topics
    near = neighbours_of(theta)
    places = document_layout(theta, near)
    every = np.arange(len(places))
    with beside(partial(agreement_of, theta, places, near)) as agreement:
        topics = np.array([_peaks(places, [every], [row])[0] for row in theta.T.astype(np.float64) ** 2])
        tags, tag_places = _tags(data, places)
    return Terrain(
        places=places,
        region=data.regions(),
        topics=topics,
        family=families_of(theta, data.background),
        areas=areas_of(data, topics),
        tags=tags,
        tag_places=tag_places,
        agreement=agreement(),
    )


def families_of(theta: Float32, background: Bool) -> Int64:
    """Return (K,): the family of colours of each topic, so that few documents have two large topics of one.

    Topics of many documents choose first; then each moves to the best family, and the two that gain most
    exchange theirs, until nothing is gained.

    Args:
        theta: (D, K) topic proportions of documents.
        background: (K,) which topics are background; they are grey and do not count.
    """
    D, K = theta.shape
    pairs = np.zeros((K, K))
    if D and K > 1:
        first, second = largest_in_rows(np.where(background, np.float32(-1), theta), 2).T
        np.add.at(pairs, (first, second), 1.0)
    pairs += pairs.T
    order = np.argsort(-pairs.sum(1), kind="stable")
    family = np.full(K, -1, dtype=np.int64)
    for _ in range(_ROUNDS):
        before = family.copy()
        for k in order:
            family[k] = -1
            others = np.flatnonzero(family >= 0)
            cost = np.bincount(family[others], pairs[k, others], len(FAMILIES))
            sizes = np.bincount(family[others], minlength=len(FAMILIES))
            family[k] = np.lexsort((sizes, cost))[0]  # among equal ones, the least used
        there = (pairs @ np.eye(len(FAMILIES))[family])[:, family]  # (K, K): in the family of another
        own = np.diag(there)
        change = np.where(family[:, None] == family, 0.0, there + there.T - own[:, None] - own - 2 * pairs)
        a, b = np.unravel_index(np.argmin(change), change.shape)
        if change[a, b] < 0:
            family[[a, b]] = family[[b, a]]
        if (family == before).all():
            break
    return family


def agreement_of(theta: Float32, places: Float64, near: Int64) -> dict[str, float]:
    """Return how well the map preserves the neighbours of documents.

    `kept`: the share of the nearest documents in topics (Hellinger distance) that are also the nearest on the
    map, for `neighbours` documents each; `chance`: the same for a random map; `trustworthiness`: that of
    Venna and Kaski (2001) for 12 neighbours, on a sample.
    """
    D = len(places)
    n = min(NEIGHBOURS, D - 1)
    if n < 1 or D < 4:
        return {}
    around = cKDTree(places).query(places, k=n + 1)[1]
    own = around == np.arange(D)[:, np.newaxis]
    own[~own.any(1), -1] = True  # among equal places the document itself may be missing
    of_map = around[~own].reshape(D, n)
    kept = sum(int((of_map == column[:, np.newaxis]).sum()) for column in near.T) / of_map.size
    some = np.unique(np.linspace(0, D - 1, min(D, _SAMPLE)).astype(np.int64))
    figures = {"neighbours": float(n), "kept": kept, "chance": n / (D - 1)}
    if len(some) > 2 * 12 + 2:
        from sklearn.manifold import trustworthiness

        points = np.sqrt(theta[some].astype(np.float64))
        figures["trustworthiness"] = float(trustworthiness(points, places[some], n_neighbors=12))
    return figures


def _peaks(places: Float64, groups: Sequence[Int64], weights: Sequence[Float64]) -> Float64:
    """Return (n, 2): where the documents of each group, with their weights, are densest."""
    cells = np.minimum((places * _CELLS).astype(np.int64), _CELLS - 1)
    cell = cells[:, 1] * _CELLS + cells[:, 0]
    sizes = [len(group) for group in groups]
    keys = np.repeat(np.arange(len(groups)) * _CELLS**2, sizes) + cell[np.concatenate(groups)]
    counts = np.bincount(keys, np.concatenate(weights), len(groups) * _CELLS**2)
    smooth = gaussian_filter(counts.reshape(-1, _CELLS, _CELLS), (0, _BLUR, _BLUR), mode="constant")
    y, x = np.divmod(smooth.reshape(len(groups), -1).argmax(1), _CELLS)
    tops = (np.stack([x, y], axis=1) + 0.5) / _CELLS
    peaks = np.full((len(groups), 2), 0.5)
    for g, (group, weight, top) in enumerate(zip(groups, weights, tops, strict=True)):
        near = weight * (((places[group] - top) ** 2).sum(1) < _REACH**2)
        if near.sum() > 0:
            peaks[g] = (near @ places[group]) / near.sum()
        elif weight.sum() > 0:
            peaks[g] = top
    return peaks


def _tags(data: TopicData, places: Float64) -> tuple[Int64, Float64]:
    """Return the tags whose documents lie together on the map, and the place of each.

    They are ordered by the documents around the label, times the log of how much denser they are there than
    all documents.
    """
    by_tag = sp.csc_array(data.tag_matrix)
    n_docs = np.diff(by_tag.indptr)
    tried = np.argsort(-n_docs, kind="stable")[:_TRIED_TAGS]
    tried = tried[n_docs[tried] >= _LEAST_DOCS]
    tree, scored = cKDTree(places), []
    for first in range(0, len(tried), _AT_A_TIME):
        some = tried[first : first + _AT_A_TIME]
        own = [by_tag.indices[slice(*by_tag.indptr[t : t + 2])] for t in some]
        peaks = _peaks(places, own, [np.ones(len(rows)) for rows in own])
        inside = [((places[rows] - at) ** 2).sum(1) < _REACH**2 for rows, at in zip(own, peaks, strict=True)]
        n_inside = np.array([part.sum() for part in inside])
        dense = np.flatnonzero(n_inside >= np.maximum(_TOGETHER * n_docs[some], 2))
        crowd = np.maximum(tree.query_ball_point(peaks[dense], _REACH, return_length=True), 1)
        share = n_inside[dense] / n_docs[some[dense]]
        score = n_inside[dense] * np.log(np.maximum(share * len(places) / crowd, 1))
        scored += list(zip((-score).tolist(), some[dense].tolist(), peaks[dense], strict=True))
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
        "topics": {"x": round_numbers(terrain.topics[:, 0]), "y": round_numbers(terrain.topics[:, 1])},
        "colours": [FAMILIES[f] for f in terrain.family.tolist()],
        "areas": {
            "of": terrain.areas.area.tolist(),
            "names": terrain.areas.names,
            "x": round_numbers(terrain.areas.places[:, 0]),
            "y": round_numbers(terrain.areas.places[:, 1]),
        },
        "tags": {
            "tags": terrain.tags.tolist(),
            "x": round_numbers(terrain.tag_places[:, 0]),
            "y": round_numbers(terrain.tag_places[:, 1]),
        },
        "agreement": terrain.agreement,
    }


def _short(values: Any) -> str:
    return base64.b64encode(np.rint(values).astype("<u2").tobytes()).decode()
