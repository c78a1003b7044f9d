"""The page that compares explorers: written from its records, losses first, failures named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from reproduction import PAGES, RECORDS
from reproduction.explorer.page import write_page


def record(name: str, **facts: Any) -> dict[str, Any]:
    usual = {
        "name": name, "title": name.title(), "documents": 50, "version": "1", "seconds": 9.0, "load": 1.0,
        "n_texts": 50, "seconds_to_first_view": 2.0, "bytes": 5_000_000, "hosts": [], "requests": 0,
        "unanswered": [], "axe": {"rules": 0, "elements": 0, "names": []}, "offline": True, "search": None,
        "keyboard": {"focusable": 5, "reached": 5}, "click": None,
    }  # fmt: skip
    return usual | facts


def written(tmp_path: Path, *records: dict[str, Any]) -> str:
    (tmp_path / "records").mkdir()
    for one in records:
        (tmp_path / "records" / f"{one['name']}.json").write_text(json.dumps(one))
    write_page(tmp_path / "records", tmp_path)
    return (tmp_path / "explorer-comparison.md").read_text()


def test_losses_come_first_and_failures_are_named(tmp_path: Path) -> None:
    smaller = record("pyldavis", bytes=200_000, seconds_to_first_view=1.0, requests=3, hosts=["d3js.org"])
    failed = {"name": "atlas", "title": "Atlas", "documents": 50, "error": "RuntimeError: no such module"}
    page = written(tmp_path, record("ours"), smaller, failed)
    assert page.index("## Where ours is behind") < page.index("## Figures") < page.index("## What did not")
    assert "- Pyldavis needs 0.2 MB, ours 5.0 MB. It has no documents." in page
    assert "- Pyldavis shows its first view in 1.0 s, ours in 2.0 s." in page
    assert "- Atlas: `RuntimeError: no such module`, with the load" in page
    assert "| requests to other hosts | 0 | 3 (d3js.org) |" in page


def test_a_page_without_losses_says_so(tmp_path: Path) -> None:
    page = written(tmp_path, record("ours"), record("datamapplot", bytes=9_000_000))
    assert "- In none of the figures below." in page


def test_the_page_is_that_of_the_records(tmp_path: Path) -> None:
    (tmp_path / "images").symlink_to(PAGES / "images")
    write_page(RECORDS / "explorer", tmp_path)
    page = "explorer-comparison.md"
    assert (tmp_path / page).read_text() == (PAGES / page).read_text()
