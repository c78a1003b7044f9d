"""Photographs in report and server: the right heat in the right place, and no bad file is fatal."""

from __future__ import annotations

import base64
import gzip
import io
import json
import re
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import numpy as np
import pytest
from explore_support import Watched
from fastapi import HTTPException

import tagtopics as tt
from tagtopics.datasets.scenes import make_scenes, write_scenes
from tagtopics.explore import write_report
from tagtopics.explore.record.heat_maps import MOST_PIXELS, tag_maps, with_pictures
from tagtopics.explore.record.topic_data import TopicData
from tagtopics.explore.server.engine import ModelEngine

pytest_plugins = ("explore_fixtures",)


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scenes")
    write_scenes(folder, make_scenes(24, seed=0))
    return folder


@pytest.fixture(scope="module")
def seeing(scenes: Path) -> Any:
    corpus = tt.read_corpus(scenes)
    model = tt.TTM(n_topics=8, random_state=0, max_iter=40).fit(corpus)
    return model.fit_recommender(corpus)


@pytest.fixture(scope="module")
def pictures(scenes: Path, seeing: Any) -> TopicData:
    record = tt.topic_data(seeing, tt.read_corpus(scenes, visual=seeing.visual_), "Scenes")
    return with_pictures(record, seeing, str(scenes))


def test_heat_is_that_of_the_model(pictures: TopicData, seeing: Any, scenes: Path) -> None:
    picture = pictures.pictures[0]
    table = pictures.documents
    tags = [pictures.tags.names[t] for t in table.tag_index[slice(*table.tag_offsets[picture.doc :][:2])]]
    heat = np.frombuffer(base64.b64decode(picture.heat), dtype=np.uint8)
    heat = heat.reshape(len(tags), picture.rows, picture.columns)
    maps = tag_maps(seeing, str(scenes / table.ids[picture.doc]), tags)
    assert np.allclose(heat.mean((1, 2)) / 255, maps.credit.mean((1, 2)), atol=0.03)
    assert pictures.to_json()["pictures"] == [asdict(one) for one in pictures.pictures]


def test_names_do_not_lead_out_of_the_folder(pictures: TopicData, seeing: Any, scenes: Path) -> None:
    (scenes / "inner").mkdir(exist_ok=True)
    with pytest.raises(tt.InputError, match="has no image of the documents"):
        with_pictures(pictures, seeing, str(scenes / "inner"))
    with pytest.raises(tt.InputError, match="no such folder"):
        with_pictures(pictures, seeing, str(scenes / "nowhere"))


def test_photograph_page_shows_heat(browser: Any, pictures: TopicData, tmp_path: Path) -> None:
    write_report(pictures, tmp_path / "scenes.html")
    watched = Watched(browser, (tmp_path / "scenes.html").as_uri())
    page = watched.open("#/document/0")
    page.wait_for_selector(".photograph img")
    assert (
        page.locator(".photograph img").evaluate("image => image.decode().then(() => image.naturalWidth)") > 0
    )
    drawn = "document.querySelector('canvas').toDataURL()"
    seen = set()
    choices = page.locator(".reading .choice label")
    for i in range(choices.count()):
        choices.nth(i).click()
        seen.add(page.evaluate(drawn))
    assert len(seen) == choices.count() > 1
    heat = base64.b64decode(pictures.picture_of[0].heat)
    assert page.locator(".heat-legend").inner_text().split("\n")[-1] == f"{100 * max(heat) / 255:.0f} %"
    choices.first.click()
    assert page.locator(".heat-legend").is_hidden()
    assert watched.problems() == []
    assert watched.faults == []
    watched.close()


def test_lists_of_photographs_have_thumbnails(browser: Any, pictures: TopicData, tmp_path: Path) -> None:
    write_report(pictures, tmp_path / "scenes.html")
    watched = Watched(browser, (tmp_path / "scenes.html").as_uri())
    page = watched.open("#/documents")
    first = page.locator(".documents li").first
    first.locator(".thumb").wait_for()
    shown = first.locator(".thumb").get_attribute("src")
    row = pictures.documents.ids.index(first.locator("bdi").inner_text())
    assert shown == f"data:image/jpeg;base64,{pictures.picture_of[row].jpeg}"
    watched.go("#/topic/0")
    page.locator(".documents li").first.scroll_into_view_if_needed()
    page.wait_for_selector(".documents .thumb:not([hidden])")
    assert watched.problems() == []
    assert watched.faults == []
    watched.close()


def test_visual_words_are_not_shown(browser: Any, pictures: TopicData, tmp_path: Path) -> None:
    write_report(pictures, tmp_path / "scenes.html")
    watched = Watched(browser, (tmp_path / "scenes.html").as_uri())
    page = watched.open()
    tags = {tag for name in pictures.names for tag in re.sub(r" \(\d+\)$", "", name).split(", ")}
    assert tags <= {*pictures.tags.names, "no tags"}
    for place in (
        "#/",
        "#/topics",
        "#/topic/0",
        "#/tags",
        "#/tag/0",
        "#/groups/0+1",
        "#/documents",
        "#/about",
    ):
        watched.go(place)
        assert "chromatic" not in page.locator("main").inner_text(), place
    watched.go(f"#/search/{pictures.tags.names[0]}")
    page.wait_for_selector(".documents .pictured")
    assert page.locator(".documents .pictured").count() == min(20, int(pictures.tags.n_docs[0]))
    assert watched.problems() == []
    watched.context.close()


def test_command_serves_photographs(seeing: Any, scenes: Path, tmp_path: Path) -> None:
    seeing.save(tmp_path / "scenes.tt", corpus=tt.read_corpus(scenes, visual=seeing.visual_))
    run = "from tagtopics.cli import main; raise SystemExit(main())"
    command = [sys.executable, "-u", "-c", run, "serve", str(tmp_path / "scenes.tt"), "--images", str(scenes)]
    with subprocess.Popen([*command, "--port", "0"], stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            found = re.search(r"at (http://127\.0\.0\.1:\d+/)", server.stdout.readline())
            assert found is not None
            bodies = json.loads(gzip.decompress(urlopen(f"{found[1]}data/bodies/0").read()))
        finally:
            server.kill()
    assert any("p" in body for body in bodies)
    content = next(base64.b64decode(body["p"]["j"]) for body in bodies if "p" in body)
    assert content.startswith(b"\xff\xd8")


def test_server_sees_a_photograph(seeing: Any, scenes: Path) -> None:
    engine = ModelEngine(seeing)
    assert engine.offers == {"photograph"}
    content = sorted(scenes.glob("*.png"))[3].read_bytes()
    found = engine.photograph(content, 3)
    assert 1 <= len(found.tags) == len(found.scores) <= 3
    assert len(base64.b64decode(found.heat)) == len(found.tags) * found.rows * found.columns
    assert sum(found.topics) == pytest.approx(1, abs=1e-4)


def _png(width: int, height: int) -> bytes:
    from PIL import Image

    file = io.BytesIO()
    Image.new("1", (width, height)).save(file, "PNG")
    return file.getvalue()


@pytest.mark.parametrize("content", [b"", b"not an image", b"\x89PNG\r\n\x1a\n" + b"\0" * 40, b"<svg/>"])
def test_bad_photographs_are_refused(seeing: Any, content: bytes) -> None:
    with pytest.raises(tt.InputError):
        ModelEngine(seeing).photograph(content, 3)


def test_photographs_of_too_many_or_too_few_pixels_are_refused(seeing: Any) -> None:
    with pytest.raises(tt.InputError, match="smaller"):
        ModelEngine(seeing).photograph(_png(MOST_PIXELS // 1000 + 1, 1000), 3)
    with pytest.raises(tt.InputError) as refused:
        ModelEngine(seeing).photograph(_png(1, 1), 3)
    assert "/tmp" not in str(refused.value)


def test_models_of_text_see_no_photographs(model: tt.TTM) -> None:
    with pytest.raises(HTTPException, match="photographs"):
        ModelEngine(model).photograph(_png(60, 40), 3)
