"""Many texts at once, in the workbench of the file and of the server."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from explore_support import Watched, create_app, serving

import tagtopics as tt
from tagtopics import ReportOptions, write_report
from tagtopics.explore.record.topic_data import TopicData
from tagtopics.explore.server.engine import ModelEngine

pytest_plugins = ("explore_fixtures",)

TEXTS = (
    "The ship left the harbour, and the storm broke the sail; the tide, the reef and the whale.",
    'Bread, "butter" and broth;\nan onion in the oven, pepper and flour on the plate.',
    "=qwertz asdf",
    "",
    "Violin and drum, chord and melody: the choir and the singer in the opera.",
)
ANALYSED = (0, 1, 4)


def as_csv(separator: str) -> str:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=separator, lineterminator="\r\n")
    writer.writerow(["key", "Abstract", "other"])
    writer.writerows([f"doc {i}", text, "x"] for i, text in enumerate(TEXTS))
    return "\ufeff" + out.getvalue()


def check(page: Any, model: tt.TTM, separator: str) -> None:
    content = as_csv(separator).encode("utf-8")
    page.locator("#bench-csv").set_input_files({"name": "t.csv", "mimeType": "text/csv", "buffer": content})
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save as CSV").click(timeout=30_000)
    rows = list(csv.DictReader(Path(waiting.value.path()).read_text(encoding="utf-8").splitlines()))
    assert [row["id"] for row in rows] == [f"doc {i}" for i in range(5)]
    theta = model.transform([TEXTS[i] for i in ANALYSED])
    expected = model.recommend([TEXTS[i] for i in ANALYSED], top=5)
    for row, topics, tags in zip((rows[i] for i in ANALYSED), theta, expected, strict=True):
        assert int(row["topic"]) == int(np.argmax(topics))
        assert float(row["share"]) == pytest.approx(topics.max(), abs=0.02)
        assert row["tags"].split("; ")[0] == tags[0].tag
        assert float(row["probabilities"].split("; ")[0]) == pytest.approx(tags[0].probability, abs=0.03)
    assert "knows none of the words" in rows[2]["note"]
    assert rows[3]["note"] == "no text"


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_file_answers_as_the_model(
    browser: Any, model: tt.TTM, corpus: tt.Corpus, tmp_path: Path, separator: str
) -> None:
    write_report(model, tmp_path / "r.html", corpus=corpus, options=ReportOptions(title="Four themes"))
    watched = Watched(browser, (tmp_path / "r.html").as_uri())
    check(watched.open("#/workbench"), model, separator)
    assert watched.problems() == []
    assert watched.faults == []
    watched.close()


def test_server_answers_as_the_model(browser: Any, model: tt.TTM, data: TopicData) -> None:
    for address in serving(create_app(data, ModelEngine(model))):
        watched = Watched(browser, address)
        check(watched.open("#/workbench"), model, ",")
        assert watched.faults == []
        watched.close()


def test_wrong_files_are_told(browser: Any, model: tt.TTM, corpus: tt.Corpus, tmp_path: Path) -> None:
    write_report(model, tmp_path / "r.html", corpus=corpus, options=ReportOptions(title="Four themes"))
    watched = Watched(browser, (tmp_path / "r.html").as_uri())
    page = watched.open("#/workbench")
    for content, told in ((b"", "needs a line"), (b"text\n" + b"a\n" * 5001, "5,001 texts")):
        page.locator("#bench-csv").set_input_files(
            {"name": "t.csv", "mimeType": "text/csv", "buffer": content}
        )
        page.get_by_text(told).wait_for()
    assert watched.faults == []
    watched.close()
