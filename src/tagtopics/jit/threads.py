"""Run a compiled kernel over ranges of items on several threads.

Kernels release the interpreter's lock and write only to the rows of their own range, so neither the number
of threads nor their order can change a bit of the result. Plain threads instead of numba's own: any number of
them on any machine, and safe in servers, after a fork and inside other pools.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar

import numpy as np

from tagtopics._typing import Int64

Item = TypeVar("Item")
Result = TypeVar("Result")

_RANGES_PER_THREAD = 4
"""Enough to even out what the weights do not predict, few enough to cost nothing."""

_MIN_WORK = 1 << 15
"""Work, in multiply-adds, below which starting a second thread costs more than it saves."""

_MAX_THREADS_PER_CORE = 4
"""Upper bound of `n_jobs`: each thread has buffers of its own, and more threads than cores gain nothing."""

_lane = threading.local()


def resolve_threads(n_jobs: int | None) -> int:
    """Return a number of threads: None or -1 for every core this process may use, -2 for all but one.

    At most four threads per core are returned, whatever `n_jobs` is.
    """
    cores = _n_cores()
    if n_jobs is None:
        return cores
    return min(n_jobs, _MAX_THREADS_PER_CORE * cores) if n_jobs > 0 else max(1, cores + 1 + n_jobs)


def run_ranges(
    kernel: Callable[..., Any], offsets: Int64, width: int, n_threads: int, *arguments: Any
) -> None:
    """Call `kernel(first, last, *arguments)` for ranges that cover all items.

    Args:
        kernel: compiled, without the interpreter's lock; writes only rows of its own range.
        offsets: (N + 1,) cumulative weights of the items; ranges have about equal weight.
        width: work of a unit of weight, usually the number of topics.
        n_threads: the largest number of threads.
        arguments: passed to the kernel.
    """
    n_items = len(offsets) - 1
    if n_threads == 1 or (n_items + int(offsets[-1])) * width < _MIN_WORK:
        kernel(0, n_items, *arguments)
        return
    weights = offsets - offsets[0] + np.arange(n_items + 1)  # empty items have some weight, too
    goals = np.linspace(0, weights[-1], min(n_threads * _RANGES_PER_THREAD, n_items) + 1)
    cuts = np.unique(np.searchsorted(weights, goals))
    spans = zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)
    run_each(kernel, [(a, b, *arguments) for a, b in spans], n_threads)


def run_each(kernel: Callable[..., Any], calls: Sequence[tuple[Any, ...]], n_threads: int) -> None:
    """Call `kernel(*arguments)` for each tuple of arguments; no two calls may write to the same place."""

    def lane(waiting: Iterator[tuple[Any, ...]]) -> None:
        for arguments in waiting:
            kernel(*arguments)

    run_lanes(lane, calls, n_threads)


def run_lanes(lane: Callable[[Iterator[Item]], None], items: Iterable[Item], n_threads: int) -> None:
    """Run `lane(waiting)` on several threads; each iterates over items that no other thread has taken.

    The calling thread is one of them. When one fails, no more items are handed out, and all have stopped
    before this function returns. A lane that calls this function again runs the inner items alone: pools
    never nest.
    """
    waiting = deque(items)

    def run() -> None:
        if not waiting:
            return
        outer, _lane.active = getattr(_lane, "active", False), True
        try:
            lane(_taken(waiting))
        except BaseException:
            waiting.clear()
            raise
        finally:
            _lane.active = outer

    n_lanes = 1 if getattr(_lane, "active", False) else min(n_threads, len(waiting))
    others = [_pool().submit(run) for _ in range(n_lanes - 1)]
    try:
        run()
    finally:
        for other in others:
            other.result()


def results_of(work: Callable[[Item], Result], items: Sequence[Item], n_threads: int) -> list[Result]:
    """Return `work(item)` of each item, in order, computed on several threads; see `run_lanes`."""
    found: dict[int, Result] = {}

    def lane(waiting: Iterator[int]) -> None:
        for i in waiting:
            found[i] = work(items[i])

    run_lanes(lane, range(len(items)), n_threads)
    return [found[i] for i in range(len(items))]


def _taken(waiting: deque[Item]) -> Iterator[Item]:
    while True:
        try:
            item = waiting.popleft()
        except IndexError:
            return
        yield item


def _n_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _pool() -> ThreadPoolExecutor:
    """Return the one pool of this process; its threads start on demand and are kept."""
    return ThreadPoolExecutor(_MAX_THREADS_PER_CORE * _n_cores(), thread_name_prefix="tagtopics")


def _after_fork() -> None:
    """Drop the pool in a forked child, where its threads do not exist."""
    _pool.cache_clear()
    _lane.__dict__.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
