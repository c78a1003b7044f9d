"""`tagtopics update`: a saved model goes on learning; nothing is lost when it cannot."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_running import ROWS, fit_small, run, write_rows

import tagtopics as tt

NEW: list[dict[str, Any]] = [
    {"id": f"rocks{i}", "text": "granite basalt quartz lava crater fault", "tags": ["geology", "odd"]}
    for i in range(8)
]


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fitted")
    fit_small(folder)
    fit_small(folder, "--model", "lda", name="lda.tt")
    fit_small(folder, "--no-corpus", name="bare.tt")
    fit_small(folder, "--model", "atm", name="atm.tt")
    return folder


@pytest.fixture
def folder(fitted: Path, tmp_path: Path) -> Path:
    """A folder with models of one's own, and new documents."""
    shutil.copytree(fitted, tmp_path / "here")
    write_rows(tmp_path / "here" / "new.jsonl", NEW)
    return tmp_path / "here"


def tree(path: Path) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in path.rglob("*") if file.is_file()}


def test_new_words_and_tags_answer_to_every_command(folder: Path) -> None:
    model, new = folder / "model.tt", folder / "new.jsonl"
    told = run("update", model, new, "--json").json()
    assert told["model"] == "ttm"
    assert (told["n_new_docs"], told["n_docs"]) == (8, 26)
    assert told["new_tags"] == ["geology"]
    assert set(told["new_words"]) == {"granite", "basalt", "quartz", "lava", "crater", "fault"}
    assert sorted(path.name for path in folder.iterdir() if path.name.startswith(".")) == []
    tags = run("tags", model, "--top", 14, "--json").json()["tags"]
    rocks = next(row for row in tags if row["tags"] == ["geology"])
    assert rocks["n_docs"] == [8]
    # three topics for four subjects: rocks share one, whose fourteen words are theirs and those of another
    assert {entry["word"] for entry in rocks["words"]} >= set(told["new_words"])
    assert run("tags", model, "geology", "cooking", "--json").json()["together"] is not None
    explained = run("explain", model, new, "--json").json()["documents"][0]
    assert "geology" in json.dumps(explained)
    answer = run("recommend", model, new, "--top", 2, "--json").json()["documents"][0]
    assert "geology" in [entry["tag"] for entry in answer["tags"]]
    old = run("recommend", model, folder / "corpus.jsonl", "--top", 2, "--json").json()["documents"][0]
    assert "cooking" in [entry["tag"] for entry in old["tags"]]
    related = run("related", model, new, "--top", 3, "--json").json()["documents"][0]["related"]
    assert all(row["id"].startswith("rocks") for row in related)
    assert run("report", model, "-o", folder / "report.html").code == 0


def test_the_documents_stay_with_the_model(folder: Path) -> None:
    assert run("update", folder / "model.tt", folder / "new.jsonl").code == 0
    kept = tt.read_corpus(folder / "model.tt" / "corpus")
    model: Any = tt.load(folder / "model.tt")
    assert kept.ids == model.doc_ids_
    assert kept.vocabulary == model.vocabulary_
    assert kept.tag_names == model.tag_names_
    assert kept.n_docs == len(ROWS) + len(NEW)


def test_known_words_are_predicted_better_afterwards(folder: Path) -> None:
    text = "boat oven violin boat oven violin boat oven violin boat oven"
    rows = [{"text": text} for _ in range(40)]
    before = tt.load(folder / "model.tt").perplexity([text] * 40)
    told = run("update", folder / "model.tt", write_rows(folder / "mixed.jsonl", rows), "--json").json()
    assert tt.load(folder / "model.tt").perplexity([text] * 40) < before
    assert told["new_words"] == told["new_tags"] == []


def test_out_leaves_the_old_model_as_it_was(folder: Path) -> None:
    before = tree(folder / "model.tt")
    result = run("update", folder / "model.tt", folder / "new.jsonl", "--out", folder / "grown.tt")
    assert result.code == 0, result.err
    assert tree(folder / "model.tt") == before
    assert "8 new, 26 in total" in result.out
    assert "1: geology" in result.out
    assert str(folder / "grown.tt") in " ".join(result.out.split()).replace(" ", "")


def test_the_same_update_gives_the_same_bits(folder: Path) -> None:
    for out in ("one.tt", "two.tt"):
        options = ("--out", folder / out, "--forgetting", 100)
        assert run("update", folder / "model.tt", folder / "new.jsonl", *options).code == 0
    one, two = ((folder / name / "arrays.safetensors").read_bytes() for name in ("one.tt", "two.tt"))
    assert one == two


def test_forgetting_reaches_the_model(folder: Path) -> None:
    sums = {}
    for name, options in {"all": (), "less": ("--forgetting", 4)}.items():
        out = folder / f"{name}.tt"
        assert run("update", folder / "model.tt", folder / "new.jsonl", "--out", out, *options).code == 0
        sums[name] = tt.load(out).topic_sums_
    old, new = 18 * 17, 8 * 6
    assert sums["all"].sum() == pytest.approx(old + new, rel=1e-4)
    assert sums["less"].sum() == pytest.approx(old / 4 + new, rel=1e-4)


def test_lda_keeps_recommending(folder: Path) -> None:
    told = run("update", folder / "lda.tt", folder / "new.jsonl", "--json").json()
    assert told["new_tags"] == ["geology"]
    answer = run("recommend", folder / "lda.tt", folder / "new.jsonl", "--top", 2, "--json").json()
    assert "geology" in [entry["tag"] for entry in answer["documents"][0]["tags"]]


def test_without_its_documents_a_model_says_that_it_cannot_recommend(folder: Path) -> None:
    result = run("update", folder / "bare.tt", folder / "new.jsonl")
    assert result.code == 0
    assert "saved without its documents" in result.err
    asked = run("recommend", folder / "bare.tt", folder / "new.jsonl")
    assert asked.code == 2
    assert "no recommender" in asked.err
    assert run("explain", folder / "bare.tt", folder / "new.jsonl").code == 0
    assert run("tags", folder / "bare.tt", "geology").code == 0


def test_documents_learned_twice_are_told(folder: Path) -> None:
    result = run("update", folder / "model.tt", folder / "corpus.jsonl")
    assert result.code == 0
    assert "18 document(s) have the id of a document that the model has already learned" in result.err


def test_a_file_about_something_else_is_told(folder: Path) -> None:
    result = run("update", folder / "model.tt", folder / "new.jsonl")
    assert "no word that the model knew" in result.err


def test_new_words_follow_the_recipe_of_the_model(tmp_path: Path) -> None:
    """Known words always count; new ones must be in two documents of the new ones, as in those of the fit."""
    source = write_rows(tmp_path / "corpus.jsonl")
    model = tmp_path / "model.tt"
    options = ("--topics", 3, "--iterations", 5, "--min-df", 2, "--out", model)
    assert run("fit", source, *options).code == 0
    rows = [{"text": "bread marble the", "tags": ["x"]}, {"text": "marble pebble", "tags": ["x"]}]
    told = run("update", model, write_rows(tmp_path / "new.jsonl", rows), "--json").json()
    assert told["new_words"] == ["marble"]
    kept = tt.read_corpus(model / "corpus")
    words = {kept.vocabulary[w] for w in kept.counts[[18]].indices}
    assert words == {"bread", "marble"}


def test_most_words_bound_old_and_new_together(tmp_path: Path) -> None:
    source, model = write_rows(tmp_path / "corpus.jsonl"), tmp_path / "model.tt"
    assert run("fit", source, "--topics", 3, "--iterations", 5, "--max-words", 28, "--out", model).code == 0
    n_words = len(tt.load(model).vocabulary_)
    rows = [{"text": "marble marble pebble slate slate slate"}]
    told = run("update", model, write_rows(tmp_path / "new.jsonl", rows), "--json").json()
    assert n_words == 27
    assert told["new_words"] == ["slate"]


def test_standard_input(folder: Path) -> None:
    lines = "".join(json.dumps(row) + "\n" for row in NEW).encode()
    assert run("update", folder / "model.tt", "-", "--json", stdin=lines).json()["n_docs"] == 26


def test_matrix_folders(tmp_path: Path) -> None:
    """Counts without a recipe: every word of the new documents counts."""
    old = tt.read_corpus(np.array([[2, 1], [0, 2]]), tags=[["a"], ["b"]], vocabulary=["bread", "wine"])
    source = tt.write_matrix_folder(old, tmp_path / "old")
    assert run("fit", source, "--topics", 2, "--iterations", 2, "--out", tmp_path / "m.tt").code == 0
    more = tt.read_corpus(
        np.array([[3, 1], [0, 2]]), tags=[["c"], ["a"]], vocabulary=["wine", "beer"], id=["x", "y"]
    )
    tt.write_matrix_folder(more, tmp_path / "more")
    told = run("update", tmp_path / "m.tt", tmp_path / "more", "--json").json()
    assert told["new_words"] == ["beer"]
    assert told["new_tags"] == ["c"]


BAD: dict[str, tuple[tuple[object, ...], str]] = {
    "no model": (("none.tt", "new.jsonl"), "no such model"),
    "model is a file": (("new.jsonl", "new.jsonl"), "is not a model"),
    "no input": (("model.tt",), "INPUT"),
    "missing file": (("model.tt", "none.jsonl"), "no such file"),
    "broken input": (("model.tt", "broken.jsonl"), "line 2"),
    "empty input": (("model.tt", "empty.jsonl"), "empty"),
    "negative half-life": (("model.tt", "new.jsonl", "--forgetting", -3), "forgetting must be a number"),
    "half-life is NaN": (("model.tt", "new.jsonl", "--forgetting", "nan"), "forgetting must be a number"),
    "no such column": (("model.tt", "new.jsonl", "--text", "abstract"), "'abstract'"),
    "only stop words": (("model.tt", "stop.jsonl"), "no words"),
    "out is a file": (("model.tt", "new.jsonl", "--out", "new.jsonl"), "not a model written by tagtopics"),
    "author-topic model": (("atm.tt", "new.jsonl"), "ATM cannot be updated"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_clear_line_and_the_model_stays(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "broken.jsonl").write_text('{"text": "bread"}\n{"text": \n')
    (folder / "empty.jsonl").write_text("")
    (folder / "stop.jsonl").write_text('{"text": "the and of"}\n')
    monkeypatch.chdir(folder)
    arguments, expected = BAD[name]
    before = tree(folder)
    result = run("update", *arguments)
    assert result.code == 2, result
    assert result.out == ""
    assert result.err.startswith("tagtopics: error: "), result.err
    assert result.err.count("\n") == 1
    assert expected in result.err
    assert tree(folder) == before


def test_a_failure_while_writing_leaves_the_model(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tagtopics.models.persistence.write_parts", fail)
    before = tree(folder)
    result = run("update", folder / "model.tt", folder / "new.jsonl")
    assert result.code == 2
    assert "No space left" in result.err
    assert tree(folder) == before


def test_photographs(tmp_path: Path) -> None:
    """Visual words are those of the model; only tags may be new."""
    from scenes import make_scenes, write_scenes

    write_scenes(tmp_path / "old", make_scenes(12))
    write_scenes(tmp_path / "new", make_scenes(4, seed=1))
    model = tmp_path / "m.tt"
    assert run("fit", tmp_path / "old", "--topics", 4, "--out", model).code == 0
    tags = tmp_path / "tags.csv"
    names = sorted(path.name for path in (tmp_path / "new").glob("*.png"))
    tags.write_text("id,tags\n" + "".join(f"{name},holiday\n" for name in names))
    told = run("update", model, tmp_path / "new", "--tags", tags, "--json").json()
    assert told["n_docs"] == 16
    assert told["new_words"] == []
    assert told["new_tags"] == ["holiday"]
    other = write_rows(tmp_path / "text.jsonl", ROWS)
    refused = run("update", model, other)
    assert refused.code == 2, refused
