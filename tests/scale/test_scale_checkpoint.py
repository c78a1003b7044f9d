"""Checkpoints: damaged, foreign and misfitting ones are refused in one line."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from safetensors.numpy import save_file
from scale_support import as_shards, small_corpus

import tagtopics as tt
from tagtopics.scale.checkpoint import (
    FORMAT,
    load_checkpoint,
    read_arrays,
    save_checkpoint,
    write_arrays,
)
from tagtopics.scale.fit import fit_shards
from tagtopics.scale.format import ShardFolder

pytestmark = pytest.mark.compiled


class Begun(NamedTuple):
    """Shards, and the folder of a fit of two sweeps to them."""

    shards: ShardFolder
    run: Path

    @property
    def checkpoint(self) -> Path:
        return self.run / "checkpoint.safetensors"

    def resume(self, **parameters: Any) -> tt.LDA:
        return fit_shards(lda(max_iter=4, **parameters), self.shards, self.run, resume=True)


def lda(**parameters: Any) -> tt.LDA:
    return tt.LDA(**({"n_topics": 6, "max_iter": 2, "tol": 0, "random_state": 0} | parameters))


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Begun:
    place = tmp_path_factory.mktemp("begun")
    shards = as_shards(small_corpus(120), place / "s", 1000)
    fit_shards(lda(), shards, place / "run")
    return Begun(shards, place / "run")


@pytest.fixture
def begun(first: Begun, tmp_path: Path) -> Begun:
    shutil.copytree(first.run, tmp_path / "run")
    return Begun(first.shards, tmp_path / "run")


def test_it_goes_on(begun: Begun) -> None:
    assert begun.resume().n_iter_ == 4
    assert [step.iteration for step in load_checkpoint(begun.checkpoint)[1]] == [1, 2, 3, 4]


@pytest.mark.parametrize("content", [b"", b"not a checkpoint", b"\x08\x00\x00\x00\x00\x00\x00\x00{}      "])
def test_other_files_are_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "c").write_bytes(content)
    with pytest.raises(tt.InputError, match="not a"):
        load_checkpoint(tmp_path / "c")
    with pytest.raises(tt.InputError, match="no such file"):
        load_checkpoint(tmp_path / "d")


def test_other_safetensors_files_and_folders_are_refused(tmp_path: Path) -> None:
    save_file({"weights": np.ones(3)}, tmp_path / "model.safetensors")
    (tmp_path / "folder").mkdir()
    for name in ("model.safetensors", "folder"):
        with pytest.raises(tt.InputError, match=f"{name}: no"):
            load_checkpoint(tmp_path / name)


@pytest.mark.parametrize(
    "change", [{"n_topics": 7}, {"doc_topic_prior": 0.2}, {"topic_word_prior": 0.2}, {"random_state": 1}]
)
def test_other_parameters_are_refused(begun: Begun, change: dict[str, Any]) -> None:
    with pytest.raises(tt.InputError, match="begun with another parameters"):
        begun.resume(**change)


def test_another_corpus_is_refused(begun: Begun, tmp_path: Path) -> None:
    others = as_shards(small_corpus(100), tmp_path / "others", 1000)
    with pytest.raises(tt.InputError, match="begun with another corpus"):
        fit_shards(lda(), others, begun.run, resume=True)


def _arrays(name: str, change: Callable[[Any], Any]) -> Callable[[Any, Any], None]:
    def spoil(arrays: Any, record: Any) -> None:
        arrays[name] = change(arrays[name])

    return spoil


def _record(name: str, value: Any) -> Callable[[Any, Any], None]:
    def spoil(arrays: Any, record: Any) -> None:
        place = record["priors"] if name in record["priors"] else record
        place[name] = value

    return spoil


CRAFTED: dict[str, Callable[[Any, Any], None]] = {
    "words too few": _arrays("words", lambda a: a[1:].copy()),
    "words of single precision": _arrays("words", lambda a: a.astype(np.float32)),
    "words of one axis": _arrays("words", lambda a: a.ravel()),
    "words not numbers": _arrays("words", lambda a: a * np.nan),
    "words negative": _arrays("words", lambda a: -a),
    "words infinite": _arrays("words", lambda a: a + np.inf),
    "words of another corpus": _arrays("words", lambda a: 2 * a),
    "previous too few": _arrays("previous", lambda a: a[:3].copy()),
    "previous not numbers": _arrays("previous", lambda a: a * np.float32("nan")),
    "alpha short": _arrays("doc_topic_prior", lambda a: a[:2].copy()),
    "alpha negative": _arrays("doc_topic_prior", lambda a: -a),
    "alpha other": _arrays("doc_topic_prior", lambda a: 2 * a),
    "an array less": lambda arrays, record: arrays.pop("words"),
    "an array more": lambda arrays, record: arrays.update(extra=np.ones(3)),
    "sweep wrong": _record("sweep", 9),
    "sweep negative": _record("sweep", -1),
    "version of the future": _record("version", 2),
    "beta zero": _record("topic_word", 0.0),
    "beta other": _record("topic_word", 0.5),
    "weights": _record("pairwise_weight", 0.5),
    "weight of two": _record("higher_order_weight", 2.0),
    "order huge": _record("order", 10**9),
    "exponent": _record("word_exponent", 0.5),
    "relaxation": _record("relaxation", 0.5),
    "own tokens other": _record("own_tokens", 3.0),
    "own tokens zero": _record("own_tokens", 0.0),
    "history empty": _record("history", []),
    "history of text": _record("history", [["a", 0.1, 0.1], [2, 0.1, 0.1]]),
    "history out of order": _record("history", [[2, 0.1, 0.1], [1, 0.1, 0.1]]),
    "identity a list": _record("identity", []),
    "a field more": _record("colour", "red"),
}


@pytest.mark.parametrize("case", CRAFTED)
def test_crafted_checkpoints_never_reach_a_kernel(begun: Begun, case: str) -> None:
    """The digests are right: whoever made the file knew the format."""
    arrays, metadata = read_arrays(begun.checkpoint, FORMAT)
    record = json.loads(metadata["record"])
    CRAFTED[case](arrays, record)
    write_arrays(begun.checkpoint, arrays, metadata | {"record": json.dumps(record)})
    with pytest.raises(tt.InputError) as error:
        begun.resume()
    assert "\n" not in str(error.value)


def test_a_full_disk_keeps_the_old_checkpoint(begun: Begun) -> None:
    belief, history = load_checkpoint(begun.checkpoint)
    before = begun.checkpoint.read_bytes()
    with pytest.raises(tt.InputError, match="cannot be written"):
        save_checkpoint(begun.checkpoint / "under-a-file", belief, history, {})
    assert begun.checkpoint.read_bytes() == before
