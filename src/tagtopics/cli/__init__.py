"""The command `tagtopics`: thin commands over the library. Importing it loads nothing heavy."""

from __future__ import annotations

import gc
import time
from collections.abc import Sequence
from typing import NoReturn

__all__ = ["command", "main"]

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


def command() -> NoReturn:
    """Run the command of this process and end the process.

    Python would free all memory object by object, which takes half a second after a large report; the system
    frees it at once.
    """
    import atexit
    import os
    import sys
    from contextlib import suppress

    code = main()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # closed
            stream.flush()
    atexit._run_exitfuncs()
    os._exit(code)
