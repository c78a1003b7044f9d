"""Titles, links, names, addresses, time and sharing in a real browser, and what the index says of them."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import numpy as np
import pytest
from explore_support import Watched, wait_for_map, wait_for_place, wait_until

import tagtopics as tt
from tagtopics import write_report
from tagtopics.explore.map.terrain import map_index, terrain_of
from tagtopics.explore.record.inputs import read_names, with_names
from tagtopics.explore.record.to_topic_data import topic_data
from tagtopics.explore.record.topic_data import TopicData
from tagtopics.explore.report.page import compress_json, report_page
from tagtopics.explore.report.prepare import index_of
from tagtopics.explore.report.timeline import periods_of

pytest_plugins = ("explore_fixtures",)


@pytest.fixture(scope="module")
def titled(model: tt.TTM, corpus: tt.Corpus) -> TopicData:
    """The small collection with titles, dates and links, some of which are no links."""
    links = (
        "https://example.org/a?b=c",
        "javascript:window.pwned=1",
        "ftp://example.org",
        None,
        "data:text/html,x",
    )
    with_titles = replace(
        corpus,
        titles=tuple(f"The title of {name}" if d else None for d, name in enumerate(corpus.ids)),
        dates=tuple(f"20{10 + d % 4}-0{1 + d % 9}" for d in range(corpus.n_docs)),
        urls=tuple(links[d % 5] for d in range(corpus.n_docs)),
    )
    return topic_data(model, with_titles, "Titled")


@pytest.fixture(scope="module")
def address(titled: TopicData, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("titled") / "report.html"
    write_report(titled, path)
    return path.as_uri()


@pytest.fixture
def watched(watched: Watched) -> Watched:
    watched.open()
    return watched


def test_documents_have_titles_dates_and_only_safe_links(watched: Watched, titled: TopicData) -> None:
    for d in range(10):
        page = watched.go(f"#/document/text%20{d}")
        title = f"The title of text {d}" if d else "text 0"
        assert page.locator("h1").inner_text() == title
        assert page.locator(".source span").inner_text() == (titled.documents.dates or ())[d]
        links = page.locator(".source a").evaluate_all("all => all.map((a) => [a.href, a.rel])")
        assert links == (
            [["https://example.org/a?b=c", "noopener noreferrer external"]] if d % 5 == 0 else []
        )
    assert page.locator("a[href^='javascript'], a[href^='data:text'], a[href^='ftp']").count() == 0


def test_old_and_new_addresses_lead_to_the_same_pages(
    watched: Watched, model: tt.TTM, titled: TopicData
) -> None:
    tags = [model.tag_names_.index(name) for name in ("also:kitchen", "place:sea")]
    for old, new in (
        (f"#/groups/{tags[0]}+{tags[1]}", "#/tags/also%3Akitchen+place%3Asea"),
        (f"#/tag/{tags[1]}", "#/tag/place%3Asea"),
        ("#/document/7", "#/document/text%207"),
        ("#/topic/2", f"#/topic/{titled.names[2]}"),
        ("#/word/3", f"#/word/{titled.words[3]}"),
    ):
        page = watched.go(old)
        shown = page.locator("h1").inner_text()
        at = page.evaluate("location.hash")
        assert page.evaluate("text => decodeURIComponent(text)", at) == page.evaluate(
            "decodeURIComponent", new
        )
        watched.go("#/")
        assert watched.go(at).locator("h1").inner_text() == shown
    assert watched.go("#/tag/nobody").locator("h1").inner_text() == "No such tag"


def test_a_topic_name_of_another_fit_leads_to_its_words(watched: Watched, titled: TopicData) -> None:
    words = [titled.words[w] for w in np.argsort(-titled.topic_word[1])[:3]]
    page = watched.go(f"#/topic/{'%2C%20'.join(reversed(words))}")
    assert page.locator("h1").inner_text().strip().endswith(titled.names[1])


def test_addresses_hold_the_state_of_controls(watched: Watched) -> None:
    page = watched.go("#/topics")
    page.locator("input[value=coherence]").check()
    at = page.evaluate("location.hash")
    assert at.endswith("?order=coherence")
    watched.go("#/")
    page = watched.go(at)
    assert page.locator("input[value=coherence]").is_checked()
    page = watched.go("#/document/text%203?colour=topic")
    page.wait_for_selector(".text .w")
    assert page.locator("input[value=topic]").is_checked()
    assert not page.get_by_text("where in the text each tag speaks").is_visible()
    page.locator("input[value=tag]").check()
    assert page.get_by_text("where in the text each tag speaks").is_visible()


def test_topics_of_a_document_have_the_hues_of_tags(watched: Watched) -> None:
    def hues(selector: str) -> list[float]:
        each = "all => all.map(one => one.style.getPropertyValue('--hue'))"
        return [float(hue) for hue in page.eval_on_selector_all(selector, each)]

    page = watched.go("#/document/text%203?colour=topic")
    page.wait_for_selector(".text .w")
    own = hues(".ribbon span")
    assert own == [255, 25, 150, 305, 75][: len(own)]
    assert hues(".bars .label .badge") == own
    assert set(hues(".text .w")) <= {255, 25, 150, 305, 75}
    assert set(hues(".reason .badge")) <= {255, 25, 150, 305, 75}


def test_topics_are_renamed_and_exported(watched: Watched, titled: TopicData) -> None:
    page = watched.go("#/topic/0")
    page.get_by_text("Rename", exact=True).click()
    page.locator("#own-name").fill("<b>Mine</b>")
    page.get_by_role("button", name="Save").click()
    wait_until(page, "document.querySelector('h1').innerText.includes('<b>Mine</b>')")
    assert page.locator("h1 b").count() == 0
    page.get_by_text("Rename", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Export all names").click()
    names = json.loads(Path(download.value.path()).read_text(encoding="utf-8"))["topics"]
    assert names["0"] == "<b>Mine</b>"
    assert [names[str(k)] for k in range(1, 5)] == list(titled.names[1:])
    renamed = with_names(titled, read_names(download.value.path()))
    assert renamed.names == ("<b>Mine</b>", *titled.names[1:])


@pytest.mark.parametrize("kind", ["CSV", "SVG", "PNG"])
def test_cards_are_shared(watched: Watched, kind: str) -> None:
    page = watched.go("#/tag/place%3Asea")
    card = page.locator(".card", has_text="Credited words")
    card.locator("summary").click()
    assert "tagtopics" in card.get_by_label("Cite this").input_value()
    with page.expect_download() as download:
        card.get_by_role("button", name=kind).click()
    content = Path(download.value.path()).read_bytes()
    words = card.locator(".bars .label").all_inner_texts()
    if kind == "PNG":
        assert content.startswith(b"\x89PNG")
    else:
        assert all(word in content.decode() for word in words)
    if kind == "CSV":
        figures = card.locator(".bars .figure").all_inner_texts()
        rows = list(csv.reader(content.decode().splitlines()))
        assert rows[0] == ["id", "name", "value", "shown", "collection", "lift"]
        assert [row[1] for row in rows[1:]][: len(words)] == words
        assert [row[3] for row in rows[1:]][: len(words)] == figures
        for _, _, value, text, mean, lift in rows[1:]:
            shown, times = text.split()
            assert times.startswith("×")
            assert float(lift) == pytest.approx(float(value) / float(mean), rel=1e-6)
            assert shown == "<0.1" or abs(float(value) - float(shown)) <= (0.05 if "." in shown else 0.5)
    assert watched.problems() == []


def test_time_says_what_rises(watched: Watched, titled: TopicData) -> None:
    found = periods_of(titled)
    assert found is not None
    assert found[0] == ("2010", "2011", "2012", "2013")
    page = watched.go("#/time")
    label = page.locator("svg.line").first.get_attribute("aria-label")
    assert label == "Documents: 2010 18, 2011 18, 2012 18, 2013 18"
    box = page.evaluate(
        "() => [...document.querySelectorAll('svg.line text')].every((node) => { const b = node.getBBox();"
        " const v = node.ownerSVGElement.viewBox.baseVal; return b.x >= 0 && b.x + b.width <= v.width; })"
    )
    assert box


def test_time_lists_the_tags_that_rise_and_fall(browser: Any, tmp_path: Path) -> None:
    """With and without a filter: by the z statistic of two shares, most certain first."""
    rows = []
    for d in range(160):
        late = d >= 80
        tags = ["all", f"year:{2000 + d // 20}", *(["new"] if late and d % 4 else [])]
        tags += ["often new"] * (late and d % 2 == 0) + ["old"] * (not late and d % 3 == 0)
        tags += ["steady"] * (d % 5 == 0) + ["rare"] * (d >= 155)
        rows.append({"id": str(d), "text": f"wave tide salt {['ship', 'reef'][d % 2]}", "tags": tags})
    corpus = tt.read_corpus(rows)
    model = tt.TTM(n_topics=3, random_state=0, max_iter=5).fit_topics(corpus)
    write_report(model, tmp_path / "r.html", corpus=corpus)
    watched = Watched(browser, (tmp_path / "r.html").as_uri())
    shown = {}
    for place in ("#/time", "#/time?tag=all"):
        page = watched.open(place)
        wait_until(page, "() => !!document.querySelector('.trends')")
        shown[place] = {
            title: page.locator(".card", has_text=title).locator(".trends li").all_inner_texts()
            for title in ("Rising tags", "Falling tags")
        }
    watched.close()
    wanted = {"Rising tags": ["new 0 → 60", "often new 0 → 40"], "Falling tags": ["old 27 → 0"]}
    for found in shown.values():
        assert {title: [" ".join(row.split()) for row in rows] for title, rows in found.items()} == wanted


def test_cut_reports_count_all_documents(
    browser: Any, data: TopicData, corpus: tt.Corpus, tmp_path: Path
) -> None:
    """A report that lists few documents still says how many have a pair of tags."""
    n = 20
    order = data.documents.by_topic()
    index = compress_json(index_of(data, order[:n], order[n:]))
    places = compress_json(map_index(terrain_of(data), order[:n]))
    path = tmp_path / "cut.html"
    settings = {"live": False, "bodies": 0, "chunk": 40, "bench": False}
    path.write_bytes(report_page(data.title, settings, {"index": index, "map-data": places}, {}))
    watched = Watched(browser, path.as_uri())
    watched.open()
    page = watched.go("#/tags/place%3Asea+also%3Akitchen")
    both = sum({"place:sea", "also:kitchen"} <= set(corpus.tags_of(d)) for d in range(corpus.n_docs))
    assert page.get_by_text(f"{both} documents have all of them.").count() == 1
    often = watched.go("#/tag/place%3Asea").locator(".card", has_text="Often used with").locator("li")
    for row in often.all():
        kind, name = row.locator(".kind").inner_text(), row.locator("bdi").inner_text()
        both = sum({"place:sea", f"{kind}:{name}"} <= set(corpus.tags_of(d)) for d in range(corpus.n_docs))
        assert row.locator(".figure").inner_text().split()[0] == str(both)
    watched.close()
    assert watched.faults == []


@pytest.mark.parametrize(
    ("place", "query"),
    [
        ("#/topic/1", {"topic": ["1"]}),
        ("#/tag/place%3Asea", {"tag": ["place:sea"]}),
        ("#/tags/place%3Asea+also%3Amusic", {"tag": ["place:sea", "also:music"]}),
    ],
)
def test_pages_show_their_documents_on_the_map(
    watched: Watched, place: str, query: dict[str, list[str]]
) -> None:
    page = watched.go(place)
    card = page.locator(".card", has=page.get_by_role("heading", name="On the map"))
    paths = card.locator("svg.places path").evaluate_all("all => all.map(one => one.getAttribute('d'))")
    assert len(paths) == (7 if "+" in place else 1)  # two outlines, a filled one, documents, three keys
    wide, high = map(float, page.locator("svg.places").first.get_attribute("viewBox").split()[2:])
    for path in paths:
        x, y = np.array(re.findall(r"(-?[\d.]+)[ ,](-?[\d.]+)", path), dtype=float).T
        assert min(x) > 0 < min(y)
        assert max(x) < wide
        assert max(y) < high
    dots = paths[3 if "+" in place else 0].count("h0")
    assert dots > 0
    target = card.get_by_role("link", name="Show them on the map")
    assert parse_qs(str(target.get_attribute("href")).split("?")[1]) == query
    target.click()
    wait_for_map(page)
    assert page.locator(".filterbar .count").inner_text() == f"{dots} of 72 documents"


def test_words_lead_to_the_map(watched: Watched) -> None:
    page = watched.go("#/word/salt")
    page.get_by_role("link", name="on the map").click()
    wait_for_place(page, "#/?words=salt")


def test_documents_are_ordered_and_say_their_topic(watched: Watched, titled: TopicData) -> None:
    page = watched.go("#/documents")
    shown = page.locator(".documents > li")
    for order in ("topic", "title", "date"):
        page.get_by_text(order, exact=True).click()
        wait_until(page, "order => location.hash.includes(`order=${order}`)", order)
        if order == "topic":
            names = shown.locator(".badges a").all_inner_texts()
            assert set(names) <= set(titled.names)
            assert len(names) == shown.count()
        elif order == "title":
            names = shown.locator(".headline a").all_inner_texts()
        else:
            names = shown.locator(".headline small").all_inner_texts()
        assert len(set(names)) > 1 or order == "date"
        assert names == sorted(names, key=str.lower)
    assert watched.problems() == []


CHARTS = """() => [...document.querySelectorAll('.multiples svg')].map(chart => {
  const heights = name => chart.querySelector(name).getAttribute('d').split(/[MLZ]/).filter(Boolean)
    .map(one => Number(one.split(/[ ,]/)[1]));
  return { ticks: [...chart.querySelectorAll('text')].map(node => node.textContent),
    band: heights('.band'), line: heights('.stroke') };
})"""


def test_small_charts_have_axes_and_bands(watched: Watched, titled: TopicData) -> None:
    page = watched.go("#/time")
    charts = page.evaluate(CHARTS)
    assert charts
    for chart in charts:
        assert [text for text in chart["ticks"] if "%" not in text] == ["2010", "2013"]
        assert chart["ticks"][0] == "0\u00a0%"
        n = len(chart["line"])
        upper, lower = chart["band"][:n], chart["band"][n:][::-1]
        for above, at, below in zip(upper, chart["line"], lower, strict=True):
            assert above <= at <= below  # y grows downwards
            assert above < below
    page.get_by_text("common", exact=True).click()
    wait_until(page, "() => location.hash.includes('scale=common')")
    assert len({tuple(chart["ticks"]) for chart in page.evaluate(CHARTS)}) == 1


def test_margins_are_those_of_the_mean(watched: Watched, titled: TopicData) -> None:
    page = watched.go("#/topic/1")
    card = page.locator(".card", has=page.get_by_role("heading", name="Over time"))
    card.locator("details.share summary").click()
    with page.expect_download() as download:
        card.get_by_role("button", name="CSV").click()
    rows = list(csv.DictReader(Path(download.value.path()).read_text(encoding="utf-8").splitlines()))
    assert titled.documents.dates is not None
    year = np.array([str(date)[:4] for date in titled.documents.dates])
    for row in rows:
        shares = titled.documents.topics[year == row["period"], 1].astype(float)
        expected = 1.96 * shares.std(ddof=1) / np.sqrt(len(shares))
        assert float(row["high"]) - float(row["value"]) == pytest.approx(expected, rel=0.02)
