"""`tagtopics shard`: a summary for people, a payload for programs, one line for what is wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from cli_running import ROWS, run, write_rows

from tagtopics.scale import ShardFolder


def test_shard_prints_a_summary(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "corpus.jsonl")
    result = run("shard", source, "--out", tmp_path / "shards")
    assert result.code == 0, result.err
    for part in ("18 documents", "5 tags", "1 shard", "documents per second"):
        assert part in result.out
    folder = ShardFolder.open(tmp_path / "shards")
    assert folder.corpus().ids == tuple(row["id"] for row in ROWS)


def test_options_reach_the_shards(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "corpus.jsonl")
    out = tmp_path / "shards"
    options = ("--shard-edges", 30, "--max-words", 5, "--tags", "tags", "--id", "id")
    payload = run("shard", source, "--out", out, "--json", *options).json()
    folder = ShardFolder.open(out)
    assert payload["n_words"] == len(folder.vocabulary) == 5
    assert payload["n_shards"] == len(folder) > 1
    assert payload["n_docs"] == 18
    assert payload["bytes"] == sum(
        file.stat().st_size for file in out.iterdir() if file.name != "manifest.json"
    )
    assert payload["notices"] == list(folder.manifest.notices)
    assert payload["docs_per_second"] > 0


def test_a_data_set_by_name(tmp_path: Path) -> None:
    payload = run("shard", "docstrings", "--out", tmp_path / "shards", "--json").json()
    assert payload["n_docs"] == ShardFolder.open(tmp_path / "shards").manifest.n_docs > 100


def test_force_replaces_and_nothing_else_does(tmp_path: Path) -> None:
    source, out = write_rows(tmp_path / "corpus.jsonl"), tmp_path / "shards"
    assert run("shard", source, "--out", out, "--shard-edges", 10).code == 0
    again = run("shard", source, "--out", out)
    assert again.code == 2
    assert "--force" in again.err
    assert len(ShardFolder.open(out)) > 1
    assert run("shard", source, "--out", out, "--force").code == 0
    assert len(ShardFolder.open(out)) == 1


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (None, (), "no such file"),
        ("", (), "empty"),
        ("\n", (), "no documents"),
        ('{"text": "a b"}', ("--text", "body"), "no column 'body'"),
        ('{"text": "bread"}', ("--label", "text"), "shards cannot hold labels"),
        ('{"text": "bread"}', ("--shard-edges", "0"), "--shard-edges"),
        ('{"text": "bread"}', ("--format", "docx"), "unknown 'docx'"),
        ('{"text": "bread"}', ("--min-df", "2"), "min_df=2"),
    ],
)
def test_wrong_input_is_one_line(
    tmp_path: Path, content: str | None, options: tuple[str, ...], message: str
) -> None:
    source = tmp_path / "corpus.jsonl"
    if content is not None:
        source.write_text(content)
    result = run("shard", source, "--out", tmp_path / "shards", *options)
    assert result.code == 2
    assert message in result.err
    assert result.err.count("\n") == 1
    assert not (tmp_path / "shards").exists()


def test_out_is_needed_and_must_be_free(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "corpus.jsonl")
    assert run("shard", source).code == 2
    for out in (tmp_path, source):  # a folder of other things, a file
        result = run("shard", source, "--out", out, "--force")
        assert result.code == 2
        assert result.err.count("\n") == 1
    assert source.is_file()


def test_a_full_disk_leaves_nothing_that_looks_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A limit on the size of files stands for the disk: the vocabulary fits, the first shard does not."""
    resource = pytest.importorskip("resource")
    rows = [{"text": " ".join(f"w{(i * j) % 97}x" for j in range(60))} for i in range(200)]
    source, out = write_rows(tmp_path / "corpus.jsonl", rows), tmp_path / "shards"
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # it would be cut short
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8_000, hard))
    try:
        result = run("shard", source, "--out", out)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert result.code == 2, result.err
    assert "cannot be written" in result.err
    assert result.err.count("\n") == 1
    assert not out.exists()


def test_a_killed_run_leaves_no_shards(tmp_path: Path) -> None:
    rows = [{"text": " ".join(f"w{(i * j) % 97}x" for j in range(60))} for i in range(200)]
    source, out = write_rows(tmp_path / "corpus.jsonl", rows), tmp_path / "shards"
    code = (
        "import os, sys; from tagtopics.scale import ShardWriter, shard_corpus; "
        "ShardWriter.close = lambda self: os._exit(9); "
        "shard_corpus(sys.argv[1], sys.argv[2], shard_edges=500)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(source), str(out)], check=False)
    assert done.returncode == 9
    assert not out.exists()
    assert run("shard", source, "--out", out).code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["corpus.jsonl", "shards"]
    assert len(ShardFolder.open(out)) == 1
