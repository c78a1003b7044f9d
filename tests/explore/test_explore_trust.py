"""The page on how far to trust a report: date of the fit, perplexity of documents set aside."""

from __future__ import annotations

from typing import Any

from explore_support import Watched

pytest_plugins = ("explore_fixtures",)


def test_the_page_shows_date_and_scores_of_the_pilot(watched: Watched, model: Any) -> None:
    page = watched.open("#/about")
    shown = {row.locator("dt").inner_text(): row.locator("dd").inner_text()
             for row in page.locator(".facts > div").all()}  # fmt: skip
    assert shown["Fitted"] == model.fitted_[:16].replace("T", " ") + " UTC"
    pilot = model.pilot_
    assert shown["Perplexity of new documents"] == (
        f"{pilot.hidden:,.0f} with their tags hidden, {pilot.known:,.0f} with their tags known: "
        f"{pilot.documents} documents, predicted by a pilot, a shorter fit without them."
    )
