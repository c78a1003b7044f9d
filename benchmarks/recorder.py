"""A timer that runs during training and is paused during scoring."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from benchmarks import machine
from benchmarks.evaluator import Evaluator

Topics = Callable[[], tuple[Any, Any | None]]
"""Returns phi (W, K), and the system's own alpha (K,) or None."""


class Recorder:
    """Collects (sweeps, training seconds, perplexity) of one run."""

    def __init__(
        self, evaluator: Evaluator, cap: float, ratio: float, last: float, memory_mb: float = 0.0
    ) -> None:
        """Prepare the timer.

        Args:
            evaluator: scores topics.
            cap: seconds of training after which to stop.
            ratio: how much further the next checkpoint lies, at least one sweep.
            last: the sweep to end with.
            memory_mb: memory to allocate and free before the timer starts.
        """
        self.evaluator, self.cap, self.ratio, self.last = evaluator, cap, ratio, last
        self.memory_mb = memory_mb
        self.curve: dict[str, list[Any]] = {
            name: [] for name in ("sweep", "seconds", "cpu_seconds", "perplexity", "validation", "alpha")
        }
        self.seconds = self.cpu = self.peak_mb = self.base_mb = 0.0
        self._next, self._checked = 1.0, 0.0

    def start(self) -> None:
        """Start the timer; everything before was preparation."""
        machine.touch_memory(self.memory_mb)
        machine.reset_peak()
        self.base_mb = machine.peak_mb()
        self._resume()

    def tick(self, sweep: float, topics: Topics) -> bool:
        """Record that `sweep` sweeps (or passes) are done, and score if due. Return whether to stop."""
        self._pause()
        over = self.seconds >= self.cap or sweep >= self.last - 1e-9
        if over or sweep >= self._next - 1e-9 or self.seconds - self._checked > self.cap / 12:
            self._score(sweep, topics)
        if not over:
            self._resume()
        return over

    def until_next(self, sweep: float) -> int:
        """Return the number of sweeps before the next tick, without running far past the limit."""
        wanted = min(self._next, self.last) - sweep
        if self.seconds > 0:
            wanted = min(wanted, (self.cap / 10) / (self.seconds / max(sweep, 1.0)))
        return max(1, int(wanted))

    def _score(self, sweep: float, topics: Topics) -> None:
        score = self.evaluator.score(*topics())
        times = (round(sweep, 3), round(self.seconds, 4), round(self.cpu, 3))
        scores = (round(score.perplexity, 2), round(score.validation, 2), score.alpha)
        for name, value in zip(self.curve, (*times, *scores), strict=True):
            self.curve[name].append(value)
        self._next = max(sweep + 1, sweep * self.ratio)
        self._checked = self.seconds

    def _resume(self) -> None:
        machine.reset_peak()
        self._cpu_began, self._began = machine.cpu_seconds(), time.perf_counter()

    def _pause(self) -> None:
        self.seconds += time.perf_counter() - self._began
        self.cpu += machine.cpu_seconds() - self._cpu_began
        self.peak_mb = max(self.peak_mb, machine.peak_mb() + machine.children_mb())
