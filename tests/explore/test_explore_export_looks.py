"""Saved pictures look like the screen."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import numpy.typing as npt
import pytest
from explore_support import Watched, wait_until_whole
from PIL import Image

pytest_plugins = ("explore_fixtures",)

CHARTS = {
    "network": ("#/network", "svg.network"),
    "line": ("#/topic/1", "svg.line"),
    "places": ("#/tags/place%3Asea+also%3Akitchen", "svg.places"),
}
Pixels = npt.NDArray[np.float64]

QUIET = "() => document.querySelectorAll('.network a:nth-of-type(3n)').forEach(a => a.classList.add('quiet'))"
"""Hide some names of the network, as it does where there is no room for them."""

ALONE = """chart => {
  const { width, height } = chart.viewBox.baseVal;
  const copy = chart.closest('.card').cloneNode(false);
  copy.append(chart.cloneNode(true));
  document.body.replaceChildren(copy);
  const place = { position: 'fixed', left: 0, top: 0, width: `${width}px`, height: `${height}px` };
  Object.assign(copy.style, { ...place, padding: 0, margin: 0, border: 0, borderRadius: 0 });
  Object.assign(copy.firstChild.style, { ...place, maxWidth: 'none' });
  const labels = [...copy.querySelectorAll('text')].map(text => {
    const box = text.getBBox();
    return { shown: getComputedStyle(text).visibility === 'visible',
      box: [box.x, box.y, box.x + box.width, box.y + box.height] };
  });
  return { width, height, labels };
}"""
"""Leave nothing of the page but a chart, in its own size."""


def pixels(image: bytes) -> Pixels:
    return np.asarray(Image.open(io.BytesIO(image)).convert("RGB"), dtype=np.float64) / 255


def ink(image: Pixels, box: list[float]) -> int:
    """Return the number of pixels in a box (of a picture twice its size) with much contrast to the ground."""
    left, top, right, bottom = (round(2 * side) for side in box)
    ground = image[2, 2]
    return int((np.abs(image[top:bottom, left:right] - ground).max(2) > 0.4).sum())


def saved(page: Any, card: Any, kind: str) -> Path:
    card.locator("details.share:not(.rename)").first.evaluate("menu => { menu.open = true; }")
    with page.expect_download() as download:
        card.get_by_role("button", name=kind, exact=True).click()
    return Path(download.value.path())


@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", CHARTS)
def test_saved_charts_look_like_the_screen(
    browser: Any, address: str, tmp_path: Path, name: str, theme: str
) -> None:
    options = {"viewport": {"width": 1200, "height": 800}, "device_scale_factor": 2, "color_scheme": theme}
    place, chart = CHARTS[name]
    watched = Watched(browser, address, **options)
    page = watched.open(place)
    wait_until_whole(page)
    page.evaluate(QUIET)
    card = page.locator(".card", has=page.locator(chart)).first
    framed = pixels(saved(page, card, "PNG").read_bytes())
    drawing = tmp_path / "drawing.svg"
    drawing.write_bytes(saved(page, card, "SVG").read_bytes())
    on_screen = page.locator(chart).first.evaluate(ALONE)
    clip = {"x": 0, "y": 0, "width": on_screen["width"], "height": on_screen["height"]}
    screen = pixels(page.screenshot(clip=clip))
    watched.close()
    viewer = browser.new_context(**options).new_page()
    viewer.goto(drawing.as_uri())
    frame = ElementTree.parse(drawing).getroot()
    inner = frame.find("{http://www.w3.org/2000/svg}svg[@class='drawing']")
    assert inner is not None
    left, top = int(inner.get("x", "")), int(inner.get("y", ""))
    drawn = pixels(viewer.screenshot(clip={**clip, "x": left, "y": top}))
    viewer.context.close()
    picture = framed[2 * top : 2 * (top + clip["height"]), 2 * left : 2 * (left + clip["width"])]
    for found in (picture, drawn):
        assert found.shape == screen.shape
        far = np.abs(found - screen).max(2) > 0.25
        assert far.mean() < 0.004
        for label in on_screen["labels"]:
            there = ink(screen, label["box"])
            assert there > 50 or not label["shown"]
            assert ink(found, label["box"]) == pytest.approx(there, rel=0.2, abs=20)
    if name == "network":
        assert {label["shown"] for label in on_screen["labels"]} == {True, False}
