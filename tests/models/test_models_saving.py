"""Saved models come back the same; damaged and hostile ones are refused in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import tagtopics as tt
from tagtopics.datasets.synthetic import SyntheticCorpus


@pytest.fixture(scope="module")
def model(planted: SyntheticCorpus) -> Any:
    return tt.TTM(5, max_iter=5, random_state=0).fit(planted.corpus)


@pytest.fixture
def saved(model: Any, tmp_path: Path) -> Path:
    model.save(tmp_path / "m.tt")
    return tmp_path / "m.tt"


def test_round_trip(model: Any, saved: Path, planted: SyntheticCorpus) -> None:
    loaded = tt.load(saved)
    assert type(loaded) is tt.TTM
    assert loaded.get_params() == model.get_params()
    assert loaded.tag_names_ == model.tag_names_
    assert loaded.history_ == model.history_
    np.testing.assert_array_equal(loaded.transform(planted.corpus), model.transform(planted.corpus))
    ours, theirs = model.explain(planted.corpus), loaded.explain(planted.corpus)
    np.testing.assert_array_equal(ours.credit, theirs.credit)
    assert sorted(path.name for path in saved.iterdir()) == ["arrays.safetensors", "model.json"]


def test_text_models_keep_their_recipe(tmp_path: Path) -> None:
    corpus = tt.read_corpus(["the red apple", "a blue sky", "red sky"], recipe=tt.TextRecipe(min_length=3))
    tt.LDA(2, max_iter=3).fit(corpus).save(tmp_path / "m")
    assert tt.load(tmp_path / "m").recipe_ == corpus.recipe


def test_a_model_replaces_a_model_but_nothing_else(model: Any, saved: Path) -> None:
    model.save(saved)
    assert [path.name for path in saved.parent.iterdir()] == ["m.tt"]
    other = saved.parent / "precious"
    other.mkdir()
    (other / "thesis.txt").write_text("words")
    with pytest.raises(tt.InputError, match="is no model; choose another place"):
        model.save(other)
    assert (other / "thesis.txt").read_text() == "words"


def _edit_json(path: Path, key: str, value: Any) -> None:
    description = json.loads((path / "model.json").read_text())
    description[key] = value
    (path / "model.json").write_text(json.dumps(description))


def _edit_arrays(path: Path, name: str, value: Any) -> None:
    arrays = load_file(path / "arrays.safetensors")
    arrays[name] = value
    save_file(arrays, path / "arrays.safetensors")


DAMAGE: dict[str, tuple[Any, str]] = {
    "no arrays": (lambda p: (p / "arrays.safetensors").unlink(), "arrays.safetensors is missing"),
    "cut arrays": (
        lambda p: (p / "arrays.safetensors").write_bytes((p / "arrays.safetensors").read_bytes()[:500]),
        "damaged",
    ),
    "no json": (lambda p: (p / "model.json").unlink(), "no model.json"),
    "json is not json": (lambda p: (p / "model.json").write_text("{"), "cannot be read"),
    "json is binary": (lambda p: (p / "model.json").write_bytes(b"\xff\xfe\x00"), "cannot be read"),
    "json is a list": (lambda p: (p / "model.json").write_text("[]"), "damaged"),
    "newer schema": (lambda p: _edit_json(p, "schema", 99), "newer tagtopics"),
    "foreign class": (lambda p: _edit_json(p, "class", "os.system"), "unknown kind of model 'os.system'"),
    "foreign parameters": (lambda p: _edit_json(p, "parameters", {"__class__": "x"}), "damaged"),
    "wrong parameters": (lambda p: _edit_json(p, "parameters", {"n_topics": -1}), "n_topics must be"),
    "names that are no strings": (
        lambda p: _edit_json(p, "names", {"vocabulary_": [1], "tag_names_": [], "doc_ids_": []}),
        "list of strings",
    ),
    "hostile recipe": (lambda p: _edit_json(p, "recipe", {"tokenizer": "eval"}), "unknown setting"),
    "weights that are no numbers": (
        lambda p: _edit_json(p, "numbers", {"pairwise_weight_": "much"}),
        "pairwise_weight_ must be a number",
    ),
    "wrong shape": (lambda p: _edit_arrays(p, "components_", np.ones((5, 3), np.float32)), "has shape"),
    "not finite": (lambda p: _edit_arrays(p, "topic_sums_", np.full(5, np.nan)), "not finite"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_told_in_one_line(damage: str, saved: Path) -> None:
    inflict, says = DAMAGE[damage]
    inflict(saved)
    with pytest.raises(tt.InputError, match=says) as error:
        tt.load(saved)
    assert "\n" not in str(error.value)


def test_no_such_model(tmp_path: Path) -> None:
    with pytest.raises(tt.InputError, match="no such model"):
        tt.load(tmp_path / "nothing")
