"""A new text lands on the map: its related documents are those of Python, and its place is their mean."""

from __future__ import annotations

import re

import numpy as np
import pytest
from explore_support import Watched

import tagtopics as tt
from tagtopics.explore.map.terrain import terrain_of
from tagtopics.explore.record.topic_data import TopicData

pytest_plugins = ("explore_fixtures",)
TEXT = "wave tide harbour sail whale anchor bread oven salt"


def test_a_text_lands_among_its_related_documents(watched: Watched, model: tt.TTM, data: TopicData) -> None:
    page = watched.open("#/workbench")
    page.locator("#bench-text").fill(TEXT)
    page.get_by_role("button", name="Analyse").click()
    pin = page.locator("svg.places .halo")
    pin.wait_for()
    expected = model.related([TEXT], top=15)[0]
    rows = page.locator(".card", has=page.get_by_role("heading", name="Related documents"))
    assert rows.locator(".headline a").all_inner_texts() == [row.id for row in expected[:8]]
    shown = [float(text.replace("%", "")) for text in rows.locator(".headline .figure").all_inner_texts()]
    assert shown == pytest.approx([100 * row.score for row in expected[:8]], abs=1)
    places = terrain_of(data).places
    weights = np.array([row.score for row in expected])
    mean = weights @ places[[row.row for row in expected]] / weights.sum()
    low = places.min(0)
    scale = 280 / max(np.ptp(places[:, 0]), 0.05)
    at = [float(str(pin.get_attribute(name))) for name in ("cx", "cy")]
    assert at == pytest.approx((16 + scale * (mean - low)).tolist(), abs=0.5)


def test_an_example_is_there_to_try(watched: Watched, corpus: tt.Corpus) -> None:
    page = watched.open("#/workbench")
    page.get_by_role("button", name="Try an example").click()
    page.locator("svg.places .halo").wait_for()
    assert corpus.texts is not None
    assert page.locator("#bench-text").input_value() in corpus.texts


def test_a_table_becomes_a_layer_of_texts(watched: Watched) -> None:
    page = watched.open("#/workbench")
    lines = ["id,text", f"a,{TEXT}", "b,violin chord rhythm opera tempo melody", "c,xyzzy plugh"]
    page.locator("#bench-csv").set_input_files(
        {"name": "new.csv", "mimeType": "text/csv", "buffer": "\n".join(lines).encode()}
    )
    drawn = page.locator("svg.places path").first
    drawn.wait_for()
    places = re.findall(r"M([\d.]+) ([\d.]+)h0", str(drawn.get_attribute("d")))
    assert len(places) == 2  # the third has no known word
    assert places[0] != places[1]
