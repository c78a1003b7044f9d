"""Linear algebra on one thread, so that its bits do not depend on the number of cores."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import threadpoolctl  # type: ignore[import-untyped]

_state: dict[str, Any] = {"lock": threading.Lock(), "users": 0, "limiter": None}


@contextmanager
def single_thread() -> Iterator[None]:
    """Run the matrix products and the k-means of a block on one thread each.

    The limit of BLAS belongs to the whole process. Threads may enter and leave in any order: the first one to
    enter sets it, the last one to leave removes it. `threadpool_limits` alone would let the first one that
    leaves remove it for all. The limit of OpenMP belongs to each thread.
    """
    with _state["lock"]:
        _state["users"] += 1
        if _state["users"] == 1:
            _take_control()
            _state["limiter"] = _controller("blas").limit(limits=1)
    try:
        with _controller("openmp").limit(limits=1):
            yield
    finally:
        with _state["lock"]:
            _state["users"] -= 1
            if _state["users"] == 0:
                _take_control()
                _state["limiter"].restore_original_limits()
                _take_control()


def _take_control() -> None:
    """Let this thread change the limit of OpenBLAS, and any other one after it.

    From threadpoolctl 3.8 on, the first thread that has set a limit is the only one whose limits have an
    effect; those of other threads, such as the workers of a server, would be ignored without a word.
    """
    control: Any = getattr(threadpoolctl, "OpenBLASController", None)
    if hasattr(control, "clear_controlling_thread"):
        control.clear_controlling_thread(force=True)


@cache
def _controller(user_api: str) -> Any:
    """Return the controller of the libraries of one kind: a limiter restores all that its controller has."""
    import scipy.linalg  # noqa: F401  # it finds only libraries that are loaded
    import sklearn.base  # noqa: F401

    return threadpoolctl.ThreadpoolController().select(user_api=user_api)


def _after_fork() -> None:
    """Forget the other threads in a forked child: they do not exist there. One thread stays its limit."""
    _state.update(lock=threading.Lock(), users=0, limiter=None)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
