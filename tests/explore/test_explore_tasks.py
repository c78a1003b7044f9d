"""Ten tasks of a newcomer, each done in a real browser in at most three clicks."""

from __future__ import annotations

from pathlib import Path

import pytest
from explore_support import Watched, wait_for_map

from reproduction import PAGES
from reproduction.explorer.tasks import MOST_CLICKS, TASKS, Hand, Names, Task

pytest_plugins = ("explore_fixtures",)


NAMES = Names(
    word="salt",
    tags=("place:sea", "also:kitchen"),
    text="The ship left the harbour with salt, bread and an old violin; the storm broke its sail.",
)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_task_takes_at_most_three_clicks(watched: Watched, task: Task) -> None:
    hand = Hand(watched.open(), NAMES)
    wait_for_map(hand.page)
    task.do(hand)
    hand.page.locator(task.shows).first.wait_for(timeout=10_000)
    assert 1 <= hand.clicks <= MOST_CLICKS
    if task.name == "send":
        assert hand.page.locator("#view-address").input_value() == hand.page.url
    for download in hand.downloads:
        assert "<svg" in Path(download.path()).read_text(encoding="utf-8")


def test_there_are_ten_tasks_on_the_page() -> None:
    text = (PAGES / "explorer-tasks.md").read_text(encoding="utf-8")
    assert len(TASKS) == 10
    for task in TASKS:
        assert task.question in text
        assert task.answer in " ".join(text.split())
        assert f"explorer-task-{task.name}.png" in text
