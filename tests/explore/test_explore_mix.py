"""Topics over time with the mix of venues held fixed, compared with an independent computation."""

from __future__ import annotations

import gzip
import json
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from explore_support import Watched

import tagtopics as tt
from tagtopics import write_report
from tagtopics.explore.record.to_topic_data import topic_data
from tagtopics.explore.report.timeline import time_of

pytest_plugins = ("explore_fixtures",)


def _uneven() -> tt.Corpus:
    """Return documents of two venues with words of their own; one of them is held in even years only."""
    rng = np.random.default_rng(5)
    words = {"A": "wave tide ship sail reef", "B": "bread oven flour spoon broth"}
    rows = []
    for d in range(400):
        year = 2000 + d % 8
        venue = "B" if year % 2 == 0 and d % 3 else "A"
        text = " ".join(str(word) for word in rng.choice(words[venue].split(), 30))
        rows.append({"id": str(d), "text": text, "venue": venue, "year": str(year)})
    return tt.read_corpus(rows, text="text", tags="venue", date="year", id="id")


def _dummies(topics: Any, period: Any, venue: Any) -> tuple[Any, Any]:
    """Return means and margins of a regression on years and venues, written out with reference coding."""
    periods, venues = np.unique(period), np.unique(venue)
    X = np.column_stack(
        [np.ones(len(period)), *(period == p for p in periods[1:]), *(venue == v for v in venues[1:])]
    )
    X = X.astype(float)
    B = np.linalg.lstsq(X, topics, rcond=None)[0]
    bread = np.linalg.inv(X.T @ X)
    mix = [(venue == v).mean() for v in venues[1:]]
    means, margins = [], []
    for p in periods:
        c = np.array([1.0, *(float(p == q) for q in periods[1:]), *mix])
        means.append(c @ B)
        own = []
        for k in range(topics.shape[1]):
            e = topics[:, k] - X @ B[:, k]
            cov = bread @ (X.T * e**2) @ X @ bread * len(X) / (len(X) - X.shape[1])
            own.append(1.96 * np.sqrt(c @ cov @ c))
        margins.append(own)
    return np.maximum(means, 0), np.array(margins)


def test_a_venue_of_every_other_year_makes_no_trend(browser: Any, tmp_path: Path) -> None:
    corpus = _uneven()
    model = tt.TTM(n_topics=3, random_state=0, max_iter=30).fit_topics(corpus)
    time = time_of(topic_data(model, corpus, "Uneven"))
    assert time is not None
    raw, held = np.array(time["shares"]), np.array(time["held"][0]["shares"])
    assert np.ptp(raw, axis=0).max() > 0.3
    assert (np.ptp(held, axis=0) < 0.2 * np.ptp(raw, axis=0).max()).all()
    write_report(model, tmp_path / "r.html", corpus=corpus)
    watched = Watched(browser, (tmp_path / "r.html").as_uri())
    page = watched.open("#/time")
    assert "The mix of documents changes: B (33" in page.locator(".mix").inner_text()
    assert "has none in 2001, 2003, 2005, 2007" in page.locator(".mix").inner_text()
    page.get_by_text("tags held fixed").click()
    note = page.locator(".mix").inner_text()
    assert note.startswith("Every period as if it had the same mix of A, B")
    assert "Estimated where there are no documents: B" in note
    assert "mix=tags" in page.evaluate("location.hash")
    assert page.locator(".multiples svg").count() > 0
    assert watched.problems() == []
    watched.close()
    assert watched.faults == []


@pytest.mark.real_data
def test_the_mix_of_venues_is_held_fixed(data_directory: Path) -> None:
    with gzip.open(data_directory / "anthology" / "papers.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in islice(lines, 0, None, 4)]
    corpus = tt.read_corpus(rows, text="abstract", tags=["authors", "venue"], date="year", id="id")
    model = tt.TTM(n_topics=12, random_state=0, max_iter=15).fit_topics(corpus)
    time = time_of(topic_data(model, corpus, "Anthology"))
    assert time is not None
    assert [one["kind"] for one in time["held"]] == ["venue"]  # no author has half a percent of the papers
    year = np.array([str(row["year"]) for row in rows])
    venue = np.array([row["venue"] for row in rows])
    rows_of = {row["id"]: i for i, row in enumerate(rows)}
    order = [rows_of[name] for name in corpus.ids]
    frequent = {v for v in np.unique(venue) if (venue == v).mean() >= 0.005}
    keep = np.isin(venue[order], list(frequent))
    topics = model.doc_topic_.astype(float)[keep]
    means, margins = _dummies(topics, year[order][keep], venue[order][keep])
    assert np.allclose(time["held"][0]["shares"], means, atol=2e-4)
    assert np.allclose(time["held"][0]["margins"], margins, rtol=0.02, atol=2e-4)
    named = {corpus.tag_names[t] for t, _ in time["missing"]}
    for v in ("COLING", "EACL"):
        assert f"venue:{v}" in named
