"""From scores of tags to probabilities and lists: calibration, connected tags, balance."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tagtopics._typing import Float32, Float64, Int64

_FLOOR = 3e-3
"""Added to scores before the logarithm; a score is a share of documents, so this is next to never."""

_CANDIDATES = 20
"""Tags of a document that calibration looks at: its best ones, where lists are decided."""

_BALANCES = (0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0)
_KEPT_PRECISION = 0.9
"""Balance may cost a tenth of the precision of the lists, not more."""

LIST = 5
"""Length of the list for which balance is chosen, as in the paper."""


class Calibration(NamedTuple):
    """How scores become probabilities and lists."""

    weights: Float64  # (6,) of the columns of `evidence`
    balance: float  # tags are picked by probability / frequency ** balance
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
    return Calibration(weights, best_balance(likely, truth, frequency), best_threshold(likely, truth))


def picked(likely: Float32, frequency: Float64, balance: float, top: int) -> Int64:
    """Return (D, top): the columns of the tags recommended, most probable first.

    Tags are picked by probability / frequency ** balance, so that rare tags get their turn, and then
    ordered by probability. Lists shorter than `LIST` are the beginnings of lists of that length.
    """
    chosen = best_columns(likely / frequency**balance, max(top, LIST))
    order = best_columns(np.take_along_axis(likely, chosen, axis=1), top)
    return np.take_along_axis(chosen, order, axis=1)


def best_balance(likely: Float32, truth: Any, frequency: Float64) -> float:
    """Return the largest balance whose lists keep most of the precision of the most probable tags."""
    precision = {
        balance: np.take_along_axis(truth, picked(likely, frequency, balance, LIST), axis=1).mean()
        for balance in _BALANCES
    }
    least = _KEPT_PRECISION * max(precision.values())
    return next(balance for balance in _BALANCES if precision[balance] >= least)


def best_threshold(likely: Float32, truth: Any) -> float:
    """Return the probability above which predicting tags has the best F-measure over all pairs."""
    order = np.argsort(-likely, axis=None, kind="stable")
    hits = np.cumsum(truth.ravel()[order])
    f_measure = 2 * hits / (np.arange(1, len(order) + 1) + max(int(truth.sum()), 1))
    return float(likely.ravel()[order[int(np.argmax(f_measure))]])
