"""Checkpoints: continued to the same bits; damaged, foreign and misfitting ones are refused in one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

import tagtopics as tt
from benchmarks.synthetic import SyntheticCorpus
from tagtopics.bp.callbacks import Step
from tagtopics.bp.checkpoint import (
    FORMAT,
    Checkpoint,
    digest_of,
    identity_of,
    load_checkpoint,
    read_arrays,
    save_checkpoint,
    write_arrays,
)
from tagtopics.bp.executor import MemoryExecutor
from tagtopics.bp.graph import Priors, build_graph
from tagtopics.bp.loop import run
from tagtopics.bp.propagation import BeliefPropagation, Start

pytestmark = pytest.mark.compiled  # fits to a thousand documents


def lda(**parameters: Any) -> tt.LDA:
    return tt.LDA(6, **({"max_iter": 2, "tol": 0, "random_state": 0} | parameters))


def checkpoint_of(corpus: Any, path: Path, **parameters: Any) -> Path:
    lda(**parameters).fit_topics(corpus, callbacks=[Checkpoint(path, every=1)])
    return path


@pytest.mark.parametrize("lean", [False, True])
def test_continued_to_the_same_bits(planted: SyntheticCorpus, tmp_path: Path, lean: bool) -> None:
    graph = build_graph(planted.corpus.counts, planted.corpus.tags)
    priors = Priors(np.full(6, 0.1, dtype=np.float32), 0.05, 0.1, 0.05, 3, relaxation=0.8)
    algorithm = BeliefPropagation(MemoryExecutor(graph, lean), priors, 4)
    whole = run(algorithm, max_iter=10).state
    run(algorithm, max_iter=7, callbacks=[Checkpoint(tmp_path / "c", every=3)])
    start = load_checkpoint(tmp_path / "c")
    assert [step.iteration for step in start[1]] == [1, 2, 3, 4, 5, 6]
    result = run(algorithm, max_iter=10, start=start)
    assert [step.iteration for step in result.history] == list(range(1, 11))
    resumed = result.state
    assert whole.docs is not None
    assert resumed.docs is not None
    assert whole.priors.relaxation == resumed.priors.relaxation
    for a, b in zip((*whole.sums[:3], *whole.docs), (*resumed.sums[:3], *resumed.docs), strict=True):
        np.testing.assert_array_equal(a, b)
    assert [path.name for path in tmp_path.iterdir()] == ["c"]


def test_a_callback_that_is_used_twice_starts_again(planted: SyntheticCorpus, tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path / "c", every=1)
    for _ in range(2):
        lda().fit_topics(planted.corpus, callbacks=[checkpoint])
    assert len(load_checkpoint(tmp_path / "c")[1]) == 2


def test_another_fit_is_refused(planted: SyntheticCorpus, tmp_path: Path) -> None:
    identity = identity_of(lda(), digest_of(planted.corpus))
    checkpoint = Checkpoint(tmp_path / "c", every=1, identity=identity)
    lda().fit_topics(planted.corpus, callbacks=[checkpoint])
    load_checkpoint(tmp_path / "c", identity)
    with pytest.raises(tt.InputError, match="begun with another parameters"):
        load_checkpoint(tmp_path / "c", identity_of(lda(topic_word_prior=0.1), digest_of(planted.corpus)))
    fewer = planted.corpus.select(np.arange(50))
    with pytest.raises(tt.InputError, match="begun with another corpus"):
        load_checkpoint(tmp_path / "c", identity_of(lda(), digest_of(fewer)))


def test_every_flipped_byte_is_found(planted: SyntheticCorpus, tmp_path: Path) -> None:
    corpus = planted.corpus.select(np.arange(40))
    path = checkpoint_of(corpus, tmp_path / "c")
    whole = path.read_bytes()
    header = np.arange(0, 3000, 11)
    arrays = np.linspace(3000, len(whole) - 1, 200).astype(int)
    for at in np.concatenate([header, arrays]).tolist():
        data = bytearray(whole)
        data[at] ^= 1 << at % 8
        path.write_bytes(data)
        with pytest.raises(tt.InputError):
            load_checkpoint(path)


@pytest.mark.parametrize("content", [b"", b"not a checkpoint", b"\x08\x00\x00\x00\x00\x00\x00\x00{}      "])
def test_other_files_are_refused_and_never_overwritten(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "c").write_bytes(content)
    with pytest.raises(tt.InputError, match="not a"):
        load_checkpoint(tmp_path / "c")
    with pytest.raises(tt.InputError, match="no such file"):
        load_checkpoint(tmp_path / "d")
    with pytest.raises(tt.InputError, match="is not a checkpoint written by tagtopics"):
        Checkpoint(tmp_path / "c")
    assert (tmp_path / "c").read_bytes() == content


def test_other_safetensors_files_and_folders_are_never_overwritten(tmp_path: Path) -> None:
    save_file({"weights": np.ones(3)}, tmp_path / "model.safetensors")
    (tmp_path / "folder").mkdir()
    for name in ("model.safetensors", "folder"):
        with pytest.raises(tt.InputError, match="not a checkpoint"):
            Checkpoint(tmp_path / name)
        with pytest.raises(tt.InputError, match=f"{name}: no"):
            load_checkpoint(tmp_path / name)


@pytest.mark.parametrize(("there", "here"), [("lean", "stored"), ("stored", "lean")])
def test_another_memory_mode_is_refused(
    planted: SyntheticCorpus, tmp_path: Path, there: str, here: str
) -> None:
    start = load_checkpoint(checkpoint_of(planted.corpus, tmp_path / "c", memory=there))
    with pytest.raises(tt.InputError, match=f'begun with memory="{there}", this fit has memory="{here}"'):
        lda(memory=here).fit_topics(planted.corpus, start=Start(resumed=start))


def test_another_corpus_is_refused(planted: SyntheticCorpus, tmp_path: Path) -> None:
    start = load_checkpoint(checkpoint_of(planted.corpus, tmp_path / "c"))
    smaller = planted.corpus.select(np.arange(100))
    with pytest.raises(tt.InputError, match="of another corpus or other parameters"):
        lda().fit_topics(smaller, start=Start(resumed=start))
    order = np.random.default_rng(0).permutation(planted.corpus.n_docs)
    with pytest.raises(tt.InputError, match="of another corpus"):
        lda().fit_topics(planted.corpus.select(order), start=Start(resumed=start))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_topics": 7}, "of another corpus or other parameters"),
        ({"doc_topic_prior": 0.2}, "another doc_topic_prior"),
        ({"topic_word_prior": 0.2}, "another topic_word"),
    ],
)
def test_other_parameters_are_refused(
    planted: SyntheticCorpus, tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    start = load_checkpoint(checkpoint_of(planted.corpus, tmp_path / "c"))
    with pytest.raises(tt.InputError, match=message):
        lda().set_params(**change).fit_topics(planted.corpus, start=Start(resumed=start))


def test_what_is_not_a_belief_is_refused(planted: SyntheticCorpus) -> None:
    nonsense: Any = ("a state", [Step(1, 0.5, 0.1)])
    with pytest.raises(tt.InputError, match="not a state of belief propagation"):
        lda().fit(planted.corpus, start=nonsense)
    with pytest.raises(tt.InputError, match="fit_topics: start must be a Start"):
        lda().fit_topics(planted.corpus, start=nonsense)


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
    "messages too few": _arrays("messages", lambda a: a[:-1].copy()),
    "messages wide": _arrays("messages", lambda a: np.hstack([a, a])),
    "messages of whole numbers": _arrays("messages", lambda a: a.astype(np.int32)),
    "messages larger": _arrays("messages", lambda a: 3 * a),
    "doc_sums of no document": _arrays("doc_sums", lambda a: a[:0]),
    "doc_sums of another": _arrays("doc_sums", lambda a: np.roll(a, 1, axis=0)),
    "slot_means of no document": _arrays("slot_means", lambda a: np.ones((5, 6), np.float32)),
    "alpha short": _arrays("doc_topic_prior", lambda a: a[:2].copy()),
    "alpha negative": _arrays("doc_topic_prior", lambda a: -a),
    "alpha other": _arrays("doc_topic_prior", lambda a: 2 * a),
    "an array less": lambda arrays, record: arrays.pop("words"),
    "an array more": lambda arrays, record: arrays.update(extra=np.ones(3)),
    "no documents": _record("memory", "shards"),
    "memory unknown": _record("memory", "large"),
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
def test_crafted_checkpoints_never_reach_a_kernel(
    planted: SyntheticCorpus, tmp_path: Path, case: str
) -> None:
    """The digests are right: whoever made the file knew the format."""
    path = checkpoint_of(planted.corpus, tmp_path / "c")
    arrays, metadata = read_arrays(path, FORMAT)
    record = json.loads(metadata["record"])
    CRAFTED[case](arrays, record)
    write_arrays(path, arrays, metadata | {"record": json.dumps(record)})
    with pytest.raises(tt.InputError) as error:
        lda(max_iter=4).fit_topics(planted.corpus, start=Start(resumed=load_checkpoint(path)))
    assert "\n" not in str(error.value)


def test_a_full_disk_keeps_the_old_checkpoint(planted: SyntheticCorpus, tmp_path: Path) -> None:
    path = checkpoint_of(planted.corpus, tmp_path / "c")
    belief, history = load_checkpoint(path)
    before = path.read_bytes()
    (tmp_path / "read-only").mkdir()
    with pytest.raises(tt.InputError, match="cannot be written"):
        save_checkpoint(tmp_path / "c" / "under-a-file", belief, history, {})
    assert path.read_bytes() == before
