"""Limits on computation: a few worker threads, a bounded queue, a time limit."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

_Answer = TypeVar("_Answer")


class OverloadedError(Exception):
    """The queue is full."""


class TooSlowError(Exception):
    """The answer took longer than allowed."""


class Gate:
    """Runs functions in worker threads, with a bounded queue and a time limit.

    A thread cannot be stopped, so a function that exceeds the time limit runs to its end and occupies its
    worker until then; slow work cannot accumulate.

    Args:
        workers: functions that run at the same time.
        queue: functions that may wait.
        seconds: time limit for waiting and running.
    """

    def __init__(self, workers: int, queue: int, seconds: float) -> None:
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="tagtopics")
        self._places = workers + queue
        self._seconds = seconds
        self.pending = 0

    async def run(self, work: Callable[[], _Answer]) -> _Answer:
        """Return the result of `work`, or raise `OverloadedError` or `TooSlowError`."""
        if self.pending >= self._places:
            raise OverloadedError
        self.pending += 1
        future = asyncio.get_running_loop().run_in_executor(self._pool, work)
        future.add_done_callback(self._leave)
        try:
            return await asyncio.wait_for(asyncio.shield(future), self._seconds)
        except TimeoutError:
            raise TooSlowError from None

    def close(self) -> None:
        """Wait for running functions and refuse new ones."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _leave(self, future: asyncio.Future[_Answer]) -> None:
        self.pending -= 1
        if not future.cancelled():
            future.exception()  # retrieved, so that asyncio does not warn about it
