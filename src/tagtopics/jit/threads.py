"""Run a compiled kernel over ranges of items on several threads.

Kernels release the interpreter's lock and write only to the rows of their own range, so neither the number
of threads nor their order can change a bit of the result. Plain threads instead of numba's own: any number of
them on any machine, and safe in servers, after a fork and inside other pools.

How many threads there are is a context, `thread_limit`, which estimators enter with their `n_jobs`.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import cache, wraps
from typing import Any, TypeVar, cast

import numpy as np

from tagtopics._typing import Int64

Item = TypeVar("Item")
Result = TypeVar("Result")
Method = TypeVar("Method", bound=Callable[..., Any])

_RANGES_PER_THREAD = 4  # enough to even out what the weights do not predict, few enough to cost nothing
_MIN_WORK = 1 << 15  # work, in multiply-adds, below which starting a second thread costs more than it saves
# Upper bound of `n_jobs`: each thread has buffers of its own, and more threads than cores gain nothing.
_MAX_THREADS_PER_CORE = 4

_lane = threading.local()
_limit: ContextVar[int | None] = ContextVar("tagtopics_threads", default=None)


@contextmanager
def thread_limit(n_jobs: int | None) -> Iterator[None]:
    """Use at most `n_jobs` threads in this context: -1 for every core of this process, -2 for all but one.

    None keeps the limit of the context around it; without any, it is every core. There are never more than
    four threads per core.
    """
    cores, limit = _n_cores(), _limit.get()
    if n_jobs is not None:
        limit = min(n_jobs, _MAX_THREADS_PER_CORE * cores) if n_jobs > 0 else max(1, cores + 1 + n_jobs)
    token = _limit.set(limit)
    try:
        yield
    finally:
        _limit.reset(token)


def limit_threads(method: Method) -> Method:
    """Decorate a method so that it runs within the limit `self.n_jobs`."""

    @wraps(method)
    def run(self: Any, *arguments: Any, **options: Any) -> Any:
        with thread_limit(self.n_jobs):
            return method(self, *arguments, **options)

    return cast(Method, run)


def current_threads() -> int:
    """Return how many threads may be used here; one within `run_lanes`: pools never nest."""
    return 1 if getattr(_lane, "active", False) else _limit.get() or _n_cores()


def run_ranges(kernel: Callable[..., Any], offsets: Int64, width: int, *arguments: Any) -> None:
    """Call `kernel(first, last, *arguments)` for ranges that cover all items.

    Args:
        kernel: compiled, without the interpreter's lock; writes only rows of its own range.
        offsets: (N + 1,) cumulative weights of the items; ranges have about equal weight.
        width: work of a unit of weight, usually the number of topics.
        arguments: passed to the kernel.
    """
    n_items, n_threads = len(offsets) - 1, current_threads()
    if n_threads == 1 or (n_items + int(offsets[-1])) * width < _MIN_WORK:
        kernel(0, n_items, *arguments)
        return
    weights = offsets - offsets[0] + np.arange(n_items + 1)  # empty items have some weight, too
    goals = np.linspace(0, weights[-1], min(n_threads * _RANGES_PER_THREAD, n_items) + 1)
    cuts = np.unique(np.searchsorted(weights, goals))

    def lane(waiting: Iterator[tuple[int, int]]) -> None:
        for first, last in waiting:
            kernel(first, last, *arguments)

    run_lanes(lane, zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True))


def run_lanes(lane: Callable[[Iterator[Item]], None], items: Iterable[Item], most: int | None = None) -> None:
    """Run `lane(waiting)` on several threads, at most `most`; each takes items that no other has taken.

    The calling thread is one of them. When one fails, no more items are handed out, and all have stopped
    before this function returns.
    """
    waiting = deque(items)
    if not waiting:
        return
    n_lanes = min(current_threads(), len(waiting), most or len(waiting))
    if n_lanes == 1:
        lane(_take(waiting))
        return

    def run() -> None:
        if not waiting:
            return
        outer, _lane.active = getattr(_lane, "active", False), True
        try:
            lane(_take(waiting))
        except BaseException:
            waiting.clear()
            raise
        finally:
            _lane.active = outer

    others = [_pool().submit(run) for _ in range(n_lanes - 1)]
    try:
        run()
    finally:
        for other in others:
            other.result()


def results_of(
    work: Callable[[Item], Result], items: Sequence[Item], most: int | None = None
) -> list[Result]:
    """Return `work(item)` of each item, in order, computed on several threads; see `run_lanes`."""
    found: dict[int, Result] = {}

    def lane(waiting: Iterator[int]) -> None:
        for i in waiting:
            found[i] = work(items[i])

    run_lanes(lane, range(len(items)), most)
    return [found[i] for i in range(len(items))]


@contextmanager
def beside(work: Callable[[], Result]) -> Iterator[Callable[[], Result]]:
    """Do `work()` on a thread of its own while the block runs; yield a function that waits for its result.

    When the block is left, the work is done, whatever happens; its exception is raised there at the latest.
    With one thread, the work is done before the block.
    """
    if current_threads() == 1:
        found = work()
        yield lambda: found
        return
    with ThreadPoolExecutor(1) as thread:
        future = thread.submit(copy_context().run, work)
        yield future.result
        future.result()


def _take(waiting: deque[Item]) -> Iterator[Item]:
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
