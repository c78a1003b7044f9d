"""The page of the audit in a report: answers, their export, and what it refuses."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from explore_support import HOSTILE, Watched, wait_until

import tagtopics as tt
from changed_tags import apply_changes
from tagtopics import ReportOptions, write_report
from tagtopics.analysis.audit.changes import Change, Finding, read_changes, write_changes
from tagtopics.cli import main
from tagtopics.errors import InputError
from tagtopics.explore.record.inputs import read_findings
from tagtopics.explore.record.topic_data import TopicData

pytest_plugins = ("explore_fixtures",)

FINDINGS = [
    Finding("doubtful", "place:sea", 0.91234, "text 0", 0, words=("wave", "tide"), documents=("text 4",)),
    Finding("doubtful", "author:a1", 0.4, "text 1", 1),
    Finding("missing", 'place:"new", =SUM(1)\n', 0.7, "text 2", 2, words=("salt",)),
    Finding("duplicate", "place:sea", 0.6, other="place:garden"),
    Finding("single", HOSTILE[0], 0.2),
    Finding("implied", "place:garden", 0.8, "text 0", 0, other="place:sea"),
    Finding("single", "place:sea", 0.5),
]


def saved(path: Path, findings: list[Finding]) -> Path:
    path.write_text(json.dumps({"findings": [one.to_dict() for one in findings]}), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def address(data: TopicData, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("audited")
    findings = read_findings(saved(folder / "findings.json", FINDINGS))
    write_report(data, folder / "report.html", options=ReportOptions(findings=findings))
    return (folder / "report.html").as_uri()


def exported(page: Any) -> str:
    with page.expect_download() as download:
        page.click("#audit-export")
    return Path(download.value.path()).read_bytes().decode()


def opened(watched: Watched, place: str = "#/audit") -> Any:
    page = watched.open(place)
    wait_until(page, "() => !!document.querySelector('.audit-findings')")
    return page


def test_answers_become_changes_that_apply(watched: Watched, corpus: tt.Corpus, tmp_path: Path) -> None:
    page = opened(watched)
    assert page.locator(".audit-findings > li").count() == 2
    page.click(".audit-findings > li:nth-child(1) [data-answer=yes]")
    page.click(".audit-findings > li:nth-child(2) [data-answer=no]")
    page.select_option("#audit-kind", "duplicate")
    page.click(".audit-findings [data-answer=yes]")
    assert "2 accepted, 1 refused, of 7 findings" in page.inner_text(".audit-counts")
    path = tmp_path / "changes.csv"
    path.write_text(exported(page), encoding="utf-8")
    changes, n_refused = read_changes(path)
    assert [(one.change, one.tag, one.row, one.other) for one in changes] == [
        ("remove", "place:sea", 0, None),
        ("merge", "place:sea", None, "place:garden"),
    ]
    assert n_refused == 5
    assert isinstance(changes[0], Change)
    fixed = apply_changes(corpus, changes)
    assert "place:garden" not in fixed.tag_names
    assert "place:sea" not in fixed.tags_of(0)


def test_the_text_is_beside_the_question(watched: Watched, corpus: tt.Corpus) -> None:
    page = opened(watched)
    first = page.locator(".audit-findings > li").first
    first.locator(".snippet", has_text=(corpus.texts or ("",))[0][:40]).wait_for()
    assert "Words of this tag that the text lacks: wave tide" in first.inner_text()


def test_an_implied_tag_is_shown_with_the_tag_that_implies_it(watched: Watched) -> None:
    page = opened(watched, "#/audit?kind=implied")
    assert re.search(
        r"^Add .*garden.* to .*, which has .*sea", page.inner_text(".audit-what").replace("\n", " ")
    )


def test_export_is_the_file_that_audit_writes(watched: Watched, tmp_path: Path) -> None:
    page = opened(watched)
    wanted = write_changes(FINDINGS, tmp_path / "wanted.csv").read_text(encoding="utf-8")
    assert list(csv.reader(io.StringIO(exported(page)))) == list(csv.reader(io.StringIO(wanted)))


def test_answers_are_kept_and_taken_back(watched: Watched) -> None:
    page = opened(watched)
    page.fill("#audit-least", "0.9")
    page.click("#audit-accept-all")
    assert page.get_attribute(".audit-findings > li:nth-child(1) [data-answer=yes]", "aria-pressed") == "true"
    assert "1 accepted, 0 refused" in page.inner_text(".audit-counts")
    page.reload()
    wait_until(page, "() => !!document.querySelector('.audit-findings')")
    assert "1 accepted" in page.inner_text(".audit-counts")
    page.check("#audit-open")
    assert page.locator(".audit-findings > li").count() == 1
    page.uncheck("#audit-open")
    page.click(".audit-findings > li:nth-child(1) [data-answer=yes]")
    assert "0 accepted" in page.inner_text(".audit-counts")


@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_page_is_accessible(browser: Any, address: str, scheme: str) -> None:
    watched = Watched(browser, address, color_scheme=scheme)
    for kind in ("doubtful", "missing", "duplicate", "implied", "single"):
        page = opened(watched, f"#/audit?kind={kind}")
        page.click(".audit-findings [data-answer=yes]")
        assert watched.problems() == [], kind
    assert page.evaluate("window.pwned") is None
    watched.close()


def test_many_findings_are_shown_in_steps(browser: Any, data: TopicData, tmp_path: Path) -> None:
    many = [Finding("doubtful", "place:sea", 0.5, f"text {d % 72}", d % 72) for d in range(120)]
    findings = read_findings(saved(tmp_path / "findings.json", many))
    write_report(data, tmp_path / "report.html", options=ReportOptions(findings=findings))
    watched = Watched(browser, (tmp_path / "report.html").as_uri())
    page = opened(watched)
    assert page.locator(".audit-findings > li").count() == 50
    page.click("text=Show more (70 left)")
    assert page.locator(".audit-findings > li").count() == 100
    watched.close()
    assert watched.faults == []


def test_report_without_findings_has_no_page(browser: Any, data: TopicData, tmp_path: Path) -> None:
    write_report(data, tmp_path / "report.html")
    watched = Watched(browser, (tmp_path / "report.html").as_uri())
    page = watched.open()
    assert "Audit" not in page.inner_text("#pages")
    watched.close()


def test_findings_count_towards_the_size(data: TopicData) -> None:
    from tagtopics.explore.record.inputs import AuditFinding
    from tagtopics.explore.report.html_report import render_report

    findings = [
        AuditFinding(
            kind="doubtful", change="remove", tag=f"tag {i**3 % 1009}", score=0.5, row=i, document=f"d{i}"
        )
        for i in range(20_000)
    ]
    html, _ = render_report(data, ReportOptions(max_mb=0.6, findings=findings))
    assert len(html) <= 0.6e6


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "JSON"),
        (b"[]", "object"),
        (b'{"findings": 3}', "array"),
        (b'{"findings": [{"kind": "odd"}]}', "kind"),
        (b'{"findings": [{"kind": "single", "change": "drop", "tag": "", "score": 0}]}', "tag"),
        (b'{"findings": [{"kind": "single", "change": "drop", "tag": "a", "score": 2}]}', "score"),
        (b'{"findings": [{"kind": "single", "change": "drop", "tag": "a", "score": NaN}]}', "JSON|score"),
        (b"\xff\xfe", "UTF-8"),
    ],
)
def test_other_files_are_refused_in_one_line(tmp_path: Path, content: bytes, reason: str) -> None:
    (tmp_path / "findings.json").write_bytes(content)
    with pytest.raises(InputError, match=reason) as caught:
        read_findings(tmp_path / "findings.json")
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="No such file"):
        read_findings(tmp_path / "other.json")


def test_command_adds_the_page(model: tt.TTM, corpus: tt.Corpus, tmp_path: Path) -> None:
    from tagtopics.models.persistence import save_model

    save_model(model, tmp_path / "model.tt", corpus)
    findings, out = saved(tmp_path / "findings.json", FINDINGS), tmp_path / "report.html"
    arguments = ["report", str(tmp_path / "model.tt"), "--out", str(out), "--quiet"]
    assert main([*arguments, "--audit", str(findings)]) == 0
    assert b'id="audit"' in out.read_bytes()
    assert main([*arguments, "--audit", str(tmp_path / "nothing.json")]) == 2
