"""How long the steps of a command took."""

from __future__ import annotations

import time
from typing import Any, ClassVar

_STEPS = {  # of the stages that readers and fits name
    "Reading": "read",
    "Counting words": "count",
    "Drawing the first messages": "start",
    "Fitting the tag prior": "tags",
    "Crediting words to tags": "tags",
    "Training the recommender": "recommender",
    "Looking for tag names": "recommender",
}


class StepClock:
    """Adds up the seconds of steps; one step ends when the next begins. It is also a callback of a fit.

    Args:
        steps: the names of all steps, the first of which begins now.

    Attributes:
        began: when the command began; modules are loaded between this and the first step.
        seconds: of each step, 0 if it was not needed; `import` is the time before the first one.
    """

    began: ClassVar[float | None] = None

    def __init__(self, *steps: str) -> None:
        self._step, self._since = steps[0], time.perf_counter()
        before = 0.0 if self.began is None else self._since - self.began
        self.seconds = {"import": before, **dict.fromkeys(steps, 0.0)}

    def begin(self, step: str) -> None:
        """Begin a step."""
        now = time.perf_counter()
        self.seconds[self._step] += now - self._since
        self._step, self._since = step, now

    def on_start(self, max_iter: int) -> None:
        """Begin the sweeps."""
        self.begin("sweeps")

    def on_stage(self, name: str) -> None:
        """Begin the step that a stage belongs to."""
        self.begin(_STEPS.get(name, self._step))

    def on_progress(self, share: float) -> None:
        """Do nothing."""

    def on_iteration(self, step: Any, state: Any) -> bool:
        """Go on."""
        return False

    def on_end(self, reason: str) -> None:
        """End the sweeps."""
        self.begin("tags")
