"""How fits to shards hold up: time and memory with size, the price of a cluster.

    python -m benchmarks.generate_shards build/shards-1e6 --docs 1000000
    python -m benchmarks.scale sweeps build/shards-1e6      seconds a sweep, peak memory: above 4 GB it fails
    python -m benchmarks.scale sweeps build/shards-1e6 --preset default     TTM, not the paper's model
    python -m benchmarks.scale compare build/shards-1e6     the same sweeps here and on Ray, in turn
    python -m benchmarks.scale exchange                     a round of sums to idle workers and back
    python -m benchmarks.scale report                       scale-results.md, from the records

Each prints one JSON object and keeps it in benchmarks/results/scale/.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import tagtopics as tt
from benchmarks import machine
from tagtopics.bp.callbacks import Callback
from tagtopics.bp.executor import Sweep
from tagtopics.bp.graph import CorpusSums, Priors, SweepInput, WordInput
from tagtopics.bp.propagation import BeliefPropagation
from tagtopics.scale.fit import fit_shards
from tagtopics.scale.format import ShardFolder
from tagtopics.scale.ray_executor import RayExecutor, ray_executor
from tagtopics.scale.shard_executor import ShardExecutor, ShardRun

RECORDS = Path(__file__).parent / "results" / "scale"
MOST_MB = 4096


class Sweeps(Callback[Any]):
    """Notes what each sweep took."""

    def __init__(self) -> None:
        self.rows: list[dict[str, float]] = []
        self._cpu = machine.cpu_seconds()

    def on_iteration(self, step: Any, state: Any) -> bool:
        """Note one sweep."""
        cpu = machine.cpu_seconds()
        self.rows.append(
            {"seconds": step.seconds, "cpu_seconds": cpu - self._cpu, "load": machine.load_average()}
        )
        self._cpu = cpu
        _tell(self.rows[-1])
        return False


def sweeps(given: argparse.Namespace) -> dict[str, Any]:
    """Fit for some sweeps; what each took, and the most memory."""
    folder, watch = ShardFolder.open(given.shards), Sweeps()
    kind: Any = tt.MarkovTTM if given.preset == "paper" else tt.TTM
    model = kind(
        given.topics, preset=given.preset, random_state=0, max_iter=given.sweeps, tol=0, n_jobs=given.threads
    )
    began = time.perf_counter()
    with _work(given.shards) as work:
        fit_shards(model, folder, work, callbacks=[watch])
    peak = machine.peak_mb()
    record = {
        **_sizes(folder, given),
        "preset": given.preset,
        "sweeps": watch.rows,
        "seconds": time.perf_counter() - began,
        "peak_mb": peak,
    }
    if peak > MOST_MB:
        raise SystemExit(f"peak memory {peak:.0f} MB, more than {MOST_MB}: {record}")
    return record


def compare(given: argparse.Namespace) -> dict[str, Any]:
    """Do each sweep with threads here, then with workers on Ray, from the same state; the bits must agree."""
    folder = ShardFolder.open(given.shards)
    priors = Priors(np.full(given.topics, 0.1, dtype=np.float32), 0.05, 0.1, 0.05)
    rows = []
    with _work(given.shards) as work:
        states = [ShardRun(work / name, {}).states for name in ("local", "ray")]
        here = ShardExecutor(folder, states[0])
        there = ray_executor(given.workers)(folder, states[1], given.topics)
        algorithms = [BeliefPropagation(executor, priors, 0, anchored=False) for executor in (here, there)]
        beliefs = [algorithm.init() for algorithm in algorithms]
        for _ in range(given.sweeps):
            row = {"load": machine.load_average()}
            for i, name in enumerate(("local", "ray")):
                began = time.perf_counter()
                beliefs[i], _ = algorithms[i].step(beliefs[i])
                row[name] = time.perf_counter() - began
                states[i].forget(beliefs[i].sweep)
            same = all(
                np.array_equal(a, b) for a, b in zip(beliefs[0].sums[:3], beliefs[1].sums[:3], strict=True)
            )
            if not same:
                raise SystemExit("the sums of the two executors differ")
            rows.append(row)
            _tell(row)
        there.close()
    return {**_sizes(folder, given), "workers": given.workers, "sweeps": rows, "same_bits": True}


class Idle:
    """A worker that copies what it is sent and answers with sums as large as a real one's."""

    def sweep(self, sweep: Sweep) -> tuple[CorpusSums, float]:
        """Return numbers that are no zeros: untouched pages would flatter the exchange."""
        W, K = sweep.given.words.sums.shape
        T = len(sweep.given.tag_sums)
        sums = CorpusSums(*(np.full((n, K), 1.5) for n in (W, T, T)))
        return sums, float(np.array(sweep.given.words.sums)[0, 0])


class IdleExecutor(RayExecutor):
    """Idle workers in place of those with shards."""

    def __init__(self, workers: int) -> None:
        import ray

        actor: Any = ray.remote(num_cpus=0)(Idle)
        self.actors = [actor.remote() for _ in range(workers)]


def exchange(given: argparse.Namespace) -> dict[str, Any]:
    """Send the sums of a sweep to idle workers and add up what comes back, round after round."""
    import ray

    W, T, K = given.words, given.tags, given.topics
    f = np.float32
    words, previous = (WordInput(np.full((W, K), 1.5, f), np.full((W, K), 0.5, f)) for _ in range(2))
    tags = (np.ones((T, K), f), np.ones(T, f), np.ones((T, K), f))
    sweep = Sweep(1, SweepInput(words, previous, *tags), Priors(np.ones(K, f), 0.05))
    sums = CorpusSums.zeros(W, T, K)
    ray.init(address="local", num_cpus=given.workers, include_dashboard=False, log_to_driver=False)
    executor = IdleExecutor(given.workers)
    executor.sweep(sweep, None, sums)
    seconds = []
    for _ in range(given.rounds):
        began = time.perf_counter()
        executor.sweep(sweep, None, sums)
        seconds.append(time.perf_counter() - began)
    ray.shutdown()
    sizes = {"n_words": W, "n_tags": T, "n_topics": K, "workers": given.workers}
    moved = {"mb_down": 4e-6 * K * (4 * W + 2 * T), "mb_up": 8e-6 * K * (W + 2 * T)}
    return {**sizes, **moved, "seconds": seconds, "load": machine.load_average()}


def _tell(row: dict[str, float]) -> None:
    sys.stderr.write(json.dumps(row) + "\n")


@contextmanager
def _work(beside: str) -> Iterator[Path]:
    """Give a folder on the same disk as the shards, and clear it away."""
    path = Path(tempfile.mkdtemp(prefix="work-", dir=Path(beside).absolute().parent))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def _sizes(folder: ShardFolder, given: argparse.Namespace) -> dict[str, Any]:
    m = folder.manifest
    names = ("n_docs", "n_words", "n_tags", "n_edges", "n_slots", "n_tokens")
    return {name: getattr(m, name) for name in names} | {"n_shards": len(folder), "n_topics": given.topics}


def main() -> None:
    """Measure one thing, print it, and keep it; or write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["sweeps", "compare", "exchange", "report"])
    parser.add_argument("shards", nargs="?", help="a folder of shards")
    parser.add_argument("--topics", type=int, default=100)
    parser.add_argument("--sweeps", type=int, default=3)
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--preset", choices=["paper", "default"], default="paper")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--words", type=int, default=50_000)
    parser.add_argument("--tags", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=8)
    given = parser.parse_args()
    if given.what == "report":
        from benchmarks.scale_page import write_page

        write_page(RECORDS, Path(__file__).parents[1] / "reproduction" / "pages" / "scale-results.md")
        return
    record = {"sweeps": sweeps, "compare": compare, "exchange": exchange}[given.what](given)
    key = [record.get("n_docs", record.get("corpus", "")), record.get("workers", ""), record["n_topics"]]
    key += ["default"] if record.get("preset") == "default" else []
    name = "-".join([given.what, *(str(part) for part in key if part != "")])
    RECORDS.mkdir(parents=True, exist_ok=True)
    (RECORDS / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
