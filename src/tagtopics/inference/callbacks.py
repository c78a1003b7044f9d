"""Callbacks for the loop: a progress bar, a stop on patience, checkpoints."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from tagtopics.errors import InputError
from tagtopics.graph import Priors, TopicState
from tagtopics.inference.belief_propagation import Belief
from tagtopics.inference.loop import Step

_S = TypeVar("_S")


class Watcher(Generic[_S]):
    """A callback that does nothing; a base for those that do something."""

    def on_start(self, max_iter: int) -> None:
        """Hear that a run begins."""

    def on_iteration(self, step: Step, state: _S) -> bool:
        """Hear of one iteration; return True to stop."""
        return False

    def on_end(self, reason: str) -> None:
        """Hear that the run is over."""


class Progress(Watcher[Any]):
    """A progress bar on standard error, with the time left and the change of the messages."""

    def __init__(self, title: str = "Fitting") -> None:
        self.title = title
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
        self._task = self._bar.add_task(self.title, total=max_iter, change=float("nan"))

    def on_iteration(self, step: Step, state: Any) -> bool:
        """Move the bar."""
        self._bar.update(self._task, completed=step.iteration, change=step.change)
        return False

    def on_end(self, reason: str) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()


class EarlyStop(Watcher[Any]):
    """Stop when the change has not fallen by `factor` within `patience` iterations."""

    def __init__(self, patience: int = 10, factor: float = 0.99) -> None:
        self.patience = patience
        self.factor = factor

    def on_start(self, max_iter: int) -> None:
        """Forget earlier runs."""
        self._best = np.inf
        self._since = 0

    def on_iteration(self, step: Step, state: Any) -> bool:
        """Count the iterations without progress."""
        if step.change < self.factor * self._best:
            self._best, self._since = step.change, 0
        else:
            self._since += 1
        return self._since >= self.patience


class Checkpoint(Watcher[Belief]):
    """Save the state every `every` iterations, atomically: the file is always a whole one."""

    def __init__(self, path: str | Path, every: int = 10) -> None:
        self.path = Path(path)
        self.every = every

    def on_iteration(self, step: Step, state: Belief) -> bool:
        """Save when it is time."""
        if not isinstance(state, Belief):
            raise InputError("a checkpoint holds the state of belief propagation (LDA, TTM) only")
        if step.iteration % self.every == 0:
            save_checkpoint(self.path, state, step.iteration)
        return False


def save_checkpoint(path: Path, belief: Belief, iteration: int) -> None:
    """Write a state and the number of iterations behind it."""
    from safetensors.numpy import save_file

    scalars = belief.priors._asdict() | {"doc_topic": None, "iteration": iteration}
    arrays = belief.topics._asdict() | {"doc_topic_prior": belief.priors.doc_topic}
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        save_file(arrays, temporary, metadata={"checkpoint": json.dumps(scalars)})
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def load_checkpoint(path: str | Path) -> tuple[Belief, int]:
    """Read what `save_checkpoint` wrote, for `start` of `loop.run`."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "numpy") as file:
            scalars = json.loads(file.metadata()["checkpoint"])
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        iteration = int(scalars.pop("iteration"))
        scalars["doc_topic"] = arrays.pop("doc_topic_prior")
        return Belief(TopicState(**arrays), Priors(**scalars)), iteration
    except FileNotFoundError:
        raise InputError(f"no such checkpoint: {path}") from None
    except (SafetensorError, OSError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path} is no checkpoint of tagtopics, or a damaged one: {error}") from None
