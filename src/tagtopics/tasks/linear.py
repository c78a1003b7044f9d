"""What a recommender must measure up to: a linear support vector machine for each tag on TF-IDF words."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from tagtopics._typing import Float64
from tagtopics.corpus.core import Corpus
from tagtopics.recommend.calibration import best_threshold

COSTS = (0.1, 0.3, 1.0, 3.0)


def linear_scores(train: Corpus, test: Corpus) -> tuple[Float64, float]:
    """Return decision values (D, T) for test documents, and the threshold above which tags are predicted.

    Cost and threshold have the best F-measure on a fifth of the training documents that is held out.
    """
    from sklearn.feature_extraction.text import TfidfTransformer

    words = TfidfTransformer(sublinear_tf=True)
    train_words, test_words = words.fit_transform(train.counts), words.transform(test.counts)
    order = np.random.default_rng(0).permutation(train.n_docs)
    held_out, rest = order[: max(1, train.n_docs // 5)], order[max(1, train.n_docs // 5) :]
    truth = train.tags[held_out].toarray().astype(bool)
    trials = {}
    for cost in COSTS:
        scores = _decisions(train_words[rest], train.tags[rest], train_words[held_out], cost)
        threshold = best_threshold(scores.astype(np.float32), truth)
        predicted = scores >= threshold
        trials[cost] = 2 * (predicted & truth).sum() / (predicted.sum() + truth.sum()), threshold
    cost = max(COSTS, key=lambda cost: trials[cost][0])
    return _decisions(train_words, train.tags, test_words, cost), trials[cost][1]


def _decisions(words: Any, tags: Any, new_words: Any, cost: float) -> Float64:
    from sklearn.svm import LinearSVC

    columns = sp.csc_array(tags)
    values = np.full((new_words.shape[0], tags.shape[1]), -10.0)
    for t in range(tags.shape[1]):
        is_member = columns[:, [t]].toarray().ravel().astype(bool)
        if is_member.any() and not is_member.all():
            values[:, t] = LinearSVC(C=cost).fit(words, is_member).decision_function(new_words)
    return values
