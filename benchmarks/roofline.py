"""How near a sweep is to what the machine can do: measured bandwidth and peak against bytes and flops.

The work of one LDA sweep, per edge and topic, m being the bytes of a stored message entry (0 if lean):

    stream   2 m       the message is read and written once; nothing less will do for an engine that stores
    gather   4         the row of the word's sums, read at a random place of a table of W x K
    flops    16        take out own (3), add priors (3), two products (2), sum and scale (2), change (3),
                       new document and word sums (3); comparisons are not counted

    least time      = max(stream bytes / stream bandwidth, flops / peak)
    with gathers    = max(stream bytes / stream bandwidth + gather bytes / gather bandwidth, flops / peak)

The tables of sums themselves (D x K, W x K) are read and written once and counted as stream.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numba
import numpy as np

from benchmarks import ours
from benchmarks.limits import Limits
from benchmarks.scaling import Case, sweep_seconds, tagged
from tagtopics.bp.callbacks import Callback

FLOPS = 16
_CHAIN = 16
"""Multiply-adds that `_multiply_add` does for each number it loads."""

_compiled = numba.njit(nogil=True, fastmath=True)
_as_written = numba.njit(nogil=True, fastmath={"contract"})
"""Products and sums may be joined, but not a chain of them be worked out beforehand."""


@_compiled
def _scale(first: int, last: int, a: Any) -> None:
    for i in range(first, last):
        a[i] = a[i] * np.float32(0.999)


@_compiled
def _triad(first: int, last: int, a: Any, b: Any, c: Any) -> None:
    for i in range(first, last):
        a[i] = b[i] + np.float32(0.5) * c[i]


@_compiled
def _gather(first: int, last: int, rows: Any, table: Any, out: Any) -> None:
    K = table.shape[1]
    total = np.zeros(K, dtype=np.float32)
    for i in range(first, last):
        w = rows[i]
        for k in range(K):
            total[k] += table[w, k]
    out[first] = total.sum()


@_as_written
def _multiply_add(first: int, last: int, a: Any) -> None:
    """Raise the rows first to last of `a`, which stay in the first cache, through chains of products."""
    s, t = np.float32(0.9999), np.float32(1e-4)
    for row in range(first, last):
        for _ in range(200):
            for i in range(a.shape[1]):
                x = a[row, i]
                x = x * s + t
                x = x * s + t
                x = x * s + t
                x = x * s + t
                x = x * s + t
                x = x * s + t
                x = x * s + t
                x = x * s + t
                x = x * s + t
                x = x * s + t
                x = x * s + t
                x = x * s + t
                x = x * s + t
                x = x * s + t
                x = x * s + t
                x = x * s + t
                a[row, i] = x


def measure_machine(limits: Limits, n_words: int) -> dict[str, float]:
    """Return bandwidths in bytes a second and the peak in flops a second, with the run's own threads."""
    n = (limits.stream_mb << 20) // 4
    a, b, c = (np.ones(n, dtype=np.float32) for _ in range(3))
    table = np.ones((n_words, limits.n_topics), dtype=np.float32)
    rows = np.random.default_rng(0).integers(0, n_words, size=max(1000, n // limits.n_topics))
    small = np.ones((256, 2048), dtype=np.float32)
    rates = {
        "scale": 8 * n / _fastest(limits.workers, n, _scale, a),
        "triad": 12 * n / _fastest(limits.workers, n, _triad, a, b, c),
        "gather": 4
        * limits.n_topics
        * len(rows)
        / _fastest(limits.workers, len(rows), _gather, rows, table, a),
        "flops": 2 * _CHAIN * 200 * small.size / _fastest(limits.workers, len(small), _multiply_add, small),
    }
    return {name: float(f"{rate:.4g}") for name, rate in rates.items()}


def measure_roofline(limits: Limits) -> dict[str, Any]:
    """Compare one LDA sweep of each engine with the machine, measured just before and just after."""
    corpus = tagged(limits.scaling_docs, 3.5)
    before = measure_machine(limits, corpus.n_words)
    rows = {}
    for engine in ours.engines():
        suffix = f"-{engine}" if engine else ""
        times = [
            sweep_seconds(corpus, Case("ours-lda"), suffix, limits) for _ in range(limits.scaling_rounds)
        ]
        rows[engine or "stored"] = {"seconds": float(np.median(times)), "fastest": float(min(times))} | work(
            corpus, message_bytes(f"ours-lda{suffix}", corpus, limits), limits
        )
    after = measure_machine(limits, corpus.n_words)
    machine = {name: max(before[name], after[name]) for name in before}
    return {
        "machine": machine,
        "rows": {name: row | fractions(row, machine) for name, row in rows.items()},
    }


def work(corpus: Any, entry: int, limits: Limits) -> dict[str, float]:
    """Return the bytes and flops of one sweep; see the module's head."""
    E, K = corpus.counts.nnz, limits.n_topics
    sums = 2 * 4 * K * (corpus.n_docs + corpus.n_words)
    return {"stream": 2 * entry * E * K + sums + 8 * E, "gather": 4 * E * K, "flops": FLOPS * E * K}


def fractions(row: dict[str, float], machine: dict[str, float]) -> dict[str, float]:
    """Return the share of the measured time that the model says is needed."""
    stream, gather = row["stream"] / machine["scale"], row["gather"] / machine["gather"]
    flops = row["flops"] / machine["flops"]
    least, gathered = max(stream, flops), max(stream + gather, flops)
    return {
        "fraction": round(least / row["seconds"], 3),
        "fraction_with_gathers": round(gathered / row["seconds"], 3),
    }


def message_bytes(system: str, corpus: Any, limits: Limits) -> int:
    """Return the bytes of an entry of the array with a row an edge in the state; 0 if there is none."""
    few = corpus.select(np.arange(min(200, corpus.n_docs)))
    watch = _States()
    ours.make_model(system, limits, 0, max_iter=1).fit(few, callbacks=[watch])
    sizes = [a.itemsize for a in watch.arrays if a.ndim == 2 and a.shape[0] == few.counts.nnz]
    return max(sizes, default=0)


class _States(Callback[Any]):
    """Keeps the arrays of the last state."""

    arrays: list[Any]

    def on_iteration(self, step: Any, state: Any) -> bool:
        self.arrays = list(_arrays(state))
        return False


def _arrays(state: Any) -> Any:
    for part in state if hasattr(state, "_fields") else ():
        if isinstance(part, np.ndarray):
            yield part
        else:
            yield from _arrays(part)


def _fastest(n_threads: int, n: int, kernel: Callable[..., None], *arguments: Any) -> float:
    """Return the seconds of the fastest of several runs over n items on so many threads."""
    cuts = np.linspace(0, n, n_threads + 1).astype(int)
    kernel(0, 0, *arguments) if kernel is not _gather else kernel(0, 1, *arguments)
    best = np.inf
    with ThreadPoolExecutor(n_threads) as pool:
        for _ in range(5):
            began = time.perf_counter()
            parts = [pool.submit(kernel, a, b, *arguments) for a, b in pairwise(cuts.tolist())]
            for part in parts:
                part.result()
            best = min(best, time.perf_counter() - began)
    return float(best)
