"""The columns and the separator of the fit are those of every later command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_running import run

TRAINING = """key,abstract,people
p1,salmon river water sea,"Liu, Ting; Che, Wanxiang"
p2,river fish water sea,"Liu, Ting"
p3,stock market prices money,"Doe, Jane; Roe, R"
p4,money market bank prices,"Roe, R"
"""
LATER = """key,abstract,people
q1,market prices money bank,"Zhang, Yue"
q2,river water fish sea,"Liu, Ting"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model, and later files."""
    path = tmp_path_factory.mktemp("columns")
    (path / "training.csv").write_text(TRAINING, encoding="utf-8")
    (path / "later.csv").write_text(LATER, encoding="utf-8")
    (path / "bare.csv").write_text("key,abstract\nq1,market prices\n", encoding="utf-8")
    (path / "other.csv").write_text('key,body,who\nq1,market prices,"Doe, Jane"\n', encoding="utf-8")
    columns = ("--text", "abstract", "--tags", "people", "--id", "key")
    done = run(
        "fit", path / "training.csv", *columns, "--topics", 2, "--iterations", 5, "--out", path / "m.tt"
    )
    assert done.code == 0, done.err
    assert "people: tags are split at ';'" in done.err
    return path


def test_the_model_has_the_columns(folder: Path) -> None:
    stored = json.loads((folder / "m.tt" / "model.json").read_text())["columns"]
    expected = {"text": "abstract", "tags": "people", "id": "key", "separators": {"people": [";"]}}
    assert {name: value for name, value in stored.items() if value} == expected


def test_later_commands_need_no_columns(folder: Path) -> None:
    model, later = folder / "m.tt", folder / "later.csv"
    explained = run("explain", model, later, "--json").json()["documents"]
    assert [(row["id"], row["tags"]) for row in explained] == [("q1", []), ("q2", ["Liu, Ting"])]
    recommended = run("recommend", model, later, "--json").json()["documents"]
    assert [row["id"] for row in recommended] == ["q1", "q2"]
    assert run("related", model, later, "--json").json()["documents"][1]["related"]
    updated = run("update", model, later, "--out", folder / "u.tt", "--json").json()
    assert updated["new_tags"] == ["Zhang, Yue"]
    again = run("update", folder / "u.tt", later, "--out", folder / "v.tt", "--json").json()
    assert again["new_tags"] == []


def test_columns_may_be_named_anew(folder: Path) -> None:
    found = run("explain", folder / "m.tt", folder / "other.csv", "--text", "body", "--tags", "who", "--json")
    assert found.json()["documents"][0]["tags"] == ["Doe, Jane"]


@pytest.mark.parametrize(
    ("command", "file", "message"),
    [
        ("explain", "bare.csv", "no column 'people', which had the tags in the fit; name it with --tags"),
        ("recommend", "other.csv", "no column 'abstract' for the text, as in the fit; the columns are"),
        ("explain", "other.csv", "no column 'abstract' for the text, as in the fit; the columns are"),
    ],
)
def test_a_missing_column_is_an_error(folder: Path, command: str, file: str, message: str) -> None:
    done = run(command, folder / "m.tt", folder / file)
    assert done.code == 2
    assert message in done.err


def test_tags_are_not_needed_for_recommendations(folder: Path) -> None:
    done = run("recommend", folder / "m.tt", folder / "bare.csv", "--json")
    assert done.json()["documents"][0]["tags"]
    assert "on one document only" not in done.err


def test_a_fit_without_tags_names_the_columns_that_look_like_tags(folder: Path) -> None:
    done = run(
        "fit", folder / "training.csv", "--text", "abstract", "--iterations", 1, "--out", folder / "n.tt"
    )
    assert "these look like tags: people; use tags='people' (--tags people)" in done.err


def test_texts_on_the_command_line(folder: Path) -> None:
    model = folder / "m.tt"
    given = run("recommend", model, "--given", "market prices", "-g", "river", "--json").json()["documents"]
    piped = run("recommend", model, "-", "--json", stdin=b"market prices\n\nriver\n").json()["documents"]
    objects = b'{"abstract": "market prices"}\n{"text": "no", "abstract": "river"}\n'
    assert given == piped == run("recommend", model, "-", "--json", stdin=objects).json()["documents"]
    assert [row["id"] for row in given] == ["0", "1"]
    assert run("related", model, "--given", "river", "--json").json()["documents"][0]["related"]
    explained = run(
        "explain", model, "--given", "river market", "--tag", "Liu, Ting", "--tag", "Roe, R", "--json"
    )
    assert explained.json()["documents"][0]["tags"] == ["Liu, Ting", "Roe, R"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("recommend",), "name the documents: either INPUT, or --given TEXT"),
        (("recommend", "x.csv", "--given", "river"), "name the documents: either INPUT, or --given TEXT"),
        (("explain", "--given", "river"), "--given: name the tags of the text with --tag"),
        (("explain", "--given", "river", "--tag", "Liu, Tin"), "did you mean 'Liu, Ting'?"),
        (("recommend", "--given", "unheard"), "--given: has no word that the model knows"),
    ],
)
def test_mistakes_with_given_texts(folder: Path, arguments: tuple[str, ...], message: str) -> None:
    command, *rest = arguments
    done = run(command, folder / "m.tt", *rest)
    assert done.code == 2
    assert message in done.err
