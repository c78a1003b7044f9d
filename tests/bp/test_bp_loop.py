"""The loop and its callbacks."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import bp_reference as reference
import numpy as np
import pytest
from specified import swept_by

from benchmarks.synthetic import make_tagged_corpus
from tagtopics.bp import sweep as compiled
from tagtopics.bp.callbacks import Callback, Progress, Step
from tagtopics.bp.executor import MemoryExecutor
from tagtopics.bp.graph import Priors, build_graph
from tagtopics.bp.loop import run
from tagtopics.bp.propagation import BeliefPropagation


class Halving:
    """The change halves in every step."""

    def init(self) -> float:
        return 1.0

    def step(self, state: float) -> tuple[float, float]:
        return state / 2, state / 2


class Recorder(Callback[float]):
    def __init__(self, stop_at: int = 0, fail_at: int = 0) -> None:
        self.events: list[object] = []
        self.stop_at, self.fail_at = stop_at, fail_at

    def on_start(self, max_iter: int) -> None:
        self.events.append(max_iter)

    def on_iteration(self, step: Step, state: float) -> bool:
        self.events.append(step.iteration)
        if step.iteration == self.fail_at:
            raise RuntimeError("no")
        return step.iteration == self.stop_at

    def on_end(self, reason: str) -> None:
        self.events.append(reason)


def test_ends_at_max_iter() -> None:
    recorder = Recorder()
    result = run(Halving(), max_iter=3, callbacks=[recorder])
    assert (result.state, result.reason) == (1 / 8, "max_iter")
    assert recorder.events == [3, 1, 2, 3, "max_iter"]
    assert [step.change for step in result.history] == [1 / 2, 1 / 4, 1 / 8]


def test_ends_when_converged_or_told() -> None:
    assert run(Halving(), max_iter=99, tol=0.2).reason == "converged"
    result = run(Halving(), max_iter=99, callbacks=[Recorder(stop_at=2)])
    assert (result.reason, len(result.history)) == ("stopped", 2)


def test_callbacks_are_told_of_failure() -> None:
    recorder = Recorder(fail_at=2)
    with pytest.raises(RuntimeError):
        run(Halving(), max_iter=9, callbacks=[recorder])
    assert recorder.events[-1] == "failed"


def test_progress_bar_draws_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    run(Halving(), max_iter=2, callbacks=[Progress("Fitting")])
    assert capsys.readouterr().out == ""


@pytest.mark.compiled
@pytest.mark.parametrize("lean", [False, True])
def test_reference_and_compiled_kernels_agree(lean: bool) -> None:
    truth = make_tagged_corpus(n_docs=12, n_words=40, n_topics=5, n_tags=6, n_groups=1, doc_length=15)
    graph = build_graph(truth.corpus.counts, truth.corpus.tags)
    priors = Priors(np.full(4, 0.1, dtype=np.float32), 0.05, 0.1, 0.05, 3)

    def word_sums(kernels: ModuleType) -> Any:
        with swept_by(kernels):
            found = run(BeliefPropagation(MemoryExecutor(graph, lean), priors, 0), max_iter=8)
        return found.state.sums.words

    np.testing.assert_allclose(word_sums(compiled), word_sums(reference), atol=2e-3)


def test_stages_are_announced_on_a_terminal_only(capsys: pytest.CaptureFixture[str]) -> None:
    Progress().on_stage("Training the recommender")
    assert capsys.readouterr() == ("", "")
    assert Recorder().on_stage("Training the recommender") is None  # type: ignore[func-returns-value]
