"""Sentences on the first pages and in guides that a reader would check, against their source."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import tagtopics as tt
from benchmarks.records import curves, load, reaches

ROOT = Path(__file__).parents[1]


def flat(name: str) -> str:
    """Return the text of a page in one line."""
    return " ".join((ROOT / name).read_text(encoding="utf-8").split())


def test_figures_of_speed_name_their_settings_and_are_those_of_the_records() -> None:
    page, found = flat("README.md"), curves(load(ROOT / "benchmarks" / "results" / "present"))
    for kind, before in (("default", "with default settings"), ("lda", '`preset="fast"`')):
        rows = reaches(found, last=False, kind=kind)
        for peer in ("tomotopy", "sklearn"):
            ratios = [row.cpu_ratio or 0.0 for row in rows if row.peer.system.startswith(peer)]
            place = page.index(f"{min(ratios):.0f} to {max(ratios):.0f}")
            assert before in page[place - 150 : place]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("README.md", "The topics of `TTM` are those of LDA"),
        ("paper.md", "By default the topics are those of LDA"),
    ],
)
def test_first_pages_say_whose_topics_they_are(name: str, sentence: str) -> None:
    assert sentence in flat(name)


def test_transform_says_what_predicts_words() -> None:
    assert "To predict words, call `predict_words`" in " ".join((tt.TTM.transform.__doc__ or "").split())


def test_the_guide_has_the_figures_of_the_record_about_gadarian() -> None:
    record = json.loads((ROOT / "reproduction/records/analysis/gadarian.json").read_text(encoding="utf-8"))
    page, clear, n = flat("docs/guides/effects.md"), record["clear"], record["intervals"]
    assert f"{clear['theirs']} of {n} intervals of the structural model" in page
    assert f"and {clear['ours']} of ours" in page
    topic = next(row for row in record["rows"] if row["their_words"][0] == "immigration")
    ours, theirs = ([round(100 * value) for value in topic[name]] for name in ("ours", "theirs"))
    assert f"effect of {theirs[0]} points and `effects` {ours[0]} ({ours[1]} to {ours[2]})" in page


def test_make_help_names_what_is_for_users() -> None:
    shown = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in ("demo", "test", "package", "docs", "reproduce"):
        assert f'@echo "make {target} ' in shown


def test_equal_bits_at_any_number_of_threads_are_not_called_unique() -> None:
    page = flat("docs/guides/switching.md")
    assert "(STM, CTM) give the same bits with any number of threads, as all models do here" in page
    for name in ("README.md", "paper.md", "docs/index.md", "docs/guides/switching.md"):
        for sentence in re.split(r"(?<=[.!?]) ", flat(name)):
            alone = re.search(r"\b(only|unique|unlike|no other|none of)\b", sentence)
            assert alone is None or not re.search(r"\bnumber of threads\b", sentence), (name, sentence)


def test_the_guide_says_that_a_quiet_first_fit_tells_nothing() -> None:
    assert "with `--quiet`, as with all notes, it does not" in flat("docs/guides/speed.md")
