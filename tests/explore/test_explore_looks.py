"""Pictures of real collections: properties of pixels and boxes that hold with any fonts."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from explore_support import Watched, wait_for_map, wait_until, wait_until_whole
from PIL import Image

import tagtopics as tt
from tagtopics import ReportOptions, write_report

pytest_plugins = ("explore_fixtures",)

VIEWS = {"desktop": (1440, 900), "phone": (390, 844)}
Pixels = npt.NDArray[np.int64]
NAMES = """kind => [...document.querySelectorAll(`.terrain .name${kind}:not([hidden])`)].map(node => {
  const [own, all] = [node, document.querySelector('.terrain')].map(one => one.getBoundingClientRect());
  return [own.left - all.left, own.top - all.top, own.right - all.left, own.bottom - all.top]; })"""
CARD = """() => [...document.querySelectorAll('.hovercard > *')].map(node => {
  const box = node.getBoundingClientRect(); return [box.left, box.top, box.right, box.bottom]; })"""
CLEAR = """() => document.querySelectorAll('.names, .tools, .glow').forEach(node => {
  node.style.visibility = 'hidden'; })"""


def docstrings(_: Any) -> tt.Corpus:
    corpus = tt.load_dataset("docstrings")
    return corpus.select(np.arange(0, corpus.n_docs, 2))


def reuters(folder: Path) -> tt.Corpus:
    with gzip.open(folder / "reuters" / "texts.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in islice(file, 0, None, 4)]
    return tt.read_corpus(rows, text="text", tags="tags", id="id")


@pytest.fixture(
    scope="module",
    params=[docstrings, pytest.param(reuters, marks=pytest.mark.real_data)],
    ids=lambda make: make.__name__,
)
def address(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A report of a real collection, with dates."""
    corpus = request.param(request.getfixturevalue("data_directory") if request.param is reuters else None)
    corpus = replace(corpus, dates=tuple(str(2010 + d % 9) for d in range(corpus.n_docs)))
    path = tmp_path_factory.mktemp(request.param.__name__) / "report.html"
    model = tt.TTM(n_topics=20, random_state=0, max_iter=15).fit_topics(corpus)
    write_report(model, path, corpus=corpus, options=ReportOptions(title="Looks"))
    return path.as_uri()


@pytest.fixture(params=VIEWS)
def view(browser: Any, address: str, request: pytest.FixtureRequest) -> Iterator[Watched]:
    """The report in windows of two sizes; one collection is dark on a desktop, the other on a phone."""
    (width, height), is_phone = VIEWS[request.param], request.param == "phone"
    theme = "dark" if is_phone != ("reuters" in address) else "light"
    watched = Watched(browser, address, viewport={"width": width, "height": height}, color_scheme=theme)
    yield watched
    assert watched.faults == []
    watched.close()


def seen(page: Any, place: str = ".terrain") -> Pixels:
    image = page.locator(place).first.screenshot()
    return np.asarray(Image.open(io.BytesIO(image)).convert("RGB")).astype(np.int64)


def coloured(image: Pixels) -> npt.NDArray[np.bool_]:
    """Where pixels are neither grey nor close to it."""
    return np.asarray(image.max(2) - image.min(2) > 40)


def n_hues(image: Pixels) -> int:
    """Return how many of twelve hues have more than 2 % of the coloured pixels."""
    r, g, b = image[coloured(image)].T
    hue = np.arctan2(np.sqrt(3) * (g - b), 2 * r - g - b)
    parts = np.bincount(((hue + np.pi) / (2 * np.pi) * 12).astype(int) % 12, minlength=12) / max(len(hue), 1)
    return int((parts > 0.02).sum())


def overlapping(boxes: list[list[float]]) -> list[Any]:
    return [
        (a, b)
        for a, b in combinations(boxes, 2)
        if min(a[2], b[2]) - max(a[0], b[0]) > 1 and min(a[3], b[3]) - max(a[1], b[1]) > 1
    ]


def opened(view: Watched, place: str) -> Any:
    page = view.open(place)
    wait_for_map(page)
    return page


def test_the_front_has_many_colours_and_names_that_do_not_overlap(view: Watched) -> None:
    page = opened(view, "#/")
    boxes = page.evaluate(NAMES, "")
    frame = page.locator(".terrain").bounding_box()
    assert len(boxes) >= 6
    assert overlapping(boxes) == []
    assert all(box[0] >= 0 and box[1] >= 0 and box[2] <= frame["width"] for box in boxes)
    page.evaluate(CLEAR)
    image = seen(page)
    assert 0.01 < coloured(image).mean() < 0.5
    assert n_hues(image) >= 5


LEADERS = """() => document.querySelector('.terrain .leaders path').getAttribute('d').split('M')
  .filter(Boolean).map(line => line.split(/[ L]/).map(Number))"""


def test_no_line_passes_through_a_name(browser: Any, address: str) -> None:
    watched = Watched(browser, address, viewport={"width": 1040, "height": 640})
    page = opened(watched, "#/")
    boxes = np.array(page.evaluate(NAMES, ""))
    leaders = np.array(page.evaluate(LEADERS))
    watched.close()
    assert len(leaders) > 0
    steps = np.linspace(0.02, 0.94, 60)[:, np.newaxis]  # without the name that a line leads to
    crossed = 0
    for ax, ay, bx, by in leaders:
        x, y = ax + (bx - ax) * steps, ay + (by - ay) * steps
        inside = (x > boxes[:, 0] + 2) & (x < boxes[:, 2] - 2) & (y > boxes[:, 1] + 2) & (y < boxes[:, 3] - 2)
        crossed += int(inside[:, ~inside[0]].any())  # a line may begin below a name
    assert crossed == 0


def test_all_topics_are_named_on_a_desktop(browser: Any, address: str) -> None:
    watched = Watched(browser, address, viewport={"width": 1440, "height": 900})
    page = opened(watched, "#/")
    topics = page.locator(".side .bars[aria-label='Topics by share'] > li").count()
    grey = page.locator(".side .bars[aria-label='Topics by share'] .badge.plain").count()
    assert topics == 20
    assert len(page.evaluate(NAMES, ".topic")) >= topics - grey
    watched.close()


def test_the_card_of_a_point_is_whole(view: Watched) -> None:
    page = opened(view, "#/")
    page.evaluate(CLEAR)
    image = coloured(seen(page))
    rows, columns = np.nonzero(image[: int(image.shape[0] * 0.8)])
    middle = np.argsort(np.hypot(rows - rows.mean(), columns - columns.mean()))[:200:20]
    frame = page.locator(".terrain").bounding_box()
    for at in middle:
        page.mouse.move(frame["x"] + float(columns[at]), frame["y"] + float(rows[at]))
        if page.locator(".hovercard").is_visible():
            break
    boxes = page.evaluate(CARD)
    assert len(boxes) >= 2
    assert overlapping(boxes) == []
    card = page.locator(".hovercard").bounding_box()
    assert card["x"] >= frame["x"]
    assert card["x"] + card["width"] <= frame["x"] + frame["width"] + 1


def test_years_have_a_legend_in_the_colours_of_the_points(view: Watched) -> None:
    page = opened(view, "#/?colour=year")
    scale = page.locator(".terrain .year-scale")
    assert scale.is_visible()
    assert scale.locator("text").first.text_content() == "2010"
    legend = scale.locator("rect").evaluate_all("all => all.slice(1).map(one => one.getAttribute('fill'))")
    page.evaluate(CLEAR)
    scale.evaluate("node => { node.style.visibility = 'hidden'; }")
    image = seen(page)
    points, ground = image.reshape(-1, 3), image[6, image.shape[1] // 2]
    for colour in legend:
        wanted = np.array([int(part) for part in colour[4:-1].split(",")])
        mixed = 0.82 * wanted + 0.18 * ground  # a point lets some of the ground through
        assert (np.abs(points - mixed).max(1) < 30).any(), colour


def test_what_passes_a_filter_stands_out(view: Watched) -> None:
    page = opened(view, "#/")
    page.evaluate(CLEAR)
    before = coloured(seen(page)).mean()
    page = opened(view, "#/?topic=1")
    assert page.locator(".hits path").count() >= 2
    faded = page.locator(".terrain .name.topic.faded:not([hidden])").count()
    assert faded > 0 or len(page.evaluate(NAMES, ".topic")) < 6
    page.evaluate(CLEAR)
    assert 0 < coloured(seen(page)).mean() < before + 0.1


def test_a_magnified_map_still_has_names(view: Watched) -> None:
    page = opened(view, "#/")
    for _ in range(6):
        page.get_by_role("button", name="Zoom in").click()
    wait_until(page, "() => location.hash.includes('view=')")
    wait_for_map(page)
    boxes = page.evaluate(NAMES, "")
    assert len(boxes) >= 3
    assert overlapping(boxes) == []


def test_saved_maps_have_a_title_and_a_source(view: Watched) -> None:
    page = opened(view, "#/")
    page.locator(".mapnote details.share").evaluate("menu => { menu.open = true; }")
    with page.expect_download() as download:
        page.locator(".mapnote").get_by_role("button", name="PNG", exact=True).click()
    image = np.asarray(Image.open(download.value.path()).convert("RGB")).astype(np.int64)
    frame = page.locator(".terrain").bounding_box()
    assert image.shape[1] == pytest.approx(2 * (frame["width"] + 32), abs=3)
    ink = np.abs(image - image[4, 4]).max(2) > 90
    assert ink[:70].sum() > 200  # the title
    assert ink[-50:].sum() > 200  # the source
    assert coloured(image).mean() > 0.005


def test_printed_fronts_have_the_map_and_bars(browser: Any, address: str) -> None:
    printing = pytest.importorskip("test_explore_print")
    watched = Watched(browser, address)
    watched.open("#/")
    wait_until_whole(watched.page)
    printed = printing.Printed(watched.page)
    assert len(printed.hues) >= 6
    assert "Looks" in printed.text
    watched.close()
