"""Belief propagation on a Ray cluster: one actor for each group of shards. The only file that imports ray.

In each sweep, the sums of words and tags are sent to all actors through the object store, and each returns
the sums of its shards. Sums are exact, so neither the number of actors nor the order of their answers
matters; and a sweep starts from the states that the one before left on disk, so another actor can repeat the
part of one that died. Ray itself retries nothing.
"""

from __future__ import annotations

import os
import re
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import chdir
from typing import Any, ClassVar

import numpy as np

from tagtopics._typing import Float32, Float64
from tagtopics.bp.executor import Sweep
from tagtopics.bp.graph import CorpusSums, DocState, SweepInput, WordInput
from tagtopics.errors import InputError, MissingExtraError, one_line
from tagtopics.jit.threads import limit_threads
from tagtopics.scale.format import ShardFolder
from tagtopics.scale.shard_executor import ExecutorMaker, ShardExecutor, ShardStates

MAX_DEATHS = 20  # actors that may die in one sweep before the fit gives up: something kills them all
_STORE_BYTES = 1 << 28  # smallest size of the object store of a cluster that is started here
_SECONDS = 10.0  # time limit for a connection to an address


class Worker:
    """What runs in an actor: a `ShardExecutor` for some of the shards."""

    n_jobs: ClassVar[int] = 1  # threads of an actor

    def __init__(self, shards: str, numbers: Sequence[int], states: tuple[str, str]) -> None:
        self._executor = ShardExecutor(ShardFolder.open(shards), ShardStates(*states), numbers)

    @limit_threads
    def profiles(self, n_topics: int, seed: int) -> Float64:
        """Return the sums of the words' profiles over these shards."""
        return self._executor.profiles(n_topics, seed)

    @limit_threads
    def start(self, word_topics: Float32, seed: int) -> CorpusSums:
        """Draw the initial state of each shard; return the sums."""
        sums = self._zeros(word_topics.shape[1])
        self._executor.start(np.array(word_topics), seed, sums)
        return sums

    @limit_threads
    def sweep(self, sweep: Sweep) -> tuple[CorpusSums, float]:
        """Update every shard; return the sums, and how far messages moved, in tokens."""
        sums = self._zeros(len(sweep.priors.doc_topic))
        moved = self._executor.sweep(_writable(sweep), None, sums)
        return sums, moved

    def _zeros(self, n_topics: int) -> CorpusSums:
        m = self._executor.folder.manifest
        return CorpusSums.zeros(m.n_words, m.n_tags, n_topics)


class RayExecutor(ShardExecutor):
    """Actors, each with a group of neighbouring shards; Ray is connected."""

    def __init__(self, folder: ShardFolder, states: ShardStates, workers: int) -> None:
        import ray

        super().__init__(folder, states)
        as_actor = ray.remote(num_cpus=0, max_restarts=0, max_task_retries=0, scheduling_strategy="SPREAD")
        self._class: Any = as_actor(Worker)
        self._groups = [part.tolist() for part in np.array_split(self.numbers, workers)]
        self.actors = list(map(self._start_actor, self._groups))

    def _start_actor(self, numbers: Sequence[int]) -> Any:
        states = str(self.states.folder.absolute()), self.states.run
        return self._class.remote(str(self.folder.path.absolute()), numbers, states)

    def profiles(self, n_topics: int, seed: int) -> Float64:
        """Return the sums of the words' profiles over all shards."""
        return np.asarray(sum(self._all("profiles", n_topics, seed)))

    def start(self, word_topics: Float32, seed: int, sums: CorpusSums) -> None:
        """Draw and store the initial state of each shard."""
        for answer in self._all("start", word_topics, seed):
            sums.add(answer)

    def sweep(self, sweep: Sweep, docs: DocState | None, sums: CorpusSums) -> float:
        """Update and store every shard."""
        total = 0.0
        for answer, moved in self._all("sweep", sweep):
            sums.add(answer)
            total += moved
        return total

    def close(self) -> None:
        """Stop the actors."""
        import ray

        for actor in self.actors:
            ray.kill(actor)
        self.actors = []

    def _all(self, method: str, *arguments: Any) -> Iterator[Any]:
        """Yield the results of all actors; new actors replace those that die."""
        import ray
        from ray.exceptions import RayActorError

        shared = [ray.put(argument) for argument in arguments]
        waiting = [getattr(actor, method).remote(*shared) for actor in self.actors]
        deaths = 0
        for i in range(len(waiting)):
            while True:
                try:
                    yield ray.get(waiting[i])
                    waiting[i] = None
                    break
                except RayActorError as error:
                    deaths += 1
                    if deaths > MAX_DEATHS:
                        raise InputError(
                            f"fit: {deaths} workers died in one sweep, the last with: {one_line(error)}; "
                            "check their memory, then continue with --resume"
                        ) from None
                    ray.kill(self.actors[i])
                    self.actors[i] = self._start_actor(self._groups[i])
                    waiting[i] = getattr(self.actors[i], method).remote(*shared)
                except ray.exceptions.RayTaskError as error:
                    raise error.cause if isinstance(error.cause, InputError) else error from None


def ray_executor(workers: int, address: str | None = None) -> ExecutorMaker:
    """Return a function that makes an executor of Ray actors, for `fit_shards`.

    Args:
        workers: number of actors; each gets about equally many shards.
        address: of a running cluster, as for `ray.init`; None starts one here, for this fit.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_worker_niceness", "0")  # Ray's default, 15, would slow the workers down
    try:
        import ray
    except ImportError:
        raise MissingExtraError("fitting on a cluster", "ray") from None
    if address is not None:
        _check_address(address)

    def make(folder: ShardFolder, states: ShardStates, n_topics: int) -> RayExecutor:
        n = min(workers, len(folder))
        _connect(ray, address, folder, n, n_topics)
        return RayExecutor(folder, states, n)

    return make


def _check_address(address: str) -> None:
    """Raise `InputError` soon if nothing answers at host:port; Ray itself would wait for minutes."""
    match = re.fullmatch(r"(?:ray://)?([^/:]+|\[[^]]+\]):(\d{1,5})", address)
    if match is None:  # "auto", "local" or another form that Ray knows
        return
    try:
        socket.create_connection((match[1].strip("[]"), int(match[2])), timeout=_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise InputError(f"--address {address}: no Ray cluster answers there ({one_line(error)})") from None


def _connect(ray: Any, address: str | None, folder: ShardFolder, workers: int, n_topics: int) -> None:
    """Connect to the cluster at an address, or start one; an existing connection is used."""
    if ray.is_initialized():
        return
    settings = {"address": address or "local", "log_to_driver": False, "logging_level": "error"}
    if address is None:
        m = folder.manifest
        one_answer = 8 * n_topics * (2 * m.n_words + 3 * m.n_tags)
        store = max(_STORE_BYTES, (workers + 2) * one_answer)
        settings |= {"num_cpus": workers, "include_dashboard": False, "object_store_memory": store}
    try:
        with chdir(sys.prefix):  # Ray puts the working folder first in the path of its workers
            ray.init(**settings)
    except Exception as error:  # Ray has no class of its own for this
        if address is not None:
            problem = f"--address {address}: no Ray cluster answers there ({one_line(error)})"
        else:
            problem = (
                f"--engine ray: Ray could not be started ({one_line(error)}); try again, set HOME to a "
                "folder in which you can write, or use --engine local"
            )
        raise InputError(problem) from None


def _writable(sweep: Sweep) -> Sweep:
    """Copy arrays out of the object store: kernels are compiled for arrays that can be written."""
    words, previous, *tags = sweep.given
    pairs = [WordInput(*map(np.array, pair)) for pair in (words, previous)]
    priors = sweep.priors._replace(doc_topic=np.array(sweep.priors.doc_topic))
    given = SweepInput(*pairs, *map(np.array, tags))  # type: ignore[arg-type]
    return Sweep(sweep.number, given, priors, sweep.own_counts)
