"""Margins, the log odds of an outcome by signals, and the odds observed at a margin."""

from __future__ import annotations

import numpy as np

from tagtopics._typing import Bool, Float64, Int64
from tagtopics.recommend.logistic import logistic_weights

_SQUARES_FROM = 300  # outcomes of either sort from which products of signals are used
_SQUARES_PAIRS = 40_000  # pairs that products are learned from
_FARTHEST, _PENALTY = 6.0, 0.1  # for products: most standard deviations of a signal, and 1 / penalty


def margins_of(signals: Float64, outcomes: Bool) -> Float64:
    """Return (P,): the log odds of the outcome, less those of all pairs, from logistic regressions.

    One has the signals, another also their products if there are enough outcomes; the smaller odds count, so
    that a finding needs both (decision 270).
    """
    shift, scale = signals.mean(0), signals.std(0) + 1e-9
    shift[0], scale[0] = 0.0, 1.0
    columns = (signals - shift) / scale
    some = _both_sorts(outcomes)
    margin = np.asarray(columns @ logistic_weights(columns[:, 1:], outcomes)) - _log_odds(outcomes)
    if min(outcomes[some].sum(), (~outcomes[some]).sum()) < _SQUARES_FROM:
        return margin
    bounded = np.clip(columns[:, 1:], -_FARTHEST, _FARTHEST)
    curved = _curved_margins(bounded, some, outcomes[some]) - _log_odds(outcomes[some])
    return np.asarray(np.minimum(margin, curved))


def _log_odds(outcomes: Bool) -> float:
    """Return the log odds of an outcome, which a regression adds to those of each pair."""
    n = int(outcomes.sum())
    return float(np.log((n + 0.5) / (len(outcomes) - n + 0.5)))


def _both_sorts(outcomes: Bool) -> Int64:
    """Return the places of some pairs: of the rarer outcome all, if they are not more than half.

    A regression learns little from more of the others, and its order of pairs stays the same.
    """
    generator = np.random.default_rng(0)
    sorts = [generator.permutation(np.flatnonzero(outcomes == sort)) for sort in (True, False)]
    rare, common = sorted(sorts, key=len)
    rare = rare[: _SQUARES_PAIRS // 2]
    return np.concatenate([rare, common[: _SQUARES_PAIRS - len(rare)]])


def _curved_margins(columns: Float64, some: Int64, outcomes: Bool) -> Float64:
    """Return (P,): the log odds by columns (P, C) and the products of any two, learned from some pairs."""
    from sklearn.linear_model import LogisticRegression

    C = columns.shape[1]
    a, b = np.triu_indices(C)
    single = columns[some].T.astype(np.float32)
    learned = np.empty((C + len(a), len(some)), dtype=np.float32)
    shift, scale = np.empty(len(learned)), np.empty(len(learned))
    for i, row in enumerate(learned):  # one at a time: a row fits into the processor's cache
        row[:] = single[i] if i < C else single[a[i - C]] * single[b[i - C]]
        shift[i], scale[i] = row.mean(dtype=np.float64), row.std(dtype=np.float64) + 1e-9
        row -= shift[i].astype(np.float32)
        row /= scale[i].astype(np.float32)
    regression = LogisticRegression(C=_PENALTY, solver="newton-cholesky", tol=1e-4, max_iter=30)
    regression.fit(learned.T, outcomes)
    weights = regression.coef_[0].astype(np.float64) / scale
    products = np.zeros((C, C))
    products[a, b] = weights[C:]
    constant = float(regression.intercept_[0]) - weights @ shift
    return np.asarray(constant + columns @ weights[:C] + ((columns @ products) * columns).sum(1))


def observed_odds(margins: Float64, outcomes: Bool, asked: Float64) -> Float64:
    """Return (Q,): the odds of an outcome at the margins asked, as observed at the P margins given.

    The shares of outcomes are an isotonic regression on the margins: blocks with rising shares. Log odds are
    those of the blocks at their mean margins, half a pair of either sort added, and linear between.
    """
    from scipy.optimize import isotonic_regression

    order = np.concatenate([np.flatnonzero(outcomes), np.flatnonzero(~outcomes)])
    order = order[np.argsort(margins[order], kind="stable")]
    found = outcomes[order].astype(np.float64)
    first = isotonic_regression(found).blocks[:-1]
    n, n_outcomes = np.diff([*first, len(found)]), np.add.reduceat(found, first)
    centres = np.add.reduceat(margins[order], first) / n
    log_odds = np.log((n_outcomes + 0.5) / (n - n_outcomes + 0.5))
    return np.asarray(np.exp(np.interp(asked, centres, np.maximum.accumulate(log_odds))))
