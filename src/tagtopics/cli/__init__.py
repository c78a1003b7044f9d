"""The command `tagtopics`: thin commands over the library. Importing it loads nothing heavy."""

from __future__ import annotations

import time
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 0 success, 1 internal error, 2 bad input, 130 interrupted.

    Args:
        arguments: the command line; `sys.argv` by default.
    """
    began = time.perf_counter()
    from tagtopics.cli.app import run
    from tagtopics.cli.clock import StepClock

    StepClock.began = began
    return run(arguments)
