"""A crew on a Ray cluster: one actor for each group of shards. The only file that imports ray.

Each sweep, the sums of words and tags go to all actors through the object store, and what their shards add
up to comes back. Sums are exact, so that neither the number of actors nor the order of their answers matters;
and a sweep starts from what the one before has left on disk, so that a dead actor's part is simply done again
by another. Ray itself retries nothing: who does a part again is decided here alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from tagtopics._typing import Float32, Float64
from tagtopics.errors import InputError, MissingExtraError
from tagtopics.graph import Sums
from tagtopics.scale.fit import CrewMaker
from tagtopics.scale.keeping import Keeper
from tagtopics.scale.runs import Run
from tagtopics.scale.shard_executor import Parts, Round
from tagtopics.scale.shards import ShardFolder

MOST_DEATHS = 20
"""Actors that may die in one round before the fit gives up: something kills them all."""

_STORE_BYTES = 1 << 28
"""Least size of the object store of a cluster that is started here."""


class Worker:
    """What runs in an actor: some shards, and where the state of their documents is kept."""

    def __init__(self, shards: str, numbers: Sequence[int], kept: str, settings: dict[str, Any]) -> None:
        self._parts = Parts(ShardFolder.open(shards), numbers, Keeper(kept), **settings)

    def place(self) -> tuple[str, int]:
        """Return the node and the number of the process."""
        import ray

        return ray.get_runtime_context().get_node_id(), os.getpid()

    def profiles(self, n_topics: int, seed: int) -> Float64:
        """Return what these shards add to the words' profiles."""
        return self._parts.profiles(n_topics, seed)

    def begin(self, word_topics: Float32, seed: int) -> Sums:
        """Draw the first state of each shard; return what they add up to."""
        return self._parts.begin(np.array(word_topics), seed)

    def sweep(self, now: Round) -> tuple[Sums, float]:
        """Update every shard once; return what they add up to, and how far they moved."""
        return self._parts.sweep(_own_copy(now))


class RayCrew:
    """Actors, each with a group of neighbouring shards."""

    def __init__(self, make: Callable[[Sequence[int]], Any], groups: Sequence[Sequence[int]]) -> None:
        self._make, self._groups = make, groups
        self.actors = [make(numbers) for numbers in groups]

    def profiles(self, n_topics: int, seed: int) -> Float64:
        """Return the words' profiles, for anchors."""
        total: Float64 | None = None
        for answer in self._all("profiles", n_topics, seed):
            total = np.array(answer) if total is None else total + answer
        assert total is not None
        return total

    def begin(self, word_topics: Float32, seed: int) -> Sums:
        """Draw the first state of each shard; return what they add up to."""
        return _together(self._all("begin", word_topics, seed))

    def sweep(self, now: Round) -> tuple[Sums, float]:
        """Update every shard once; return what they add up to, and how far they moved, in tokens."""
        moves: list[float] = []

        def sums() -> Iterator[Sums]:
            for answer, moved in self._all("sweep", now):
                moves.append(moved)
                yield answer

        return _together(sums()), sum(moves)

    def close(self) -> None:
        """Let the actors go."""
        import ray

        for actor in self.actors:
            ray.kill(actor)
        self.actors = []

    def _all(self, method: str, *arguments: Any) -> Iterator[Any]:
        """Yield the answers of all actors; those of actors that die are asked of others in their place."""
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
                    if deaths > MOST_DEATHS:
                        raise InputError(
                            f"fit: {deaths} workers died in one sweep, the last so: {_line(error)}; look at "
                            "their memory, then go on with --resume"
                        ) from None
                    ray.kill(self.actors[i])
                    self.actors[i] = self._make(self._groups[i])
                    waiting[i] = getattr(self.actors[i], method).remote(*shared)
                except ray.exceptions.RayTaskError as error:
                    raise error.cause if isinstance(error.cause, InputError) else error from None


def ray_crew(
    workers: int, address: str | None = None, *, refits: bool = False, threads: int = 1
) -> CrewMaker:
    """Return what makes a crew of Ray actors, for `fit_shards`.

    Args:
        workers: actors; each takes about as many shards as any other.
        address: of a running cluster, as `ray.init` takes it; None starts one here, for this fit.
        refits: where a worker finds the state of its shards lost, it infers it anew from the topics instead
            of giving up: for clusters whose machines share no folder. Not the same bits then, but nearly.
        threads: of each worker.
    """

    def make(folder: ShardFolder, run: Run, lean: bool) -> RayCrew:
        ray = _ray()
        groups = [part.tolist() for part in np.array_split(np.arange(len(folder)), min(workers, len(folder)))]
        _connect(ray, address, folder, len(groups))
        settings = {"lean": lean, "refits": refits, "n_threads": threads}
        options = {"num_cpus": 0, "max_restarts": 0, "max_task_retries": 0, "scheduling_strategy": "SPREAD"}
        actor = ray.remote(**options)(Worker)
        places = (str(folder.path.absolute()), str(run.keeper.folder.absolute()))
        return RayCrew(lambda numbers: actor.remote(places[0], numbers, places[1], settings), groups)

    return make


def _ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_worker_niceness", "0")  # they do the work of this process; Ray's own is 15
    try:
        import ray
    except ImportError:
        raise MissingExtraError("fitting on a cluster", "ray") from None
    return ray


def _connect(ray: Any, address: str | None, folder: ShardFolder, workers: int) -> None:
    """Join the cluster at an address, or start one; a process that is connected stays so."""
    if ray.is_initialized():
        return
    quiet = {"log_to_driver": False, "logging_level": "warning"}
    if address is not None:
        try:
            ray.init(address=address, **quiet)
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise InputError(f"--address {address}: no Ray cluster answers there ({_line(error)})") from None
        return
    m = folder.manifest
    round_trip = 8 * 256 * (m.n_words + 3 * m.n_tags) * (workers + 2)
    store = max(_STORE_BYTES, round_trip)
    ray.init(address="local", num_cpus=workers, include_dashboard=False, object_store_memory=store, **quiet)


def _own_copy(now: Round) -> Round:
    """Copy what lies in the object store: kernels are compiled for arrays that can be written."""
    field, past = (type(value)(*map(np.array, value)) for value in (now.field, now.past))
    priors = now.priors._replace(doc_topic=np.array(now.priors.doc_topic))
    return Round(now.sweep, field, past, priors)  # type: ignore[arg-type]


def _together(answers: Iterable[Sums]) -> Sums:
    total: Sums | None = None
    for answer in answers:
        if total is None:
            total = Sums(*map(np.array, answer))
        else:
            total.add(answer)
    assert total is not None
    return total


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200]
