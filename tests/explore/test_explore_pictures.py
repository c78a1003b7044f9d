"""Photographs in report and server: the right heat in the right place, and no bad file is fatal."""

from __future__ import annotations

import base64
import io
import json
import re
import subprocess
import sys
import warnings
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import numpy as np
import pytest
from explore_support import Watched, serving
from fastapi import HTTPException
from scenes import make_scenes, write_scenes

import tagtopics as tt
from tagtopics import write_report
from tagtopics.explore.record.heat_maps import tag_maps
from tagtopics.explore.record.photographs import Photographs, with_pictures
from tagtopics.explore.record.topic_data import TopicData
from tagtopics.explore.server.engine import MOST_PIXELS, ModelEngine
from tagtopics.explore.server.server import create_server

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
    outside = [f"../{pictures.documents.ids[0]}", str(scenes / pictures.documents.ids[0]), "x" * 5000, "a\0b"]
    ids = tuple(outside[d % 4] for d in range(24))
    record = replace(pictures, documents=replace(pictures.documents, ids=ids))
    with pytest.raises(tt.InputError, match="has no image of the documents"):
        Photographs(record, seeing, str(scenes / "inner"))
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
    assert page.locator(".heat-legend").inner_text().split("\n")[-1] == f"{100 * max(heat) / 255:.0f}\u00a0%"
    page.locator(".heat-slider input").fill("0.3")
    assert page.locator(".photograph canvas").evaluate("canvas => canvas.style.opacity") == "0.3"
    choices.first.click()
    assert page.locator(".heat-legend").is_hidden()
    assert page.locator(".heat-slider").is_hidden()
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
            photo = json.loads(urlopen(f"{found[1]}data/photos/5").read())
            small = urlopen(f"{found[1]}data/thumbnails/5").read()
            with pytest.raises(HTTPError, match="404"):
                urlopen(f"{found[1]}data/photos/24")
        finally:
            server.kill()
    maps = tag_maps(seeing, str(scenes / "scene-0005.png"), seeing_tags(scenes, 5)).for_page()
    assert photo == {"j": maps["jpeg"], "r": maps["rows"], "c": maps["columns"], "h": maps["heat"]}
    assert base64.b64decode(photo["j"])[:2] == small[:2] == b"\xff\xd8"


def seeing_tags(folder: Path, row: int) -> list[str]:
    """Return the tags of a photo as the pages order them."""
    return list(tt.read_corpus(folder).tags_of(row))


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> TopicData:
    """More photos than a report has with heat maps; they are links, and the first has no tags."""
    folder, linked = tmp_path_factory.mktemp("many"), tmp_path_factory.mktemp("linked")
    write_scenes(folder, make_scenes(410, size=(48, 32), seed=1))
    tags = json.loads((folder / "tags.json").read_text())
    tags[min(tags)] = []
    (linked / "tags.json").write_text(json.dumps(tags))
    for name in tags:
        (linked / name).symlink_to(folder / name)
    visual = tt.VisualVocabulary(codebook_sizes=(8, 8), working_pixels=48 * 32, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tt.CorpusWarning)
        corpus = tt.read_corpus(linked, visual=visual)
    model = tt.TTM(n_topics=5, random_state=0, max_iter=10).fit_topics(corpus)
    return with_pictures(tt.topic_data(model, corpus, "Many"), model, str(linked))


@pytest.mark.slow
def test_every_photo_is_in_the_file(browser: Any, many: TopicData, tmp_path: Path) -> None:
    size = write_report(many, tmp_path / "many.html")
    heated = sum(bool(one.heat) for one in many.pictures)
    assert (size.n_photos, size.n_heated) == (410, heated)
    assert heated in (399, 400)
    watched = Watched(browser, (tmp_path / "many.html").as_uri())
    page = watched.open()
    without = [one.doc for one in many.pictures if not one.heat]
    assert len(without) >= 10
    for doc in (without[0], without[-1], many.pictures[0].doc):
        watched.go(f"#/document/{many.documents.ids[doc]}")
        page.wait_for_selector(".photograph img")
        wide = "image => image.decode().then(() => image.naturalWidth)"
        assert page.locator(".photograph img").evaluate(wide) > 0
        assert "chromatic" not in page.locator("main").inner_text()
    watched.go("#/about")
    assert "410; 0 left out" in page.locator("main").inner_text()
    assert watched.problems() == []
    assert watched.faults == []
    watched.close()


@pytest.mark.slow
def test_photos_become_smaller_before_any_is_left_out(browser: Any, many: TopicData, tmp_path: Path) -> None:
    whole = write_report(many, tmp_path / "whole.html")
    sizes = {}
    for share in (0.9, 0.6, 0.44):
        options = tt.ReportOptions(max_mb=share * whole.n_bytes / 1e6)
        size = sizes[share] = write_report(many, tmp_path / f"{share}.html", options=options)
        assert size.n_bytes <= options.max_mb * 1e6
        assert size.n_photos == 410 or size.n_heated == 0
    assert sizes[0.9].n_photos == 410
    assert 0 < sizes[0.44].n_photos < 410, sizes
    watched = Watched(browser, (tmp_path / "0.44.html").as_uri())
    page = watched.open("#/about")
    left = 410 - sizes[0.44].n_photos
    assert f"{sizes[0.44].n_photos}; {left} left out" in page.locator("main").inner_text()
    watched.go("#/documents")
    assert f"{left} photos are not on these pages" in page.locator("main").inner_text()
    last = many.documents.ids[many.documents.by_topic()[-1]]
    watched.go(f"#/document/{last}")
    page.wait_for_selector(".reading .note")
    assert "size limit" in page.locator(".reading").inner_text()
    assert "chromatic" not in page.locator("main").inner_text()
    watched.close()


@pytest.mark.slow
def test_without_the_folder_visual_words_are_not_shown(browser: Any, many: TopicData, tmp_path: Path) -> None:
    write_report(replace(many, pictures=()), tmp_path / "bare.html")
    watched = Watched(browser, (tmp_path / "bare.html").as_uri())
    page = watched.open()
    for place in ("#/", "#/topic/0", "#/tag/0", f"#/document/{many.documents.ids[3]}", "#/search/achromatic"):
        watched.go(place)
        page.wait_for_timeout(100)
        assert "chromatic0" not in page.locator("main").inner_text(), place
    watched.close()


def test_server_shows_every_photo(browser: Any, seeing: Any, scenes: Path) -> None:
    record = tt.topic_data(seeing, tt.read_corpus(scenes, visual=seeing.visual_), "Scenes")
    app, served = create_server()
    served.load(record, ModelEngine(seeing), Photographs(record, seeing, str(scenes)))
    for address in serving(app):
        watched = Watched(browser, address)
        page = watched.open(f"#/document/{record.documents.ids[7]}")
        page.wait_for_selector(".photograph canvas")
        assert page.locator(".reading .choice label").count() > 1
        watched.go("#/documents")
        page.locator(".documents .thumb:not([hidden])").first.wait_for()
        wide = "image => image.decode().then(() => image.naturalWidth)"
        assert page.locator(".documents .thumb").first.evaluate(wide) > 0
        assert watched.faults == []
        watched.close()


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
    with pytest.raises(tt.InputError, match="scale it down"):
        ModelEngine(seeing).photograph(_png(MOST_PIXELS // 1000 + 1, 1000), 3)
    with pytest.raises(tt.InputError, match="the image: 1 x 1 pixels are too few"):
        ModelEngine(seeing).photograph(_png(1, 1), 3)


def test_models_of_text_see_no_photographs(model: tt.TTM) -> None:
    with pytest.raises(HTTPException, match="photographs"):
        ModelEngine(model).photograph(_png(60, 40), 3)
