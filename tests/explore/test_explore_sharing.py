"""What leaves the pages: tables and pictures of every card, and of the map."""

from __future__ import annotations

import csv
import re
from importlib import metadata
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from explore_support import Watched, wait_for_map, wait_until, wait_until_whole

import tagtopics as tt
from tagtopics.bp.graph import joint_profile
from tagtopics.explore.map.terrain import terrain_of
from tagtopics.explore.record.topic_data import TopicData

pytest_plugins = ("explore_fixtures",)

PLACES = (
    "#/", "#/topic/1", "#/tag/place%3Asea", "#/tags/place%3Asea+also%3Akitchen", "#/document/text%200",
    "#/word/salt", "#/network", "#/time", "#/about", "#/search/salt", "#/groups", "#/?tag=place%3Asea",
)  # fmt: skip
TEXTS = {"What credit is, and what it is not", "Documents"}  # without numbers, or without documents
OFFERED = """async () => {
  const found = [];
  for (const menu of document.querySelectorAll(".card details.share:not(.rename), .mapnote details.share")) {
    const drawn = new Promise((done) => menu.addEventListener("toggle", done, { once: true }));
    menu.open = true;
    await drawn;
    const title = menu.parentElement.querySelector("h2");
    const kinds = [...menu.querySelectorAll("button")].map((node) => node.innerText);
    found.push([title ? title.innerText : "map", kinds]);
    menu.open = false;
  }
  return found; }"""


def saved(page: Any, card: Any, kind: str) -> bytes:
    card.locator("details.share:not(.rename) > summary").click()
    with page.expect_download() as download:
        card.get_by_role("button", name=kind, exact=True).click()
    return Path(download.value.path()).read_bytes()


def texts_of(picture: ElementTree.Element) -> set[str]:
    return {node.text or "" for node in picture.iter("{http://www.w3.org/2000/svg}text")}


@pytest.mark.parametrize("place", PLACES)
def test_every_card_has_a_table_and_pictures(watched: Watched, place: str) -> None:
    page = watched.open(place)
    wait_until_whole(page)
    found = page.evaluate(OFFERED)
    assert found
    if place == "#/":
        assert "map" in {title for title, _ in found}
    for title, kinds in found:
        assert kinds == ["CSV", "SVG", "PNG", "Card"] or (title in TEXTS and not kinds), title


def test_the_map_is_saved_with_names_and_places(watched: Watched, data: TopicData) -> None:
    page = watched.open()
    wait_for_map(page)
    note = page.locator(".mapnote")
    rows = list(csv.DictReader(saved(page, note, "CSV").decode().splitlines()))
    place = {row["id"]: (float(row["x"]), float(row["y"]), int(row["topic"])) for row in rows}
    terrain = terrain_of(data)
    assert len(place) == len(data.documents.ids)
    for d, name in enumerate(data.documents.ids):
        assert place[name][:2] == pytest.approx(terrain.places[d], abs=1e-4)
        assert place[name][2] == terrain.region[d]
    page.keyboard.press("Escape")
    note.locator("summary").click()
    picture = ElementTree.fromstring(saved(page, note, "SVG"))
    shown = page.locator(".terrain .name:visible").all_inner_texts()
    drawing = picture.find("{http://www.w3.org/2000/svg}svg[@class='drawing']")
    assert drawing is not None
    lines = {node.text for node in drawing.iter("{http://www.w3.org/2000/svg}text")}
    assert {line.strip() for text in shown for line in text.split("\n")} == lines
    paths = "".join(node.get("d", "") for node in picture.iter("{http://www.w3.org/2000/svg}path"))
    assert paths.count("h0") == len(data.documents.ids)


def test_the_picture_of_a_comparison_has_the_slopes_of_the_group(watched: Watched, data: TopicData) -> None:
    names = ["place:sea", "also:kitchen"]
    page = watched.open("#/tags/place%3Asea+also%3Akitchen")
    card = page.locator(".card", has_text="Topics that move")
    table = list(csv.reader(saved(page, card, "CSV").decode().splitlines()))
    assert table[0] == ["topic", "topic_name", "together", *names]
    assert len(table) == 1 + data.n_topics
    tags = [data.tags.names.index(name) for name in names]
    joint = joint_profile(data.tags.profiles[tags])
    shares = [float(row[2]) for row in table[1:]]
    assert shares[0] == pytest.approx(joint.max(), abs=1e-3)
    for column, t in enumerate(tags):
        assert float(table[1][3 + column]) == pytest.approx(data.tags.profiles[t][np.argmax(joint)], abs=1e-3)
    card.locator("summary").click()
    picture = ElementTree.fromstring(saved(page, card, "SVG"))
    paths = [node.get("d", "") for node in picture.iter("{http://www.w3.org/2000/svg}path")]
    lines = [re.fullmatch(r"M46 ([\d.]+)L\d+ ([\d.]+)", path) for path in paths]
    ends = np.array([[float(y) for y in line.groups()] for line in lines if line])  # alone and together
    values = [[float(x) for x in row[2:]] for row in table[1 : 1 + len(ends) // 2]]
    shown = np.array([[alone, both] for both, *parts in values for alone in parts])
    slope, foot = np.polyfit(shown.ravel(), ends.ravel(), 1)
    assert slope < 0
    assert ends == pytest.approx(foot + slope * shown, abs=1)
    assert {"together", *names} <= texts_of(picture)


def test_a_map_alone_is_embedded(browser: Any, address: str) -> None:
    watched = Watched(browser, address)
    page = watched.open("#/?embed=1&card=Map+of+documents&tag=place%3Asea")
    page.wait_for_selector(".terrain .name.topic:visible")
    assert page.locator(".side").count() == 0
    assert watched.faults == []
    watched.close()


def test_citations_are_bibtex_without_a_path_of_their_owner(watched: Watched, data: TopicData) -> None:
    page = watched.open("#/topic/1")
    card = page.locator(".card", has=page.get_by_role("heading", name="Words"))
    card.locator("details.share summary").first.click()
    folder = watched.address.rpartition("/")[0].removeprefix("file://")
    for label in ("Cite this", "Embed this"):
        text = card.get_by_label(label).input_value()
        assert folder not in text
        assert "file:" not in text
    assert f"{watched.address.rpartition('/')[2]}#/topic/" in card.get_by_label("Embed this").input_value()
    lines = card.get_by_label("Cite this").input_value().splitlines()
    fields = dict(line.strip(" ,").split(" = ") for line in lines[1:-1])
    assert lines[0].startswith("@misc{")
    assert data.fitted is not None
    assert fields["title"] == f"{{Words. {data.names[1]}. Four themes}}"
    assert fields["year"] == f"{{{data.fitted[:4]}}}"
    assert data.fitted[:10] in fields["note"]
    assert fields["howpublished"] == f"{{tagtopics {metadata.version('tagtopics')}}}"
    assert "url" not in fields


def test_tables_have_all_rows_with_ids(watched: Watched, data: TopicData, corpus: tt.Corpus) -> None:
    page = watched.open("#/tag/place%3Asea")
    has = corpus.tags.toarray()[:, corpus.tag_names.index("place:sea")] > 0
    card = page.locator(".card", has=page.locator(".documents"))
    rows = list(csv.DictReader(saved(page, card, "CSV").decode().splitlines()))
    assert sorted(row["id"] for row in rows) == sorted(np.array(corpus.ids)[has])
    assert len(rows) > card.locator(".documents > li").count()
    topics = page.locator(".card", has=page.get_by_role("heading", name="Topics"))
    rows = list(csv.DictReader(saved(page, topics, "CSV").decode().splitlines()))
    assert {int(row["id"]): row["name"] for row in rows} == dict(enumerate(data.names))
    assert sum(float(row["value"]) for row in rows) == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize(
    ("place", "title", "axis"),
    [
        ("#/topic/1", "Words", "Share of the topic"),
        ("#/tag/place%3Asea", "Credited words", "Occurrences credited to the tag"),
        ("#/time", "Documents", "1990"),
        ("#/network", "Network", "place:kitchen"),
        ("#/", "Topics by share", "Share"),
    ],
)
def test_pictures_have_title_axis_and_source(
    watched: Watched, data: TopicData, place: str, title: str, axis: str
) -> None:
    page = watched.open(place)
    wait_until_whole(page)
    card = page.locator(".card", has=page.get_by_role("heading", name=title, exact=True)).first
    picture = ElementTree.fromstring(saved(page, card, "SVG"))
    texts = texts_of(picture)
    assert any(text.endswith(f": {title}") for text in texts)
    assert axis in texts
    assert data.fitted is not None
    assert any("Four themes" in text and data.fitted[:10] in text and "tagtopics" in text for text in texts)
    assert re.search(r"\d", picture.findtext("{http://www.w3.org/2000/svg}desc") or "")


def test_names_that_do_not_exist_lead_to_similar_ones(watched: Watched) -> None:
    page = watched.open("#/tag/place%3Aseaa")
    page.get_by_role("heading", name="No such tag").wait_for()
    assert page.locator(".chips .chip").first.inner_text().split() == ["place", "sea"]
    page = watched.open("#/tags/place%3Asea+place%3Akitchin")
    assert "place:kitchin" in page.locator(".missing").inner_text()
    assert "kitchen" in page.locator(".missing .chip").first.inner_text()
    assert watched.problems() == []


def test_search_box_has_titles_topics_and_corrections(watched: Watched, data: TopicData) -> None:
    page = watched.open()
    page.fill("#find", data.names[0].split(",")[0])
    page.wait_for_selector("#found [role=option]")
    assert page.locator("#found .group").first.text_content() == "Topics"
    assert page.locator("#found [role=option]").first.locator("bdi").text_content() == data.names[0]
    page.fill("#find", "voilin")
    wait_until(page, "() => document.querySelector('#found').innerText.includes('violin')")
    page.locator("#found [role=option]").last.click()
    page.get_by_role("heading", name="Documents:").wait_for()


def test_documents_with_most_hits_come_first(watched: Watched, corpus: tt.Corpus) -> None:
    page = watched.open("#/search/violin")
    page.get_by_role("heading", name="Documents:").wait_for()
    shown = page.locator(".documents .headline a").all_inner_texts()
    counts = {
        name: str(text).lower().split().count("violin")
        for name, text in zip(corpus.ids, corpus.texts or (), strict=True)
    }
    assert counts[shown[0]] >= max(counts.values()) - 1
    assert counts[shown[0]] >= counts[shown[-1]]
