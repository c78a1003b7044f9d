"""From scores of tags to calibrated probabilities and balanced lists."""

from __future__ import annotations

from bisect import bisect_left
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from tagtopics._typing import Float32, Float64, Int64

_FLOOR = 3e-3
"""Added to scores before the logarithm. A score is a share of documents, so this is close to zero."""

_CANDIDATES = 20
"""Tags of a document that calibration uses: the best ones, which decide about lists."""

_BALANCES = tuple(0.05 * i for i in range(21))
_KEPT_PRECISION = 0.95
"""Share of the precision of the most probable tags that fair lists must keep."""

LIST = 5
"""Length of the lists that handicaps are chosen for, as in the paper."""


class Calibration(NamedTuple):
    """How scores become probabilities and lists."""

    weights: Float64  # (6,) of the columns of `evidence`
    handicap: Float64  # (T,) tags are picked by probability / handicap
    threshold: float  # tags at least this probable are predicted when no length is given


def evidence(scores: Float32, frequency: Float64, connected: Any) -> Float32:
    """Return (D, T, 6): the inputs of calibration for each tag of each document.

    Args:
        scores: (D, T) of the regression.
        frequency: (T,) share of the training documents that carry each tag.
        connected: CSR (T, T), row t: the share of the documents of t with each other tag.
    """
    positive = np.maximum(scores, 0)
    company = np.log(np.asarray(positive @ connected) + _FLOOR)
    rarity = np.broadcast_to(np.log(frequency), scores.shape)
    columns = [np.ones_like(scores), scores, np.log(positive + _FLOOR), rarity, company, scores * rarity]
    return np.stack(columns, axis=-1, dtype=np.float32)


def best_columns(values: Any, n: int) -> Int64:
    """Return (D, n): the columns of the n largest values of each row, largest first, ties in order."""
    return np.argsort(-values, axis=1, kind="stable")[:, :n]


def logistic_weights(columns: Any, outcomes: Any) -> Float64:
    """Return the weights (C,) of a logistic regression, that of the constant first.

    Args:
        columns: (N, C); the first column is all ones.
        outcomes: (N,) booleans.
    """
    y = np.asarray(outcomes, dtype=bool)
    if y.all() or not y.any():  # nothing to tell apart: the share of true outcomes, smoothed
        chance = (y.sum() + 0.5) / (len(y) + 1.0)
        return np.concatenate([[np.log(chance / (1 - chance))], np.zeros(columns.shape[1] - 1)])
    regression = LogisticRegression(solver="newton-cholesky", tol=1e-8)
    regression.fit(np.asarray(columns[:, 1:], dtype=np.float64), y)
    return np.concatenate([regression.intercept_, regression.coef_[0]])


def probabilities(known: Float32, weights: Float64) -> Float32:
    """Return (D, T) probabilities of `evidence` (D, T, 6)."""
    return np.asarray(expit(known @ weights.astype(np.float32)), dtype=np.float32)


def calibrate(scores: Float32, tags: Any, frequency: Float64, connected: Any) -> Calibration:
    """Learn from leave-one-out scores (D, T) of documents whose tags (CSR, D x T) are known."""
    truth = tags.toarray().astype(bool)
    known = evidence(scores, frequency, connected)
    columns = best_columns(scores, _CANDIDATES)
    chosen = np.take_along_axis(known, columns[:, :, np.newaxis], axis=1)
    outcomes = np.take_along_axis(truth, columns, axis=1)
    weights = logistic_weights(chosen.reshape(-1, known.shape[2]), outcomes.ravel())
    likely = probabilities(known, weights)
    return Calibration(weights, fair_handicap(likely, truth, frequency), best_threshold(likely, truth))


def picked(likely: Float32, handicap: Float64, top: int) -> Int64:
    """Return (D, top): the columns of the tags recommended, most probable first.

    The most probable tag is always among them. The others are picked by probability / handicap, so that
    rare tags are not crowded out. Shorter lists are the beginnings of lists of length `LIST`.
    """
    fair = likely / handicap
    np.put_along_axis(fair, likely.argmax(1, keepdims=True), np.inf, axis=1)
    chosen = best_columns(fair, max(top, LIST))
    order = best_columns(np.take_along_axis(likely, chosen, axis=1), top)
    return np.take_along_axis(chosen, order, axis=1)


def fair_handicap(likely: Float32, truth: Any, frequency: Float64) -> Float64:
    """Return (T,): the handicaps of tags that are probable for many documents.

    handicap = sqrt(reach) * frequency ** balance. The reach of a tag that n documents carry is its mean
    probability over the n documents for which it is most probable. The balance is the largest one whose
    lists keep most of the precision of the most probable tags.

    Args:
        likely: (D, T) leave-one-out probabilities.
        truth: (D, T) which tags the documents carry.
        frequency: (T,) share of all training documents that carry each tag.
    """
    reach = np.sqrt(_reach(likely, truth.sum(0)))
    even = np.ones(len(frequency))
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


def _precision(likely: Float32, truth: Any, handicap: Float64) -> float:
    return float(np.take_along_axis(truth, picked(likely, handicap, LIST), axis=1).mean())


def best_threshold(likely: Float32, truth: Any) -> float:
    """Return the threshold whose predictions have the best F-measure over all document-tag pairs."""
    order = np.argsort(-likely, axis=None, kind="stable")
    hits = np.cumsum(truth.ravel()[order])
    f_measure = 2 * hits / (np.arange(1, len(order) + 1) + max(int(truth.sum()), 1))
    return float(likely.ravel()[order[int(np.argmax(f_measure))]])
