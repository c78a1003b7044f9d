"""Saved models come back the same; damaged, hostile and foreign folders are refused in one line."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import shutil
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import tagtopics as tt
from benchmarks.synthetic import SyntheticCorpus
from tagtopics.files import digest_bytes, digest_file
from tagtopics.models.persistence import (
    check_model_target,
    load_with_corpus,
)


@pytest.fixture(scope="module")
def model(planted: SyntheticCorpus) -> Any:
    return tt.TTM(5, max_iter=5, random_state=0).fit(planted.corpus)


@pytest.fixture
def saved(model: Any, tmp_path: Path) -> Path:
    model.save(tmp_path / "m.tt")
    return tmp_path / "m.tt"


@pytest.fixture(scope="module")
def tiny() -> tuple[Any, tt.Corpus]:
    """A small text model, and its corpus."""
    rows = [
        {"text": "red apple pie", "tags": ["food"]},
        {"text": "blue sky sea", "tags": ["nature", "far"]},
        {"text": "red sky pie apple", "tags": ["food", "nature"]},
        {"text": "sea sky", "tags": ["nature"]},
    ]
    corpus = tt.read_corpus(rows)
    return tt.TTM(2, max_iter=3, random_state=0).fit(corpus), corpus


def test_round_trip(model: Any, saved: Path, planted: SyntheticCorpus) -> None:
    loaded: Any = tt.load(saved)
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


def test_presets_are_saved(tmp_path: Path) -> None:
    for preset in ("fast", tt.Preset(word_exponent=0.5, relaxation=2.0)):
        tt.TTM(2, preset=preset, max_iter=2, random_state=0).fit(np.eye(3), list("aba")).save(tmp_path / "m")
        loaded: Any = tt.load(tmp_path / "m")
        assert loaded.preset == preset


def test_the_corpus_is_saved_with_the_model(tiny: tuple[Any, tt.Corpus], tmp_path: Path) -> None:
    model, corpus = tiny
    model.save(tmp_path / "m")
    assert load_with_corpus(tmp_path / "m")[1] is None
    model.save(tmp_path / "m", corpus=corpus)
    loaded, again = load_with_corpus(tmp_path / "m")
    assert again is not None
    assert loaded.doc_ids_ == again.ids == corpus.ids
    assert again.texts == corpus.texts
    assert (again.counts != corpus.counts).nnz == 0


def test_nan_is_not_saved(tmp_path: Path) -> None:
    model = tt.LDA(2, max_iter=2, random_state=0).fit(np.eye(3))
    model.topic_sums_ = np.full(2, np.nan)
    with pytest.raises(tt.InputError, match="topic_sums_ holds numbers that are not finite"):
        model.save(tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------------------------- overwriting


def test_a_model_replaces_a_model_and_leaves_nothing_behind(model: Any, saved: Path) -> None:
    model.save(saved)
    assert [path.name for path in saved.parent.iterdir()] == ["m.tt"]


def _foreign(folder: Path, *files: str) -> Path:
    for name in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("mine", encoding="utf-8")
    return folder


FOREIGN: dict[str, Any] = {
    "another folder": lambda path, model: _foreign(path, "thesis.txt"),
    "a model.json of others": lambda path, model: _foreign(path, "model.json", "weights.bin"),
    "notes in a model": lambda path, model: (model.save(path), _foreign(path, "notes.txt")),
    "notes in a model's corpus": lambda path, model: (model.save(path), _foreign(path, "corpus/notes.txt")),
    "an empty folder": lambda path, model: path.mkdir(),
    "a file": lambda path, model: path.write_text("mine"),
    "a link": lambda path, model: (model.save(path.with_name("real")), path.symlink_to("real")),
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_only_models_are_replaced(kind: str, tiny: tuple[Any, tt.Corpus], tmp_path: Path) -> None:
    model, _ = tiny
    target = tmp_path / "target"
    FOREIGN[kind](target, model)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    for write in (model.save, check_model_target):
        with pytest.raises(tt.InputError, match="is not a model written by tagtopics"):
            write(target)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_a_full_disk_is_told_and_the_older_model_stays(
    tiny: tuple[Any, tt.Corpus], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, corpus = tiny
    model.save(tmp_path / "m")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    def full(*arguments: Any, **options: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(tt.InputError, match=r"cannot be written \(No space left on device\)"):
        model.save(tmp_path / "m", corpus=corpus)
    monkeypatch.undo()
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


# ---------------------------------------------------------------------------------- damage


def _sealed(path: Path, description: dict[str, Any]) -> None:
    """Write a description with the digests that belong to it: a forgery, not an accident."""
    for name in description.get("files", {}):
        description["files"][name] = digest_file(path / name)
    description["digest"] = "0" * 64
    text = json.dumps(description)
    (path / "model.json").write_text(text.replace("0" * 64, digest_bytes(text.encode()), 1))


def _edit_json(path: Path, key: str, value: Any) -> None:
    description = json.loads((path / "model.json").read_text())
    description[key] = value
    _sealed(path, description)


def _drop_number(path: Path, name: str) -> None:
    numbers = json.loads((path / "model.json").read_text())["numbers"]
    del numbers[name]
    _edit_json(path, "numbers", numbers)


def _edit_arrays(path: Path, name: str, value: Any) -> None:
    arrays = load_file(path / "arrays.safetensors")
    arrays[name] = value
    save_file(arrays, path / "arrays.safetensors")
    _sealed(path, json.loads((path / "model.json").read_text()))


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
    "json of others": (lambda p: (p / "model.json").write_text('{"layers": []}'), "damaged"),
    "edited json": (
        lambda p: (p / "model.json").write_text(
            (p / "model.json").read_text().replace("max_iter", "maxiter")
        ),
        "does not match its digest",
    ),
    "newer schema": (lambda p: _edit_json(p, "schema", 99), "newer tagtopics"),
    "older schema": (lambda p: _edit_json(p, "schema", 3), "older tagtopics .schema 3.; fit the model again"),
    "no schema": (lambda p: _edit_json(p, "schema", None), "damaged"),
    "foreign class": (lambda p: _edit_json(p, "class", "os.system"), "unknown kind of model 'os.system'"),
    "foreign parameters": (lambda p: _edit_json(p, "parameters", {"__class__": "x"}), "damaged"),
    "wrong parameters": (lambda p: _edit_json(p, "parameters", {"n_topics": -1}), "n_topics must be"),
    "hostile threads": (lambda p: _edit_json(p, "parameters", {"n_jobs": 10**8}), "n_jobs must be"),
    "names that are no strings": (
        lambda p: _edit_json(p, "names", {"vocabulary_": [1], "tag_names_": [], "doc_ids_": []}),
        "vocabulary_.0 must be a valid string",
    ),
    "hostile recipe": (lambda p: _edit_json(p, "recipe", {"run": "eval"}), "unknown setting"),
    "strengths that are no numbers": (
        lambda p: _edit_json(p, "numbers", {"shrinkage": "much"}),
        "numbers.shrinkage must be a valid number",
    ),
    "no numbers": (lambda p: _edit_json(p, "numbers", {}), "topic_word_prior_"),
    "no strengths": (lambda p: _drop_number(p, "known.joint"), "known.joint"),
    "wrong shape": (lambda p: _edit_arrays(p, "components_", np.ones((5, 3), np.float32)), "should be"),
    "wrong type": (lambda p: _edit_arrays(p, "tag_docs_", np.ones(20)), "should be int64"),
    "not finite": (lambda p: _edit_arrays(p, "topic_sums_", np.full(5, np.nan)), "not finite"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_told_in_one_line(damage: str, saved: Path) -> None:
    inflict, says = DAMAGE[damage]
    inflict(saved)
    with pytest.raises(tt.InputError, match=says) as error:
        tt.load(saved)
    assert "\n" not in str(error.value)
    assert str(saved) in str(error.value)


def test_no_such_model(tmp_path: Path) -> None:
    with pytest.raises(tt.InputError, match="no such model"):
        tt.load(tmp_path / "nothing")


def test_every_flipped_bit_is_told(tiny: tuple[Any, tt.Corpus], tmp_path: Path) -> None:
    """A random bit of every 149th byte of all files; and every bit of the first lines of model.json."""
    model, corpus = tiny
    model.save(tmp_path / "m", corpus=corpus)
    rng, silent, n_flips = np.random.default_rng(0), [], 0
    for path in sorted(tmp_path.rglob("*")):
        if path.is_dir():
            continue
        content = path.read_bytes()
        bits = [8 * at + int(rng.integers(8)) for at in range(0, len(content), 149)]
        bits += list(range(8 * 80)) if path.name == "model.json" else []
        for bit in bits:
            changed = bytearray(content)
            changed[bit // 8] ^= 1 << (bit % 8)
            path.write_bytes(changed)
            n_flips += 1
            try:
                load_with_corpus(tmp_path / "m")
            except tt.InputError:
                continue
            silent.append((path.name, bit))
        path.write_bytes(content)
    assert silent == []
    assert n_flips > 600
    assert load_with_corpus(tmp_path / "m")[1] is not None


def test_a_missing_file_of_the_corpus_is_told(tiny: tuple[Any, tt.Corpus], tmp_path: Path) -> None:
    model, corpus = tiny
    model.save(tmp_path / "m", corpus=corpus)
    (tmp_path / "m" / "corpus" / "tags.npz").unlink()
    with pytest.raises(tt.InputError, match="corpus cannot be read: No such file"):
        load_with_corpus(tmp_path / "m")
    shutil.rmtree(tmp_path / "m" / "corpus")
    with pytest.raises(tt.InputError, match="corpus cannot be read: No such file"):
        load_with_corpus(tmp_path / "m")


# ---------------------------------------------------------------------------------- several processes


def _save_again_and_again(path: Path, seed: int, seconds: float, start: Any = None, stop: Any = None) -> None:
    rows = [{"id": f"{seed}-{d}", "text": "red green blue", "tags": ["x"]} for d in range(4)]
    corpus = tt.read_corpus(rows)
    model = tt.LDA(2, max_iter=1, random_state=seed).fit(corpus)
    if start is not None:
        start.wait()
    until = time.monotonic() + seconds
    while time.monotonic() < until and not (stop is not None and stop.is_set()):
        model.save(path, corpus=corpus)


SECONDS = float(os.environ.get("TAGTOPICS_WRITER_SECONDS", "1"))
"""How long two writers and a reader share a model, at least; `make crash` takes 60 seconds."""


@pytest.mark.slow
def test_two_writers_and_a_reader_never_meet_a_mixture(tmp_path: Path) -> None:
    path = tmp_path / "m"
    _save_again_and_again(path, 0, 0.01)
    context = multiprocessing.get_context("spawn")
    start, stop = context.Barrier(3), context.Event()
    given = [(path, seed, SECONDS + 60, start, stop) for seed in (1, 2)]
    writers = [context.Process(target=_save_again_and_again, args=each) for each in given]
    for writer in writers:
        writer.start()
    start.wait(120)
    reads, until = 0, time.monotonic() + SECONDS
    seen: set[Any] = set()
    try:
        while any(writer.is_alive() for writer in writers):
            if time.monotonic() > until and reads > 20 and len(seen) > 1:  # reads are slow on a busy machine
                stop.set()
            model, corpus = load_with_corpus(path)
            assert corpus is not None
            assert model.doc_ids_ == corpus.ids
            assert model.random_state == int(corpus.ids[0].partition("-")[0])
            seen.add(model.random_state)
            reads += 1
    finally:
        stop.set()
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    assert reads > 20
    assert len(seen) > 1
    assert [place.name for place in tmp_path.iterdir()] == ["m"]
