"""The page "What we promise": each promise names tests that exist, and numbers of the source."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tagtopics as tt
from tagtopics.corpus import patterns
from tagtopics.corpus.formats import text_files
from tagtopics.corpus.tags import MOST_TOGETHER
from tagtopics.jit import threads
from tagtopics.models.validation import check_parameters
from tagtopics.readers import sandbox as apart
from tagtopics.recommend.recommender import MOST_DOCS
from tagtopics.scale.ingest import MAX_CANDIDATES
from tagtopics.scale.writer import EXACT

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "promises.md").read_text(encoding="utf-8")
PROMISES, NOT_PROMISED = PAGE.split("## What we do not promise")
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def test_every_named_test_exists() -> None:
    named = set(NAMED.findall(PAGE))
    assert len(named) > 60
    assert len(NAMED.findall(PAGE)) == PAGE.count("`tests/") - 1  # the other is the placeholder
    functions: dict[str, set[str]] = {}
    for file, test in sorted(named):
        if file not in functions:
            tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
            functions[file] = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        assert test in functions[file], f"{file} has no {test}"


def test_every_promise_names_a_test() -> None:
    rows = [line for line in PROMISES.splitlines() if line.startswith("|") and "---" not in line]
    items = re.split(r"^- ", PROMISES, flags=re.MULTILINE)[1:]
    promises = [row for row in rows if not row.endswith("| tests |")] + items
    assert len(promises) > 30
    assert [promise for promise in promises if not NAMED.search(promise)] == []


def row(start: str) -> str:
    """Return the row of a table that starts with some text."""
    (found,) = [line for line in PAGE.splitlines() if line.startswith(f"| {start}")]
    return found


def test_numbers_of_the_page_are_those_of_the_source() -> None:
    decode = pytest.importorskip("tagtopics.images.decode")
    limits = pytest.importorskip("tagtopics.explore.server.middleware").Limits()
    expected = {
        "a count": [f"{2**31 - 1:,}", f"{EXACT:,}"],
        "`token_pattern`": [f"{patterns.MOST_CHARACTERS:,} characters"],
        "gzip": [f"{text_files.FREE_EXPANSION // 2**20} MiB", f"{text_files.MAX_EXPANSION} times"],
        "a line": [f"{text_files.LINE_LIMIT // 2**20} MiB"],
        "images": [f"{decode.MAX_PIXELS:,} pixels", f"at most {decode.MOST_WORKING_PIXELS:,}"],
        "documents that a recommender": [f"{MOST_DOCS:,}"],
        "tags of a document": [f"{MOST_TOGETHER:,}"],
        "workbooks": [
            f"{apart.BASE_MEMORY // 2**30} GiB",
            f"{apart.BASE_SECONDS} s of processor time and {apart.SECONDS_PER_MEGABYTE} s per megabyte",
        ],
        "`n_jobs`": [f"at most {threads._MAX_THREADS_PER_CORE} threads per core"],
        "distinct words": [f"{MAX_CANDIDATES:,}"],
        "the body": [
            f"{limits.body_bytes / 1e6:g} MB",
            f"an image {limits.photograph_bytes / 1e6:g} MB",
            f"within {limits.body_seconds:g} s",
        ],
        "requests at a time": [f"{limits.workers} computed, {limits.queue} waiting", f"{limits.seconds:g} s"],
    }
    for start, numbers in expected.items():
        assert [number for number in numbers if number not in row(start)] == [], start


@pytest.mark.parametrize(
    ("name", "allowed", "refused"),
    [
        ("n_topics", (1, 100_000), (0, 100_001, -1, True)),
        ("n_jobs", (None, -1024, -1, 1, 1024), (0, 1025, -1025, 1.5)),
    ],
)
def test_limits_of_parameters(name: str, allowed: tuple[Any, ...], refused: tuple[Any, ...]) -> None:
    for value in allowed:
        check_parameters(tt.TTM().set_params(**{name: value}))
    for value in refused:
        with pytest.raises(tt.InputError, match=f"{name} must be"):
            tt.TTM().set_params(**{name: value}).fit(np.eye(3))
