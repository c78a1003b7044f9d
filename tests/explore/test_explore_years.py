"""The map coloured by year: a scale, colours in order for every reader, names in ink, a note that says so."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import numpy.typing as npt
import pytest
from explore_support import THEMES, Watched, wait_for_map
from PIL import Image

import tagtopics as tt
from tagtopics import write_report

pytest_plugins = ("explore_fixtures",)

Colours = npt.NDArray[np.float64]
FIRST, LAST = 1985, 2019
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def dated(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A report of documents with a year each, but for two of them."""
    rng = np.random.default_rng(1)
    rows = []
    for d in range(72):
        theme = list(THEMES)[d % 4]
        tags = [f"place:{theme}", *([f"year:{FIRST + d % 35}"] if d < 70 else [])]
        words = [str(word) for word in rng.choice(THEMES[theme].split(), 30)]
        rows.append({"id": f"text {d}", "text": " ".join(words), "tags": tags})
    corpus = tt.read_corpus(rows)
    path = tmp_path_factory.mktemp("dated") / "report.html"
    write_report(tt.TTM(n_topics=5, random_state=0, max_iter=40).fit_topics(corpus), path, corpus=corpus)
    return path.as_uri()


@pytest.fixture(params=["light", "dark"])
def themed(browser: Any, dated: str, request: pytest.FixtureRequest) -> Iterator[Watched]:
    """The report in light and dark colours."""
    watched = Watched(browser, dated, color_scheme=request.param)
    yield watched
    assert watched.faults == []
    watched.close()


def scale_colours(page: Any) -> list[str]:
    found: list[str] = page.eval_on_selector_all(
        ".year-scale rect", "cells => cells.slice(1).map(cell => cell.getAttribute('fill'))"
    )
    return found


def saved(page: Any, kind: str) -> bytes:
    page.locator(".mapnote details.share").evaluate("menu => { menu.open = true; }")
    with page.expect_download() as download:
        page.locator(".mapnote").get_by_role("button", name=kind, exact=True).click()
    return Path(download.value.path()).read_bytes()


# ------------------------------------------------------------------------------------------- on the page

SHOWN = """() => {
  const box = node => { const { left, top, right, bottom } = node.getBoundingClientRect();
    return { left, top, right, bottom }; };
  const names = [...document.querySelectorAll('.terrain .name.topic:not([hidden])')];
  return { map: box(document.querySelector('.terrain')), scale: box(document.querySelector('.year-scale')),
    names: names.map(box), inks: names.map(name => getComputedStyle(name).color),
    ink: getComputedStyle(document.body).color };
}"""


@pytest.mark.parametrize("size", [(1440, 900), (390, 844)], ids=["desktop", "phone"])
def test_the_scale_is_on_the_map_and_names_are_in_ink(
    browser: Any, dated: str, size: tuple[int, int]
) -> None:
    watched = Watched(browser, dated, viewport={"width": size[0], "height": size[1]})
    page = watched.open("#/?colour=year")
    wait_for_map(page)
    assert page.locator(".year-scale text").all_text_contents() == ["1985", "2002", "2019"]
    assert page.locator(".year-scale").get_attribute("aria-label") == "Colours by year, from 1985 to 2019"
    shown = page.evaluate(SHOWN)
    area, scale = shown["map"], shown["scale"]
    assert area["left"] < scale["left"] < scale["right"] < area["right"]
    assert area["top"] < scale["top"] < scale["bottom"] < area["bottom"]
    assert shown["names"]
    for name in shown["names"]:
        assert name["right"] < scale["left"] or name["top"] > scale["bottom"]
    assert set(shown["inks"]) == {shown["ink"]}
    assert watched.problems() == []
    watched.close()


def test_note_and_scale_follow_the_choice(themed: Watched) -> None:
    page = themed.open()
    note = page.locator(".mapnote .note")
    by_topic = "Colours show the topic that distinguishes a document most. Distances"
    assert note.inner_text().startswith(by_topic)
    page.locator(".mapnote .choice").get_by_text("year").click()
    assert note.inner_text().startswith(
        "Colours show the year. Documents without a known year are grey. Distances"
    )
    assert page.locator(".year-scale").is_visible()
    page.locator(".mapnote .choice").get_by_text("topic").click()
    assert note.inner_text().startswith(by_topic)
    assert page.locator(".year-scale").count() == 0
    colours = page.eval_on_selector_all(
        ".name.topic", "names => names.map(one => getComputedStyle(one).color)"
    )
    assert len(set(colours)) > 2


def test_no_year_is_said_to_be_missing_if_none_is(watched: Watched) -> None:
    page = watched.open("#/?colour=year")
    assert page.locator(".mapnote .note").inner_text().startswith("Colours show the year. Distances")


def test_the_scale_follows_the_theme(themed: Watched) -> None:
    page = themed.open("#/?colour=year")
    found = {tuple(scale_colours(page))}
    for theme in ("light", "dark"):
        page.evaluate("theme => { document.documentElement.dataset.theme = theme; }", theme)
        wait_for_map(page)
        found.add(tuple(scale_colours(page)))
    assert page.locator(".year-scale").count() == 1
    assert len(found) == 2


# -------------------------------------------------------------------------------------------- the colours

SEEN = {
    "all": np.eye(3),
    "without red": np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
                             [-0.003882, -0.048116, 1.051998]]),
    "without green": np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                               [-0.011820, 0.042940, 0.968881]]),
    "without blue": np.array([[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
                              [0.004733, 0.691367, 0.303900]]),
}  # fmt: skip
"""Linear RGB as people see it who lack a kind of cone (Machado, Oliveira and Fernandes 2009)."""
TO_CONES = np.array([[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566],
                     [0.0883024619, 0.2817188376, 0.6299787005]])  # fmt: skip
TO_LAB = np.array([[0.2104542553, 0.7936177850, -0.0040720468], [1.9779984951, -2.4285922050, 0.4505937099],
                   [0.0259040371, 0.7827717662, -0.8086757660]])  # fmt: skip


def linear(colours: list[str]) -> Colours:
    values = np.array([[int(part) for part in re.findall(r"\d+", one)[:3]] for one in colours]) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def oklab(rgb: Colours) -> Colours:
    found: Colours = np.cbrt(np.maximum(rgb, 0) @ TO_CONES.T) @ TO_LAB.T
    return found


@pytest.mark.parametrize("seen", SEEN)
def test_years_are_in_order_of_lightness_for_every_reader(themed: Watched, seen: str) -> None:
    page = themed.open("#/?colour=year")
    colours = scale_colours(page)
    assert len(colours) == LAST - FIRST + 1
    lab = oklab(linear(colours) @ SEEN[seen].T)
    steps = np.diff(lab[:, 0])
    assert (steps < 0).all() or (steps > 0).all()
    assert abs(lab[-1, 0] - lab[0, 0]) > 0.35
    distances = np.linalg.norm(np.diff(lab, axis=0), axis=1)
    assert distances.max() < 4 * distances.min()


def test_later_years_stand_out_from_the_ground(themed: Watched) -> None:
    page = themed.open("#/?colour=year")
    ground = page.locator(".year-scale rect").first.get_attribute("fill")
    luminance = linear([ground, *scale_colours(page)]) @ [0.2126, 0.7152, 0.0722] + 0.05
    contrast = np.maximum(luminance[1:] / luminance[0], luminance[0] / luminance[1:])
    assert (np.diff(contrast) > 0).all()
    assert contrast[0] > 2.2
    assert contrast[-1] > 10


def points_of(picture: ElementTree.Element) -> set[str]:
    """Return the colours of points in a picture."""
    return {path.get("stroke", "") for path in picture.iter(f"{SVG}path") if "h0" in path.get("d", "")}


@pytest.mark.parametrize("year", [FIRST, 2000, LAST])
def test_points_have_the_colours_of_the_scale(themed: Watched, year: int) -> None:
    page = themed.open(f"#/?colour=year&years={year}-{year}")
    wait_for_map(page)
    scale = scale_colours(page)
    points = points_of(ElementTree.fromstring(saved(page, "SVG")))
    assert points & set(scale) == {scale[year - FIRST]}
    assert len(points) == 3  # those that do not pass the filter are faint, the others have rings


def test_saved_maps_have_the_scale(themed: Watched) -> None:
    page = themed.open("#/?colour=year")
    wait_for_map(page)
    colours = scale_colours(page)
    picture = ElementTree.fromstring(saved(page, "SVG"))
    drawing, scale = list(picture.iter(f"{SVG}svg"))[1:]
    cells = list(scale.iter(f"{SVG}rect"))[1:]
    assert [cell.get("fill") for cell in cells] == colours
    assert [text.text for text in scale.iter(f"{SVG}text")] == ["1985", "2002", "2019"]
    left, top = (sum(float(part.get(side, 0)) for part in (drawing, scale)) for side in ("x", "y"))
    image = np.asarray(Image.open(io.BytesIO(saved(page, "PNG"))).convert("RGB"))
    for cell, colour in zip(cells, colours, strict=True):
        x, y, width, height = (float(cell.get(name, 0)) for name in ("x", "y", "width", "height"))
        found = image[round(2 * (top + y + height / 2)), round(2 * (left + x + width / 2))]
        assert f"rgb({','.join(str(part) for part in found)})" == colour
