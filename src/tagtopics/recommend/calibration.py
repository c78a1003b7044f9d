"""From scores of tags to calibrated probabilities, predictions and balanced lists."""

from __future__ import annotations

from bisect import bisect_left
from typing import Any, NamedTuple

import numpy as np
import scipy.special

from tagtopics._typing import Float32, Float64, Int64
from tagtopics.jit.top import largest_in_rows

N_FEATURES = 6  # the last axis of `calibration_features`
# Added to scores before the logarithm. A score is a share of documents, so this is close to zero.
_FLOOR = np.float32(3e-3)
_CANDIDATES = 20  # tags of a document that calibration uses: the best ones, which decide about lists
_BALANCES = tuple(0.05 * i for i in range(21))
_KEPT_PRECISION = 0.95  # share of the precision of the most probable tags that balanced lists must keep
# What thresholds that favour rare tags may cost of the F-measure over all pairs, and what share of it.
_LOST_F_MEASURE, _LOST_SHARE = 0.002, 0.004
LIST = 5  # length of the lists that popularity penalties are chosen for, as in the paper


class Calibration(NamedTuple):
    """How scores become probabilities, predictions and lists."""

    weights: Float64  # (N_FEATURES,) of `calibration_features`
    popularity_penalty: Float64  # (T,) balanced lists have the tags with the largest probability / penalty
    threshold: Float64  # (T,) tags at least this probable are predicted


def calibration_features(scores: Float32, n_docs: Any, n_all: int, cooccurrence: Any) -> Float32:
    """Return (D, T, N_FEATURES): the features of each pair of document and tag that calibration uses.

    `scores` (D, T) are of the regression; `n_docs`, (T,) or (D, T), of `n_all` training documents have each
    tag; row t of `cooccurrence` (T, T) is the share of the documents of t with each other tag.
    """
    positive = np.maximum(scores, 0)
    together = np.log(np.asarray(positive @ cooccurrence) + _FLOOR)
    rarity = np.log((np.broadcast_to(n_docs, scores.shape) + 0.5) / (n_all + 1.0)).astype(np.float32)
    columns = [np.ones_like(scores), scores, np.log(positive + _FLOOR), rarity, together, scores * rarity]
    return np.stack(columns, axis=-1, dtype=np.float32)


def candidates(features: Float32, truth: Any) -> tuple[Float32, Any]:
    """Return the features (N, N_FEATURES) and outcomes (N,) of the tags with the highest scores."""
    columns = largest_in_rows(features[:, :, 1], _CANDIDATES)
    chosen = np.take_along_axis(features, columns[:, :, np.newaxis], axis=1)
    return chosen.reshape(-1, features.shape[2]), np.take_along_axis(truth, columns, axis=1).ravel()


def probabilities(features: Float32, weights: Float64) -> Float32:
    """Return (D, T) probabilities of `calibration_features` (D, T, N_FEATURES)."""
    return np.asarray(scipy.special.expit(features @ weights.astype(np.float32)), dtype=np.float32)


def pick_tags(likely: Float32, penalty: Float64, top: int) -> Int64:
    """Return (D, top): the columns of the tags of balanced lists, most probable first.

    The most probable tag is always among them. The others are picked by probability / penalty, so that
    rare tags are not crowded out. Shorter lists are the beginnings of lists of length `LIST`.
    """
    fair = likely / penalty.astype(np.float32)
    np.put_along_axis(fair, likely.argmax(1, keepdims=True), np.inf, axis=1)
    chosen = largest_in_rows(fair, max(top, LIST))
    order = largest_in_rows(np.take_along_axis(likely, chosen, axis=1), top)
    return np.take_along_axis(chosen, order, axis=1)


def popularity_penalty(likely: Float32, truth: Any, frequency: Float64) -> Float64:
    """Return (T,): the penalties of tags that are probable for many documents.

    penalty = sqrt(reach) * frequency ** balance. The reach of a tag that n documents carry is its mean
    probability over the n documents for which it is most probable; it counts as 1 if there are fewer
    documents than tags. The balance is the largest one whose lists keep most of the precision of the most
    probable tags. `likely` (D, T) are leave-one-out probabilities; frequencies (T,) are of all documents.
    """
    even = np.ones(len(frequency))
    reach = np.sqrt(_reach(likely, truth.sum(0))) if len(likely) >= len(frequency) else even
    least = _KEPT_PRECISION * _precision(likely, truth, even)

    def costs_too_much(balance: float) -> bool:
        return _precision(likely, truth, reach * frequency**balance) < least

    place = bisect_left(_BALANCES, True, key=costs_too_much)
    return reach * frequency ** _BALANCES[place - 1] if place else even


def _reach(likely: Float32, n_docs: Any) -> Float64:
    """Return (T,): the mean of the n largest values of each column; n differs by column and is at least 1."""
    largest = -np.sort(-likely, axis=0)
    n = np.clip(n_docs, 1, len(likely))
    sums = np.cumsum(largest, axis=0, dtype=np.float64)[n - 1, np.arange(likely.shape[1])]
    return np.asarray(np.maximum(sums / n, 1e-6))


def _precision(likely: Float32, truth: Any, penalty: Float64) -> float:
    return float(np.take_along_axis(truth, pick_tags(likely, penalty, LIST), axis=1).mean())


def best_threshold(likely: Any, truth: Any, n_true: int) -> float:
    """Return the threshold whose predictions have the best F-measure; `n_true` pairs are true in all."""
    order = np.argsort(-likely.ravel(), kind="stable")
    hits = np.cumsum(truth.ravel()[order])
    f_measure = 2 * hits / (np.arange(1, len(order) + 1) + max(n_true, 1))
    return float(likely.ravel()[order[int(np.argmax(f_measure))]])


def fair_thresholds(tags: Int64, likely: Float32, truth: Any, expected: Float64, n_true: int) -> Float64:
    """Return (T,): thresholds at which rare tags are predicted, too.

    The best F-measure of a tag is reached at a threshold of half that F-measure. Its expectation follows from
    the probabilities alone, so a rare tag needs no outcomes of its own. The thresholds lie between the best
    single one and those of the tags, as near to the latter as the F-measure over all pairs allows.

    `tags`, `likely` and `truth` (N,) are of the pairs of document and tag that are not improbable; `expected`
    (T,) adds up the probabilities of all pairs, `n_true` of which are true.
    """
    if not len(likely):
        return np.full(len(expected), 0.5)
    order = np.lexsort((-likely, tags))  # by tag, the most probable first
    tags, likely, truth = tags[order], likely[order], truth[order]
    starts = np.flatnonzero(np.diff(tags, prepend=-1))
    first = np.repeat(starts, np.diff(starts, append=len(tags)))  # of the tag of each pair
    sums = np.concatenate([[0.0], np.cumsum(likely, dtype=np.float64)])
    rank = np.arange(1, len(tags) + 1) - first
    best = np.zeros(len(expected))
    best[tags[starts]] = np.maximum.reduceat((sums[1:] - sums[first]) / (rank + expected[tags]), starts)
    single = best_threshold(likely, truth, n_true)
    own = np.where(best > 0, np.maximum(best, 1e-3), single)

    def f_measure(threshold: Float64) -> float:
        predicted = likely >= threshold[tags]
        return float(2 * (predicted & truth).sum() / max(predicted.sum() + n_true, 1))

    chosen = np.full(len(expected), single)
    least = f_measure(chosen)
    least -= min(_LOST_F_MEASURE, _LOST_SHARE * least)
    for share in np.linspace(0.1, 1.0, 10):
        trial = single ** (1 - share) * own**share
        if f_measure(trial) >= least:
            chosen = trial
    return chosen
