"""What a model remembers of its fit: the date, and how well a pilot predicts documents set held_out."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tagtopics as tt
from benchmarks.synthetic import make_tagged_corpus
from tagtopics.bp.pilot import choose_held_out
from tagtopics.explore.record.to_topic_data import topic_data


@pytest.fixture(scope="module")
def corpus() -> tt.Corpus:
    return make_tagged_corpus(n_docs=400, n_words=200, n_tags=12, n_topics=6, seed=3).corpus


@pytest.fixture(scope="module")
def model(corpus: tt.Corpus) -> Any:
    return tt.TTM(6, random_state=0).fit_topics(corpus)


@pytest.mark.compiled
def test_the_scores_of_the_pilot_are_those_of_a_fit_without_the_documents(
    model: Any, corpus: tt.Corpus
) -> None:
    rest, held_out = choose_held_out(corpus.n_docs, 0)
    other: Any = tt.TTM(6, random_state=0, max_iter=40).fit_topics(corpus.select(rest))
    new = corpus.select(held_out)
    hidden = np.mean([other.perplexity(new, seed=seed) for seed in range(5)])
    known = np.mean([other.perplexity(new, new, seed=seed) for seed in range(5)])
    assert model.pilot_.documents == len(held_out)
    assert abs(model.pilot_.hidden / hidden - 1) < 0.05
    assert abs(model.pilot_.known / known - 1) < 0.05


@pytest.mark.compiled
def test_date_and_scores_survive_saving(model: Any, tmp_path: Path) -> None:
    model.save(tmp_path / "m.tt")
    loaded: Any = tt.load(tmp_path / "m.tt")
    assert loaded.pilot_ == model.pilot_
    assert loaded.fitted_ == model.fitted_
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", model.fitted_)


@pytest.mark.compiled
def test_records_have_the_date_and_the_scores(model: Any, corpus: tt.Corpus) -> None:
    data = topic_data(model, corpus, "x")
    assert data.fitted == model.fitted_
    assert data.facts["pilot_hidden"] == model.pilot_.hidden
    assert data.facts["pilot_known"] == model.pilot_.known
    assert data.facts["pilot_documents"] == model.pilot_.documents


@pytest.mark.compiled
def test_a_set_date_is_used_and_changes_no_bit(
    model: Any, corpus: tt.Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    again: Any = tt.TTM(6, random_state=0).fit_topics(corpus)
    assert again.fitted_ == "1970-01-02T00:00:00+00:00"
    assert np.array_equal(again.components_, model.components_)
    assert again.pilot_ == model.pilot_
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "soon")
    assert (tt.LDA(2, max_iter=1).fit_topics(corpus).fitted_ or "") > "2020"


@pytest.mark.compiled
def test_without_enough_documents_there_is_no_pilot(corpus: tt.Corpus, tmp_path: Path) -> None:
    small: Any = tt.TTM(3, max_iter=5, random_state=0).fit_topics(corpus.select(np.arange(30)))
    assert small.pilot_ is None
    small.save(tmp_path / "m.tt")
    loaded: Any = tt.load(tmp_path / "m.tt")
    assert loaded.pilot_ is None
    assert "pilot_hidden" not in topic_data(loaded, None, "x").facts
