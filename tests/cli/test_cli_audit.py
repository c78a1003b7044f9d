"""`tagtopics audit` and `tagtopics apply`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_running import run

from benchmarks.synthetic import make_tagged_corpus
from tagtopics import read_corpus
from tagtopics.analysis.audit.rewrite import _TABLES
from tagtopics.corpus.formats.registry import FORMATS

KEYS = {
    "kind",
    "document",
    "row",
    "tag",
    "other",
    "score",
    "words",
    "name",
    "other_name",
    "documents",
    "change",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    corpus = make_tagged_corpus(n_docs=120, n_words=150, n_groups=0, n_topics=6, n_tags=6, seed=3).corpus
    path = tmp_path_factory.mktemp("audit") / "corpus.jsonl"
    rows = []
    for d in range(corpus.n_docs):
        counts = corpus.counts[[d]].toarray()[0]
        words = [corpus.vocabulary[w] for w in counts.nonzero()[0] for _ in range(int(counts[w]))]
        rows.append(json.dumps({"text": " ".join(words), "tags": list(corpus.tags_of(d))}))
    path.write_text("\n".join(rows) + "\n")
    return path


def test_audit_of_a_corpus_and_of_its_model_agree(folder: Path, tmp_path: Path) -> None:
    options, every = ("--topics", 6, "--iterations", 20), ("--min-score", 0)
    found = run("audit", folder, *options, *every, "--json")
    assert found.code == 0, found.err
    findings = found.json()["findings"]
    assert findings
    assert all(set(finding) == KEYS for finding in findings)
    assert run("fit", folder, *options, "-o", tmp_path / "m.tt").code == 0
    assert run("audit", tmp_path / "m.tt", *every, "--json").json()["findings"] == findings
    shown = run("audit", tmp_path / "m.tt", *every, "--limit", 2)
    assert shown.code == 0
    assert "score" in shown.out


def test_changes_are_written_accepted_and_applied(folder: Path, tmp_path: Path) -> None:
    csv = tmp_path / "c.csv"
    wanted = ("--kind", "missing", "--min-score", 0, "--changes", csv)
    audited = run("audit", folder, "--topics", 6, "--iterations", 20, *wanted)
    assert audited.code == 0, audited.err
    lines = csv.read_text().splitlines()
    assert lines[1].startswith(",add,")
    csv.write_text("\n".join([lines[0], "yes" + lines[1], *lines[2:]]) + "\n")
    applied = run("apply", csv, folder, "--out", tmp_path / "o.jsonl", "--json")
    assert applied.code == 0, applied.err
    assert applied.json()["changes"] == {"remove": 0, "add": 1, "merge": 0, "drop": 0}
    assert applied.json()["not_accepted"] == len(lines) - 2
    assert read_corpus(tmp_path / "o.jsonl").tags.nnz == read_corpus(folder).tags.nnz + 1
    again = run("apply", csv, tmp_path / "o.jsonl", "--out", tmp_path / "p.jsonl")
    assert again.code == 2
    assert "already has this tag" in again.err
    assert not (tmp_path / "p.jsonl").exists()


def test_refused_changes_are_not_found_again(folder: Path, tmp_path: Path) -> None:
    csv, options = tmp_path / "c.csv", ("--topics", 6, "--iterations", 20, "--min-score", 0, "--json")
    first = run("audit", folder, *options, "--changes", csv).json()["findings"]
    lines = csv.read_text().splitlines()
    csv.write_text("\n".join([lines[0], f"no{lines[1]}", f"yes{lines[2]}", *lines[3:]]) + "\n")
    again = run("audit", folder, *options, "--decided", csv)
    assert again.code == 0, again.err
    assert again.json()["findings"] == first[1:]
    missing = run("audit", folder, "--decided", tmp_path / "nothing.csv")
    assert missing.code == 2
    assert "no such file" in missing.err


def test_the_help_of_apply_names_what_can_be_written() -> None:
    shown = " ".join(run("apply", "--help").out.replace("│", " ").split())
    for suffix in _TABLES:
        assert f".{suffix}" in shown
    written = sorted(name for name, one in FORMATS.items() if one.write_tags)
    assert written == ["bookmarks", "karakeep", "linkwarden", "paperless", "vault"]
    for part in ("bookmarks (.json .html)", "a manifest of paperless-ngx", "a folder of Markdown notes"):
        assert part in shown


def test_apply_reads_the_collection_as_named(tmp_path: Path) -> None:
    (tmp_path / "changes.csv").write_text("accept,change,tag,other\nyes,merge,new,old\n")
    source, out = tmp_path / "c.csv", tmp_path / "o.csv"
    source.write_bytes("id:tags\n1:old\n2:день\n".encode("cp1251"))
    named = ("--delimiter", ":", "--encoding", "cp1251")
    applied = run("apply", tmp_path / "changes.csv", source, "--out", out, *named)
    assert applied.code == 0, applied.err
    assert out.read_bytes() == source.read_bytes().replace(b"old", b"new")
    (tmp_path / "changes.csv").write_text("accept,change,tag,other\nyes,merge,a;b,old\n")
    refused = run("apply", tmp_path / "changes.csv", source, "--out", tmp_path / "p.csv", *named)
    assert refused.code == 2
    assert refused.err.strip().endswith("nothing was written")
    assert len(refused.err.strip().splitlines()) == 1
    assert not (tmp_path / "p.csv").exists()


def test_mistakes_are_one_line(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text("accept,change,tag\nyes,explode,a\n")
    (tmp_path / "bare.jsonl").write_text('{"text": "red apple"}\n{"text": "green pear"}\n')
    wrong = [
        ("audit", folder, "--kind", "strange"),
        ("audit", folder, "--min-score", 3),
        ("audit", tmp_path / "nothing"),
        ("audit", folder, "--changes", tmp_path / "bad.csv"),
        ("apply", tmp_path / "bad.csv", folder, "--out", tmp_path / "o.jsonl"),
        ("apply", tmp_path / "nothing.csv", folder, "--out", tmp_path / "o.jsonl"),
        ("apply", tmp_path / "bad.csv", tmp_path / "nothing", "--out", tmp_path / "o.jsonl"),
        ("apply", tmp_path / "bad.csv", folder),
    ]
    for arguments in wrong:
        answer = run(*arguments)
        assert answer.code == 2, arguments
        assert len(answer.err.strip().splitlines()) == 1, answer.err
    assert not (tmp_path / "o.jsonl").exists()
    untagged = run("audit", tmp_path / "bare.jsonl", "--json", "--topics", 2)
    assert json.loads(untagged.out) == {"findings": []}
    assert "no tags" in untagged.err
