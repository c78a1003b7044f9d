"""The loop, its callbacks, and going on from a checkpoint."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tagtopics as tt
from tagtopics.datasets.synthetic import SyntheticCorpus
from tagtopics.graph import Priors, build_graph
from tagtopics.inference.bp import Belief, BeliefPropagation
from tagtopics.inference.callbacks import Checkpoint, EarlyStop, Progress, Watcher, load_checkpoint
from tagtopics.inference.loop import Step, run


class Halving:
    """The change halves in every step."""

    def init(self) -> float:
        return 1.0

    def step(self, state: float) -> tuple[float, float]:
        return state / 2, state / 2


class Recorder(Watcher[float]):
    def __init__(self, stop_at: int = 0, fail_at: int = 0) -> None:
        self.heard: list[object] = []
        self.stop_at, self.fail_at = stop_at, fail_at

    def on_start(self, max_iter: int) -> None:
        self.heard.append(max_iter)

    def on_iteration(self, step: Step, state: float) -> bool:
        self.heard.append(step.iteration)
        if step.iteration == self.fail_at:
            raise RuntimeError("no")
        return step.iteration == self.stop_at

    def on_end(self, reason: str) -> None:
        self.heard.append(reason)


def test_ends_at_max_iter() -> None:
    watcher = Recorder()
    result = run(Halving(), max_iter=3, callbacks=[watcher])
    assert (result.state, result.reason) == (1 / 8, "max_iter")
    assert watcher.heard == [3, 1, 2, 3, "max_iter"]
    assert [step.change for step in result.history] == [1 / 2, 1 / 4, 1 / 8]


def test_ends_when_converged_or_told() -> None:
    assert run(Halving(), max_iter=99, tol=0.2).reason == "converged"
    result = run(Halving(), max_iter=99, callbacks=[Recorder(stop_at=2)])
    assert (result.reason, len(result.history)) == ("stopped", 2)


def test_callbacks_hear_of_failure() -> None:
    watcher = Recorder(fail_at=2)
    with pytest.raises(RuntimeError):
        run(Halving(), max_iter=9, callbacks=[watcher])
    assert watcher.heard[-1] == "failed"


def test_early_stop_counts_iterations_without_progress() -> None:
    class Resting(Halving):
        def step(self, state: float) -> tuple[float, float]:
            return state, 1.0

    result = run(Resting(), max_iter=99, callbacks=[EarlyStop(patience=4)])
    assert (result.reason, len(result.history)) == ("stopped", 5)


def test_progress_bar_draws_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    run(Halving(), max_iter=2, callbacks=[Progress("Fitting")])
    assert capsys.readouterr().out == ""


def test_a_checkpoint_goes_on_with_the_same_bits(planted: SyntheticCorpus, tmp_path: Path) -> None:
    graph = build_graph(planted.corpus.counts, planted.corpus.tags)
    priors = Priors(np.full(6, 0.1, dtype=np.float32), 0.05, 0.1, 0.05, 3)
    algorithm = BeliefPropagation(graph, priors, seed=4, n_threads=2)
    whole = run(algorithm, max_iter=10).state
    run(algorithm, max_iter=7, callbacks=[Checkpoint(tmp_path / "c", every=3)])
    start = load_checkpoint(tmp_path / "c")
    assert [step.iteration for step in start[1]] == [1, 2, 3, 4, 5, 6]
    result = run(algorithm, max_iter=10, start=start)
    resumed = result.state
    assert [step.iteration for step in result.history] == list(range(1, 11))
    for a, b in zip(whole.topics, resumed.topics, strict=True):
        np.testing.assert_array_equal(a, b)
    assert [path.name for path in tmp_path.iterdir()] == ["c"]


def test_a_checkpoint_of_another_fit_or_with_a_flipped_byte(planted: SyntheticCorpus, tmp_path: Path) -> None:
    path, identity = tmp_path / "c", {"model": "LDA", "parameters": {"n_topics": 6}}
    checkpoint = Checkpoint(path, every=1, identity=identity)
    tt.LDA(6, max_iter=2, random_state=0).fit(planted.corpus, callbacks=[checkpoint])
    load_checkpoint(path, identity)
    with pytest.raises(tt.InputError, match="begun with another parameters"):
        load_checkpoint(path, identity | {"parameters": {"n_topics": 7}})
    data = bytearray(path.read_bytes())
    data[-100] ^= 4
    path.write_bytes(data)
    with pytest.raises(tt.InputError, match="checksum"):
        load_checkpoint(path, identity)


def test_a_checkpoint_by_the_clock(planted: SyntheticCorpus, tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path / "c", every=10**6, minutes=0.0)
    tt.LDA(6, max_iter=3, tol=0, random_state=0).fit(planted.corpus, callbacks=[checkpoint])
    assert len(load_checkpoint(tmp_path / "c")[1]) == 3


@pytest.mark.parametrize("content", [b"", b"not a checkpoint", b"\x08\x00\x00\x00\x00\x00\x00\x00{}      "])
def test_damaged_checkpoints_are_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "c").write_bytes(content)
    with pytest.raises(tt.InputError, match="no checkpoint of tagtopics"):
        load_checkpoint(tmp_path / "c")
    with pytest.raises(tt.InputError, match="no such checkpoint"):
        load_checkpoint(tmp_path / "d")


def test_reference_and_compiled_kernels_walk_together() -> None:
    from tagtopics.kernels.bp import compiled, reference

    truth = tt.make_tagged_corpus(n_docs=25, n_words=40, n_topics=5, n_tags=6, n_groups=1, doc_length=15)
    graph = build_graph(truth.corpus.counts, truth.corpus.tags)
    priors = Priors(np.full(4, 0.1, dtype=np.float32), 0.05, 0.1, 0.05, 3)
    beliefs: list[Belief] = []
    for kernels in (compiled, reference):
        beliefs.append(run(BeliefPropagation(graph, priors, 0, kernels=kernels), max_iter=8).state)
    np.testing.assert_allclose(beliefs[0].topics.word_sums, beliefs[1].topics.word_sums, atol=2e-3)
