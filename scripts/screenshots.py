"""Take the screenshots of the explorer in docs/images: `python scripts/screenshots.py`. Needs Chromium.

The report shows the embedded corpus. The document and the tags are chosen by rules, so that new versions of
the documented packages give similar pictures.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np

import tagtopics as tt
from tagtopics.explore import write_report
from tagtopics.explore.groups import suggested_groups
from tagtopics.views.to_topic_data import topic_data
from tagtopics.views.topic_data import TopicData

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


def main() -> None:
    """Fit a model, write the report, take the screenshots."""
    from playwright.sync_api import sync_playwright

    corpus = tt.load_dataset("docstrings")
    model = tt.TTM(n_topics=24, random_state=0).fit(corpus)
    data = topic_data(model, corpus, "Docstrings of numpy, scipy and scikit-learn")
    report = ROOT / "build" / "docstrings.html"
    write_report(data, report)
    IMAGES.mkdir(parents=True, exist_ok=True)
    browser_path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=list(FLAGS))
        address = report.as_uri()
        _take(browser, f"{address}#/", "explorer-overview.png", "light")
        _take(browser, f"{address}#/document/{_balanced_document(data)}", "explorer-document.png", "light")
        tags = "+".join(str(t) for t in _distinct_group(data))
        _take(browser, f"{address}#/groups/{tags}", "explorer-tag-group.png", "dark")
        browser.close()


def _distinct_group(data: TopicData) -> list[int]:
    """Return the suggested pair of tags whose main joint topic is smallest in either tag alone."""
    groups = suggested_groups(data)
    alone = [max(float(data.tags.profiles[t, group["topic"]]) for t in group["tags"]) for group in groups]
    return list(groups[int(np.argmin(alone))]["tags"])


def _balanced_document(data: TopicData) -> int:
    """Return the row of a short text whose words are credited most evenly to a few tags."""
    table = data.documents
    best, evenness = 0, -1.0
    for d in data.documents.by_topic().tolist():
        n_tags = int(np.diff(table.tag_offsets[d : d + 2])[0])
        length = len((table.texts or ())[d])
        if not (3 <= n_tags <= 5 and 500 <= length <= 1100):
            continue
        credit = table.credit[slice(*table.credit_offsets[d : d + 2])].reshape(-1, n_tags)
        counts = table.word_count[slice(*table.word_offsets[d : d + 2])]
        first = np.bincount(credit.argmax(1), counts * credit.max(1), n_tags) / counts.sum()
        entropy = float(-(first * np.log(np.maximum(first, 1e-12))).sum())
        if entropy > evenness:
            best, evenness = d, entropy
    return best


def _take(browser: Any, address: str, name: str, scheme: str) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 860}, color_scheme=scheme)
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector("html[data-ready=yes]")
    if "document/" in address:
        page.wait_for_selector(".text .w")
        page.locator(".text .w").nth(page.locator(".text .w").count() // 3).hover()
    page.wait_for_timeout(400)
    page.screenshot(path=str(IMAGES / name))
    context.close()


if __name__ == "__main__":
    main()
