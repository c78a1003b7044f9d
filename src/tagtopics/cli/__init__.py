"""The command `tagtopics`: thin commands over the library. Nothing heavy is imported before one runs."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 0 done, 2 the input was wrong, 1 our fault, 130 interrupted.

    Args:
        arguments: of the command line; `sys.argv` unless given.
    """
    from tagtopics.cli.running import run

    return run(arguments)
