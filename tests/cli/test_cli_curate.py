"""`tagtopics curate`: edits on the command line, the journal, undo and replay."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from cli_running import fit_small, run, write_rows

import tagtopics as tt
from tagtopics.curation.commands import fit_with_journal


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("curate")
    fit_small(folder, name="m.tt")
    fit_small(folder, "--no-corpus", name="bare.tt")
    return folder


def test_edit_undo_and_replay(fitted: Path, tmp_path: Path) -> None:
    model, edited = fitted / "m.tt", tmp_path / "edited.tt"
    n_topics = run("topics", model, "--json").json()["n_topics"]
    named = run("curate", model, "rename", "1", "a <b>name</b>", "--out", edited, "--json").json()
    assert named["topics"][1]["name"] == "a <b>name</b>"
    merged = run("curate", edited, "merge", "0", "2", "--json").json()
    assert (merged["n_topics"], merged["n_edits"]) == (n_topics - 1, 2)
    assert run("curate", edited, "seed", "kitchen", "bread", "oven", "--json").json()["n_edits"] == 3
    assert [edit.kind for edit in tt.load(edited).curation_.edits] == ["rename", "merge", "seed"]
    again = run("curate", edited, "replay", "--seed", "3", "--out", tmp_path / "n.tt", "--json").json()
    names = [row["name"] for row in again["topics"]]
    assert names[1] == "a <b>name</b>"
    assert names[-1] == "kitchen"
    for _ in range(3):
        assert run("curate", edited, "undo", "--json").code == 0
    ours, theirs = tt.load(edited), tt.load(model)
    np.testing.assert_array_equal(ours.components_, theirs.components_)
    document = tt.read_corpus(["bread oven flour"], vocabulary=theirs.vocabulary_)
    np.testing.assert_array_equal(ours.tag_probabilities(document), theirs.tag_probabilities(document))


def test_topics_that_get_other_numbers_are_named(tmp_path: Path) -> None:
    model = fit_small(tmp_path, "--topics", 8)
    edited = tmp_path / "edited.tt"
    for action, topics, says in (
        ("merge", (5, 1, 2), "topics 3-4 are now 2-3, topics 6-7 are now 4-5"),
        ("merge", (0, 1, 6), "topics 2-5 are now 1-4, topic 7 is now 5"),
        ("merge", (1, 7), ""),
        ("rename", (1, "x"), ""),
    ):
        result = run("curate", model, action, *topics, "--out", edited)
        assert result.code == 0
        assert [line for line in result.err.splitlines() if "now" in line] == (
            [f"note: {says}"] if says else []
        )


def test_only_what_changed_is_printed(fitted: Path, tmp_path: Path) -> None:
    edited = tmp_path / "e.tt"
    n_topics = len(run("topics", fitted / "m.tt", "--json").json()["topics"])
    assert n_topics > 1
    renamed = run("curate", fitted / "m.tt", "rename", "1", "baking", "--out", edited).out
    assert renamed.startswith(f"1 of {n_topics} topics of ")
    assert [line.split()[0] for line in renamed.splitlines() if " % " in line] == ["1"]
    assert "no topic has" in " ".join(run("curate", edited, "rename", "1", "baking").out.split())


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("dance",), "unknown action"),
        (("rename", "1"), "a topic and its name"),
        (("merge", "one", "two"), "not the number"),
        (("merge", "1"), "two or more"),
        (("rename", "77", "x"), "there are topics"),
        (("undo",), "no edits"),
        (("undo", "3"), "nothing more"),
        (("replay",), "no topics"),
        (("replay", "other.tt"), "nothing more"),
        (("seed", "only-a-name"), "words"),
        (("ban", "no-such-word"), "no word"),
    ],
)
def test_mistakes_are_one_line_and_change_nothing(
    fitted: Path, arguments: tuple[str, ...], says: str
) -> None:
    before = (fitted / "m.tt" / "model.json").read_bytes()
    result = run("curate", fitted / "m.tt", *arguments)
    assert result.code == 2
    assert says in result.err
    assert result.err.count("\n") == 1
    assert (fitted / "m.tt" / "model.json").read_bytes() == before


def test_a_replay_needs_the_documents(fitted: Path) -> None:
    result = run("curate", fitted / "bare.tt", "replay")
    assert (result.code, "documents" in result.err) == (2, True)


def test_a_journal_guides_the_next_fit(fitted: Path, tmp_path: Path) -> None:
    """`fit --curation` keeps names and bans with another seed."""
    edited = tmp_path / "edited.tt"
    before = run("curate", fitted / "m.tt", "rename", 1, "bread and flour", "--out", edited, "--json").json()
    word = before["topics"][0]["words"][0]["word"]
    assert run("curate", edited, "ban", word, "--quiet").code == 0
    rows, options = write_rows(tmp_path / "corpus.jsonl"), ("--no-recommender", "--seed", 5, "--json")
    again = run("fit", rows, "--curation", edited, "--out", tmp_path / "n.tt", *options).json()
    assert again["n_topics"] == before["n_topics"]
    topics = run("topics", tmp_path / "n.tt", "--json").json()["topics"]
    assert topics[1]["name"] == "bread and flour"
    assert all(word != one["word"] for topic in topics for one in topic["words"])


def test_guided_topics_need_no_model(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "corpus.jsonl")
    fit = ("fit", source, "--topics", 2, "--out", tmp_path / "g.tt", "--no-recommender", "--json")
    done = run(*fit, "--guided", "my topic: bread, nosuchword")
    assert done.json()["n_topics"] == 3
    assert "nosuchword" in done.err
    topics = run("topics", tmp_path / "g.tt", "--json").json()["topics"]
    assert topics[2]["name"] == "my topic"
    for wrong, says in (
        (("--guided", "no colon"), "a colon"),
        (("--guided", "x: nosuchword"), "no word"),
        (("--guided", "x: bread", "--guided", "x: bread"), "same name"),
        (("--guided", "x: bread", "--model", "rtm"), "RTM"),
        (("--curation", tmp_path / "none.tt"), "no such model"),
    ):
        failed = run(*fit, *wrong)
        assert (failed.code, failed.err.count("\n")) == (2, 1), failed.err
        assert says in failed.err


@pytest.mark.parametrize("topic", [100, 10**8, 10**30])
def test_a_journal_cannot_ask_for_topics_without_end(tmp_path: Path, topic: int) -> None:
    far = {"topics": [{"topic": topic, "name": "far", "words": {"bread": 1.0}}]}
    corpus, journal = tt.read_corpus(write_rows(tmp_path / "corpus.jsonl")), tt.Curation.from_json(far)
    for given in (None, 2):
        with pytest.raises(tt.InputError, match="the journal has topics that a model of"):
            fit_with_journal(tt.LDA(given or 20), corpus, journal, given, [])
