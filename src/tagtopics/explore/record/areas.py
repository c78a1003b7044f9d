"""Areas of the map: neighbouring topics, named by the words that they share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage

from tagtopics._typing import Float64, Int64
from tagtopics.corpus.tags import bare_name
from tagtopics.corpus.text import DEBRIS
from tagtopics.explore.record.topic_data import TopicData
from tagtopics.models.naming import name_topics

_LEAST_TOPICS = 8  # fewer need no areas
_WORDS = 8  # that a name is made of, if some of them are forms of others


@dataclass(frozen=True, eq=False, kw_only=True)
class Areas:
    """Groups of topics that lie together on the map; background topics are in none."""

    area: Int64  # (K,) of each topic; -1 for none
    names: tuple[str, ...]  # no two are equal
    places: Float64  # (A, 2)


def areas_of(data: TopicData, topics: Float64) -> Areas:
    """Return about as many areas as the root of the number of topics.

    Args:
        data: the record.
        topics: (K, 2) the places of topics on the map.
    """
    told = np.flatnonzero(~data.background)
    area = np.full(len(topics), -1, dtype=np.int64)
    if len(told) < _LEAST_TOPICS:
        return Areas(area=area, names=(), places=np.zeros((0, 2)))
    joined = linkage(topics[told], "ward")
    area[told] = fcluster(joined, round(len(told) ** 0.5), "maxclust") - 1
    members = [np.flatnonzero(area == a) for a in range(area.max() + 1)]
    share = data.topic_share
    places = [share[own] @ topics[own] / share[own].sum() for own in members]
    return Areas(area=area, names=_names(data, members), places=np.array(places))


def _names(data: TopicData, members: list[Int64]) -> tuple[str, ...]:
    """Return names of words, or of tags where people cannot read the words.

    A word speaks for the area in which the root of its probability, in the mean of topics, exceeds that of
    all others most: by the root, words that several topics share count more than those that one repeats.
    """
    if data.visual:
        terms = [bare_name(name) for name in data.tags.names]
        weights = (data.tags.profiles * data.tags.tokens[:, np.newaxis]).T.astype(np.float64)
        weights /= np.maximum(weights.sum(1, keepdims=True), 1e-300)
    else:
        terms, weights = list(data.words), data.topic_word.astype(np.float64)
    if not terms:
        return name_topics([["no tags"] for _ in members])
    gains = shared_gains(weights, members)
    gains[:, [term in DEBRIS for term in terms]] = -np.inf
    best = np.argsort(-np.where(gains == gains.max(0), gains, -np.inf), axis=1, kind="stable")[:, :_WORDS]
    return name_topics([[terms[w] for w in row] for row in best])


def shared_gains(weights: Float64, members: list[Int64]) -> Float64:
    """Return (A, W): by how much the mean root of p(word | topic) in an area exceeds that of other topics.

    Args:
        weights: (K, W) probabilities of words in topics.
        members: the topics of each area.
    """
    roots = np.sqrt(weights)
    own = np.concatenate(members)
    total = roots[own].sum(0)
    sums = np.array([roots[some].sum(0) for some in members])
    sizes = np.array([len(some) for some in members], dtype=np.float64)[:, np.newaxis]
    return np.asarray(sums / sizes - (total - sums) / np.maximum(len(own) - sizes, 1))
