"""The front page in a real browser: map, filter, search and the workbench inside the file."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import pytest
from explore_support import Watched, wait_for_map, wait_for_place, wait_until
from PIL import Image

import tagtopics as tt
from tagtopics import write_report
from tagtopics.explore.map.terrain import terrain_of
from tagtopics.explore.record.to_topic_data import topic_data
from tagtopics.explore.record.topic_data import TopicData

pytest_plugins = ("explore_fixtures",)


def count(page: Any) -> str:
    return str(page.locator(".filterbar .count").first.inner_text())


def test_every_document_is_a_point_and_topics_have_names(watched: Watched, data: TopicData) -> None:
    page = watched.open()
    page.wait_for_selector(".terrain .name.topic:visible")
    colours = page.evaluate(
        "() => { const c = document.querySelector('.terrain canvas');"
        " const p = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; const found = new Set();"
        " for (let i = 0; i < p.length; i += 4) found.add(p[i] + ' ' + p[i + 1] + ' ' + p[i + 2]);"
        " return found.size; }"
    )
    assert colours > 5
    label = page.locator(".terrain canvas").get_attribute("aria-label")
    assert "72 documents" in label
    note = page.locator(".mapnote").inner_text()
    kept = terrain_of(data).agreement["kept"]
    assert f"{100 * kept:.0f}\u00a0%" in note
    assert watched.problems() == []


NAMES = """() => [...document.querySelectorAll('.terrain .name:not([hidden])')].map(node => {
  const box = node.getBoundingClientRect();
  return { text: node.innerText, cut: node.scrollWidth > node.clientWidth + 1,
    box: [box.left, box.top, box.right, box.bottom] }; })"""


def overlapping(boxes: list[list[float]]) -> bool:
    return any(
        a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
        for i, a in enumerate(boxes)
        for b in boxes[:i]
    )


@pytest.mark.parametrize("size", [(1440, 900), (390, 844)], ids=["desktop", "phone"])
def test_names_on_the_map_are_whole_and_do_not_overlap(
    browser: Any, address: str, data: TopicData, size: tuple[int, int]
) -> None:
    watched = Watched(browser, address, viewport={"width": size[0], "height": size[1]})
    page = watched.open()
    wait_for_map(page)
    for _ in range(3):
        names = page.evaluate(NAMES)
        assert not overlapping([one["box"] for one in names])
        assert not [one["text"] for one in names if one["cut"]]
        page.locator(".terrain canvas").focus()
        page.keyboard.press("+")
        wait_for_map(page)
    page.keyboard.press("0")
    wait_for_map(page)
    regions = {int(k) for k in terrain_of(data).region}
    assert len(page.evaluate(NAMES)) >= len(regions)  # five topics have room
    box = page.locator(".terrain").bounding_box()
    assert box["y"] + 0.5 * box["height"] < size[1]  # the map is in the first view
    assert watched.faults == []
    watched.close()


MOVED = """async () => {
  const canvas = document.querySelector('.terrain canvas');
  canvas.setPointerCapture = () => {};
  const send = (kind, x, y) =>
    canvas.dispatchEvent(new PointerEvent(kind, { clientX: x, clientY: y, pointerId: 1, bubbles: true }));
  const frame = () => new Promise(requestAnimationFrame);
  const image = () => {
    const bytes = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
    return new Uint32Array(bytes.buffer.slice(0));
  };
  const { left, top } = canvas.getBoundingClientRect();
  const first = image();
  send('pointerdown', left + 200, top + 200);
  for (const [x, y] of [[230, 190], [211, 260], [170, 255.4], [150, 150]]) {
    send('pointermove', left + x, top + y);
    await frame();
    await frame();
  }
  const moved = image();
  while (!document.querySelector('.terrain[data-rest=yes]')) await frame();
  const still = image();
  const apart = (a, b) => a.reduce((sum, x, i) => sum + (x !== b[i]), 0) / a.length;
  return { shifted: apart(first, moved), wrong: apart(moved, still) };
}"""


def test_a_map_that_is_shifted_is_the_one_that_is_drawn_anew(watched: Watched) -> None:
    page = watched.open()
    wait_for_map(page)
    found = page.evaluate(MOVED)
    assert found["shifted"] > 0.001
    assert found["wrong"] < 1e-4
    watched.faults[:] = [
        text for text in watched.faults if "willReadFrequently" not in text
    ]  # this test reads


def test_links_of_the_bar_are_all_visible_on_a_desktop(browser: Any, address: str) -> None:
    watched = Watched(browser, address, viewport={"width": 1440, "height": 900})
    page = watched.open()
    assert (
        page.evaluate(
            "() => { const n = document.querySelector('nav'); return n.scrollWidth - n.clientWidth; }"
        )
        <= 0
    )
    watched.close()


def test_filter_answers_everywhere_and_is_in_the_address(watched: Watched, corpus: tt.Corpus) -> None:
    page = watched.open("#/?tag=place%3Asea&years=1990-1992")
    expected = sum(
        "place:sea" in corpus.tags_of(d) and any(f"year:{y}" in corpus.tags_of(d) for y in (1990, 1991, 1992))
        for d in range(corpus.n_docs)
    )
    wait_until(page, "() => /of/.test(document.querySelector('.filterbar .count').innerText)")
    assert count(page) == f"{expected} of 72 documents"
    assert watched.problems() == []
    page.locator(".side h2", has_text=f"{expected} documents").first.wait_for()
    page.get_by_label("Remove years").click()
    wait_until(page, "() => !location.hash.includes('years')")
    assert "tag=place" in page.evaluate("location.hash")


def test_lasso_and_keyboard_select_documents(watched: Watched) -> None:
    page = watched.open()
    wait_for_map(page)
    page.locator(".terrain canvas").focus()
    page.keyboard.press("+")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("0")
    page.keyboard.press("Enter")
    wait_until(page, "() => location.hash.includes('area=')")
    assert count(page) == "72 of 72 documents"
    page.keyboard.press("Escape")
    wait_until(page, "() => !location.hash.includes('area=')")
    box = page.locator(".terrain canvas").bounding_box()
    page.get_by_role("button", name="Lasso").click()
    page.mouse.move(box["x"] + 4, box["y"] + 4)
    page.mouse.down()
    for x, y in ((0.5, 0.02), (0.5, 0.5), (0.5, 0.97), (0.02, 0.97)):
        page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"], steps=4)
    page.mouse.up()
    wait_until(page, "() => location.hash.includes('area=')")
    chosen = int(count(page).split()[0])
    assert 0 < chosen < 72


def test_click_on_a_point_opens_its_document(watched: Watched, data: TopicData) -> None:
    page = watched.open()
    wait_for_map(page)
    order = data.documents.by_topic()
    x, y = terrain_of(data).places[order[0]]
    box = page.locator(".terrain canvas").bounding_box()
    low, high = terrain_of(data).places.min(0), terrain_of(data).places.max(0)
    scale = min(0.94 * box["width"] / (high[0] - low[0]), 0.92 * box["height"] / (high[1] - low[1]))
    middle = (low + high) / 2
    px, py = box["width"] / 2 + (x - middle[0]) * scale, box["height"] / 2 + (y - middle[1]) * scale
    page.evaluate("document.querySelectorAll('.terrain .names').forEach(n => n.remove())")
    page.mouse.move(box["x"] + px, box["y"] + py)
    page.wait_for_selector(".hovercard:visible")
    page.mouse.click(box["x"] + px, box["y"] + py)
    wait_for_place(page, "#/document/")


@pytest.mark.parametrize(("width", "height"), [(390, 844), (1440, 900), (2560, 1300)])
def test_the_map_fills_the_window_and_keeps_distances(
    browser: Any, address: str, width: int, height: int
) -> None:
    watched = Watched(browser, address, viewport={"width": width, "height": height})
    page = watched.open()
    wait_for_map(page)
    square = page.locator(".terrain .glow image").evaluate("node => node.getBoundingClientRect().toJSON()")
    assert square["width"] == pytest.approx(square["height"], abs=0.1)
    front = page.locator(".front").bounding_box()
    assert front["width"] > 0.9 * width
    assert watched.faults == []
    watched.close()


def test_search_finds_all_texts_with_typing_errors(watched: Watched, corpus: tt.Corpus) -> None:
    expected = sum("violin" in (text or "").lower() for text in corpus.texts or ())
    for typed in ("violin", "vi\u00f3lin", "voilin"):
        page = watched.open(f"#/search/{typed}")
        page.get_by_role("heading", name=f"Documents: {expected}").wait_for(timeout=9000)
        assert page.locator(".documents mark").first.inner_text().lower() == "violin"
    page = watched.open("#/search/zzzzzzzz")
    page.get_by_text("Nothing found").wait_for()
    assert watched.problems() == []


def proposed(page: Any, text: str) -> list[str]:
    """Analyse a text; return the tags that are recommended."""
    page.fill("#bench-text", text)
    page.evaluate("document.querySelector('#bench-result').replaceChildren()")
    page.get_by_role("button", name="Analyse").click()
    page.wait_for_selector("#bench-result .proposals .chip", timeout=9000)
    links = page.locator(".proposals .chip").evaluate_all("all => all.map(one => one.getAttribute('href'))")
    return [unquote(link.removeprefix("#/tag/")) for link in links]


def kept_topics(page: Any) -> list[float]:
    """Keep the text; return its topics, as the export has them."""
    page.get_by_role("button", name="Keep it, next text").click()
    kept: list[dict[str, Any]] = page.evaluate(
        "() => JSON.parse(Object.entries(localStorage).find(([key]) => /bench/.test(key))[1]).kept"
    )
    return list(kept[-1]["topics"])


def test_workbench_in_the_file_answers_as_python_does(watched: Watched, model: tt.TTM) -> None:
    page = watched.open("#/workbench")
    for text in (
        "storm ship harbour, salt, tide and wave",
        "Violin, choir and drum: tune!",
    ):
        new = tt.read_corpus(
            [{"text": text, "tags": []}], text="text", tags="tags", vocabulary=model.vocabulary_
        )
        expected = [row.tag for row in model.recommend(new, top=5, n_words=5)[0]]
        shown = proposed(page, text)[:5]
        assert len(set(expected) & set(shown)) >= 4
        assert shown[0] == expected[0]
        assert page.locator(".told").count() > 3
        assert watched.problems() == []
        assert np.abs(np.array(kept_topics(page)) - model.transform(new)[0]).sum() < 0.05


def test_workbench_refuses_what_it_does_not_know(watched: Watched) -> None:
    page = watched.open("#/workbench")
    page.fill("#bench-text", "qwertz asdf yxcvb")
    page.get_by_role("button", name="Analyse").click()
    page.get_by_text("knows none of the words").wait_for()
    assert page.locator("#bench-result").inner_text() == ""


def test_decisions_can_be_undone(watched: Watched) -> None:
    page = watched.open("#/workbench")
    proposed(page, "storm ship harbour, salt, tide and wave")
    first = page.locator(".proposals li .chip").first.inner_text()
    page.locator(".proposals").get_by_role("button", name="Refuse").first.click()
    wait_until(page, "name => document.querySelector('.proposals li .chip').innerText !== name", first)
    page.get_by_role("button", name="Undo").click()
    wait_until(page, "name => document.querySelector('.proposals li .chip').innerText === name", first)


@pytest.mark.parametrize("tags", [["{d}"], ["{d}", "all"], []])
def test_a_map_needs_no_tag_on_several_documents(tags: list[str], tmp_path: Path) -> None:
    path = tmp_path / "few.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for d in range(12):
            text = f"{('sea water wind', 'tram bus stop')[d % 2]} word{d % 5}"
            file.write(json.dumps({"text": text, "tags": [tag.format(d=d) for tag in tags]}) + "\n")
    corpus = tt.read_corpus(path)
    model = tt.TTM(2, max_iter=5, random_state=0).fit_topics(corpus)
    terrain = terrain_of(tt.topic_data(model, corpus, "Few"))
    assert terrain.places.shape == (12, 2)
    assert terrain.tags.tolist() == []


@pytest.fixture(scope="module")
def crowded(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The map of forty topics, in a window of 1440 pixels."""
    rng = np.random.default_rng(5)
    rows = []
    for d in range(600):
        themes = rng.integers(0, 40), (d + rng.integers(0, 3)) % 40
        words = [f"{'abcdefgh'[rng.integers(8)]}theme{themes[int(i < 6)]}" for i in range(30)]
        rows.append({"id": f"text {d}", "text": " ".join(words), "tags": [f"t{d % 7}"]})
    corpus = tt.read_corpus(rows, id="id")
    data = topic_data(tt.LDA(n_topics=40, random_state=0, max_iter=20).fit_topics(corpus), corpus)
    path = tmp_path_factory.mktemp("crowded") / "report.html"
    write_report(data, path)
    watched = Watched(browser, path.as_uri(), viewport={"width": 1440, "height": 900})
    page = watched.open()
    wait_for_map(page)
    yield page, data
    assert watched.faults == []
    watched.close()


def test_every_topic_has_a_name_on_a_desktop(crowded: tuple[Any, TopicData]) -> None:
    page, data = crowded
    named = page.locator(".terrain .name.topic:not([hidden])").count()
    assert named == len(set(data.regions().tolist())) > 35
    names = page.evaluate(NAMES)
    assert [name["text"] for name in names if name["cut"]] == []
    assert not overlapping([name["box"] for name in names])


PLACED = """() => {
  const map = document.querySelector('.terrain').getBoundingClientRect();
  const { left, top, width } = document.querySelector('.glow image').getBoundingClientRect();
  const onMap = (x, y) => [x - left, y - top].map(side => side / width * 1.12 - 0.06);
  const lines = document.querySelector('.leaders path').getAttribute('d').split('M').filter(Boolean)
    .map(line => line.split(/[ L]/).map(Number));
  const names = [...document.querySelectorAll('.name.topic:not([hidden])')].map(node => {
    const box = node.getBoundingClientRect();
    return { text: node.innerText, box, x: (box.left + box.right) / 2, y: (box.top + box.bottom) / 2 };
  });
  for (const [ax, ay, bx, by] of lines) { // a line ends at the edge of its name
    const outside = (p, low, high) => Math.max(low - p, p - high, 0);
    const [x, y] = [bx + map.left, by + map.top];
    const apart = ({ box }) => Math.hypot(outside(x, box.left, box.right), outside(y, box.top, box.bottom));
    const own = names.reduce((a, b) => (apart(b) < apart(a) ? b : a));
    Object.assign(own, { x: ax + map.left, y: ay + map.top });
  }
  return names.map(({ text, x, y }) => [text, onMap(x, y)]);
}"""


def test_names_are_where_their_topics_are(crowded: tuple[Any, TopicData]) -> None:
    """A name, or the line to it, is not at a single document far away from the others."""
    page, data = crowded
    places = terrain_of(data).topics
    far = {}
    for name, at in page.evaluate(PLACED):
        k = data.names.index(" ".join(name.split()))
        far[name] = float(np.hypot(*(np.array(at) - places[k])))
    assert len(far) > 35
    assert max(far.values()) < 0.25


def test_dense_parts_of_the_map_glow(crowded: tuple[Any, TopicData]) -> None:
    page, data = crowded
    glow = page.locator(".terrain .glow image")
    image = base64.b64decode(str(glow.get_attribute("href")).split(",")[1])
    cells = np.asarray(Image.open(io.BytesIO(image)))[:, :, 3].astype(float)
    assert 30 < cells.max() < 90
    assert (cells == 0).any()
    assert max(cells[0].max(), cells[-1].max(), cells[:, 0].max(), cells[:, -1].max()) == 0  # no hard edge
    places = ((terrain_of(data).places + 0.06) / 1.12 * 128).astype(int)  # it ends beyond the map
    assert (len(places), cells.shape) == (600, (128, 128))
    assert cells[places[:, 1], places[:, 0]].mean() > 4 * cells.mean()
    drawn, saved = page.evaluate(
        """() => {
      const box = document.querySelector('.glow image').getBoundingClientRect();
      const own = document.querySelector('.terrain canvas').getBoundingClientRect();
      const image = document.querySelector('.terrain').picture().querySelector('image');
      return [[box.left - own.left, box.top - own.top, box.width, box.height],
        ['x', 'y', 'width', 'height'].map(name => Number(image.getAttribute(name)))];
    }"""
    )
    assert drawn == pytest.approx(saved, abs=1)
    page.evaluate("location.hash = '#/?topic=1'")
    page.wait_for_selector(".hits path", state="attached")
    wait_for_map(page)
    assert glow.get_attribute("visibility") == "hidden"  # only what passes the filter is seen
