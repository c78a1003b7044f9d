"""Take the screenshots of the explorer for the pages: `python -m scripts.screenshots`. Needs Chromium.

The report shows the embedded corpus. The document and the tags are chosen by rules, so that new versions of
the documented packages give similar pictures. The ten tasks are done as in the tests; the one about
years has a generated collection, because docstrings have no dates.
"""

from __future__ import annotations

import io
import os
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import numpy as np

import tagtopics as tt
from reproduction import PAGES, ROOT
from reproduction.explorer.tasks import TASKS, Hand, Names, Task
from tagtopics import ReportOptions, write_report
from tagtopics.explore.record.to_topic_data import topic_data
from tagtopics.explore.record.topic_data import TopicData
from tagtopics.explore.report.prepare import suggested_groups

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
    write_report(model, report, corpus=corpus, options=ReportOptions(title=data.title))
    IMAGES.mkdir(parents=True, exist_ok=True)
    browser_path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=list(FLAGS))
        address = report.as_uri()
        _take(browser, f"{address}#/", "explorer-overview.png", "light")
        _take(browser, f"{address}#/document/{_balanced_document(data)}", "explorer-document.png", "light")
        tags = "+".join(str(t) for t in _distinct_group(data))
        _take(browser, f"{address}#/groups/{tags}", "explorer-tag-group.png", "dark")
        _take(browser, f"{address}#/network", "explorer-network.png", "light")
        years = _years_report()
        for task in TASKS:
            _do(browser, years if task.name == "changed" else address, task)
        browser.close()


NAMES = Names(
    word="eigenvalues",
    tags=("package:numpy", "takes:axis"),
    text="Compute the eigenvalues and eigenvectors of a sparse symmetric matrix with a Lanczos iteration. "
    "The matrix may be given as a linear operator. Returns the largest eigenvalues in ascending order.",
)


def _years_report() -> str:
    """Return the address of a report of generated texts with dates: some themes rise, some fall."""
    themes = {
        "sea": "wave tide ship harbour sail island whale current anchor storm reef",
        "kitchen": "bread oven pepper butter recipe flour onion spoon sugar plate broth",
        "music": "violin chord rhythm opera tempo melody tune drum singer note choir",
        "garden": "rose soil seed spade tulip hedge compost pond bloom root weed",
    }
    rng, names, rows = np.random.default_rng(1), list(themes), []
    for d in range(600):
        year = 2010 + d % 12
        rising = (year - 2010) / 11
        odds = np.array([1.2 - rising, 0.5, 0.2 + rising, 0.6])
        first, second = rng.choice(4, 2, p=odds / odds.sum())
        words = [str(rng.choice(themes[names[k]].split())) for k in (first,) * 24 + (second,) * 12]
        tags = [names[first], f"shelf:{names[second]}"]
        rows.append({"id": f"text {d}", "text": " ".join(words), "tags": tags, "date": f"{year}-05-01"})
    corpus = tt.read_corpus(rows, text="text", tags="tags", id="id", date="date")
    model = tt.TTM(n_topics=6, random_state=0).fit(corpus)
    report = ROOT / "build" / "years.html"
    write_report(model, report, corpus=corpus, options=ReportOptions(title="Six hundred generated texts"))
    return report.as_uri()


def _do(browser: Any, address: str, task: Task) -> None:
    """Do a task, and take a picture of its end."""
    context = browser.new_context(viewport={"width": 1100, "height": 700})
    page = context.new_page()
    page.goto(f"{_on_the_web(page, address)}#/")
    page.wait_for_selector("html[data-ready=yes]", timeout=60_000)
    page.wait_for_timeout(800)
    task.do(Hand(page, NAMES))
    shown = page.locator(task.shows).first
    shown.wait_for(timeout=60_000)
    if task.name in ("tags", "chart", "who"):
        shown.scroll_into_view_if_needed()
    page.wait_for_timeout(500)
    _write_small(page.screenshot(), PAGES / "images" / f"explorer-task-{task.name}.png")
    context.close()


def _on_the_web(page: Any, address: str) -> str:
    """Let a page find a file at an address on the web, so that no path of this machine is in the picture."""
    shown = "https://example.org/docstrings.html"
    page.route(
        "https://example.org/**", lambda route: route.fulfill(path=url2pathname(urlsplit(address).path))
    )
    return shown


def _write_small(content: bytes, path: Path) -> None:
    """Write a picture with 224 colours: less than half of the bytes."""
    from PIL import Image

    image = Image.open(io.BytesIO(content)).convert("RGB").quantize(224, kmeans=2, dither=Image.Dither.NONE)
    image.save(path, optimize=True)


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
    _write_small(page.screenshot(), IMAGES / name)
    context.close()


if __name__ == "__main__":
    main()
