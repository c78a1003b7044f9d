"""The workbench in a report against Python: the same tags, the same topics, milliseconds in Chromium.

    python -m reproduction.explorer.workbench tibcore --out build/workbench    500 held-out documents
    python -m reproduction.explorer.workbench reuters --out build/workbench
    python -m reproduction.explorer.workbench tibcore --part choose --docs 200   for choosing settings

A model is fitted to the training part once and kept in the folder. The report is written again each time, so
that it has the script of this checkout. The last documents of the test part are for the figures, the first
ones (`choose`) for choosing settings. Figures are kept for pages/explorer-comparison.md. Milliseconds are
processor time of the browser's page on a text of 200 words: they hold on a busy machine, the seconds that a
reader waits do not.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import sys
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np

import tagtopics as tt
from benchmarks.explorer import chromium
from reproduction import RECORDS
from tagtopics import ReportOptions, write_report
from tagtopics.models.base import TopicModel

WORDS = 200
REPEATS = 60


def documents_of(name: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the training and the test documents: id, text, tags."""
    folder = Path(os.environ["TAGTOPICS_DATA"]) / name
    if name == "tibcore":
        rows = _lines(folder / "documents.jsonl.gz")
        split = [row["split"] for row in rows]
        rows = [
            {"id": row["id"], "text": f"{row['title']}\n{row['abstract']}", "tags": row["subjects"]}
            for row in rows
        ]
    else:
        rows = _lines(folder / "texts.jsonl.gz")
        split = (folder / "split.txt").read_text(encoding="utf-8").split("\n")
    pairs = list(zip(rows, split, strict=False))
    return [row for row, part in pairs if part == "train"], [row for row, part in pairs if part == "test"]


def _lines(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def fitted(name: str, folder: Path, train: list[dict[str, Any]]) -> tuple[TopicModel, tt.Corpus]:
    """Return the model of the training part, and its corpus; the model is kept in the folder."""
    corpus = tt.read_corpus(train, text="text", tags="tags", id="id")
    path = folder / f"{name}.tt"
    if not path.exists():
        tt.TTM(n_topics=50, random_state=0).fit(corpus).save(path)
    return tt.load(path), corpus


def opened(report: Path) -> str:
    """Return the page with its answers to be called from outside, which its security policy would forbid."""
    page = report.read_text(encoding="utf-8")
    page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page, count=1)
    at = page.rindex("\nstart();\n})();")
    return page[:at] + "\nwindow.answer = offlineAnswers;" + page[at:]


def in_the_page(report: Path, texts: list[str]) -> tuple[list[Any], float, float]:
    """Return the answers of the page, and the mean and median milliseconds of a text of 200 words."""
    path = report.with_suffix(".open.html")
    path.write_text(opened(report), encoding="utf-8")
    words = cycle(" ".join(texts[: 4 * REPEATS]).split())
    long = [" ".join(islice(words, WORDS)) for _ in range(REPEATS)]
    with chromium() as browser:
        page = browser.new_page()
        page.set_default_timeout(600_000)
        page.goto(path.resolve().as_uri())
        page.wait_for_selector("html[data-ready=yes]")
        answers = [page.evaluate(_ANSWER, text) for text in texts]
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        page.evaluate(_MANY, long)
        before = _seconds(session)
        walls = page.evaluate(_MANY, long)
        return answers, 1000 * (_seconds(session) - before) / REPEATS, float(np.median(walls))


_ANSWER = """text => window.answer(text).then(
  found => ({ topics: found.topics.topics, tags: found.recommended.slice(0, 5).map(row => row.tag) }),
  () => null)"""

_MANY = """async texts => {
  const times = [];
  for (const text of texts) {
    const began = performance.now();
    await window.answer(text).catch(() => null);
    times.push(performance.now() - began);
  }
  return times; }"""


def _seconds(session: Any) -> float:
    found = {row["name"]: row["value"] for row in session.send("Performance.getMetrics")["metrics"]}
    return float(found["TaskDuration"])


def compared(model: TopicModel, answers: list[Any], texts: list[str]) -> dict[str, float]:
    """Return how far the answers of the page are those of Python; refused texts are left out."""
    kept = [i for i, answer in enumerate(answers) if answer is not None]
    theta = model.transform([texts[i] for i in kept])
    tags = [[row.tag for row in rows] for rows in model.recommend([texts[i] for i in kept], top=5)]
    equal = [len(set(own) & set(answers[i]["tags"])) / 5 for i, own in zip(kept, tags, strict=True)]
    first = [answers[i]["tags"][:1] == own[:1] for i, own in zip(kept, tags, strict=True)]
    apart = [float(np.abs(np.array(answers[i]["topics"]) - theta[row]).sum()) for row, i in enumerate(kept)]
    return {
        "documents": len(kept),
        "five_tags_equal": round(float(np.mean(equal)), 3),
        "first_tag_equal": round(float(np.mean(first)), 3),
        "topics_apart": round(float(np.mean(apart)), 4),
        "topics_apart_most": round(max(apart), 4),
    }


def main() -> None:
    """Measure one collection and print the figures as JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", choices=["tibcore", "reuters"])
    parser.add_argument("--part", choices=["figures", "choose"], default="figures")
    parser.add_argument("--docs", type=int, default=500)
    parser.add_argument("--out", type=Path, default=Path("build/workbench"))
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    train, test = documents_of(given.name)
    model, corpus = fitted(given.name, given.out, train)
    report = given.out / f"{given.name}.html"
    write_report(model, report, corpus=corpus, options=ReportOptions(title=given.name))
    block = re.search(r'id="bench">([^<]*)<', report.read_text(encoding="utf-8"))
    chosen = test[-given.docs :] if given.part == "figures" else test[: given.docs]
    texts = [str(row["text"]) for row in chosen]
    answers, processor, wall = in_the_page(report, texts)
    figures = {
        "collection": given.name,
        **compared(model, answers, texts),
        "processor_ms_200_words": round(processor, 1),
        "median_wall_ms_200_words": round(wall, 1),
        "workbench_megabytes": round(len(block.group(1)) / 1e6, 2) if block else 0.0,
    }
    text = json.dumps(figures, indent=1) + "\n"
    if given.part == "figures":
        (RECORDS / "explorer" / f"workbench-{given.name}.json").write_text(text, encoding="utf-8")
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
