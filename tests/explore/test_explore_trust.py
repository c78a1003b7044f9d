"""The page on how far to trust a report: date of the fit, perplexity of documents set aside, progress."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from explore_support import Watched

import tagtopics as tt
from tagtopics.explore import write_report

pytest_plugins = ("explore_fixtures",)


@pytest.fixture(scope="module")
def written(model: tt.TTM, corpus: tt.Corpus, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("trust")
    write_report(
        model, folder / "report.html", corpus=corpus, title="Four themes", figures=folder / "figures.json"
    )
    return folder / "report.html", folder / "figures.json"


def test_the_page_shows_date_and_scores_of_the_pilot(
    browser: Any, model: Any, written: tuple[Path, Path]
) -> None:
    watched = Watched(browser, written[0].as_uri())
    page = watched.open("#/about")
    shown = {row.locator("dt").inner_text(): row.locator("dd").inner_text()
             for row in page.locator(".facts > div").all()}  # fmt: skip
    assert shown["Fitted"] == model.fitted_[:16].replace("T", " ") + " UTC"
    pilot = model.pilot_
    assert shown["Perplexity of new documents"] == (
        f"{pilot.hidden:,.0f} with their tags hidden, {pilot.known:,.0f} with their tags known: "
        f"{pilot.documents} documents, predicted by a pilot, a shorter fit without them."
    )
    watched.close()


def test_the_figures_have_them_too(model: Any, written: tuple[Path, Path]) -> None:
    about = json.loads(written[1].read_text())["pages"]["#/about"]
    assert about["fitted"] == model.fitted_
    assert about["facts"]["pilot_hidden"] == model.pilot_.hidden
    assert about["facts"]["pilot_known"] == model.pilot_.known


def test_figures_report_their_progress(model: tt.TTM, corpus: tt.Corpus, tmp_path: Path) -> None:
    told: list[float] = []
    write_report(
        model, tmp_path / "a.html", corpus=corpus, figures=tmp_path / "a.json", on_progress=told.append
    )
    assert told == sorted(told)
    assert 0 < told[0] <= told[-1] <= 1
