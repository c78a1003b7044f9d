"""Belief propagation on shards: the executor of one process, and an unfinished fit on disk.

A run folder has the checkpoint of the last complete sweep (`scale.checkpoint`) and the state of each
shard:

    checkpoint.safetensors           sums, priors, history, and what is being fitted
    state-00003-00012.safetensors    the documents of shard 3 after sweep 12

A sweep reads the states of the one before and writes new ones, so it can be repeated, by any process, with
the same result: a fit that is killed at any moment continues from its last complete sweep to the same bits.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar

import numpy as np

from tagtopics._typing import Float32, Float64, Int64
from tagtopics.bp import sweep as compiled
from tagtopics.bp.anchors import add_profiles, no_profiles
from tagtopics.bp.callbacks import Callback, Step
from tagtopics.bp.executor import Sweep
from tagtopics.bp.graph import Belief, CorpusSums, DocState, FactorGraph, Totals
from tagtopics.corpus.core import check_array
from tagtopics.errors import InputError
from tagtopics.files import check_target, digest_bytes, sweep_leftovers
from tagtopics.jit.threads import current_threads, run_lanes
from tagtopics.scale.checkpoint import (
    FORMAT,
    has_format,
    load_checkpoint,
    read_arrays,
    save_checkpoint,
    write_arrays,
)
from tagtopics.scale.format import ShardFolder

STATE_FORMAT = "tagtopics shard state"
CHECKPOINT = "checkpoint.safetensors"
_STATE = re.compile(r"state-(\d{5,})-(\d{5,})\.safetensors")
_TEMPORARY = re.compile(r"\.(checkpoint|state-\d+-\d+)\.safetensors\.\d+-[0-9a-f]{8}\.(tmp|lock)")


class ShardStates:
    """The states of shards in a run folder.

    Args:
        folder: the run folder.
        run: digest of what is being fitted; states of another run are refused.
    """

    def __init__(self, folder: str | Path, run: str) -> None:
        self.folder, self.run = Path(folder), run

    def path(self, shard: int, sweep: int) -> Path:
        """Return the path of the state of a shard after a sweep."""
        return self.folder / f"state-{shard:05d}-{sweep:05d}.safetensors"

    def put(self, shard: int, sweep: int, docs: DocState) -> None:
        """Write the state of a shard after a sweep, atomically."""
        with _last_sweep_is_kept():
            write_arrays(self.path(shard, sweep), docs._asdict(), self._metadata(shard, sweep))

    def get(self, shard: int, sweep: int, graph: FactorGraph, n_topics: int) -> DocState:
        """Return the state of a shard after a sweep, which must fit the documents of the shard."""
        path = self.path(shard, sweep)
        if not path.exists():
            raise InputError(f"{path}: no such file: lost, or another process continues this fit, too")
        arrays, metadata = read_arrays(path, STATE_FORMAT)
        if metadata != self._metadata(shard, sweep) or set(arrays) != set(DocState._fields):
            raise InputError(
                f"{path}: the state of another shard, sweep or fit; start again without --resume"
            )
        needed: Any = ("C", "A", "W")
        docs = DocState(*(np.require(arrays[name], requirements=needed) for name in DocState._fields))
        for name, array, n in zip(docs._fields, docs, (0, graph.n_docs, graph.n_slots), strict=True):
            check_array(array, (n, n_topics), np.float32, f"{path}: {name}")
        return docs

    def forget(self, before: int | None = None) -> None:
        """Remove the states of all sweeps, or before one, and temporary files of killed processes."""
        for path in self.folder.iterdir():
            match = _STATE.fullmatch(path.name)
            if match and (before is None or int(match[2]) < before):
                path.unlink(missing_ok=True)
            elif _TEMPORARY.fullmatch(path.name):
                sweep_leftovers(path.with_name(path.name[1:].rsplit(".", 2)[0]))

    def _metadata(self, shard: int, sweep: int) -> dict[str, str]:
        return {"format": STATE_FORMAT, "run": self.run, "shard": str(shard), "sweep": str(sweep)}


class ShardRun(Callback[Belief]):
    """The folder of an unfinished fit; as a callback of the loop, it saves every sweep.

    Args:
        folder: the run folder, created with its first file. A folder with anything else in it is refused.
        identity: what is being fitted, JSON.
        resume: continue the fit in the folder. Without, a folder with a checkpoint is refused.

    Attributes:
        states: the states of the shards.
        start: where to continue, for `loop.run`; None for a new fit.
    """

    def __init__(self, folder: str | Path, identity: Mapping[str, Any], *, resume: bool = False) -> None:
        self.folder = check_target(folder, "run folder", is_run, option="--checkpoint")
        self.path, self.identity = self.folder / CHECKPOINT, identity
        if self.path.exists() and not resume:
            raise InputError(
                f"{self.folder}: holds an unfinished fit; continue it with --resume, or remove it"
            )
        self.start: tuple[Belief, list[Step]] | None = (
            load_checkpoint(self.path, identity) if self.path.exists() else None
        )
        self.states = ShardStates(self.folder, digest_bytes(json.dumps(identity, sort_keys=True).encode()))
        self._history = [] if self.start is None else list(self.start[1])
        if self.start is None and self.folder.is_dir():
            self.states.forget()  # left by a run that was killed as it began or ended

    def on_iteration(self, step: Step, state: Belief) -> bool:
        """Save a sweep, then remove the states of the one before."""
        self._history.append(step)
        with _last_sweep_is_kept():
            save_checkpoint(self.path, state, self._history, self.identity)
        self.states.forget(state.sweep)
        return False


@contextmanager
def _last_sweep_is_kept() -> Iterator[None]:
    """Say in the `InputError` of a failed write how to continue."""
    try:
        yield
    except InputError as error:
        raise InputError(
            f"{error}; the last complete sweep is kept: free some space, then --resume"
        ) from None


def is_run(folder: Path) -> bool:
    """Return whether a folder is empty, or has nothing in it but the files of a run of tagtopics."""
    return folder.is_dir() and all(_is_of_run(path) for path in folder.iterdir())


def remove_run(folder: str | Path) -> None:
    """Remove the folder of a fit whose model is saved; a folder with other files in it is left alone."""
    path = Path(folder)
    if path.is_dir() and not path.is_symlink() and is_run(path):
        (path / CHECKPOINT).unlink(missing_ok=True)  # first, so that a kill leaves nothing to continue
        shutil.rmtree(path, ignore_errors=True)


def _is_of_run(path: Path) -> bool:
    if path.is_symlink():
        return False
    if path.name == CHECKPOINT:
        return has_format(path, FORMAT)
    if _STATE.fullmatch(path.name):
        return has_format(path, STATE_FORMAT)
    return _TEMPORARY.fullmatch(path.name) is not None


class ShardExecutor:
    """Applies sweeps to some shards of a folder, one shard per thread at a time.

    Messages are recomputed in each sweep: on disk they would take far more space than the documents.

    Args:
        folder: the shards.
        states: where the state of their documents is kept.
        numbers: which shards; None for all.

    Attributes:
        kept: the shards whose documents a model keeps.
    """

    lean: ClassVar[bool] = True

    def __init__(
        self, folder: ShardFolder, states: ShardStates, numbers: Sequence[int] | None = None
    ) -> None:
        self.folder, self.states = folder, states
        self.numbers = tuple(range(len(folder)) if numbers is None else numbers)
        self.kept = self.numbers
        self.take = folder.rows

    @property
    def totals(self) -> Totals:
        """Statistics of the whole corpus."""
        return self.folder.totals

    def profiles(self, n_topics: int, seed: int) -> Float64:
        """Return the sums of the words' profiles over these shards."""
        sums = no_profiles(self.folder.manifest.n_words, n_topics)

        def add(number: int, mine: Float64) -> float:
            add_profiles(self.folder.graph(number), seed, mine)
            return 0.0

        self._each(add, sums)
        return sums

    def start(self, word_topics: Float32, seed: int, sums: CorpusSums) -> None:
        """Draw and store the initial state of each shard."""

        def draw(number: int, *mine: Float64) -> float:
            graph, added = self.folder.graph(number), CorpusSums(*mine)
            self.states.put(number, 0, compiled.start(graph, word_topics, seed, True, added))
            return 0.0

        self._each(draw, *sums[:3])

    def sweep(self, sweep: Sweep, docs: DocState | None, sums: CorpusSums) -> float:
        """Update and store every shard."""

        def update(number: int, *mine: Float64) -> float:
            graph, added = self.folder.graph(number), CorpusSums(*mine)
            n_topics = len(sweep.priors.doc_topic)
            state = self.states.get(number, sweep.number - 1, graph, n_topics)
            own, (first, last) = sweep.own_counts, self._range(number)
            own = None if own is None else np.array(own[first:last])
            moved = compiled.sweep(graph, state, sweep.given, sweep.priors, added, own)
            self.states.put(number, sweep.number, state)
            return moved

        return self._each(update, *sums[:3])

    @property
    def kept_rows(self) -> Int64:
        """Which documents a model keeps."""
        return np.concatenate([np.arange(*self._range(number)) for number in self.kept])

    def doc_sums(self, belief: Belief) -> Float32:
        """Return the sums of the messages of all documents, (D, K)."""
        return self._doc_sums(belief, range(len(self.folder)))

    def kept_sums(self, belief: Belief) -> Float32:
        """Return those of the documents that a model keeps."""
        return self._doc_sums(belief, self.kept)

    def close(self) -> None:
        """Nothing to release."""

    def _doc_sums(self, belief: Belief, numbers: Sequence[int]) -> Float32:
        n_topics = len(belief.priors.doc_topic)
        docs = (self.states.get(n, belief.sweep, self.folder.graph(n), n_topics) for n in numbers)
        return np.concatenate([shard.doc_sums for shard in docs])

    def _range(self, number: int) -> tuple[int, int]:
        """Return the first document of a shard, and the one after its last."""
        shards = self.folder.manifest.shards
        first = sum(shard.n_docs for shard in shards[:number])
        return first, first + shards[number].n_docs

    def _each(self, work: Callable[..., float], *sums: Float64) -> float:
        """Call `work(number, *sums)` for each shard, with sums of its thread; return the total."""
        lock, totals, alone = Lock(), [0.0], current_threads() == 1

        def lane(numbers: Iterator[int]) -> None:
            mine = sums if alone else tuple(map(np.zeros_like, sums))
            total = 0.0
            for number in numbers:
                total += work(number, *mine)
            with lock:
                totals.append(total)
                for array, part in zip(sums, mine, strict=True):
                    if part is not array:
                        array += part

        run_lanes(lane, self.numbers)
        return sum(totals)


ExecutorMaker = Callable[[ShardFolder, ShardStates, int], ShardExecutor]
"""Makes the executor of a fit from shards, states and the number of topics."""
