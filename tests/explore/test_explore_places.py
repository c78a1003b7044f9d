"""Where a reader is: the way back, the state in the address, the filter from page to page, names of tags."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from explore_support import Watched, wait_for_map, wait_for_place, wait_until

import tagtopics as tt
from tagtopics import write_report
from tagtopics.explore.record.topic_data import TopicData
from tagtopics.explore.report.page import script
from tagtopics.explore.report.timeline import periods_of

pytest_plugins = ("explore_fixtures",)


def test_the_script_is_small() -> None:
    assert len(script().encode()) <= 200_000


def test_back_leads_to_the_same_place_of_a_list(watched: Watched) -> None:
    page = watched.open("#/documents")
    page.locator(".more").click()
    row = page.locator(".documents li").nth(45)
    row.scroll_into_view_if_needed()
    before = page.evaluate("window.scrollY")
    assert before > 0
    row.locator("a").first.click()
    wait_for_place(page, "#/document/")
    assert page.evaluate("window.scrollY") == 0
    page.go_back()
    wait_for_place(page, "#/documents")
    wait_until(page, "at => Math.abs(window.scrollY - at) < 3", before)
    assert page.locator(".documents li").count() == 60
    page.go_forward()
    wait_for_place(page, "#/document/")
    assert page.evaluate("window.scrollY") == 0


def test_back_takes_one_choice_back(watched: Watched) -> None:
    page = watched.open()
    count = page.locator(".filterbar .count")
    said = [count.inner_text()]
    page.locator("#filter-topic").select_option("1")
    wait_until(page, "said => document.querySelector('.filterbar .count').innerText !== said", said[-1])
    said.append(count.inner_text())
    page.locator("#filter-words").fill("wave")
    page.keyboard.press("Enter")
    wait_until(page, "said => document.querySelector('.filterbar .count').innerText !== said", said[-1])
    wait_until(page, "() => document.querySelector('.filterbar .count').ariaBusy === 'false'")
    said.append(count.inner_text())
    assert len(set(said)) == 3
    page.locator(".mapnote .choice").get_by_text("year", exact=True).click()
    shows = "said => document.querySelector('.filterbar .count').innerText === said"
    page.go_back()
    wait_until(page, "() => document.querySelector('.terrain').dataset.colour === 'topic'")
    for expected in said[::-1]:
        wait_until(page, shows, expected)
        if expected != said[0]:
            page.go_back()
    assert page.evaluate("location.hash") == "#/"
    page.go_forward()
    wait_until(page, shows, said[1])
    assert page.locator(".chosen li").count() == 1


def test_two_quick_changes_of_the_address_draw_one_page(watched: Watched) -> None:
    page = watched.open()
    page.evaluate("""() => new Promise((done) => {
      let events = 0;
      window.addEventListener('hashchange', () => ++events === 2 && done());
      location.hash = '#/word/0';
      location.hash = '#/document/0';
    })""")
    assert page.evaluate("document.documentElement.dataset.place") == "#/document/0"
    assert page.evaluate("location.hash") not in ("#/word/0", "#/document/0")  # renamed when it was drawn
    page.go_back()
    wait_for_place(page, "#/word/0")


NAMES = """() => [...document.querySelectorAll('.terrain .name:not([hidden])')].map(node => {
  const [box, map] = [node, document.querySelector('.terrain')].map(one => one.getBoundingClientRect());
  return [node.innerText, box.left - map.left, box.top - map.top]; })"""


def test_the_address_holds_the_view_of_the_map(watched: Watched) -> None:
    page = watched.open("#/?tag=place%3Asea")
    wait_for_map(page)
    page.locator(".terrain canvas").focus()
    page.keyboard.press("+")
    page.keyboard.press("ArrowRight")
    wait_for_map(page)
    page.locator(".mapnote .choice").get_by_text("year", exact=True).click()
    address = page.evaluate("location.hash")
    assert "tag=place%3Asea" in address
    assert "view=" in address
    assert "colour=year" in address
    wait_for_map(page)
    names = page.evaluate(NAMES)
    assert names
    page = watched.open(address)
    wait_for_map(page)
    again = page.evaluate(NAMES)
    assert [text for text, *_ in again] == [text for text, *_ in names]
    assert np.allclose([at[1:] for at in again], [at[1:] for at in names], atol=1.5)
    page.get_by_role("button", name="Fit").click()
    assert "view=" not in page.evaluate("location.hash")


def test_links_between_pages_keep_the_filter(watched: Watched) -> None:
    page = watched.open("#/?tag=place%3Asea&words=salt")
    pages = page.locator("header")
    for name, place in (("Read", "#/documents?"), ("Atlas", "#/?"), ("Time", "#/time?"), ("Map", "#/?")):
        pages.get_by_role("link", name=name, exact=True).click()
        wait_for_place(page, place)
        wait_until(page, "() => document.querySelectorAll('.filterbar .chosen li').length === 2")
    page.get_by_role("button", name="Remove words").click()
    wait_until(page, "() => document.querySelectorAll('.filterbar .chosen li').length === 1")
    assert "words" not in pages.get_by_role("link", name="Read", exact=True).get_attribute("href")


def test_the_focus_stays_in_the_filter(watched: Watched) -> None:
    page = watched.open("#/")
    box = page.locator(".filterbar .combo input")
    for i, tag in enumerate(("place:sea", "also:kitchen")):
        box.focus()
        page.keyboard.type(tag)
        page.wait_for_selector(".options [role=option]")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        page.locator(".filterbar .chosen li").nth(i).wait_for()
        assert box.evaluate("node => node === document.activeElement")
    for left in (1, 0):
        page.locator(".filterbar .chosen button").first.focus()
        page.keyboard.press("Enter")
        wait_until(page, "n => document.querySelectorAll('.filterbar .chosen li').length === n", left)
        assert page.evaluate("!!document.activeElement.closest('.filterbar')")


def _percent(text: str) -> list[float]:
    return [float(part.replace("<", "").rstrip("\u00a0%")) / 100 for part in text.split(" → ")]


def test_time_answers_to_the_filter(watched: Watched, data: TopicData) -> None:
    table = data.documents
    periods = periods_of(data)
    assert periods is not None
    names, period = periods
    sea = data.tags.names.index("place:sea")
    has = np.array([sea in table.tag_index[a:b] for a, b in pairwise(table.tag_offsets)])
    page = watched.open("#/time?tag=place%3Asea")
    wait_until(page, "() => document.querySelectorAll('.filterbar .chosen li').length === 1")
    dots = page.locator("svg.line circle").evaluate_all("all => all.map(dot => Number(dot.dataset.value))")
    assert dots[: len(names)] == np.bincount(period[has], minlength=len(names)).tolist()
    late = page.locator(".multiples").first.locator("xpath=..").locator(".note").inner_text()
    first = re.search(r"→ (\d{4})", late)
    assert first is not None
    early = period < names.index(first[1])
    for row in page.locator(".multiples li").all():
        k = int(row.locator(".badge").inner_text())
        shown = _percent(row.locator(".figure").inner_text())
        means = [table.topics[has & part, k].astype(np.float64).mean() for part in (early, ~early)]
        assert shown == pytest.approx(means, rel=0.06, abs=2e-4)
    assert watched.problems() == []


@pytest.fixture(scope="module")
def labelled(browser: Any, data: TopicData, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    """A report whose first tag is an identifier with a name."""
    path = tmp_path_factory.mktemp("labelled") / "report.html"
    labels = ("Ocean & coast", *(None for _ in data.tags.names[1:]))
    write_report(replace(data, tags=replace(data.tags, labels=labels)), path)
    watched = Watched(browser, path.as_uri())
    yield watched
    watched.context.close()
    assert watched.faults == []


def test_identifiers_are_shown_with_their_names(labelled: Watched, data: TopicData) -> None:
    page = labelled.open("#/tag/0")
    assert page.locator("main h1").inner_text() == "Ocean & coast"
    assert page.locator(".hero .source").inner_text() == data.tags.names[0]
    assert page.evaluate("decodeURIComponent(location.hash)") == f"#/tag/{data.tags.names[0]}"
    for typed in ("ocean", "oceen", data.tags.names[0]):
        labelled.go(f"#/search/{typed.replace(':', '%3A')}")
        chips = page.locator(".card", has_text="Tags:").locator(".chip").all_inner_texts()
        assert any(text.startswith("Ocean & coast") for text in chips), typed
    labelled.go("#/tags")
    assert "Ocean & coast" in page.locator(".rows").inner_text()


def test_the_workbench_keeps_texts_and_decisions(watched: Watched) -> None:
    page = watched.open("#/workbench")
    page.locator("#bench-text").fill("The ship left the harbour in a storm, with the tide.")
    page.get_by_role("button", name="Analyse").click()
    page.get_by_role("button", name="Accept").first.click()
    page.get_by_role("button", name="Refuse").nth(1).click()
    saved = "Object.values(localStorage).some(s => s.includes('The ship') && JSON.parse(s).refused.length)"
    wait_until(page, saved)
    chosen = page.locator(".bench .chosen li").all_inner_texts()
    assert len(chosen) == 1
    page.reload()
    wait_until(page, "document.getElementById('bench-text')?.value.startsWith('The ship')")
    assert page.locator(".bench .chosen li").all_inner_texts() == chosen
    page.get_by_role("button", name="Keep it, next text").click()
    assert page.locator("#bench-text").input_value() == ""
    assert page.evaluate("document.activeElement.id") == "bench-text"
    page.reload()
    page.wait_for_selector("#bench-text")
    with page.expect_download() as download:
        page.get_by_role("button", name="Export them as JSON lines").click()
    rows = [json.loads(line) for line in Path(download.value.path()).read_text("utf-8").splitlines()]
    assert [len(row["tags"]) for row in rows] == [1]
    assert [len(row["refused"]) for row in rows] == [1]
    assert tt.read_corpus(rows, text="text", tags="tags").n_docs == 1
    page.get_by_role("button", name="Forget them").click()
    page.reload()
    page.wait_for_selector("#bench-text")
    assert page.get_by_role("button", name="Forget them").count() == 0


def test_records_keep_the_names_of_tags(data: TopicData) -> None:
    labels = ("Ocean", *(None for _ in data.tags.names[1:]))
    named = replace(data, tags=replace(data.tags, labels=labels))
    assert named.to_json()["tags"]["labels"] == list(labels)
    assert data.to_json()["tags"]["labels"] is None


def test_a_file_without_a_workbench_says_why(browser: Any, data: TopicData, tmp_path: Path) -> None:
    write_report(replace(data, recipe=None), tmp_path / "report.html")
    watched = Watched(browser, (tmp_path / "report.html").as_uri())
    page = watched.open("#/about")
    assert "the collection came as counts" in page.locator(".facts").first.inner_text()
    watched.context.close()
