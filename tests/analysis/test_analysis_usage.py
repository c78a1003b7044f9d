"""Tags that other tags imply, and tags on a single document."""

from __future__ import annotations

from pathlib import Path

import pytest

import tagtopics as tt
from tagtopics.analysis.audit.audit import implied_tags, single_tags
from tagtopics.analysis.audit.changes import Change, refused_changes, write_changes
from tagtopics.cli import main

pytestmark = pytest.mark.filterwarnings("ignore::tagtopics.errors.CorpusWarning")
LISTS = [
    *[["neural-networks", "machine-learning"]] * 9,
    ["neural-networks"],
    *[["machine-learning"]] * 4,
    *[["cooking", "bread", "once"]],
    *[["cooking", "bread"]] * 3,
    *[["cooking"]] * 20,
    ["alone"],
]


@pytest.fixture
def corpus() -> tt.Corpus:
    texts = ["gradient layer loss" if "learn" in str(tags) else "oven flour yeast" for tags in LISTS]
    return tt.read_corpus(texts, tags=LISTS)


def test_a_tag_nearly_always_with_another_implies_it(corpus: tt.Corpus) -> None:
    found = implied_tags(corpus)
    names = corpus.tag_names
    assert [(names[found.tags[0]], names[found.others[0]])] == [("machine-learning", "neural-networks")]
    assert found.docs.tolist() == [9]
    assert found.scores.tolist() == [pytest.approx(10 / 12)]


@pytest.mark.parametrize(
    ("lists", "why"),
    [
        ([*[["a", "b"]] * 3, ["a"], *[["b"]] * 3, *[["c"]] * 9], "a tag on four documents implies nothing"),
        ([*[["a", "b"]] * 7, *[["a"]] * 3, *[["b"]] * 9, *[["c"]] * 40], "seven of ten are too few"),
        ([*[["a", "b"]] * 9, ["a"], *[["b"]] * 9, ["c"]], "the other tag is on most documents"),
        ([*[["a", "b"]] * 9, ["a"], *[["c"]] * 40], "the other tag is not on more documents"),
        ([*[["x:a", "y:b"]] * 9, ["x:a"], *[["y:b"]] * 9, *[["c"]] * 40], "the kinds differ"),
    ],
)
def test_what_implies_nothing(lists: list[list[str]], why: str) -> None:
    corpus = tt.read_corpus(["some words"] * len(lists), tags=lists)
    assert len(implied_tags(corpus).tags) == 0, why


def test_the_best_of_several_reasons_is_given() -> None:
    lists = [*[["a", "b", "wide"]] * 9, ["a", "b"], *[["b", "wide"]] * 9, *[["wide"]] * 5, *[["c"]] * 40]
    corpus = tt.read_corpus(["some words"] * len(lists), tags=lists)
    found = implied_tags(corpus)
    by = {
        (corpus.tag_names[t], corpus.tag_names[o]): d for t, o, d in zip(*found[:1], *found[2:], strict=True)
    }
    assert by == {("wide", "b"): 9}  # 18 of 19 are more than 9 of 10
    assert found.scores.tolist() == [pytest.approx(19 / 21)]


def test_tags_on_a_single_document(corpus: tt.Corpus) -> None:
    found = single_tags(corpus)
    scores = {corpus.tag_names[tag]: score for tag, score in zip(found.tags, found.scores, strict=True)}
    assert scores == {"once": pytest.approx(2 / 3), "alone": 0.0}


def test_findings_of_an_audit(corpus: tt.Corpus, tmp_path: Path) -> None:
    model = tt.TTM(2, random_state=0, max_iter=5).fit(corpus)
    found = tt.audit(model, corpus, kinds=["implied", "single"])
    assert [(f.kind, f.change, f.tag, f.other, f.document) for f in found] == [
        ("implied", "add", "machine-learning", "neural-networks", "9"),
        ("single", "drop", "once", None, None),
    ]
    assert found[1].documents == ("14",)
    # What is already found as missing is not found twice, and what was refused is not found again.
    missing = tt.audit(model, corpus, kinds=["missing", "implied"], min_score=0)
    assert len({(f.document, f.tag) for f in missing}) == len(missing)
    changes = write_changes(found, tmp_path / "changes.csv")
    changes.write_text(changes.read_text().replace("\n,", "\nno,"))
    assert tt.audit(model, corpus, kinds=["implied", "single"], refused=refused_changes(changes)) == []
    as_missing = [Change("add", "machine-learning", "9", 9)]
    assert [f.kind for f in tt.audit(model, corpus, kinds=["implied", "single"], refused=as_missing)] == [
        "single"
    ]


def test_findings_are_shown_and_applied(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = ["id,text,tags", *(f"d{n},some words,{';'.join(tags)}" for n, tags in enumerate(LISTS))]
    (tmp_path / "c.csv").write_text("\n".join(lines) + "\n")
    changes = str(tmp_path / "changes.csv")
    given = ["--topics", "2", "--kind", "implied", "--kind", "single", "--changes", changes]
    assert main(["audit", str(tmp_path / "c.csv"), *given]) == 0
    shown = capsys.readouterr().out
    assert "Tags that another tag implies: add?" in shown
    assert "Tags on a single document: drop?" in shown
    Path(changes).write_text(Path(changes).read_text().replace("\n,", "\nyes,"))
    assert main(["apply", changes, str(tmp_path / "c.csv"), "--out", str(tmp_path / "o.csv")]) == 0
    after = (tmp_path / "o.csv").read_text()
    assert "d9,some words,neural-networks; machine-learning\n" in after
    assert "once" not in after
