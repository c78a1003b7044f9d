"""Callbacks of the loop: the protocol, a progress bar, and a stop on patience."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

_State = TypeVar("_State", contravariant=True)


class Step(NamedTuple):
    """The record of one iteration."""

    iteration: int  # from 1
    change: float  # mean absolute change of a token's message, between 0 and 2
    seconds: float  # of this iteration


class Callback(Protocol[_State]):
    """Called during a fit. Subclass it and override what you need."""

    def on_start(self, max_iter: int) -> None:
        """Handle the start of a run of at most `max_iter` iterations."""
        return

    def on_stage(self, name: str) -> None:
        """Handle the start of other work of a fit, such as "Training the recommender"."""
        return

    def on_iteration(self, step: Step, state: _State) -> bool:
        """Handle the end of an iteration; return True to stop. The next one may overwrite the state."""
        return False

    def on_end(self, reason: str) -> None:
        """Handle the end of the run, also of one that failed."""
        return


class Progress(Callback[Any]):
    """A progress bar on standard error, with the time left and the change of the messages.

    Args:
        title: text beside the bar.
        parts: steps of one iteration, where `advance` is called for each.
    """

    def __init__(self, title: str = "Fitting", parts: int = 1) -> None:
        self.title, self.parts = title, parts
        self._bar: Any = None

    def on_start(self, max_iter: int) -> None:
        """Show the bar."""
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        columns = [TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()]
        change = TextColumn("change {task.fields[change]:.4f}")
        self._bar = Bar(*columns, change, console=Console(stderr=True), transient=True)
        self._bar.start()
        self._task = self._bar.add_task(self.title, total=max_iter * self.parts, change=float("nan"))

    def on_stage(self, name: str) -> None:
        """Print the name of the stage."""
        from rich.console import Console

        console = Console(stderr=True)
        if console.is_terminal:
            console.print(f"{name} ...", style="dim", markup=False)

    def on_iteration(self, step: Step, state: Any) -> bool:
        """Move the bar."""
        self._bar.update(self._task, completed=step.iteration * self.parts, change=step.change)
        return False

    def advance(self) -> None:
        """Move the bar by one part of an iteration."""
        if self._bar is not None:
            self._bar.advance(self._task)

    def on_end(self, reason: str) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.stop()


class EarlyStop(Callback[Any]):
    """Stop when the change has not fallen by `factor` within `patience` iterations."""

    def __init__(self, patience: int = 10, factor: float = 0.99) -> None:
        self.patience = patience
        self.factor = factor

    def on_start(self, max_iter: int) -> None:
        """Reset the counter."""
        self._best = np.inf
        self._since = 0

    def on_iteration(self, step: Step, state: Any) -> bool:
        """Count the iterations without progress."""
        if step.change < self.factor * self._best:
            self._best, self._since = step.change, 0
        else:
            self._since += 1
        return self._since >= self.patience
