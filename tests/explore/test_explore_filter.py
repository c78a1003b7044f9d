"""The documents of a filter on the map: in view, ringed above the names, with their own topics."""

from __future__ import annotations

import io
import re
from typing import Any

import numpy as np
import pytest
from explore_support import Watched, wait_for_map
from PIL import Image

import tagtopics as tt
from tagtopics.explore.record.topic_data import TopicData

pytest_plugins = ("explore_fixtures",)

RINGS = """() => {
  const box = document.querySelector('.terrain canvas').getBoundingClientRect();
  return [...document.querySelectorAll('.hits path')].slice(1).map(path => ({
    colour: getComputedStyle(path).stroke.match(/\\d+/g).slice(0, 3).map(Number),
    reach: Number(path.getAttribute('stroke-width')) / 2,
    places: [...path.getAttribute('d').matchAll(/M([-\\d.]+) ([-\\d.]+)/g)]
      .map(m => [box.left + Number(m[1]), box.top + Number(m[2])]),
    width: box.right, height: box.bottom, left: box.left, top: box.top }));
}"""


def opened(watched: Watched, place: str) -> Any:
    page = watched.open(place)
    wait_for_map(page)
    return page


@pytest.mark.parametrize(
    "place", ["#/?tag=place%3Asea", "#/?tag=place%3Asea&tag=year%3A1990", "#/?words=violin"]
)
def test_documents_that_pass_are_in_view_and_above_the_names(watched: Watched, place: str) -> None:
    page = opened(watched, place)
    page.wait_for_selector(".hits path", state="attached")
    wait_for_map(page)
    count = page.locator(".filterbar .count").inner_text()
    rings = page.evaluate(RINGS)
    places = [(at, ring) for ring in rings for at in ring["places"]]
    assert len(places) == int(re.match(r"\d+", count)[0]) > 1  # type: ignore[index]
    image = np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("RGB"), dtype=float)
    for (x, y), ring in places:
        assert ring["left"] < x < ring["width"]
        assert ring["top"] < y < ring["height"]
        apart = [np.hypot(x - a, y - b) for (a, b), _ in places if (a, b) != (x, y)]
        if min(apart) > 2 * ring["reach"] + 4 and y < 790:
            assert np.abs(image[round(y), round(x)] - ring["colour"]).max() < 12
            edge = round(x - ring["reach"])
            assert image[round(y), edge - 2 : edge + 2].max(1).min() < 120  # the ring


def test_the_map_moves_to_what_passes(watched: Watched) -> None:
    page = opened(watched, "#/?tag=place%3Asea&tag=also%3Asea")
    spread = np.ptp([at for ring in page.evaluate(RINGS) for at in ring["places"]], axis=0)
    page.get_by_role("button", name="Fit").click()
    wait_for_map(page)
    whole = np.ptp([at for ring in page.evaluate(RINGS) for at in ring["places"]], axis=0)
    assert (whole > 0).all()
    assert (spread > 1.2 * whole).all()
    assert "view=" in page.evaluate("location.hash")  # the address has a view that the filter does not give
    page.locator(".chosen button").first.click()
    wait_for_map(page)
    assert "view=" not in page.evaluate("location.hash")


def test_names_without_documents_that_pass_are_faint(
    watched: Watched, data: TopicData, corpus: tt.Corpus
) -> None:
    page = opened(watched, "#/?tag=place%3Asea")
    has = corpus.tags.toarray()[:, corpus.tag_names.index("place:sea")] > 0
    some = set(data.regions()[has].tolist())
    assert 0 < len(some) < len(set(data.regions().tolist()))
    for node in page.locator(".terrain .name.topic:not([hidden])").all():
        name = node.inner_text().replace("\n", " ").replace("  ", " ")
        k = data.names.index(name)
        assert ("faded" in node.get_attribute("class")) == (k not in some)


def test_topics_of_what_passes_are_those_that_it_has_more_of(
    watched: Watched, data: TopicData, corpus: tt.Corpus
) -> None:
    page = opened(watched, "#/?tag=place%3Asea")
    has = corpus.tags.toarray()[:, corpus.tag_names.index("place:sea")] > 0
    tokens = np.asarray(corpus.counts.sum(1)).ravel()[has]
    share = tokens @ data.documents.topics[has].astype(float) / tokens.sum()
    lift = share / data.topic_share
    order = np.argsort(-share * np.log(lift))
    order = order[(lift > 1)[order]]
    rows = page.locator(".side .bars[aria-label=Topics] > li").all()
    assert [int(row.locator(".badge").inner_text()) for row in rows] == order.tolist()
    for row, k in zip(rows, order, strict=True):
        shown, times = row.locator(".figure").inner_text().split("×")
        assert float(times) == pytest.approx(lift[k], abs=0.06)
        assert float(shown.rstrip("\u00a0% \n")) == pytest.approx(100 * share[k], rel=0.05)
