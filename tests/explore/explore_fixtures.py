"""Fixtures of the explorer's tests; a test module names this one in `pytest_plugins`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from explore_support import FLAGS, HOSTILE, Watched, make_corpus, make_hostile_corpus

import tagtopics as tt
from tagtopics import ReportOptions, write_report
from tagtopics.explore.record.to_topic_data import topic_data
from tagtopics.explore.record.topic_data import TopicData


@pytest.fixture(scope="session")
def corpus() -> tt.Corpus:
    """The small collection."""
    return make_corpus()


@pytest.fixture(scope="session")
def model(corpus: tt.Corpus) -> tt.TTM:
    """A model of it."""
    return tt.TTM(n_topics=5, random_state=0, max_iter=60).fit(corpus)


@pytest.fixture(scope="session")
def data(model: tt.TTM, corpus: tt.Corpus) -> TopicData:
    """The record of it."""
    return topic_data(model, corpus, "Four themes")


@pytest.fixture(scope="session")
def hostile_model() -> tt.TTM:
    """A model of the hostile collection."""
    return tt.TTM(n_topics=3, random_state=0, max_iter=40).fit(make_hostile_corpus())


@pytest.fixture(scope="session")
def hostile_data(hostile_model: tt.TTM) -> TopicData:
    """The record of it."""
    return topic_data(hostile_model, make_hostile_corpus(), HOSTILE[1])


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A real Chromium; without one the test is skipped, and says so."""
    named = os.environ.get("CHROMIUM")
    found = (
        named or shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    )
    if found is None:
        pytest.skip("NO BROWSER: install Debian's chromium or set CHROMIUM to its path; pages are NOT tested")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=found, args=list(FLAGS))
        yield running
        running.close()


@pytest.fixture(scope="session")
def address(model: tt.TTM, corpus: tt.Corpus, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A report of the small collection, with a workbench."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(model, path, corpus=corpus, options=ReportOptions(title="Four themes"))
    return path.as_uri()


@pytest.fixture
def watched(browser: Any, address: str) -> Iterator[Watched]:
    """A page at the report, or at the `address` of the test's module; it must have no faults at the end."""
    watched = Watched(browser, address)
    yield watched
    watched.close()
    assert watched.faults == []
