"""Areas of the map, against a second computation and in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from explore_support import wait_for_map

import tagtopics as tt
from tagtopics import write_report
from tagtopics.explore.map.terrain import terrain_of
from tagtopics.explore.record.areas import areas_of, shared_gains
from tagtopics.explore.record.to_topic_data import topic_data
from tagtopics.explore.record.topic_data import TopicData

pytest_plugins = ("explore_fixtures",)

SHOWN = """() => [...document.querySelectorAll('.terrain .name:not([hidden])')].map((node) => {
  const { left, right, top, bottom } = node.getBoundingClientRect();
  return [node.classList.contains('area'), node.title, [left, right, top, bottom]];
})"""


@pytest.fixture(scope="module")
def record() -> TopicData:
    corpus = tt.load_dataset("docstrings")
    model = tt.TTM(n_topics=20, max_iter=10, random_state=0).fit_topics(corpus)
    return topic_data(model, corpus, "Docstrings")


def test_topics_of_an_area_are_closer_to_each_other_than_to_others(record: TopicData) -> None:
    places = terrain_of(record).topics
    areas = areas_of(record, places)
    told = ~record.background
    assert (areas.area[~told] == -1).all()
    assert sorted(set(areas.area[told])) == list(range(len(areas.names)))
    assert len(areas.names) == round(told.sum() ** 0.5)
    apart = np.hypot(*(places[told][:, None] - places[told]).transpose(2, 0, 1))
    same = areas.area[told][:, None] == areas.area[told]
    pairs = ~np.eye(len(same), dtype=bool)
    assert apart[same & pairs].mean() < 0.6 * apart[~same].mean()


def test_an_area_has_the_name_that_its_topics_share(record: TopicData) -> None:
    """Word by word and topic by topic."""
    areas = areas_of(record, terrain_of(record).topics)
    groups = [[k for k in range(20) if areas.area[k] == a] for a in range(len(areas.names))]
    told = [k for own in groups for k in own]

    roots = np.sqrt(record.topic_word.astype(np.float64))

    def gain(w: int, own: list[int]) -> float:
        inside = [float(roots[k, w]) for k in own]
        outside = [float(roots[k, w]) for k in told if k not in own]
        return sum(inside) / len(inside) - sum(outside) / len(outside)

    assert np.allclose(
        shared_gains(roots**2, [np.array(own) for own in groups])[:, :50],
        [[gain(w, own) for w in range(50)] for own in groups],
    )
    named = [word for name in areas.names for word in name.split(", ")]
    assert len(named) == len(set(named)) > 2 * len(groups)
    for own, name in zip(groups, areas.names, strict=True):
        first = max(range(len(record.words)), key=lambda w: gain(w, own))
        assert name.split(", ")[0] == record.words[first]
        for word in name.split(", "):
            w = record.words.index(word)
            assert gain(w, own) == max(gain(w, other) for other in groups)


def test_few_topics_have_no_areas(record: TopicData) -> None:
    areas = areas_of(replace(record, background=np.arange(20) >= 7), terrain_of(record).topics)
    assert areas.names == ()
    assert (areas.area == -1).all()


@pytest.fixture
def front(browser: Any, record: TopicData, tmp_path: Path) -> Iterator[Any]:
    write_report(record, tmp_path / "report.html")
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto((tmp_path / "report.html").as_uri())
    page.wait_for_selector("html[data-ready=yes]")
    wait_for_map(page)
    yield page
    page.close()


def test_areas_are_named_when_the_map_is_zoomed_out(front: Any, record: TopicData) -> None:
    names = set(areas_of(record, terrain_of(record).topics).names)
    assert not [name for is_area, name, _ in front.evaluate(SHOWN) if is_area]
    front.locator("canvas.points").focus()
    front.keyboard.press("-")
    front.keyboard.press("-")
    wait_for_map(front)
    shown = front.evaluate(SHOWN)
    assert {name for is_area, name, _ in shown if is_area} == names
    boxes = [box for *_, box in shown]
    for i, a in enumerate(boxes):
        for b in boxes[:i]:
            assert a[1] <= b[0] or b[1] <= a[0] or a[3] <= b[2] or b[3] <= a[2]
    front.keyboard.press("0")
    wait_for_map(front)
    assert not [name for is_area, name, _ in front.evaluate(SHOWN) if is_area]
