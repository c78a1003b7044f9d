"""One thread for linear algebra, so that the bits of a product do not depend on the number of cores."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

_lock = threading.Lock()
_state: dict[str, Any] = {"users": 0, "limiter": None}


@contextmanager
def single_thread() -> Iterator[None]:
    """Run the matrix products of a block on one thread each.

    The setting belongs to the whole process. Threads may enter and leave in any order: the first one to enter
    sets the limit, the last one to leave removes it.
    """
    with _lock:
        _state["users"] += 1
        if _state["users"] == 1:
            _state["limiter"] = _controller().limit(limits=1)
    try:
        yield
    finally:
        with _lock:
            _state["users"] -= 1
            if _state["users"] == 0:
                _state["limiter"].restore_original_limits()


@cache
def _controller() -> Any:
    """Return the controller of the linear algebra libraries that numpy and scipy have loaded."""
    import scipy.linalg  # noqa: F401

    return ThreadpoolController()
