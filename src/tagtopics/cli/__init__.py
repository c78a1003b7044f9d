"""The command `tagtopics`: arguments in, tables or JSON out; `app` has the table of commands."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from typing import NoReturn

__all__ = ["command", "main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 0 success, 1 internal error, 2 bad input, 130 interrupted.

    Args:
        arguments: the command line; `sys.argv` by default.
    """
    from tagtopics.cli.app import run

    return run(arguments)


def command() -> NoReturn:
    """Run the command of this process and exit with its code; what libraries log is not printed."""
    logging.getLogger().addHandler(logging.NullHandler())
    sys.exit(main())
