"""Callbacks of the loop: the protocol, and a progress bar."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

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
        title: text before the bar.
    """

    def __init__(self, title: str = "Fitting") -> None:
        self.title = title
        self._bar: Any = None

    def on_start(self, max_iter: int) -> None:
        """Show the bar."""
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("change {task.fields[change]:.4f}"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._bar.start()
        self._task = self._bar.add_task(self.title, total=max_iter, change=float("nan"))

    def on_stage(self, name: str) -> None:
        """Print the name of the stage."""
        from rich.console import Console

        console = Console(stderr=True)
        if console.is_terminal:
            console.print(f"{name} ...", style="dim", markup=False)

    def on_iteration(self, step: Step, state: Any) -> bool:
        """Move the bar."""
        self._bar.update(self._task, completed=step.iteration, change=step.change)
        return False

    def on_end(self, reason: str) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.stop()


def announce(callbacks: Sequence[Callback[Any]], stage: str) -> None:
    """Tell callbacks that a stage of the work begins."""
    for callback in callbacks:
        callback.on_stage(stage)
