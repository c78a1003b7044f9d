"""Sharing in a real browser: addresses, embedded views, stories, the tag network."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from explore_support import HOSTILE, Watched, wait_for_place, wait_until

from tagtopics.errors import InputError
from tagtopics.explore import write_report
from tagtopics.explore.record.topic_data import TopicData
from tagtopics.explore.report.stories import read_story

pytest_plugins = ("explore_fixtures",)

STORY: dict[str, Any] = {
    "format": "tagtopics story",
    "title": "Salt",
    "steps": [
        {"view": "#/word/salt", "caption": "Salt is in three of four themes."},
        {"view": "#/tags/place%3Asea+also%3Akitchen", "caption": "<script>window.pwned=1</script>"},
        {"view": "#/?words=salt", "caption": "Where salt is on the map."},
    ],
}


@pytest.fixture(scope="module")
def address(data: TopicData, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("story") / "report.html"
    write_report(data, path, story={key: STORY[key] for key in ("title", "steps")})
    return path.as_uri()


def test_story_is_played_in_order(watched: Watched) -> None:
    page = watched.open("#/story")
    assert page.locator("h1").inner_text() == "Salt"
    page.get_by_role("link", name="Play from the start").click()
    for i, step in enumerate(STORY["steps"]):
        wait_until(page, "n => document.documentElement.dataset.place.endsWith(`story=${n}`)", i + 1)
        assert page.locator(".storybar .caption").inner_text() == step["caption"]
        assert watched.problems() == []
        if i < 2:
            page.get_by_role("link", name="Next →").click()
    assert page.locator(".filterbar .chosen li").count() == 1
    assert page.get_by_role("link", name="Next →").count() == 0
    assert page.evaluate("window.pwned") is None


def test_a_view_is_added_and_saved(watched: Watched, tmp_path: Path) -> None:
    page = watched.open("#/topic/1?weight=0.3")
    page.locator("#view-button").click()
    assert page.locator("#view-address").input_value().endswith("?weight=0.3")
    assert watched.problems() == []
    page.locator("#view-caption").fill(HOSTILE[0])
    page.get_by_role("button", name="Add to story").click()
    watched.go("#/story")
    assert page.locator(".story > li").count() == 4
    page.get_by_role("button", name="Move view 4 up").click()
    page.get_by_role("button", name="Remove view 1").click()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save as a file").click()
    waiting.value.save_as(tmp_path / "story.json")
    story = read_story(tmp_path / "story.json")
    assert [step["caption"] for step in story["steps"]] == [
        STORY["steps"][1]["caption"], HOSTILE[0], STORY["steps"][2]["caption"],
    ]  # fmt: skip
    assert story["steps"][1]["view"].endswith("?weight=0.3")
    assert watched.problems() == []


def test_embedded_view_has_no_bar_and_one_card(watched: Watched) -> None:
    page = watched.open("#/topic/1?embed=1")
    assert page.locator(".bar").is_hidden()
    assert page.locator("main .card").count() > 2
    watched.go("#/topic/1?embed=1&card=Words")
    assert page.locator("main .card").count() == 1
    assert page.locator("main h2").inner_text() == "Words"
    assert watched.problems() == []
    assert page.get_by_role("link", name="open in the explorer").get_attribute("target") == "_blank"
    watched.go("#/topic/1")
    assert page.locator(".bar").is_visible()


def test_code_to_embed_a_card_shows_it(watched: Watched) -> None:
    page = watched.open("#/topic/1")
    card = page.locator(".card", has=page.locator("h2", has_text="Words"))
    card.locator("summary").click()
    code = card.locator("textarea").first.input_value()
    page.goto("about:blank")
    assert page.evaluate(
        "code => { const box = document.createElement('div'); box.innerHTML = code;"
        " const frame = box.querySelector('iframe'); return [frame.title !== '', frame.src]; }",
        code,
    ) == [True, code.split('"')[1].replace("&amp;", "&")]


def test_network_leads_to_tags(watched: Watched) -> None:
    page = watched.open("#/network")
    assert watched.problems() == []
    boxes = page.evaluate(
        "[...document.querySelectorAll('.network a:not(.quiet) text')].map((node) => {"
        " const b = node.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; })"
    )
    wide = page.evaluate("document.querySelector('.network').getBoundingClientRect().right")
    assert all(left > 0 and right <= wide for left, _, right, _ in boxes)
    page.locator(".network a").first.click()
    wait_for_place(page, "#/tag/")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("no JSON", "the file: Invalid JSON"),
        (json.dumps({**STORY, "steps": []}), "steps: List should have at least 1 item"),
        (json.dumps({**STORY, "steps": [{"view": "https://example.org"}]}), "steps.0.view"),
        (json.dumps({"steps": STORY["steps"]}), "format: Field required"),
    ],
)
def test_other_files_are_no_stories(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "story.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match="--story") as raised:
        read_story(path)
    assert message in str(raised.value)
    with pytest.raises(InputError, match="No such file"):
        read_story(tmp_path / "none.json")
