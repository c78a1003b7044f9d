"""The only loop: an algorithm gives a start and a step, this gives iterations, tolerance, history, reason."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

State = TypeVar("State")
_State_contra = TypeVar("_State_contra", contravariant=True)


class Step(NamedTuple):
    """What one iteration was like."""

    iteration: int  # from 1
    change: float  # mean absolute change of a token's message, between 0 and 2
    seconds: float  # of this iteration


class Algorithm(Protocol[State]):
    """An iterative algorithm: where it starts, and what it does next."""

    def init(self) -> State:
        """Return the state before the first iteration."""
        ...

    def step(self, state: State) -> tuple[State, float]:
        """Return the next state and how much changed; the old state may be consumed."""
        ...


class Callback(Protocol[_State_contra]):
    """Watches a run. Subclass `Watcher` and override what you need."""

    def on_start(self, max_iter: int) -> None:
        """Hear that a run of at most `max_iter` iterations begins."""
        ...

    def on_iteration(self, step: Step, state: _State_contra) -> bool:
        """Hear of one iteration; return True to stop. The state is only lent."""
        ...

    def on_end(self, reason: str) -> None:
        """Hear that the run is over, also when it failed."""
        ...


class FitResult(NamedTuple, Generic[State]):
    """Where a run ended, how it got there, and why it stopped: converged, max_iter or stopped."""

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
    """Iterate until the change falls below `tol`, a callback says stop, or `max_iter` is reached.

    Args:
        algorithm: gives the first state and each next one.
        max_iter: the number of the last iteration.
        tol: smallest change worth another iteration; zero never stops early.
        callbacks: told of everything, in order.
        start: a state and the iterations behind it, to go on from a checkpoint.
    """
    state, past = (algorithm.init(), ()) if start is None else start
    history = list(past)
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
