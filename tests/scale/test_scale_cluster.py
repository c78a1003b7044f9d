"""The executor on Ray: real clusters, real processes, killed for real."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from scale_support import as_shards, bits, small_corpus
from sklearn.decomposition import TruncatedSVD

from tagtopics import TTM
from tagtopics.bp.callbacks import Callback
from tagtopics.corpus.core import Corpus
from tagtopics.errors import InputError
from tagtopics.scale.fit import fit_shards
from tagtopics.scale.format import ShardFolder
from tagtopics.scale.ray_executor import RayExecutor, ray_executor
from tagtopics.scale.shard_executor import ExecutorMaker, ShardStates

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("RAY_worker_niceness", "0")  # with Ray's default, 15, other tests starve the workers
ray = pytest.importorskip("ray", reason="no ray: the tests of the cluster are skipped")
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")  # old versions of Ray leave files open


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return small_corpus()


@pytest.fixture(scope="module")
def shards(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> ShardFolder:
    return as_shards(corpus, tmp_path_factory.mktemp("shards") / "s", 1500)


def ttm() -> TTM:
    return TTM(8, random_state=5, max_iter=6, tol=0, n_jobs=1)


@pytest.fixture(scope="module")
def alone(shards: ShardFolder, tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    return bits(fit_shards(ttm(), shards, tmp_path_factory.mktemp("alone") / "work"))


@pytest.fixture(scope="module")
def nodes() -> Iterator[Any]:
    """Two Ray nodes: processes and object stores of their own, one address."""
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "object_store_memory": 1 << 27})
    cluster.add_node(num_cpus=2, object_store_memory=1 << 27)
    ray.init(address=cluster.address, log_to_driver=False, logging_level="error")
    yield cluster
    ray.shutdown()
    cluster.shutdown()  # type: ignore[no-untyped-call]


def processes(executor: RayExecutor) -> list[int]:
    """Return the process of each actor."""
    asked: Any = [actor.__ray_call__.remote(lambda worker: os.getpid()) for actor in executor.actors]
    found: list[int] = ray.get(asked)
    return found


def caught(make: ExecutorMaker, executors: list[RayExecutor]) -> ExecutorMaker:
    """Return the same maker, and append what it makes to a list."""

    def made(folder: ShardFolder, states: ShardStates, n_topics: int) -> Any:
        executors.append(make(folder, states, n_topics))  # type: ignore[arg-type]
        return executors[-1]

    return made


@pytest.mark.usefixtures("nodes")
@pytest.mark.parametrize("workers", [2, 4])
def test_any_number_of_workers_gives_the_same_bits(
    shards: ShardFolder, alone: list[bytes], tmp_path: Path, workers: int
) -> None:
    executors: list[RayExecutor] = []
    found: set[int] = set()

    class Look(Callback[Any]):
        def on_iteration(self, step: Any, state: Any) -> bool:
            found.update(processes(executors[0]))
            return False

    executor = caught(ray_executor(workers), executors)
    model = fit_shards(ttm(), shards, tmp_path / "work", executor=executor, callbacks=[Look()])
    assert bits(model) == alone
    assert len(found) == workers


@pytest.mark.usefixtures("nodes")
def test_a_worker_killed_twice_changes_nothing(
    shards: ShardFolder, alone: list[bytes], tmp_path: Path
) -> None:
    executors: list[RayExecutor] = []
    killed: set[int] = set()

    class Kill(Callback[Any]):
        def on_iteration(self, step: Any, state: Any) -> bool:
            if step.iteration in (1, 4):
                process = processes(executors[0])[1]
                os.kill(process, signal.SIGKILL)
                killed.add(process)
            return False

    model = fit_shards(
        ttm(), shards, tmp_path / "work", executor=caught(ray_executor(2), executors), callbacks=[Kill()]
    )
    assert len(killed) == 2
    assert bits(model) == alone


@pytest.mark.usefixtures("nodes")
def test_workers_killed_in_mid_sweep_change_nothing(
    shards: ShardFolder, alone: list[bytes], tmp_path: Path
) -> None:
    executors: list[RayExecutor] = []
    pids: list[int] = []

    def kill() -> None:
        for pid in pids:
            os.kill(pid, signal.SIGKILL)

    class Note(Callback[Any]):
        def on_iteration(self, step: Any, state: Any) -> bool:
            if step.iteration == 2:
                pids.extend(processes(executors[0]))
                threading.Timer(0.01, kill).start()
            return False

    model = fit_shards(
        ttm(), shards, tmp_path / "work", executor=caught(ray_executor(2), executors), callbacks=[Note()]
    )
    assert len(pids) == 2
    assert bits(model) == alone


def test_a_lost_node_changes_nothing(
    nodes: Any, shards: ShardFolder, alone: list[bytes], tmp_path: Path
) -> None:
    extra = nodes.add_node(num_cpus=2, object_store_memory=1 << 27)
    nodes.wait_for_nodes()

    class Lose(Callback[Any]):
        def on_iteration(self, step: Any, state: Any) -> bool:
            if step.iteration == 3:
                nodes.remove_node(extra, allow_graceful=False)
            return False

    model = fit_shards(ttm(), shards, tmp_path / "work", executor=ray_executor(4), callbacks=[Lose()])
    assert bits(model) == alone


@pytest.mark.usefixtures("nodes")
def test_a_lost_state_is_one_clear_line(shards: ShardFolder, tmp_path: Path) -> None:
    class Lose(Callback[Any]):
        def on_iteration(self, step: Any, state: Any) -> bool:
            if step.iteration == 3:
                for path in (tmp_path / "work").glob("state-0000[12]-*"):
                    path.unlink()
            return False

    with pytest.raises(InputError, match=r"state-00001-00003\S+ no such file: lost, or another process"):
        fit_shards(ttm(), shards, tmp_path / "work", executor=ray_executor(2), callbacks=[Lose()])


@pytest.mark.usefixtures("nodes")
def test_a_run_begun_on_a_cluster_ends_anywhere(
    shards: ShardFolder, alone: list[bytes], tmp_path: Path
) -> None:
    class Quit(Callback[Any]):
        def on_iteration(self, step: Any, state: Any) -> bool:
            if step.iteration == 2:
                raise KeyboardInterrupt
            return False

    with pytest.raises(KeyboardInterrupt):
        fit_shards(ttm(), shards, tmp_path / "work", executor=ray_executor(2), callbacks=[Quit()])
    assert bits(fit_shards(ttm(), shards, tmp_path / "work", resume=True)) == alone


@pytest.mark.usefixtures("nodes")
def test_a_shard_damaged_on_the_way_is_one_clear_line(shards: ShardFolder, tmp_path: Path) -> None:
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(shards.path, copy)
    path = copy / "shard-00002.safetensors"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"shard-00002\.safetensors: damaged \(its digest differs\)"):
        fit_shards(ttm(), copy, tmp_path / "work", executor=ray_executor(2))


@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://127.0.0.1:1", "[::1]:1"])
def test_an_address_where_nothing_answers_is_one_clear_line(address: str) -> None:
    with pytest.raises(InputError, match=r"--address .*: no Ray cluster answers there") as error:
        ray_executor(2, address)
    assert "\n" not in str(error.value)


@pytest.mark.usefixtures("nodes")
def test_vectors_on_a_cluster_give_the_same_bits(shards: ShardFolder, tmp_path: Path) -> None:
    vectors = TruncatedSVD(6, random_state=0).fit_transform(shards.corpus().counts)
    alone = fit_shards(ttm(), shards, tmp_path / "alone", vectors=vectors)
    found = fit_shards(ttm(), shards, tmp_path / "work", vectors=vectors, executor=ray_executor(2))
    assert found.vector_strength_
    assert bits(found) == bits(alone)
