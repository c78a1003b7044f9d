"""Colours of the map: by kind of tag, by chosen tags, by score of the audit; each has a legend."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from explore_support import Watched, wait_for_map, wait_until

import tagtopics as tt
from tagtopics import ReportOptions, write_report
from tagtopics.explore.record.inputs import AuditFinding

pytest_plugins = ("explore_fixtures",)

# Colours of the saved picture: what people publish has the points of the screen and the legend.
POINTS = """() => { const drawn = document.querySelector('.terrain').picture();
  const dots = [...drawn.querySelectorAll(':scope > path')].flatMap(path =>
    (path.getAttribute('d').match(/h0/g) || []).map(() => path.getAttribute('stroke')));
  const keys = [...drawn.querySelectorAll('.map-legend rect')].slice(1).map(one => one.getAttribute('fill'));
  const names = [...drawn.querySelectorAll('.map-legend text')].map(one => one.textContent);
  return { dots, keys, names }; }"""


def test_a_kind_of_tag_colours_the_documents_that_have_it(watched: Watched, corpus: tt.Corpus) -> None:
    page = watched.open()
    page.locator(".mapnote .choice").get_by_text("place", exact=True).click()
    wait_for_map(page)
    found = page.evaluate(POINTS)
    assert sorted(found["names"]) == ["garden", "kitchen", "music", "sea"]
    for colour in found["keys"]:
        assert found["dots"].count(colour) == corpus.n_docs // 4
    assert (
        page.locator(".mapnote .note")
        .inner_text()
        .startswith("Colours show the 4 most frequent tags of the kind place;")
    )
    assert "colour=kind%3Aplace" in page.url


def test_chosen_tags_are_part_of_the_address(watched: Watched, corpus: tt.Corpus) -> None:
    page = watched.open("#/?colour=tags&by=place:sea%0Aalso:sea%0Anone")
    wait_for_map(page)
    found = page.evaluate(POINTS)
    assert found["names"] == ["place:sea", "also:sea", "several of them"]
    has = [[tag in corpus.tags_of(d) for tag in ("place:sea", "also:sea")] for d in range(corpus.n_docs)]
    expected = [has.count(pair) for pair in ([True, False], [False, True], [True, True])]
    assert [found["dots"].count(colour) for colour in found["keys"]] == expected
    page.get_by_role("button", name="Remove also:sea").click()
    wait_until(page, "() => document.querySelectorAll('.map-legend text').length === 1")
    assert page.evaluate(POINTS)["dots"].count(found["keys"][0]) == 18
    page.go_back()
    wait_until(page, "() => document.querySelectorAll('.map-legend text').length === 3")


def test_the_audit_colours_documents_with_findings(
    browser: Any, model: tt.TTM, corpus: tt.Corpus, tmp_path: Path
) -> None:
    rows = {3: 0.9, 5: 0.2}
    findings = [
        AuditFinding(
            kind="missing", change="add", tag="place:sea", score=score, row=row, document=f"text {row}"
        )
        for row, score in rows.items()
    ]
    path = tmp_path / "audited.html"
    write_report(model, path, corpus=corpus, options=ReportOptions(title="Audited", findings=findings))
    watched = Watched(browser, path.as_uri())
    page = watched.open("#/?colour=audit")
    wait_until(page, "() => document.querySelector('.map-legend')")
    wait_for_map(page)
    dots = page.evaluate(POINTS)["dots"]
    assert page.locator(".map-legend text").all_text_contents() == ["0", "1"]
    assert sorted(dots.count(colour) for colour in set(dots)) == [1, 1, corpus.n_docs - 2]
    watched.close()
    assert watched.faults == []


@pytest.mark.parametrize("query", ["colour=kind:nothing", "colour=tags&by=%0A%0A", "colour=audit"])
def test_unknown_colours_leave_a_map(watched: Watched, query: str) -> None:
    page = watched.open(f"#/?{query}")
    wait_for_map(page)
    assert page.locator(".terrain .name.topic:not([hidden])").count() > 0
