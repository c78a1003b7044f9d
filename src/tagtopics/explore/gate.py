"""The gate in front of the model: a few workers, a bounded queue, a time limit."""

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
    """Runs work in threads; refuses what would wait behind `queue` others.

    Work that ran out of time goes on to its end, for a thread cannot be stopped, and holds its place until
    then, so that slow work cannot pile up.

    Args:
        workers: how much runs at once.
        queue: how much may wait.
        seconds: how long waiting and running may take.
    """

    def __init__(self, workers: int, queue: int, seconds: float) -> None:
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="tagtopics")
        self._places = workers + queue
        self._seconds = seconds
        self.pending = 0

    async def run(self, work: Callable[[], _Answer]) -> _Answer:
        """Return what `work` returns; `OverloadedError` or `TooSlowError` where that cannot be."""
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
        """Let running work end; take no more."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _leave(self, future: asyncio.Future[_Answer]) -> None:
        self.pending -= 1
        if not future.cancelled():
            future.exception()  # heard by whoever waited; else dropped without a warning
