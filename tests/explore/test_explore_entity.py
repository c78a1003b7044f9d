"""The four places, one page for topics, tags and words, the years of the first screen, cards, and trust."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from explore_support import Watched, wait_for_map, wait_for_place, wait_until
from PIL import Image
from scipy.stats import binomtest

import tagtopics as tt
from tagtopics import write_report
from tagtopics.explore.record.inputs import read_about
from tagtopics.explore.record.topic_data import TopicData

pytest_plugins = ("explore_fixtures",)

OLD = {
    "#/": "Atlas", "#/topics": "Atlas", "#/topic/0": "Atlas", "#/tags": "Atlas", "#/tag/0": "Atlas",
    "#/word/salt": "Atlas", "#/time": "Atlas", "#/groups": "Compare", "#/groups/0+9": "Compare",
    "#/tags/place%3Asea+also%3Akitchen": "Compare", "#/network": "Compare", "#/documents": "Read",
    "#/document/0": "Read", "#/search/salt": "Read", "#/about": "Trust", "#/workbench": "Try a text",
}  # fmt: skip


def test_old_addresses_are_in_four_places(watched: Watched) -> None:
    page = watched.open()
    assert page.locator("#pages a").all_inner_texts() == ["Atlas", "Compare", "Read", "Trust", "Try a text"]
    for address, place in OLD.items():
        watched.go(address)
        assert page.locator("main h1").inner_text() not in ("", "No such page"), address
        assert page.locator("#pages [aria-current=page]").all_inner_texts() == [place], address


def test_no_place_is_offered_without_content(browser: Any, tmp_path: Path) -> None:
    words = ["wave", "tide", "salt", "ship", "reef"]
    rows = [{"id": str(d), "text": f"{words[d % 5]} sail"} for d in range(20)]
    corpus = tt.read_corpus(rows, text="text", id="id")
    write_report(
        tt.LDA(n_topics=2, random_state=0, max_iter=5).fit(corpus), tmp_path / "r.html", corpus=corpus
    )
    watched = Watched(browser, (tmp_path / "r.html").as_uri())
    page = watched.open()
    assert page.locator("#pages a").all_inner_texts()[:3] == ["Atlas", "Read", "Trust"]
    assert page.locator("#within a").all_inner_texts() == ["Map", "Topics"]
    watched.close()


# ----------------------------------------------------------------------------------- one page for all

LINES = """title => [...document.querySelectorAll(`.bars[aria-label="${title}"] > li`)].map((row) => {
  const box = row.querySelector(".track").getBoundingClientRect();
  const at = (name) => row.querySelector(name)?.getBoundingClientRect();
  return [row.querySelector(".label").innerText, (at(".fill").right - box.left) / box.width,
    at(".mean") ? (at(".mean").left - box.left) / box.width : null]; })"""


@pytest.mark.parametrize(
    ("place", "titles"),
    [
        ("topic/1", ("Words", "Tags")),
        ("tag/place%3Asea", ("Topics", "Credited words")),
        ("word/salt", ("Topics", "Tags")),
    ],
)
def test_every_bar_has_the_mean_of_the_collection(
    watched: Watched, place: str, titles: tuple[str, ...]
) -> None:
    page = watched.open(f"#/{place}")
    wait_until(page, "() => document.querySelectorAll('svg.places').length === 1")
    heads = [one for one in page.locator("main .card h2").all_inner_texts() if not one.startswith("Often")]
    assert heads[0] == "On the map"
    assert heads[-1] == "Documents"
    assert "Over time" in heads
    for title in titles:
        rows = [row for row in page.evaluate(LINES, title) if row[0] != "all other topics"]
        assert rows
        assert all(mean is not None for *_, mean in rows)
    assert page.locator("svg.line .band").count() == 1


def test_lines_are_where_the_mean_is(watched: Watched, data: TopicData) -> None:
    page = watched.open("#/tag/place%3Asea")
    profile = data.tags.profiles[data.tags.names.index("place:sea")].astype(float)
    by_weight = np.argsort(-profile * np.log(profile / data.topic_share))
    order = [k for k in by_weight if profile[k] >= 0.01 and profile[k] > data.topic_share[k]]
    rows = page.evaluate(LINES, "Topics")
    assert len(rows) == len(order)
    most = max(profile[order].max(), data.topic_share[order].max())
    for (_, bar, line), k in zip(rows, order, strict=True):
        assert bar == pytest.approx(profile[k] / most, abs=0.02)
        assert line == pytest.approx(data.topic_share[k] / most, abs=0.02)


def test_words_below_chance_are_not_credited(data: TopicData) -> None:
    tags, total = data.tags, data.word_tokens.sum()
    owner = np.repeat(np.arange(len(tags.names)), np.diff(tags.word_offsets))
    by_chance = tags.tokens[owner] * data.word_tokens[tags.word_index] / total
    assert (tags.word_credit > by_chance * (1 - 1e-6)).all()
    n_words = np.diff(tags.word_offsets)
    assert n_words.min() > 0
    assert tags.tokens.sum() == pytest.approx(data.word_tokens.sum(), rel=1e-4)


def saved(page: Any, title: str, kind: str = "CSV") -> bytes:
    card = page.locator(".card", has=page.get_by_role("heading", name=title, exact=True))
    card.locator("details.share summary").click()
    with page.expect_download() as download:
        card.get_by_role("button", name=kind, exact=True).click()
    return Path(download.value.path()).read_bytes()


@pytest.mark.parametrize("place", ["tag/place%3Asea", "word/salt"])
def test_shares_over_time_have_wilson_intervals(watched: Watched, corpus: tt.Corpus, place: str) -> None:
    page = watched.open(f"#/{place}")
    page.get_by_role("heading", name="Over time").wait_for()
    rows = list(csv.DictReader(io.StringIO(saved(page, "Over time").decode())))
    assert len(rows) == 6
    salt = corpus.vocabulary.index("salt")
    for row in rows:
        docs = [d for d in range(corpus.n_docs) if f"year:{row['period']}" in corpus.tags_of(d)]
        has = [d for d in docs if "place:sea" in corpus.tags_of(d)]
        if "word" in place:
            has = [d for d in docs if corpus.counts[[d], [salt]].item()]
        ends = binomtest(len(has), len(docs)).proportion_ci(method="wilson")
        assert float(row["value"]) == pytest.approx(len(has) / len(docs))
        assert (float(row["low"]), float(row["high"])) == pytest.approx(ends, abs=1e-4)


# ------------------------------------------------------------------------------------ the first screen


def test_years_are_chosen_with_the_pointer_and_with_keys(watched: Watched, corpus: tt.Corpus) -> None:
    page = watched.open()
    wait_for_map(page)
    box = page.locator(".years svg").bounding_box()
    width, y = box["width"] / 6, box["y"] + box["height"] / 3
    page.mouse.move(box["x"] + 1.5 * width, y)
    page.mouse.down()
    page.mouse.move(box["x"] + 3.4 * width, y, steps=4)
    page.mouse.up()
    wait_until(page, "() => location.hash.includes('years=1991-1993')")
    n = sum(
        any(f"year:{year}" in corpus.tags_of(d) for year in (1991, 1992, 1993)) for d in range(corpus.n_docs)
    )
    assert page.locator(".filterbar .count").inner_text() == f"{n} of 72 documents"
    page.get_by_label("From year").focus()
    page.keyboard.press("ArrowRight")
    wait_until(page, "() => location.hash.includes('years=1992-1993')")
    page.get_by_label("To year").focus()
    page.keyboard.press("End")
    wait_until(page, "() => location.hash.includes('years=1992-1995')")
    page.get_by_label("From year").focus()
    page.keyboard.press("Home")
    wait_until(page, "() => !location.hash.includes('years')")
    page.go_back()
    wait_until(page, "() => location.hash.includes('years=1992-1995')")
    assert watched.problems() == []


TOUCH = ("touchStart", "touchMove", "touchMove", "touchMove", "touchMove", "touchMove", "touchEnd")


def test_a_phone_shows_the_map_early_and_a_swipe_scrolls(browser: Any, address: str) -> None:
    watched = Watched(browser, address, viewport={"width": 390, "height": 844}, has_touch=True)
    page = watched.open()
    wait_for_map(page)
    box = page.locator(".terrain").bounding_box()
    assert box["y"] < 330  # 403 before the menu had one row and the filter a button
    assert box["height"] == pytest.approx(0.6 * 844, abs=4)
    rows = {round(link.bounding_box()["y"]) for link in page.locator("#pages a").all()}
    assert len(rows) <= 2  # a button is a little higher
    assert not page.locator("#filter-topic").is_visible()
    page.locator(".filterbar summary").click()
    assert page.locator("#filter-topic").is_visible()
    page.locator(".filterbar summary").click()
    session = page.context.new_cdp_session(page)
    for dx, dy in ((0, -60), (-40, 0)):
        page.evaluate("() => scrollTo(0, 0)")
        place = page.locator(".terrain .name").first.bounding_box()
        for i, kind in enumerate(TOUCH):
            points = [] if kind == "touchEnd" else [{"x": 200 + i * dx // 2, "y": 600 + i * dy}]
            session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
            page.wait_for_timeout(40)
        wait_for_map(page)
        scrolled = page.evaluate("scrollY")
        after = page.locator(".terrain .name").first.bounding_box()
        moved = (after["x"] - place["x"], after["y"] + scrolled - place["y"])
        if dy:
            assert scrolled > 100
            assert np.hypot(*moved) < 3
        else:
            assert scrolled == 0
            assert moved[0] < -20
    watched.close()


def test_the_first_screen_has_no_measures_of_the_model(watched: Watched) -> None:
    text = watched.open().locator("main").inner_text()
    assert "perplexity" not in text
    assert "tokens" not in text
    facts = watched.go("#/about").locator("main").inner_text()
    assert "Perplexity of training documents" in facts
    assert "Words in all (tokens)" in facts


# --------------------------------------------------------------------------------------------- cards


@pytest.mark.parametrize(
    ("place", "title"),
    [("#/tag/place%3Asea", "Topics"), ("#/topic/1", "Over time"), ("#/network", "Network")],
)
def test_cards_have_the_size_of_link_previews(watched: Watched, place: str, title: str) -> None:
    page = watched.open(place)
    image = np.asarray(Image.open(io.BytesIO(saved(page, title, "Card"))).convert("L"), dtype=float)
    assert image.shape == (630, 1200)
    ink = abs(image - image[0, 0]) > 60
    for rows in (slice(40, 90), slice(200, 540), slice(580, 610)):  # title, drawing, source
        assert ink[rows].sum() > 200, rows
    assert not ink[:, :50].any()
    assert not ink[:, 1150:].any()


def test_findings_have_cards(browser: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    rows = []
    for d in range(240):
        words = "wave tide ship sail" if d % 2 else "bread oven flour salt"
        text = " ".join(str(word) for word in rng.choice(words.split(), 25))
        rows.append({"id": str(d), "text": text, "tags": ["odd" if d % 2 else "even", f"t{d % 7}"]})
    corpus = tt.read_corpus(rows)
    write_report(
        tt.TTM(n_topics=3, random_state=0, max_iter=20).fit_topics(corpus), tmp_path / "r.html", corpus=corpus
    )
    watched = Watched(browser, (tmp_path / "r.html").as_uri())
    page = watched.open()
    line = page.locator(".findings > li").first
    line.locator("summary").click()
    with page.expect_download() as download:
        line.get_by_role("button", name="Card").click()
    image = np.asarray(Image.open(download.value.path()).convert("L"), dtype=float)
    assert image.shape == (630, 1200)
    assert (abs(image - image[0, 0]) > 60)[120:540].sum() > 2000
    with page.expect_download() as download:
        line.get_by_role("button", name="CSV").click()
    table = list(csv.DictReader(Path(download.value.path()).read_text(encoding="utf-8").splitlines()))
    assert [float(row["share"]) for row in table] == [
        pytest.approx(int(row["about_the_topic"]) / int(row["documents"])) for row in table
    ]
    evidence = line.locator("small").inner_text()
    assert all(f"{row['about_the_topic']} of {row['documents']} {row['group']}" in evidence for row in table)
    watched.close()


# --------------------------------------------------------------------------------------------- trust


@pytest.fixture
def told(browser: Any, data: TopicData, tmp_path: Path) -> Iterator[Watched]:
    text = "# Source\n\nTexts of [a site](https://example.org/a), [bad](javascript:alert(1)) <b>x</b>\n\nCC0"
    (tmp_path / "about.md").write_text(text, encoding="utf-8")
    write_report(replace(data, about=read_about(tmp_path / "about.md")), tmp_path / "r.html")
    watched = Watched(browser, (tmp_path / "r.html").as_uri())
    yield watched
    watched.close()
    assert watched.faults == []


def test_trust_tells_source_sample_and_weak_topics(told: Watched, data: TopicData) -> None:
    page = told.open("#/about")
    card = page.locator(".card", has=page.get_by_role("heading", name="About the collection"))
    assert card.locator("h3").inner_text() == "Source"
    assert card.locator("a").evaluate_all("all => all.map(one => one.href)") == ["https://example.org/a"]
    assert "[bad](javascript:alert(1)) <b>x</b>" in card.inner_text()
    assert "on 72 documents" in page.locator("main").inner_text()
    order = np.argsort(data.coherence, kind="stable")[:5]
    rows = page.locator(".bars[aria-label='Weak topics'] > li")
    assert rows.count() == 5
    for row, k in zip(rows.all(), order, strict=True):
        n = (data.documents.topics[:, k] >= 0.2).sum()
        assert int(row.locator(".badge").inner_text()) == k
        assert row.locator(".figure").inner_text().startswith(f"{data.coherence[k]:.2f}, {n} ")
    assert told.problems() == []


def test_a_text_about_the_collection_is_read_or_refused(tmp_path: Path) -> None:
    with pytest.raises(tt.InputError, match="--about"):
        read_about(tmp_path / "missing.md")
    (tmp_path / "long.md").write_text("a" * 30_000)
    with pytest.raises(tt.InputError, match="at most 20,000"):
        read_about(tmp_path / "long.md")


# ----------------------------------------------------------------------------------- network, search


def test_network_shows_its_measure_and_no_single_tags(watched: Watched, corpus: tt.Corpus) -> None:
    page = watched.open("#/network")
    has = corpus.tags.toarray() > 0
    shown = page.locator(".neighbours > li").all()
    cosines = []
    for row in shown:
        names = row.locator(".chip").evaluate_all(
            "all => all.map(one => decodeURIComponent(one.hash.slice(6)))"
        )
        a, b = (has[:, corpus.tag_names.index(name)] for name in names)
        n, cosine = row.locator(".figure").inner_text().replace(" documents", "").split()
        assert int(n) == (a & b).sum()
        assert float(cosine) == pytest.approx((a & b).sum() / math.sqrt(a.sum() * b.sum()), abs=0.006)
        cosines.append(float(cosine))
    assert cosines == sorted(cosines, reverse=True)
    lines = page.locator(".network line").evaluate_all(
        "all => all.flatMap(one => [[one.x1, one.y1], [one.x2, one.y2]]"
        ".map(p => p.map(v => v.baseVal.value.toFixed(1)).join()))"
    )
    discs = page.locator(".network circle").evaluate_all(
        "all => all.map(one => [one.cx, one.cy].map(v => v.baseVal.value.toFixed(1)).join())"
    )
    assert set(discs) == set(lines)


def test_texts_are_read_before_the_first_search(watched: Watched) -> None:
    page = watched.open()
    page.wait_for_timeout(4000)
    page.evaluate(
        "() => { window.opened = 0; const old = DecompressionStream; "
        "window.DecompressionStream = class extends old {"
        " constructor(kind) { super(kind); window.opened++; } }; }"
    )
    page.locator("#find").fill("salt")
    page.keyboard.press("Enter")
    wait_for_place(page, "#/search/salt")
    page.locator("main .card", has_text="Documents:").wait_for()
    assert page.evaluate("window.opened") <= 2  # of the documents in sight, not of all texts


def test_the_filter_says_how_it_finds_words(watched: Watched) -> None:
    page = watched.open("#/?words=sal")
    wait_until(page, "() => document.querySelectorAll('.filterbar .chosen li').length === 1")
    assert "contains “sal…”" in page.locator(".filterbar .chosen").inner_text()
    assert page.get_by_label("Text contains").get_attribute("placeholder") == "Beginnings of words …"
