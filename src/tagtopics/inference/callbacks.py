"""Callbacks for the loop: a progress bar, a stop on patience, checkpoints."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from tagtopics.errors import InputError
from tagtopics.graph import Priors, TopicState
from tagtopics.inference.bp import Belief
from tagtopics.inference.checksums import checksum
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
    """A progress bar on standard error, with the time left and the change of the messages.

    Args:
        title: what is going on.
        parts: steps of one iteration, where `advance` tells of each.
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

    def on_iteration(self, step: Step, state: Any) -> bool:
        """Move the bar."""
        self._bar.update(self._task, completed=step.iteration * self.parts, change=step.change)
        return False

    def advance(self) -> None:
        """Move the bar by one part of an iteration."""
        if self._bar is not None:
            self._bar.advance(self._task)

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
    """Save the state every so often, atomically: the file is always a whole one.

    Args:
        path: a file.
        every: iterations from one checkpoint to the next.
        minutes: save also when so many have passed since the last; None for iterations alone.
        identity: what is being fitted, JSON; `load_checkpoint` can ask whether it is the same.
        past: the iterations before this run, where it goes on from a checkpoint.
    """

    def __init__(
        self,
        path: str | Path,
        every: int = 10,
        minutes: float | None = None,
        identity: Mapping[str, Any] | None = None,
        past: Sequence[Step] = (),
    ) -> None:
        self.path, self.every, self.minutes = Path(path), every, minutes
        self.identity = dict(identity or {})
        self._history = list(past)
        self._saved = time.monotonic()

    def on_iteration(self, step: Step, state: Belief) -> bool:
        """Save when it is time."""
        if not isinstance(state, Belief):
            raise InputError("a checkpoint holds the state of belief propagation (LDA, TTM) only")
        self._history.append(step)
        waited = time.monotonic() - self._saved
        if step.iteration % self.every == 0 or (self.minutes is not None and waited >= 60 * self.minutes):
            save_checkpoint(self.path, state, self._history, self.identity)
            self._saved = time.monotonic()
        return False


def save_checkpoint(path: Path, belief: Belief, history: Sequence[Step], identity: Mapping[str, Any]) -> None:
    """Write a state, the iterations behind it, and what is being fitted."""
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    described = {
        "priors": belief.priors._asdict() | {"doc_topic": None},
        "history": [tuple(step) for step in history],
        "identity": identity,
        "checksum": checksum(*belief.topics),
    }
    arrays = belief.topics._asdict() | {"doc_topic_prior": belief.priors.doc_topic}
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        save_file(arrays, temporary, metadata={"checkpoint": json.dumps(described)})
        os.replace(temporary, path)
    except (OSError, SafetensorError) as error:
        raise InputError(
            f"{path}: the checkpoint cannot be written ({error}); the one before is kept"
        ) from None
    finally:
        temporary.unlink(missing_ok=True)


def load_checkpoint(path: str | Path, identity: Mapping[str, Any] | None = None) -> tuple[Belief, list[Step]]:
    """Read what `Checkpoint` wrote, for `start` of `fit` and of `loop.run`.

    Args:
        path: the file.
        identity: what is to be fitted; a checkpoint of something else is an `InputError`.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "numpy") as file:
            described = json.loads(file.metadata()["checkpoint"])
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        history = [Step(*step) for step in described["history"]]
        found, alpha = described["identity"], arrays.pop("doc_topic_prior")
        priors = Priors(**(described["priors"] | {"doc_topic": alpha}))
        belief = Belief(TopicState(**arrays), priors)
        if checksum(*belief.topics) != described["checksum"]:
            raise ValueError("its checksum differs")
    except FileNotFoundError:
        raise InputError(f"no such checkpoint: {path}") from None
    except (SafetensorError, OSError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path} is no checkpoint of tagtopics, or a damaged one: {error}") from None
    if identity is not None:
        check_identity(found, identity, str(path))
    return belief, history


def check_identity(found: Mapping[str, Any], wanted: Mapping[str, Any], where: str) -> None:
    """Raise `InputError` where an unfinished fit was begun with something else than is asked for now."""
    wanted = json.loads(json.dumps(wanted))
    for name in wanted:
        if found.get(name) != wanted[name]:
            raise InputError(
                f"{where}: was begun with another {name} ({_short(found.get(name))} there, "
                f"{_short(wanted[name])} now); go on with the same, or remove it and begin anew"
            )


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
