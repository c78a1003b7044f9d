"""The generated corpora of the analyst's workflow: smaller runs of what the records hold."""

from __future__ import annotations

import numpy as np
import pytest

import tagtopics as tt
from reproduction.analysis.correlated_effects import correlated_coverage
from reproduction.analysis.numbers import SHAPES, draw_corpus


@pytest.mark.compiled
def test_intervals_of_formulas_contain_planted_effects_of_correlated_topics() -> None:
    rows = correlated_coverage(range(500, 510), refits=20)
    assert len(rows) > 200
    for kind in ("rating", "s(day)"):
        assert 0.78 <= np.mean([row["covered"] for row in rows if row["kind"] == kind]) <= 0.98


@pytest.mark.compiled
@pytest.mark.parametrize("shape", SHAPES)
def test_intervals_of_choose_contain_the_planted_number(shape: str) -> None:
    choice = tt.choose_topics(draw_corpus(shape, 8, 500, 60, 21), (4, 8, 16), restarts=4, seed=0)
    low, high = choice.interval
    assert low <= 8 <= (high or np.inf)
    if shape == "short":  # twelve words a document
        assert high is None
        assert "too few or too short" in choice.notes[0]
