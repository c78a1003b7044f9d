"""The registry: complete, well-formed, and true to the upstream files."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

from tagtopics.datasets.load import DatasetEntry, read_registry

ENTRIES = list(read_registry().values())
by_name = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)


def test_the_data_sets_of_the_paper_are_registered() -> None:
    assert {entry.name for entry in ENTRIES} == {"cora", "med", "corel5k"}


@by_name
def test_an_entry_is_complete(entry: DatasetEntry) -> None:
    assert entry.description.endswith(".")
    assert entry.licence
    assert entry.source
    assert entry.format in {"mat", "mulan"}
    roles = [file.role for file in entry.files]
    assert len(set(roles)) == len(roles)
    assert set(roles) == (
        {"counts", "tags", "vocabulary", "tag_names"} if entry.format == "mat" else {"counts", "tag_names"}
    )
    assert set(entry.paper) == {
        *("n_docs", "n_tags", "n_words"),
        *("tokens_per_doc", "words_per_doc", "tags_per_doc"),
    }


@by_name
def test_addresses_name_a_commit_and_checksums_are_checksums(entry: DatasetEntry) -> None:
    for file in entry.files:
        assert re.fullmatch(
            r"https://raw\.githubusercontent\.com/[\w-]+/[\w-]+/[0-9a-f]{40}/[\w./-]+", file.address
        )
        assert file.address.endswith("/" + file.name)
        assert re.fullmatch(r"[0-9a-f]{64}", file.sha256)
        assert 0 < file.size < 10_000_000


@pytest.mark.parametrize("name", ["cora", "med"])
def test_expected_statistics_are_those_of_table_2(name: str) -> None:
    entry = read_registry()[name]
    for statistic in ("n_docs", "n_tags", "n_words"):
        assert entry.expected[statistic] == entry.paper[statistic]
    sizes = {"tokens_per_doc": "n_tokens", "words_per_doc": "n_edges", "tags_per_doc": "n_slots"}
    for statistic, total in sizes.items():
        mean = entry.expected[total] / entry.expected["n_docs"]
        assert mean == pytest.approx(entry.paper[statistic], rel=0.015), statistic


@pytest.mark.real_data
@by_name
def test_upstream_files_have_the_registered_checksums(entry: DatasetEntry, data_directory: Path) -> None:
    for file in entry.files:
        content = (data_directory / "upstream" / file.name).read_bytes()
        assert len(content) == file.size
        assert hashlib.sha256(content).hexdigest() == file.sha256
