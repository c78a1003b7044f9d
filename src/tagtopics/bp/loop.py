"""The only loop: an algorithm provides a start and a step; this adds iterations, tolerance and history."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from tagtopics._typing import Float32, Float64
from tagtopics.bp.callbacks import Callback, Step

State = TypeVar("State")


class Algorithm(Protocol[State]):
    """An iterative algorithm."""

    def init(self) -> State:
        """Return the state before the first iteration."""

    def step(self, state: State) -> tuple[State, float]:
        """Return the next state and how much changed; the arrays of the old state may be reused."""


class FitResult(NamedTuple, Generic[State]):
    """The last state of a run, its history, and why it stopped: converged, max_iter or stopped."""

    state: State
    history: list[Step]
    reason: str


def run(
    algorithm: Algorithm[State],
    *,
    max_iter: int,
    tol: float = 0.0,
    callbacks: Sequence[Callback[State]] = (),
    start: tuple[State, Sequence[Step]] | None = None,
) -> FitResult[State]:
    """Iterate until the change falls below `tol`, a callback returns True, or `max_iter` is reached.

    Args:
        algorithm: provides the first state and each next one.
        max_iter: the number of the last iteration.
        tol: smallest change worth another iteration; zero never stops early.
        callbacks: called in order.
        start: a state and its history, to continue from.
    """
    state, history = (algorithm.init(), []) if start is None else (start[0], list(start[1]))
    if history and history[-1].change < tol:
        return FitResult(state, history, "converged")
    reason = "max_iter"
    for callback in callbacks:
        callback.on_start(max_iter)
    try:
        for iteration in range(len(history) + 1, max_iter + 1):
            began = time.perf_counter()
            state, change = algorithm.step(state)
            history.append(Step(iteration, change, time.perf_counter() - began))
            stops = [callback.on_iteration(history[-1], state) for callback in callbacks]
            if any(stops):
                reason = "stopped"
                break
            if change < tol:
                reason = "converged"
                break
    except BaseException:
        reason = "failed"
        raise
    finally:
        for callback in callbacks:
            callback.on_end(reason)
    return FitResult(state, history, reason)


class Learned(NamedTuple):
    """Topics as sums of tokens, and the topic proportions of the training documents."""

    word_sums: Float64  # (W, K) tokens of each word in each topic
    doc_topic: Float32  # (D, K) rows add up to one
    doc_topic_prior: Float32  # (K,) pseudo-counts of a new document
    more: dict[str, Any]  # what only some models have, by the name of the fitted attribute


class TopicAlgorithm(Algorithm[State], Protocol[State]):
    """An algorithm for `loop.run` that learns topics."""

    def learned(self, state: State) -> Learned:
        """Return what a model keeps of a state."""


def proportions(sums: Any, prior: Float32) -> Float32:
    """Return sums plus prior, (D, K), with rows scaled to add up to one."""
    scaled: Float32 = (sums + prior).astype("float32", copy=False)
    scaled /= scaled.sum(1, keepdims=True, dtype="float64")
    return scaled
