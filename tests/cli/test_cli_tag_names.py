"""`--tag-names`, `--threshold`, `--kind`; topics are saved before the recommender is trained."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from cli_running import run, write_rows

import tagtopics as tt
from tagtopics.models import persistence

WORDS = {
    "cooking": "bread oven flour butter",
    "sailing": "boat wind sail harbour",
    "music": "violin melody chord tune",
}
NAMES = "c\tcooking\ns\tsailing boats\tsailing\nm\tmusic\nu\tlighthouse\n"


def rows() -> list[dict[str, Any]]:
    return [
        {
            "title": f"Of {subject}",
            "abstract": f"{words} {words.split()[i % 4]} note{i % 3}",
            "subjects": [subject[0]],
            "split": "test" if i % 4 == 0 else "train",
        }
        for subject, words in WORDS.items()
        for i in range(12)
    ]


COLUMNS = "--text", "title", "--text", "abstract", "--tags", "subjects"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("names")
    write_rows(folder / "d.jsonl", rows())
    (folder / "n.tsv").write_text(NAMES)
    for out, more in (("m.tt", ("--tag-names", folder / "n.tsv")), ("plain.tt", ())):
        done = run(
            "fit",
            folder / "d.jsonl",
            *COLUMNS,
            "--topics",
            3,
            "--iterations",
            5,
            "--out",
            folder / out,
            *more,
        )
        assert done.code == 0, done.err
    return folder


def test_names_are_reasons(place: Path) -> None:
    model = place / "m.tt"
    asked = b'{"text": "a lighthouse and sailing"}\n{"text": "hello"}\n'
    first, second = run("recommend", model, "-", "--json", stdin=asked).json()["documents"]
    found = {row["tag"]: row for row in first["tags"]}
    assert found["u"]["found"] == ["lighthouse"]
    assert (found["s"]["name"], found["s"]["found"]) == ("sailing boats", ["sailing"])
    assert second["tags"] == []
    assert "no name of a tag" in second["note"]
    shown = run("recommend", model, "-", stdin=asked)
    assert "“lighthouse”" in shown.out


def test_tags_are_shown_and_found_by_their_names(place: Path, tmp_path: Path) -> None:
    model, names = place / "m.tt", ("cooking", "sailing boats", "music")
    fitted = run(
        "fit",
        place / "d.jsonl",
        *COLUMNS,
        "--topics",
        3,
        "--tag-names",
        place / "n.tsv",
        "--out",
        tmp_path / "m.tt",
    )
    for out in (fitted.out, run("topics", model).out, run("tags", model).out):
        assert all(name in out for name in names)
    assert run("tags", model, "sailing boats", "--json").json()["tags"][0]["tags"] == ["s"]
    assert "no tag 'sailing boat'; did you mean 'sailing boats'" in run("tags", model, "sailing boat").err
    given = ("--given", "bread and wind", "--tag", "cooking", "--tag", "s", "--json")
    assert run("explain", model, *given).json()["documents"][0]["tags"] == ["c", "s"]


def test_findings_have_the_names_of_tags(place: Path, tmp_path: Path) -> None:
    wrong = [
        row | {"subjects": ["c", "m"] if i in (13, 14) else row["subjects"]} for i, row in enumerate(rows())
    ]
    write_rows(tmp_path / "d.jsonl", wrong)
    options = ("--topics", 3, "--iterations", 5, "--tag-names", place / "n.tsv", "--out", tmp_path / "m.tt")
    assert run("fit", tmp_path / "d.jsonl", *COLUMNS, *options).code == 0
    audited = run("audit", tmp_path / "m.tt", "--min-score", 0, "--changes", tmp_path / "c.csv", "--json")
    found = audited.json()["findings"]
    assert {(row["tag"], row["name"]) for row in found} >= {("c", "cooking"), ("m", "music")}
    assert "cooking" in run("audit", tmp_path / "m.tt", "--min-score", 0).out
    header, *lines = (tmp_path / "c.csv").read_text().splitlines()
    assert header.endswith(",words,name,other_name")
    assert len(lines) == len(found)
    accepted = "\n".join([header, *(f"yes{line}" for line in lines if line.startswith(",remove"))])
    (tmp_path / "c.csv").write_text(accepted)
    done = run(
        "apply", tmp_path / "c.csv", tmp_path / "d.jsonl", "--tags", "subjects", "--out", tmp_path / "e.jsonl"
    )
    assert done.code == 0, done.err


def test_homonyms_have_their_ids_and_kinds_are_suggested(tmp_path: Path) -> None:
    texts, ids = ["red apple pie", "blue sea sky"] * 9, ["http://x.org/gnd/11", "http://x.org/gnd/12"]
    corpus = tt.read_corpus(texts, tags=[[tag] for tag in ids] * 9)
    model = tt.TTM(2, max_iter=3, random_state=0).fit(
        tt.with_thesaurus(corpus, dict.fromkeys(ids, "Mercury"))
    )
    assert model.tag_labels() == ("Mercury (11)", "Mercury (12)")
    assert model.tag_profile("Mercury (12)").tags == (ids[1],)
    with pytest.raises(
        tt.InputError, match=f"several tags have the name 'Mercury'; did you mean '{ids[0]}', '{ids[1]}'"
    ):
        model.tag_profile("Mercury")
    kinds = tt.TTM(2, max_iter=3).fit_topics(texts, [["venue:COLING"], ["author:Doe"]] * 9)
    with pytest.raises(tt.InputError, match="no tag 'COLING'; did you mean 'venue:COLING'"):
        kinds.tag_profile("COLING")


def test_some_tags_only_and_broader_ones(place: Path, tmp_path: Path) -> None:
    skos = "@prefix s: <http://www.w3.org/2004/02/skos/core#> .\n@prefix x: <http://x.org/> .\n"
    for tag, name, broader in (
        ("c", "cooking", "a"),
        ("s", "sailing", ""),
        ("m", "music", "a"),
        ("a", "arts", "t"),
    ):
        more = f"; s:broader x:{broader}" if broader else ""
        skos += f'x:{tag} a s:Concept; s:prefLabel "{name}"@en{more} .\n'
    (tmp_path / "n.ttl").write_text(skos + 'x:t a s:Concept; s:prefLabel "things"@en .\n')
    fit = ("fit", place / "d.jsonl", *COLUMNS, "--topics", 3, "--iterations", 5)
    assert run(*fit, "--tag-names", tmp_path / "n.ttl", "--out", tmp_path / "m.tt").code == 0
    asked = ("recommend", tmp_path / "m.tt", "--given", "bread and wind and chord")
    found = {row["tag"]: row for row in run(*asked, "--json").json()["documents"][0]["tags"]}
    assert found["c"]["broader"] == ["arts", "things"]
    assert found["s"]["broader"] == []
    assert "c cooking (arts < things)" in " ".join(run(*asked).out.split())
    for options, tags in (
        (("--only", "music", "--only", "c"), {"m", "c"}),
        (("--exclude", "music", "--exclude", "c"), set(found) - {"m", "c"}),
        (("--only", "music", "--only", "c", "--exclude", "m"), {"c"}),
    ):
        rows = run(*asked, *options, "--json").json()["documents"][0]["tags"]
        assert {row["tag"] for row in rows} == tags
    plain = ("recommend", place / "plain.tt", "--given", "bread and wind", "--json")
    rows = run(*plain, "--only", "c", "--only", "s").json()["documents"][0]["tags"]
    assert {row["tag"] for row in rows} == {"c", "s"}
    for given, says in (
        (("--only", "musik"), "the model has no tag 'musik'; did you mean 'music'?"),
        (("--only", "c", "--exclude", "c"), "no tag is left to recommend; check kind, only and exclude"),
    ):
        wrong = run(*asked, *given)
        assert (wrong.code, says in wrong.err) == (2, True)


def test_the_subjects_most_often_wrong_or_missed_are_named(place: Path, tmp_path: Path) -> None:
    swapped = [
        row | {"subjects": ["m"]} if row["split"] == "test" and row["subjects"] == ["c"] else row
        for row in rows()
    ]
    write_rows(tmp_path / "d.jsonl", swapped)
    options = ("--topics", 3, "--iterations", 5, "--task", "recommendation")
    command = ("evaluate", tmp_path / "d.jsonl", *COLUMNS, *options)
    mistakes = run(*command, "--json").json()["mistakes"]
    assert mistakes["wrong"] == [{"tag": "c", "name": "c", "documents": 3}]
    assert mistakes["missed"] == [{"tag": "m", "name": "m", "documents": 3}]
    printed = run(*command).out
    assert printed.index("most often wrong") < printed.index("most often missed")
    named = run(*command, "--tag-names", place / "n.tsv", "--json").json()["mistakes"]
    assert named["missed"][0]["name"] == "music"


def test_a_threshold_may_leave_nothing(place: Path) -> None:
    answer = run(
        "recommend", place / "m.tt", "-", "--threshold", 1, "--json", stdin=b'{"text": "bread"}\n'
    ).json()
    assert answer["documents"][0]["tags"] == []
    assert "probable enough" in answer["documents"][0]["note"]
    assert run("recommend", place / "m.tt", "-", "--threshold", 2, stdin=b'{"text": "bread"}\n').code == 2
    assert run("recommend", place / "m.tt", "-", "--kind", "x", stdin=b'{"text": "bread"}\n').code == 2


def test_evaluation_with_a_column_of_the_split(place: Path) -> None:
    done = run(
        "evaluate", place / "d.jsonl", *COLUMNS, "--tag-names", place / "n.tsv",
        "--topics", 3, "--iterations", 5, "--task", "recommendation", "--json",
    )  # fmt: skip
    metrics = done.json()["metrics"]
    assert metrics["precision_at_1"] == 1
    wanted = {"f1_at_5", "ndcg_at_20", "precision_at_1", "macro_f1", "micro_f1", "calibration_error"}
    assert wanted <= metrics.keys()


@pytest.mark.parametrize("content", ["", "no tab\n", "x\tnothing of ours\n"])
def test_wrong_names_are_one_line(place: Path, tmp_path: Path, content: str) -> None:
    (tmp_path / "n.tsv").write_text(content)
    done = run(
        "fit",
        place / "d.jsonl",
        *COLUMNS,
        "--tag-names",
        tmp_path / "n.tsv",
        "--out",
        tmp_path / "m.tt",
        "-q",
    )
    assert done.code == 2
    assert not (tmp_path / "m.tt").exists()


@pytest.mark.parametrize("error", [MemoryError("no memory"), ValueError("bad")])
def test_a_recommender_that_fails_costs_nothing_else(place: Path, tmp_path: Path, error: Exception) -> None:
    with mock.patch("tagtopics.models.base.fit_recommender", side_effect=error):
        done = run(
            "fit",
            place / "d.jsonl",
            *COLUMNS,
            "--topics",
            3,
            "--iterations",
            3,
            "--out",
            tmp_path / "m.tt",
            "--json",
        )
    assert done.json()["n_topics"] == 3
    assert "the recommender could not be trained" in done.err
    assert tt.load(tmp_path / "m.tt").recommender_ is None


def test_a_model_and_its_texts_are_of_one_save(place: Path) -> None:
    """They are read together, so no other process can replace the model in between."""
    with mock.patch.object(persistence, "_read_save", wraps=persistence._read_save) as reading:
        assert run("audit", place / "plain.tt").code == 0
    assert reading.call_count == 1
