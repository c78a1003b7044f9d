"""Measures against their definitions, written out as loops."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagtopics.evaluation.recommendation import f_measures, per_document, per_tag


def _case(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = rng.random((12, 9)) < 0.3
    lists = np.array([rng.permutation(9)[:5] for _ in range(12)])
    return truth, lists


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_per_tag_reads_like_the_paper(seed: int) -> None:
    truth, lists = _case(seed)
    recalls, precisions = [], []
    for t in range(9):
        human = {d for d in range(12) if truth[d, t]}
        system = {d for d in range(12) if t in lists[d]}
        if human:
            recalls.append(len(human & system) / len(human))
            precisions.append(len(human & system) / len(system) if system else 0.0)
    found = per_tag(truth, lists)
    assert found["recall"] == pytest.approx(np.mean(recalls))
    assert found["precision"] == pytest.approx(np.mean(precisions))
    assert found["rate_plus"] == pytest.approx(np.mean([r > 0 for r in recalls]))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_per_document_reads_like_the_definitions(seed: int) -> None:
    truth, lists = _case(seed)
    firsts, fives, gains, both = [], [], [], []
    for d in range(12):
        wanted = int(truth[d].sum())
        if not wanted:
            continue
        hits = [bool(truth[d, t]) for t in lists[d]]
        firsts.append(hits[0])
        fives.append(sum(hits) / 5)
        shares = sum(hits) / 5, sum(hits) / wanted
        both.append(2 * shares[0] * shares[1] / (sum(shares) or 1))
        ideal = sum(1 / math.log2(i + 2) for i in range(min(wanted, 5)))
        gains.append(sum(hit / math.log2(i + 2) for i, hit in enumerate(hits)) / ideal)
    found = per_document(truth, lists)
    assert found["precision_at_1"] == pytest.approx(np.mean(firsts))
    assert found["precision_at_5"] == pytest.approx(np.mean(fives))
    assert found["f1_at_5"] == pytest.approx(np.mean(both))
    assert found["ndcg_at_5"] == pytest.approx(np.mean(gains))


def test_ndcg_at_20_counts_later_ranks() -> None:
    truth, ranked = np.zeros((1, 30), dtype=bool), np.arange(30)[np.newaxis, :20]
    truth[0, [0, 9, 25]] = True
    ideal = sum(1 / math.log2(i + 2) for i in range(3))
    found = per_document(truth, ranked)
    assert found["ndcg_at_20"] == pytest.approx((1 + 1 / math.log2(11)) / ideal)
    assert found["ndcg_at_5"] == pytest.approx(1 / ideal)


def test_f_measures_are_scikit_learns() -> None:
    from sklearn.metrics import f1_score

    rng = np.random.default_rng(0)
    truth, predicted = rng.random((30, 6)) < 0.4, rng.random((30, 6)) < 0.4
    found = f_measures(truth, predicted)
    assert found["micro_f1"] == pytest.approx(f1_score(truth, predicted, average="micro"))
    assert found["macro_f1"] == pytest.approx(f1_score(truth, predicted, average="macro"))
