"""From scores of tags to probabilities and lists: calibration, connected tags, fair lists."""

from __future__ import annotations

from bisect import bisect_left
from typing import Any, NamedTuple

import numpy as np

from tagtopics._typing import Float32, Float64, Int64

_FLOOR = 3e-3
"""Added to scores before the logarithm; a score is a share of documents, so this is next to never."""

_CANDIDATES = 20
"""Tags of a document that calibration looks at: its best ones, where lists are decided."""

_BALANCES = tuple(0.05 * i for i in range(21))
_KEPT_PRECISION = 0.95
"""Fair lists may cost a twentieth of the precision of the most probable tags, not more."""

LIST = 5
"""Length of the list for which handicaps are chosen, as in the paper."""


class Calibration(NamedTuple):
    """How scores become probabilities and lists."""

    weights: Float64  # (6,) of the columns of `evidence`
    handicap: Float64  # (T,) tags are picked by probability / handicap
    threshold: float  # tags at least so probable are predicted where no length of list is asked for


def evidence(scores: Float32, frequency: Float64, connected: Any) -> Float32:
    """Return (D, T, 6): what is known of each tag of each document before calibration.

    Args:
        scores: (D, T) of the regression.
        frequency: (T,) share of the training documents that carry each tag.
        connected: CSR (T, T), row t: how often each other tag stands beside t.
    """
    positive = np.maximum(scores, 0)
    company = np.log(np.asarray(positive @ connected) + _FLOOR)
    rarity = np.broadcast_to(np.log(frequency), scores.shape)
    columns = [np.ones_like(scores), scores, np.log(positive + _FLOOR), rarity, company, scores * rarity]
    return np.stack(columns, axis=-1, dtype=np.float32)


def best_columns(values: Any, n: int) -> Int64:
    """Return (D, n): the columns of the n largest values of each row, largest first, ties in order."""
    return np.argsort(-values, axis=1, kind="stable")[:, :n]


def logistic_regression(columns: Any, outcomes: Any, penalty: float = 1.0) -> Float64:
    """Return the weights of a logistic regression with a quadratic penalty, by Newton's method.

    Args:
        columns: (N, C); the first is all ones and is not penalised.
        outcomes: (N,) zeros and ones.
        penalty: of half the squared weights.
    """
    X, y = np.asarray(columns, dtype=np.float64), np.asarray(outcomes, dtype=np.float64)
    ridge = np.full(X.shape[1], penalty)
    ridge[0] = 1e-6
    weights = np.zeros(X.shape[1])
    for _ in range(100):
        p = sigmoid(X @ weights)
        gradient = X.T @ (p - y) + ridge * weights
        curvature = (X * np.maximum(p * (1 - p), 1e-9)[:, np.newaxis]).T @ X + np.diag(ridge)
        step = np.linalg.solve(curvature, gradient)
        weights -= step * min(1.0, 4.0 / max(np.abs(step).max(), 1e-12))
        if np.abs(step).max() < 1e-7:
            break
    return weights


def sigmoid(x: Any) -> Any:
    """Return 1 / (1 + exp(-x)) without overflow."""
    return 0.5 * (1.0 + np.tanh(0.5 * np.asarray(x)))


def probabilities(known: Float32, weights: Float64) -> Float32:
    """Return (D, T) probabilities of `evidence` (D, T, 6)."""
    return np.asarray(sigmoid(known @ weights.astype(np.float32)), dtype=np.float32)


def calibrate(scores: Float32, tags: Any, frequency: Float64, connected: Any) -> Calibration:
    """Learn from leave-one-out scores (D, T) of documents whose tags (CSR, D x T) are known."""
    truth = tags.toarray().astype(bool)
    known = evidence(scores, frequency, connected)
    columns = best_columns(scores, _CANDIDATES)
    chosen = np.take_along_axis(known, columns[:, :, np.newaxis], axis=1)
    outcomes = np.take_along_axis(truth, columns, axis=1)
    weights = logistic_regression(chosen.reshape(-1, known.shape[2]), outcomes.ravel())
    likely = probabilities(known, weights)
    return Calibration(weights, fair_handicap(likely, truth, frequency), best_threshold(likely, truth))


def picked(likely: Float32, handicap: Float64, top: int) -> Int64:
    """Return (D, top): the columns of the tags recommended, most probable first.

    The most probable tag is always among them. The others are picked by probability / handicap, so that
    rare tags get their turn. Lists shorter than `LIST` are the beginnings of lists of that length.
    """
    fair = likely / handicap
    np.put_along_axis(fair, likely.argmax(1, keepdims=True), np.inf, axis=1)
    chosen = best_columns(fair, max(top, LIST))
    order = best_columns(np.take_along_axis(likely, chosen, axis=1), top)
    return np.take_along_axis(chosen, order, axis=1)


def fair_handicap(likely: Float32, truth: Any, frequency: Float64) -> Float64:
    """Return (T,): the handicaps of tags that are often, or surely, probable.

    handicap = sqrt(reach) * frequency ** balance. The reach of a tag is the mean probability of the
    documents for which it is most probable, as many as carry it; a tag that never gets far is one that
    words hardly tell. The balance is the largest whose lists keep most of the precision of those of the
    most probable tags.

    Args:
        likely: (D, T) leave-one-out probabilities.
        truth: (D, T) which tags the documents carry.
        frequency: (T,) share of all training documents that carry each tag.
    """
    reach = np.sqrt(_reach(likely, truth.sum(0)))
    even = np.ones(len(frequency))
    least = _KEPT_PRECISION * _precision(likely, truth, even)

    def is_dear(balance: float) -> bool:
        return _precision(likely, truth, reach * frequency**balance) < least

    place = bisect_left(_BALANCES, True, key=is_dear)
    return reach * frequency ** _BALANCES[place - 1] if place else even


def _reach(likely: Float32, n_docs: Any) -> Float64:
    """Return (T,): the mean of the n largest values of each column, with n of its own, 1 or more."""
    largest = -np.sort(-likely, axis=0)
    n = np.clip(n_docs, 1, len(likely))
    sums = np.cumsum(largest, axis=0, dtype=np.float64)[n - 1, np.arange(likely.shape[1])]
    return np.asarray(np.maximum(sums / n, 1e-6))


def _precision(likely: Float32, truth: Any, handicap: Float64) -> float:
    return float(np.take_along_axis(truth, picked(likely, handicap, LIST), axis=1).mean())


def best_threshold(likely: Float32, truth: Any) -> float:
    """Return the probability above which predicting tags has the best F-measure over all pairs."""
    order = np.argsort(-likely, axis=None, kind="stable")
    hits = np.cumsum(truth.ravel()[order])
    f_measure = 2 * hits / (np.arange(1, len(order) + 1) + max(int(truth.sum()), 1))
    return float(likely.ravel()[order[int(np.argmax(f_measure))]])
