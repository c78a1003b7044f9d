"""Findings: every figure by a second computation, and none in collections of random tags and dates."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from explore_support import Watched
from scipy import stats

import tagtopics as tt
from tagtopics import write_report
from tagtopics.explore.record.findings import findings_of
from tagtopics.explore.record.to_topic_data import topic_data
from tagtopics.explore.record.topic_data import Finding, TopicData
from tagtopics.explore.report.timeline import missing_periods

pytest_plugins = ("explore_fixtures",)


def _shuffled(data: TopicData, seed: int) -> TopicData:
    """Return the record with the tags and dates of its documents in random order."""
    rng, table = np.random.default_rng(seed), data.documents
    tags = data.tag_matrix[rng.permutation(len(table.ids))]
    dates = table.dates and tuple(table.dates[d] for d in rng.permutation(len(table.ids)))
    mixed = replace(
        table,
        tag_offsets=tags.indptr.astype(np.int64),
        tag_index=tags.indices.astype(np.int32),
        dates=dates,
        credit=np.empty(0, dtype=np.float32),
    )
    return replace(data, documents=mixed, findings=())


def _record(seed: int = 0, n_docs: int = 3000) -> TopicData:
    """Return a generated record: topic 1 rises, tags a and b together are topic 2, tag c is unclear.

    The tag `odd` is on half of the documents of every other year; it explains why topic 4 seems to fall.
    """
    rng = np.random.default_rng(seed)
    year = rng.integers(2000, 2010, n_docs)
    has = rng.random((n_docs, 3)) < (0.2, 0.2, 0.1)
    odd = (rng.random(n_docs) < 0.5) & np.isin(year, (2001, 2003))
    topic = rng.integers(5, 9, n_docs)
    topic[(rng.random(n_docs) < 0.3) & (year >= 2005)] = 1
    topic[has[:, 0] & has[:, 1] & (rng.random(n_docs) < 0.7)] = 2
    topic[odd] = 4
    theta = np.full((n_docs, 10), 0.02)
    theta[np.arange(n_docs), topic] += 0.8
    theta[has[:, 2] & (rng.random(n_docs) < 0.5)] = 0.1
    names = ("kind:a", "kind:b", "kind:c", "kind:odd", "kind:all")
    tags = sp.csr_array(np.column_stack([has, odd, np.ones_like(odd)]).astype(np.int64))
    rows = [
        {"id": str(d), "text": "wave", "tags": [names[t] for t in tags[[d]].indices], "date": f"{year[d]}"}
        for d in range(n_docs)
    ]
    corpus = tt.read_corpus(rows, text="text", tags="tags", id="id", date="date")
    model = tt.TTM(n_topics=10, random_state=0, max_iter=1).fit_topics(corpus)
    data = topic_data(model, corpus, "Generated")
    table = replace(data.documents, topics=theta.astype(np.float32))
    return replace(data, documents=table, background=np.arange(10) == 0, findings=())


@pytest.fixture(scope="module")
def planted() -> TopicData:
    return _record()


def test_planted_findings_are_found(planted: TopicData) -> None:
    found = findings_of(planted)
    names = planted.tags.names
    said = [(one.kind, one.topic, [names[t] for t in one.tags]) for one in found]
    assert ("rising", 1, ["kind:odd"]) in said
    assert ("together", 2, ["kind:a", "kind:b"]) in said
    assert ("unclear", None, ["kind:c"]) in said
    assert len(found) <= 5


def test_topic_of_a_venue_that_some_years_lack_does_not_fall(planted: TopicData) -> None:
    odd = planted.tags.names.index("kind:odd")
    assert missing_periods(planted) == {odd: [0, 2, 4, 5, 6, 7, 8, 9]}
    assert all(one.topic != 4 for one in findings_of(planted) if one.kind == "falling")
    tags = planted.tag_matrix.toarray()
    tags[:, odd] = 0
    bare = sp.csr_array(tags)
    table = replace(
        planted.documents,
        tag_offsets=bare.indptr.astype(np.int64),
        tag_index=bare.indices.astype(np.int32),
        credit=np.empty(0, dtype=np.float32),
    )
    without = findings_of(replace(planted, documents=table))
    assert ("falling", 4) in [(one.kind, one.topic) for one in without]


def test_without_dates_nothing_rises_or_falls(planted: TopicData) -> None:
    found = findings_of(replace(planted, documents=replace(planted.documents, dates=None)))
    assert found
    assert not {"rising", "falling"} & {one.kind for one in found}


def test_random_tags_and_dates_have_no_findings(planted: TopicData) -> None:
    assert findings_of(planted)
    assert sum(bool(findings_of(_shuffled(planted, seed))) for seed in range(20)) <= 2


def test_background_topics_and_small_groups_are_not_compared(planted: TopicData, data: TopicData) -> None:
    everywhere = replace(planted, background=np.ones(10, dtype=bool))
    assert {one.kind for one in findings_of(everywhere)} <= {"unclear"}
    assert data.findings
    assert all(min(row[1], row[3]) >= 15 for one in data.findings for row in one.counts)


def test_front_page_shows_the_figures(browser: Any, planted: TopicData, tmp_path: Path) -> None:
    record = replace(planted, findings=findings_of(planted))
    write_report(record, tmp_path / "report.html")
    watched = Watched(browser, (tmp_path / "report.html").as_uri())
    page = watched.open()
    rows = page.locator(".findings > li")
    assert rows.count() == len(record.findings)
    for i, one in enumerate(record.findings):
        text = rows.nth(i).inner_text()
        for found, of, other, of_other in one.counts[: 1 if one.kind == "rising" else 2]:
            assert f"{found:,} of {of:,}" in text
            assert f"{other:,} of {of_other:,}" in text
        assert f"{100 * one.low:.1f} to {100 * one.high:.1f} points" in text
    both = next(one for one in record.findings if one.kind == "together")
    rows.nth(record.findings.index(both)).get_by_text("On the map").click()
    page.wait_for_selector(".chosen li")
    card = page.locator(".side .card").last
    assert card.locator("h2").inner_text() == f"{both.counts[0][0]} documents"  # the filter counts the same
    watched.go("#/time")
    assert "has none in 2000, 2002, 2004" in page.locator(".mix").inner_text()
    assert watched.problems() == []
    assert watched.faults == []
    watched.close()


def _real(folder: Path, name: str) -> tt.Corpus:
    if name == "docstrings":
        return tt.load_dataset("docstrings")
    file = {"reuters": "texts", "anthology": "papers", "tibcore": "documents"}[name]
    with gzip.open(folder / name / f"{file}.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in islice(lines, 0, None, 3)]
    if name == "anthology":
        return tt.read_corpus(rows, text="abstract", tags=["authors", "venue"], date="year", id="id")
    text, tags = ("text", "tags") if name == "reuters" else (["title", "abstract"], "subjects")
    return tt.read_corpus(rows, text=text, tags=tags, id="id")


@pytest.mark.real_data
@pytest.mark.parametrize("name", ["docstrings", "reuters", "anthology", "tibcore"])
def test_figures_of_real_findings(name: str, data_directory: Path) -> None:
    corpus = _real(data_directory, name)
    model = tt.TTM(n_topics=20, random_state=0, max_iter=30).fit_topics(corpus)
    data = topic_data(model, corpus, name)
    assert data.findings
    assert any(one.kind == "rising" for one in data.findings) == (name == "anthology")
    for one in data.findings:
        _check(one, model, corpus)
    assert sum(bool(findings_of(_shuffled(data, seed))) for seed in range(6)) <= 2


def _check(one: Finding, model: Any, corpus: tt.Corpus) -> None:
    """Compute a finding again, document by document."""
    groups = [Counter[tuple[bool, bool]]() for _ in one.counts]
    years = sorted(date for date in corpus.dates or () if date)
    halves = Counter(years)
    late = min(
        sorted(halves)[1:], key=lambda year: abs(sum(y < year for y in years) - len(years) / 2), default=""
    )
    background = model.background_topics()
    names = [corpus.tag_names[t] for t in one.tags]
    for d, row in enumerate(model.doc_topic_.astype(np.float32)):
        own = corpus.tags_of(d)
        about = {k for k, share in enumerate(row) if share >= np.float32(0.2) and not background[k]}
        hit = not about if one.topic is None else one.topic in about
        for g, count in enumerate(groups):
            if one.kind in ("rising", "falling"):
                if g == 0 or not set(names) & set(own):
                    count[(((corpus.dates or ())[d] or "") >= late) == (one.kind == "rising"), hit] += 1
            elif one.kind == "together":
                if names[g] in own:
                    count[names[1 - g] in own, hit] += 1
            else:
                count[names[0] in own, hit] += 1
    for count, row in zip(groups, one.counts, strict=True):
        mine, others = (count[inside, True] + count[inside, False] for inside in (True, False))
        assert row == (count[True, True], mine, count[False, True], others)
        table = [[row[0], row[1] - row[0]], [row[2], row[3] - row[2]]]
        p = stats.fisher_exact(table, alternative="greater").pvalue
        assert p <= 0.05 / one.tests or one.kind in ("rising", "falling")
    assert any(np.allclose((one.low, one.high), _newcombe(*row, one.tests)) for row in one.counts)


def _newcombe(x: int, n: int, y: int, m: int, tests: int) -> tuple[float, float]:
    level = 1 - 0.05 / tests
    one, other = (stats.binomtest(*pair).proportion_ci(level, method="wilson") for pair in ((x, n), (y, m)))
    p, q = x / n, y / m
    low = p - q - np.sqrt((p - one.low) ** 2 + (other.high - q) ** 2)
    return float(low), float(p - q + np.sqrt((one.high - p) ** 2 + (q - other.low) ** 2))
