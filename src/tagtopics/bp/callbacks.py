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

    def on_progress(self, share: float) -> None:
        """Handle the progress of a stage: the share of its work that is done, 1 at its end."""
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
        parts: steps of one iteration, where `advance` is called for each.
    """

    def __init__(self, title: str = "Fitting", parts: int = 1) -> None:
        self.title, self.parts = title, parts
        self._bar: Any = None
        self._stage = ""
        self._stage_bar: Any = None

    def on_start(self, max_iter: int) -> None:
        """Show the bar."""
        from rich.progress import MofNCompleteColumn, TextColumn

        self._bar = _bar(MofNCompleteColumn(), TextColumn("change {task.fields[change]:.4f}"))
        self._bar.start()
        self._task = self._bar.add_task(self.title, total=max_iter * self.parts, change=float("nan"))

    def on_stage(self, name: str) -> None:
        """Print the name of the stage."""
        from rich.console import Console

        self._stage = name
        console = Console(stderr=True)
        if console.is_terminal:
            console.print(f"{name} ...", style="dim", markup=False)

    def on_progress(self, share: float) -> None:
        """Show a bar until the stage ends."""
        if self._stage_bar is None and share < 1:
            self._stage_bar = _bar()
            self._stage_bar.start()
            self._stage_bar.add_task(self._stage, total=1.0)
        if self._stage_bar is not None:
            self._stage_bar.update(0, completed=share)
            if share >= 1:
                self._stage_bar.stop()
                self._stage_bar = None

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


def _bar(*columns: Any) -> Any:
    """Return a progress bar on standard error, with the time left and more columns."""
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    shown = (TextColumn("{task.description}"), BarColumn(), *columns, TimeRemainingColumn())
    return Bar(*shown, console=Console(stderr=True), transient=True)


def announce(callbacks: Sequence[Callback[Any]], stage: str) -> None:
    """Tell callbacks that a stage of the work begins."""
    for callback in callbacks:
        callback.on_stage(stage)
