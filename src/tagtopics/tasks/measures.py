"""Measures of tag recommendation: per tag, as in image annotation, and per document, as in retrieval."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tagtopics._typing import Int64

Marks = npt.NDArray[np.bool_]


def per_tag(truth: Marks, lists: Int64) -> dict[str, float]:
    """Return recall, precision and Rate+ of the paper, as fractions, averaged over tags.

    For a tag, N_h test documents carry it, N_s get it recommended, N_c both. Recall N_c / N_h and precision
    N_c / N_s (0 if it is never recommended) are averaged over the tags of the test part, those with
    N_h > 0; Rate+ is the share of them with N_c > 0.

    Args:
        truth: (D, T) which tags the documents carry.
        lists: (D, n) columns of the tags recommended.
    """
    given = np.zeros_like(truth)
    np.put_along_axis(given, lists, True, axis=1)
    N_h, N_s, N_c = truth.sum(0), given.sum(0), (truth & given).sum(0)
    asked = N_h > 0
    if not asked.any():
        return {"recall": float("nan"), "precision": float("nan"), "rate_plus": float("nan")}
    N_h, N_s, N_c = N_h[asked], N_s[asked], N_c[asked]
    return {
        "recall": float(np.mean(N_c / N_h)),
        "precision": float(np.mean(N_c / np.maximum(N_s, 1))),
        "rate_plus": float(np.mean(N_c > 0)),
    }


def per_document(truth: Marks, lists: Int64) -> dict[str, float]:
    """Return precision@1, precision@5 and nDCG@5, averaged over documents with at least one tag.

    Args:
        truth: (D, T) which tags the documents carry.
        lists: (D, 5 or more) columns of the tags recommended, best first; all tags if there are fewer.
    """
    tagged = truth.any(1)
    truth, lists = truth[tagged], lists[tagged, :5]
    if not len(truth):
        return dict.fromkeys(("precision_at_1", "precision_at_5", "ndcg_at_5"), float("nan"))
    hits = np.take_along_axis(truth, lists, axis=1)
    discounts = 1.0 / np.log2(np.arange(2, 7))
    best = np.cumsum(discounts)[np.minimum(truth.sum(1), 5) - 1]
    gain = hits @ discounts[: hits.shape[1]]
    return {
        "precision_at_1": float(hits[:, 0].mean()),
        "precision_at_5": float(hits.sum(1).mean() / 5),
        "ndcg_at_5": float(np.mean(gain / best)),
    }


def f_measures(truth: Marks, predicted: Marks) -> dict[str, float]:
    """Return F1 over all pairs of document and tag, and the mean F1 of the tags of the test part.

    Args:
        truth: (D, T) which tags the documents carry.
        predicted: (D, T) which tags are predicted, any number of them.
    """
    from sklearn.metrics import f1_score

    asked = truth.any(0)
    if not asked.any():
        return {"micro_f1": 0.0, "macro_f1": float("nan")}
    micro = f1_score(truth.ravel(), predicted.ravel(), zero_division=0.0)
    per_tag = f1_score(
        truth[:, asked].astype(int), predicted[:, asked].astype(int), average=None, zero_division=0.0
    )
    return {"micro_f1": float(micro), "macro_f1": float(np.mean(per_tag))}


def all_measures(truth: Any, lists: Int64, predicted: Marks) -> dict[str, float]:
    """Return all measures of recommendation, of lists of five tags and of predicted tags."""
    truth = np.asarray(truth, dtype=bool)
    return per_tag(truth, lists[:, :5]) | per_document(truth, lists) | f_measures(truth, predicted)
