"""Logistic regression by scikit-learn, with a constant and defined weights for outcomes of one kind."""

from __future__ import annotations

from typing import Any

import numpy as np

from tagtopics._blas import single_thread
from tagtopics._typing import Float64

# Largest entry of the gradient, per unit of the rows' weight, at which the weights are final.
_TOLERANCE = 1e-8


@single_thread()
def logistic_weights(
    columns: Any, outcomes: Any, sample_weight: Any = None, inverse_penalty: float = 1.0
) -> Float64:
    """Return the weights (C + 1,) of a logistic regression, that of the constant first.

    If all outcomes are equal, the constant is the log odds of their smoothed share and the others are zero.
    `columns` (N, C) have no constant, which is not penalised; `inverse_penalty` is scikit-learn's `C`.
    """
    from sklearn.linear_model import LogisticRegression

    X, y = np.asarray(columns, dtype=np.float64), np.asarray(outcomes, dtype=bool)
    if y.all() or not y.any():
        share = (y.sum() + 0.5) / (len(y) + 1.0)
        return np.concatenate([[np.log(share / (1 - share))], np.zeros(X.shape[1])])
    regression = LogisticRegression(C=inverse_penalty, solver="newton-cholesky", tol=_TOLERANCE)
    regression.fit(X, y, sample_weight=sample_weight)
    return np.concatenate([regression.intercept_, regression.coef_[0]])
