"""The server as users have it: a real process, a real browser, a real stop."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from explore_support import (
    HOSTILE,
    Recommending,
    Watched,
    create_app,
    make_hostile_corpus,
    serving,
    wait_until,
    wait_until_whole,
)

import tagtopics as tt
from tagtopics.explore.record.topic_data import TopicData

pytest_plugins = ("explore_fixtures",)


@pytest.fixture(scope="module")
def live(data: TopicData, model: tt.TTM) -> Iterator[str]:
    yield from serving(create_app(data, Recommending(model, model.tag_names_[:3])))


@pytest.fixture(scope="module")
def hostile(hostile_data: TopicData, hostile_model: tt.TTM) -> Iterator[str]:
    yield from serving(create_app(hostile_data, Recommending(hostile_model, hostile_model.tag_names_[:3])))


def test_pages_live_as_in_the_report(browser: Any, live: str) -> None:
    watched = Watched(browser, live)
    page = watched.open()
    for place in ("#/topics", "#/topic/1", "#/tag/2", "#/groups/0+9", "#/document/3", "#/workbench"):
        watched.go(place)
        assert watched.problems() == [], place
    watched.go("#/document/3")
    page.wait_for_selector(".text .w")
    assert watched.faults == []
    watched.close()


def test_workbench_from_text_to_export(browser: Any, live: str, model: tt.TTM) -> None:
    watched = Watched(browser, live, accept_downloads=True)
    page = watched.open("#/workbench")
    page.fill("#bench-text", "Salt and wave 𝄞 and tide; bread, butter.\nViolin?")
    page.get_by_role("button", name="Analyse").click()
    page.wait_for_selector(".proposals li")
    chips = page.locator(".proposals .chip").all_inner_texts()
    assert [chip.replace("\n", ":") for chip in chips] == list(model.tag_names_[:3])
    first, second = model.tag_names_[:2]
    page.get_by_role("button", name=f"Accept {first}").click()
    page.wait_for_selector(".text .w")
    assert page.locator(".text").text_content() == "Salt and wave 𝄞 and tide; bread, butter.\nViolin?"
    assert page.locator(".text .w").all_inner_texts() == ["Salt", "wave", "tide", "bread", "butter", "Violin"]
    page.get_by_role("button", name=f"Refuse {second}").click()
    wait_until(page, "document.querySelectorAll('.proposals li').length === 2")
    page.wait_for_selector("#bench-result[aria-busy=false]")
    assert watched.problems() == []
    page.get_by_role("button", name="Keep it, next text").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Export them as JSON lines").click()
    (line,) = Path(download.value.path()).read_text(encoding="utf-8").splitlines()
    saved = json.loads(line)
    assert saved["text"] == "Salt and wave 𝄞 and tide; bread, butter.\nViolin?"
    assert (saved["tags"], saved["refused"]) == ([first], [second])
    assert len(saved["topics"]) == model.n_topics
    assert sum(saved["topics"]) == pytest.approx(1, abs=0.01)
    assert watched.faults == []
    watched.close()


def test_wrong_question_is_told_and_not_fatal(browser: Any, live: str) -> None:
    watched = Watched(browser, live)
    page = watched.open("#/workbench")
    page.route("**/api/v1/transform", lambda route: route.fulfill(status=503, json={"detail": "too many"}))
    page.fill("#bench-text", "wave")
    page.get_by_role("button", name="Analyse").click()
    page.wait_for_selector(".wrong >> text=too many")
    page.unroute("**/api/v1/transform")
    page.get_by_role("button", name="Analyse").click()
    page.wait_for_selector(".proposals li")
    assert page.locator(".wrong").is_hidden()
    watched.close()


def held(page: Any, pattern: str) -> Callable[[], None]:
    """Hold back the requests to an address; return what waits for the first one and lets all go."""
    routes: list[Any] = []
    page.route(pattern, lambda route: routes.append(route))

    def let_go() -> None:
        for _ in range(900):
            if routes:
                break
            page.wait_for_timeout(10)
        assert routes
        for route in routes:
            route.continue_()
        page.unroute(pattern)

    return let_go


def test_an_answer_that_comes_too_late_is_not_shown(browser: Any, live: str) -> None:
    watched = Watched(browser, live)
    page = watched.open("#/workbench")
    let_go = held(page, "**/api/v1/transform")
    page.fill("#bench-text", "wave and tide")
    page.get_by_role("button", name="Analyse").click()
    page.get_by_role("button", name="Keep it, next text").click()
    with page.expect_response("**/api/v1/transform"):
        let_go()
    page.evaluate("() => fetch('health').then(answer => answer.text())")  # the page has seen the answer
    assert page.locator("#bench-result").inner_text() == ""
    page.fill("#bench-text", "wave")
    page.get_by_role("button", name="Analyse").click()
    page.get_by_text("1 word known").wait_for()
    assert watched.faults == []
    watched.close()


def test_no_number_is_shown_before_the_texts_are_searched(browser: Any, live: str) -> None:
    watched = Watched(browser, live)
    let_go = held(watched.page, "**/data/bodies/*")
    page = watched.open("#/?words=salt")
    assert page.locator(".filterbar .count").inner_text() == "Searching all texts …"
    let_go()
    wait_until_whole(page)
    assert page.locator(".filterbar .count").inner_text().endswith(" of 72 documents")
    assert watched.faults == []
    watched.close()


def test_hostile_names_stay_text_when_live(browser: Any, hostile: str) -> None:
    watched = Watched(browser, hostile)
    page = watched.open("#/workbench")
    page.fill("#bench-text", " ".join(HOSTILE) + " wave")
    page.get_by_role("button", name="Analyse").click()
    page.wait_for_selector(".proposals li")
    page.locator(".proposals .action").first.click()
    page.wait_for_selector(".text .w")
    page.locator(".text .w").first.hover()
    for place in (
        "#/",
        "#/tags",
        "#/tag/0",
        "#/groups/0+1",
        "#/documents",
        "#/document/0",
        "#/search/%3Cimg",
    ):
        watched.go(place)
        assert page.evaluate("window.pwned") is None
        assert page.locator("img, main script, main iframe").count() == 0
    assert watched.faults == []
    watched.close()


def test_command_serves_on_this_machine_only_and_stops_well(hostile_model: tt.TTM, tmp_path: Path) -> None:
    hostile_model.save(tmp_path / "m.tt", corpus=make_hostile_corpus())
    run = "from tagtopics.cli import main; raise SystemExit(main())"
    command = [sys.executable, "-c", run, "serve", str(tmp_path / "m.tt"), "--port", "0"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONUNBUFFERED": "1"}
    )
    assert process.stdout is not None
    try:
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", process.stdout.readline())
        assert found is not None
        address = f"http://127.0.0.1:{found.group(1)}"
        assert _answers(f"{address}/health")["status"] == "ok"
        assert _answers(f"{address}/api/v1/documents/0")["id"].startswith("<script>")
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) in {0, -signal.SIGTERM}
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def _answers(address: str) -> Any:
    for _ in range(100):
        try:
            return httpx.get(address).json()
        except httpx.ConnectError:
            threading.Event().wait(0.1)
    raise AssertionError("the server does not answer")
