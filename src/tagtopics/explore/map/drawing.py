"""The places of documents on the map, computed on a thread of its own while the record of a model is made."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np

from tagtopics._blas import single_thread
from tagtopics._typing import Float32, Float64, Int64
from tagtopics.explore.map.layout import document_layout, neighbours_of

_SWITCH_SECONDS = 0.001
"""After how long a thread that runs Python lets another one run. The map consists of thousands of short calls
of compiled code; with the default of 5 ms, most of its time would pass between them."""


class Drawing:
    """The places of documents, which are computed from now on.

    Args:
        topics: (D, K) topic proportions.
        pool: where they are computed.
    """

    def __init__(self, topics: Float32, pool: ThreadPoolExecutor) -> None:
        self._topics, self._cancelled = topics, threading.Event()
        self._found: Future[tuple[Int64 | None, Float64]] = pool.submit(self._draw)

    def places(self, topics: Float32) -> tuple[Int64 | None, Float64]:
        """Return the nearest documents and the place of each; those of other topics are computed now."""
        return self._found.result() if np.array_equal(topics, self._topics) else drawn(topics)

    def cancel(self) -> None:
        """End the computation soon, if nobody needs its result."""
        self._cancelled.set()

    def _draw(self) -> tuple[Int64 | None, Float64]:
        return drawn(self._topics, self._go_on)

    def _go_on(self) -> None:
        if self._cancelled.is_set():
            raise CancelledError


def drawn(topics: Float32, on_step: Callable[[], None] = lambda: None) -> tuple[Int64 | None, Float64]:
    """Return (D, n) the most similar documents of each, None of a single one, and (D, 2) their places."""
    near = neighbours_of(topics) if len(topics) > 1 else None
    return near, document_layout(topics, lambda share: on_step(), near)


@contextmanager
def drawing(topics: Float32) -> Iterator[Drawing]:
    """Begin to draw a map; inside, linear algebra runs on one thread, so that no bit depends on when."""
    interval = sys.getswitchinterval()
    with single_thread(), ThreadPoolExecutor(1, thread_name_prefix="tagtopics-map") as pool:
        begun = Drawing(np.asarray(topics, dtype=np.float32), pool)
        sys.setswitchinterval(min(interval, _SWITCH_SECONDS))
        try:
            yield begun
        finally:
            sys.setswitchinterval(interval)
            begun.cancel()
