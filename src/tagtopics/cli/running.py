"""One run of the command: what goes wrong becomes one line and an exit code, what is noted comes last."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any

from tagtopics.cli.output import PipeClosedError, clean_line, held_notes, note, write_error
from tagtopics.errors import CorpusWarning, InputError

DONE, OUR_FAULT, WRONG_INPUT, INTERRUPTED = 0, 1, 2, 130


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given or bool(os.environ.get("TAGTOPICS_DEBUG"))
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    held_notes.clear()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", CorpusWarning)
            warnings.showwarning = _note_warning
            code = _invoke(given)
        sys.stdout.flush()
    except (BrokenPipeError, PipeClosedError):
        _close_pipe()
        return DONE
    except (Exception, KeyboardInterrupt) as error:
        return _report(error, debug)
    if code == INTERRUPTED:
        return _report(KeyboardInterrupt(), debug)
    if not {"-q", "--quiet"} & set(given):
        for line in dict.fromkeys(held_notes):
            write_error(f"note: {line}")
    return code


def _invoke(arguments: list[str]) -> int:
    """Let typer parse and call; errors come through, an early exit gives its code."""
    from typer.main import get_command

    from tagtopics.cli.app import build_app

    command: Any = get_command(build_app())
    try:
        code = command.main(args=arguments, prog_name="tagtopics", standalone_mode=False)
    except SystemExit as exit:  # shell completion ends so
        code = exit.code
    return code if isinstance(code, int) else DONE


def _report(error: BaseException, debug: bool) -> int:
    """Say on standard error what happened, and return the exit code."""
    code, line = _outcome(error)
    if debug and code != INTERRUPTED:
        import traceback

        traceback.print_exception(error)
    write_error(line)
    return code


def _outcome(error: BaseException) -> tuple[int, str]:
    if isinstance(error, KeyboardInterrupt) or type(error).__name__ == "Abort":
        return INTERRUPTED, "tagtopics: interrupted"
    if isinstance(error, InputError):
        return WRONG_INPUT, f"tagtopics: error: {clean_line(str(error))}"
    if hasattr(error, "format_message"):  # typer's own: a wrong option, a missing argument
        return WRONG_INPUT, f"tagtopics: error: {clean_line(error.format_message())}"
    if isinstance(error, OSError):
        place = f"{error.filename}: " if error.filename else ""
        return WRONG_INPUT, f"tagtopics: error: {clean_line(f'{place}{error.strerror or error}')}"
    if isinstance(error, MemoryError):
        return WRONG_INPUT, "tagtopics: error: not enough memory; try fewer topics or a smaller vocabulary"
    what = clean_line(f"{type(error).__name__}: {error}")[:300]
    return OUR_FAULT, f"tagtopics: internal error: {what}; please report it with the output of --debug"


def _note_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    note(str(message))


def _close_pipe() -> None:
    """Whoever read our output has gone: let the interpreter flush into nothing."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, sys.stdout.fileno())
    os.close(nothing)
