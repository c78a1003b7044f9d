"""Run a compiled kernel over ranges of items on several threads.

Kernels release the interpreter's lock and write only to the rows of their own range, so neither the number
of threads nor their order can change a bit of the result. Plain threads instead of numba's own: any number
of them on any machine, safe inside servers, forks and other pools.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np

from tagtopics._typing import Int64

Item = TypeVar("Item")

_RANGES_PER_THREAD = 4
"""Enough for threads to even out what the weights do not foresee, few enough to cost nothing."""

_WORTH_A_THREAD = 1 << 15
"""Work, in multiply-adds, below which starting a second thread costs more than it saves."""


def resolve_threads(n_jobs: int | None) -> int:
    """Return a number of threads: None or -1 for every core this process may use, -2 for all but one."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs is None:
        return cores
    return n_jobs if n_jobs > 0 else max(1, cores + 1 + n_jobs)


def run_ranges(
    kernel: Callable[..., Any], offsets: Int64, width: int, n_threads: int, *arguments: Any
) -> None:
    """Call `kernel(first, last, *arguments)` for ranges that cover all items.

    Args:
        kernel: compiled, without the interpreter's lock; writes only rows of its own range.
        offsets: (N + 1,) running weights of the items; ranges are cut where the weight is even.
        width: work of a unit of weight, usually the number of topics.
        n_threads: at the most.
        arguments: passed on.
    """
    n_items = len(offsets) - 1
    if n_threads == 1 or (n_items + int(offsets[-1])) * width < _WORTH_A_THREAD:
        kernel(0, n_items, *arguments)
        return
    weights = offsets - offsets[0] + np.arange(n_items + 1)  # an item weighs something even when empty
    goals = np.linspace(0, weights[-1], n_threads * _RANGES_PER_THREAD + 1)
    cuts = np.unique(np.searchsorted(weights, goals))
    spans = zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)
    run_each(kernel, [(a, b, *arguments) for a, b in spans], n_threads)


def run_each(kernel: Callable[..., Any], calls: Sequence[tuple[Any, ...]], n_threads: int) -> None:
    """Call `kernel(*arguments)` for each of some tuples of arguments; no two may write to the same place."""

    def lane(waiting: Iterator[tuple[Any, ...]]) -> None:
        for arguments in waiting:
            kernel(*arguments)

    run_lanes(lane, calls, n_threads)


def run_lanes(lane: Callable[[Iterator[Item]], None], items: Iterable[Item], n_threads: int) -> None:
    """Run `lane(waiting)` side by side; each goes over those of the items that no other has taken.

    The calling thread is one of them. When one fails, no more items are handed out, and all have stopped
    before this returns.
    """
    waiting = deque(items)

    def run() -> None:
        try:
            lane(_taken(waiting))
        except BaseException:
            waiting.clear()
            raise

    n_lanes = min(n_threads, len(waiting))
    others = [_pool(n_threads).submit(run) for _ in range(n_lanes - 1)]
    try:
        run()
    finally:
        for other in others:
            other.result()


def _taken(waiting: deque[Item]) -> Iterator[Item]:
    while True:
        try:
            item = waiting.popleft()
        except IndexError:
            return
        yield item


@lru_cache(maxsize=4)
def _pool(n_threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(n_threads, thread_name_prefix="tagtopics")
