"""The report in a real browser: every page, every control, nothing fetched, nothing run that was data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from explore_support import Watched, wait_for_place, wait_until

import tagtopics as tt
from tagtopics import write_report
from tagtopics.explore.record.topic_data import TopicData

pytest_plugins = ("explore_fixtures",)

PLACES = (
    "#/", "#/topics", "#/topic/0", "#/tags", "#/tag/0", "#/groups", "#/groups/0", "#/groups/0+9",
    "#/documents", "#/document/0", "#/word/3", "#/search/salt", "#/nowhere", "#/time", "#/about",
)  # fmt: skip


def percent(text: str) -> float:
    return float(text.replace("%", "").replace("<1", "0.5").strip()) / 100


def test_every_page_opens_and_is_accessible(watched: Watched) -> None:
    watched.open()
    for place in PLACES:
        watched.go(place)
        assert watched.problems() == [], place
        assert watched.page.title().endswith("Four themes · tagtopics")
        assert watched.page.title().count("Four themes") == 1, "the name of the collection once"


def test_the_dark_theme_has_enough_contrast(browser: Any, address: str) -> None:
    """The light one is tested above."""
    watched = Watched(browser, address, color_scheme="dark")
    watched.open()
    for place in ("#/", "#/topic/1", "#/groups/0+9", "#/document/2", "#/search/a"):
        watched.go(place)
        assert watched.problems() == [], place
    watched.close()


def test_theme_button_goes_round(watched: Watched) -> None:
    page = watched.open()
    seen = []
    for _ in range(3):
        page.click("#theme")
        seen.append(page.evaluate("getComputedStyle(document.documentElement).colorScheme"))
    assert seen == ["light", "dark", "light"]  # light, dark, and back to the system's


def test_nothing_is_wider_than_a_phone(browser: Any, address: str) -> None:
    watched = Watched(browser, address, viewport={"width": 360, "height": 740})
    watched.open()
    for place in PLACES:
        watched.go(place)
        assert watched.page.evaluate("document.documentElement.scrollWidth") <= 360, place
        assert watched.problems() == [], place
    watched.close()


def test_topic_numbers_and_words_are_those_of_the_model(watched: Watched, model: tt.TTM) -> None:
    watched.open()
    for k in range(5):
        page = watched.go(f"#/topic/{k}")
        words = page.locator(".bars[aria-label=Words] .label").all_inner_texts()
        assert words == [word for word, _ in model.top_words(30)[k]]


def test_share_over_the_years_is_drawn(watched: Watched) -> None:
    page = watched.open("#/topic/0")
    label = page.locator("svg.line").get_attribute("aria-label")
    assert "1990" in label
    assert "1995" in label


def test_group_of_tags_says_what_the_model_says(watched: Watched, model: tt.TTM, corpus: tt.Corpus) -> None:
    tags = [model.tag_names_.index(name) for name in ("place:sea", "also:kitchen")]
    page = watched.open(f"#/groups/{tags[0]}+{tags[1]}")
    expected = model.tag_profile("place:sea", "also:kitchen").topics
    shown = {}
    for row in page.locator(".slope .end").all():
        shown[int(row.get_attribute("data-topic"))] = percent(row.locator(".figure").text_content())
    assert int(np.argmax(expected)) in shown
    for k, share in shown.items():
        assert share == pytest.approx(expected[k], abs=0.006)
    together = sum({"place:sea", "also:kitchen"} <= set(corpus.tags_of(d)) for d in range(corpus.n_docs))
    assert page.get_by_text(f"{together} documents have all of them").count() == 1


def test_tags_are_picked_and_dropped_by_keyboard(watched: Watched) -> None:
    page = watched.open("#/groups")
    for name in ("place:sea", "place:music"):
        page.locator(".combo input").fill(name)
        page.wait_for_selector(".options [role=option]")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        page.wait_for_selector(f".chosen >> text={name.partition(':')[2]}")
    assert page.locator(".verdict").count() == 1
    page.get_by_role("button", name="Remove place:sea").click()
    wait_until(page, "document.querySelectorAll('.chosen li').length === 1")


def test_hover_shows_the_credit_of_the_model(watched: Watched, model: tt.TTM, corpus: tt.Corpus) -> None:
    page = watched.open("#/document/0")
    page.wait_for_selector(".text .w")
    row = corpus.ids.index(page.locator("h1").inner_text())
    table = model.explain(corpus.select([row]))
    word = page.locator(".text .w").nth(4)
    word.hover()
    tip = page.locator("#tip")
    tip.wait_for()
    shown = dict(
        zip(tip.locator(".label").all_inner_texts(), tip.locator(".figure").all_inner_texts(), strict=True)
    )
    expected = {
        tag: credit
        for name, tag, credit in zip(table.word, table.tag, table.credit, strict=True)
        if name == word.inner_text().lower()
    }
    assert set(shown) == set(expected)
    for tag, credit in expected.items():
        assert percent(shown[tag]) == pytest.approx(credit, abs=0.006)


def test_text_is_shown_as_it_is_and_walked_by_arrows(watched: Watched, corpus: tt.Corpus) -> None:
    page = watched.open("#/document/3")
    page.wait_for_selector(".text .w")
    row = corpus.ids.index(page.locator("h1").inner_text())
    assert corpus.texts is not None
    assert page.locator(".text").text_content() == corpus.texts[row]
    page.locator(".text").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.locator("#tip").is_visible()
    assert page.locator(".w.here").count() == 1
    assert page.locator("#say").inner_text().lower().startswith(page.locator(".w.here").inner_text().lower())
    page.keyboard.press("Escape")
    assert page.locator("#tip").is_hidden()


def test_tags_of_a_text_are_left_out_one_by_one(watched: Watched) -> None:
    page = watched.open("#/document/0")
    page.wait_for_selector(".text .w")
    hues = (
        "[...document.querySelectorAll('.text .w')].map((w) =>"
        " [w.style.getPropertyValue('--hue'), w.style.getPropertyValue('--a')].join())"
    )
    before = page.evaluate(hues)
    toggles = page.locator(".toggle")
    for i in range(toggles.count()):
        toggles.nth(i).click()
        assert toggles.nth(i).get_attribute("aria-pressed") == "false"
    assert set(page.evaluate(hues)) == {"0,0.000"}
    for i in range(toggles.count()):
        toggles.nth(i).click()
    assert page.evaluate(hues) == before
    for mode in ("topic", "nothing"):
        page.locator(".choice label", has_text=mode).click()
    assert set(page.evaluate(hues)) == {"0,0.000"}


def test_a_strip_shows_where_each_tag_speaks(watched: Watched, corpus: tt.Corpus) -> None:
    page = watched.open("#/document/2")
    page.wait_for_selector(".text .w")
    marks = page.eval_on_selector_all(
        ".strip rect",
        "all => all.map(one => [...['x', 'y'].map(name => Number(one.getAttribute(name))), "
        "one.style.getPropertyValue('--hue')])",
    )
    words = page.eval_on_selector_all(
        ".text .w",
        "all => all.map(({ style }) => "
        "[style.getPropertyValue('--hue'), Number(style.getPropertyValue('--a'))])",
    )
    assert [hue for _, _, hue in marks] == [hue for hue, part in words if part > 0.2]
    assert [y for _, y, _ in marks] == sorted(y for _, y, _ in marks)
    assert all(0 <= x < len(corpus.tags_of(2)) and 0 <= y < 1 for x, y, _ in marks)
    assert len({(x, hue) for x, _, hue in marks}) == len({x for x, _, _ in marks})  # a column for each tag
    page.locator(".choice").get_by_text("topic", exact=True).click()
    assert not page.locator(".strip").is_visible()


def test_words_have_evidence_from_other_documents(watched: Watched, corpus: tt.Corpus) -> None:
    page = watched.open("#/document/2")
    page.wait_for_selector(".text .w")
    page.locator(".text .w").nth(4).hover()
    page.wait_for_selector("#tip .evidence:not(:empty)")
    word = page.locator("#tip .tipword").inner_text()
    tag = page.locator("#tip .bars .label").first.inner_text()
    others = [d for d in range(corpus.n_docs) if d != 2 and tag in corpus.tags_of(d)]
    column = corpus.vocabulary.index(word)
    n = sum(int(corpus.counts[[d], [column]][0] > 0) for d in others)
    expected = f"In {n} of {len(others)} other documents of {tag}."  # also:music is another tag
    assert page.locator("#tip .evidence").inner_text() == expected


def test_related_documents_tell_why(watched: Watched, model: tt.TTM, corpus: tt.Corpus) -> None:
    page = watched.open("#/document/0")
    name = page.locator("h1").inner_text()
    row = corpus.ids.index(name)
    shown = page.locator(".documents .headline a").all_inner_texts()
    overlap = np.sqrt(model.doc_topic_) @ np.sqrt(model.doc_topic_[row])
    scores = [overlap[corpus.ids.index(other)] for other in shown]
    others = np.sort(np.delete(overlap, row))[::-1]
    assert np.allclose(sorted(scores, reverse=True), others[: len(scores)], atol=0.01)
    assert page.locator(".reasons .badge").count() > 0


def test_search_finds_words_tags_and_documents(watched: Watched) -> None:
    page = watched.open()
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "find"
    page.keyboard.type("salt")
    page.locator("#found [role=option]", has_text="salt").first.wait_for()
    assert "Words" in page.locator("#found .group").all_text_contents()
    assert watched.problems() == []
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    wait_for_place(page, "#/word/")
    page.locator("h1").get_by_text("salt", exact=True).wait_for()
    page.locator("#find").fill("text 7")
    page.keyboard.press("Enter")
    wait_for_place(page, "#/search/")
    page.locator(".documents").get_by_text("text 7", exact=True).first.wait_for()  # the page follows its name
    page.locator("#find").fill("place:sea")
    page.locator("#found [role=option]", has_text="place:sea").first.click()  # not one of the search before
    wait_for_place(page, "#/tag/")


def test_tab_goes_in_the_order_of_the_page_and_shows_where(watched: Watched) -> None:
    page = watched.open()
    page.keyboard.press("Tab")
    assert page.locator(".skip").evaluate("el => el === document.activeElement")
    last = -1.0
    for _ in range(14):
        page.keyboard.press("Tab")
        at, outline = page.evaluate(
            "() => { const el = document.activeElement; const all = [...document.querySelectorAll('*')];"
            " const c = el.querySelector && el.querySelector('circle');"
            " return [all.indexOf(el), getComputedStyle(el).outlineStyle !== 'none' || !!c]; }"
        )
        assert at > last
        assert outline
        last = at


def test_long_lists_grow(watched: Watched) -> None:
    page = watched.open("#/documents")
    assert page.locator(".documents > li").count() == 30
    page.locator(".more").click()
    assert page.locator(".documents > li").count() == 60
    page.locator(".more").click()
    assert page.locator(".documents > li").count() == 72
    assert page.locator(".more").is_hidden()


def test_hostile_names_stay_text(browser: Any, hostile_data: TopicData, tmp_path: Path) -> None:
    path = tmp_path / "hostile.html"
    write_report(hostile_data, path)
    watched = Watched(browser, path.as_uri())
    page = watched.open()
    scripts = page.locator("script").count()
    places = [*PLACES, "#/search/%3Cscript%3E", "#/tags/%3Cscript%3E", *(f"#/document/{d}" for d in range(7))]
    places += [f"#/word/{w}" for w in range(7)] + [f"#/tag/{t}" for t in range(7)]
    for place in places:
        watched.go(place)
        assert page.evaluate("window.pwned") is None, place
        assert page.locator("img, main script, main iframe, main [onmouseover], main [onerror]").count() == 0
    page.locator("#find").fill("<script>")
    page.wait_for_selector("#found [role=option]")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    watched.go("#/document/0")
    page.wait_for_selector(".text .w")
    page.locator(".text .w").first.hover()
    assert page.evaluate("window.pwned") is None
    assert page.locator("script").count() == scripts
    assert watched.faults == []
    watched.close()
