"""The command `tagtopics`: thin commands over the library. Importing it loads nothing heavy."""

from __future__ import annotations

import gc
import time
from collections.abc import Sequence

__all__ = ["main"]

_RARELY = (20_000, 10, 10)
"""Thresholds of the garbage collector: loading modules makes many objects that stay, and almost no cycles."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 0 success, 1 internal error, 2 bad input, 130 interrupted.

    Args:
        arguments: the command line; `sys.argv` by default.
    """
    began, usual = time.perf_counter(), gc.get_threshold()
    gc.set_threshold(*_RARELY)
    try:
        from tagtopics.cli.app import run
        from tagtopics.cli.clock import StepClock

        StepClock.began = began
        return run(arguments)
    finally:
        gc.set_threshold(*usual)
