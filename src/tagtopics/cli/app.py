"""The table of commands, and one run: errors become one line and an exit code, notes are printed last.

To add a command, write its function, in this folder or in a layer, and add it to `PANELS`.
"""

from __future__ import annotations

import os
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from tagtopics.cli.options import expand_groups, flag
from tagtopics.cli.output import PipeClosedError, clean_line, note, pending_notes, write_error, write_notes
from tagtopics.errors import CorpusWarning, InputError

PANELS: Mapping[str, Mapping[str, str]] = {
    "Learn": {
        "demo": "datasets.commands.demo_command",
        "fit": "cli.fit.command",
        "update": "cli.update.command",
        "shard": "scale.commands.command",
        "datasets": "datasets.commands.datasets_command",
    },
    "Look": {
        "topics": "cli.topics.topics_command",
        "tags": "cli.topics.tags_command",
        "report": "explore.commands.report_command",
        "serve": "explore.commands.serve_command",
        "export": "explore.commands.export_command",
    },
    "Ask": {
        "explain": "cli.explain.command",
        "recommend": "cli.recommend.recommend_command",
        "related": "cli.recommend.related_command",
        "mcp": "explore.commands.mcp_command",
    },
    "Check": {
        "curate": "curation.commands.command",
        "audit": "analysis.audit.commands.audit_command",
        "apply": "analysis.audit.commands.apply_command",
        "choose": "analysis.commands.choose_command",
        "compare": "analysis.commands.compare_command",
    },
    "Measure": {
        "effects": "analysis.commands.effects_command",
        "trends": "analysis.commands.trends_command",
        "evaluate": "evaluation.commands.command",
    },
}
"""The commands by panel, in the order of the help, and the function of each in `tagtopics`."""

COMMANDS = {name: place for panel in PANELS.values() for name, place in panel.items()}

_NO_MEMORY = "failed to map segment|can't start new thread|[Cc]annot allocate memory"

SUCCESS, INTERNAL_ERROR, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130


class _Untyped:
    """Help that shows no types: `COLUMN` says more than `<str>`, and a switch has no value."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, without types."""
        found: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for parameter in found:
            if parameter.param_type_name == "argument":
                parameter.display_type_rich = lambda ctx: None
            elif parameter.metavar is None:
                parameter.metavar = ""
        return found


class _Command(_Untyped, TyperCommand):
    """One command."""


class _Group(_Untyped, TyperGroup):
    """All commands."""


def find_command(name: str) -> Callable[..., None]:
    """Return the function of a command."""
    module, _, function = COMMANDS[name].rpartition(".")
    command: Callable[..., None] = getattr(import_module(f"tagtopics.{module}"), function)
    return command


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given or bool(os.environ.get("TAGTOPICS_DEBUG"))
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    pending_notes.clear()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", CorpusWarning)
            warnings.showwarning = lambda message, *_, **__: note(str(message))
            parser = _parser(given[0] if given and given[0] in COMMANDS else None)
            code = parser.main(args=given, prog_name="tagtopics", standalone_mode=False)
        sys.stdout.flush()
        if code == INTERRUPTED:
            raise KeyboardInterrupt
    except SystemExit as exit:  # raised by shell completion
        code = exit.code
    except (BrokenPipeError, PipeClosedError):
        null = os.open(os.devnull, os.O_WRONLY)  # the reader has closed the pipe: discard what follows
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
        return SUCCESS
    except (Exception, KeyboardInterrupt) as error:
        code, line = _outcome(error)
        if debug and code != INTERRUPTED:
            traceback.print_exception(error)
        write_error(line)
        return code
    if not {"-q", "--quiet"} & set(given):
        write_notes()
    return code if isinstance(code, int) else SUCCESS


def _root(
    context: typer.Context,
    version: Annotated[bool, flag("Print the version and exit.", "--version")] = False,
) -> None:
    if version:
        from tagtopics import __version__

        typer.echo(f"tagtopics {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@cache
def _parser(name: str | None) -> Any:
    """Return the parser of one command, which is quickly built, or of all commands."""
    app = typer.Typer(
        name="tagtopics",
        help="Topic models for tagged collections: papers with authors, articles with keywords, photos.",
        rich_markup_mode="rich",
        cls=_Group,
        context_settings={"help_option_names": ["-h", "--help"]},
        pretty_exceptions_enable=False,
    )
    app.callback(invoke_without_command=True)(_root)
    for panel, commands in PANELS.items():
        for command in commands:
            if name in (None, command):
                app.command(command, cls=_Command, rich_help_panel=panel)(
                    expand_groups(find_command(command))
                )
    return get_command(app)


def _outcome(error: BaseException) -> tuple[int, str]:
    if isinstance(error, KeyboardInterrupt) or type(error).__name__ == "Abort":
        return INTERRUPTED, "tagtopics: interrupted"
    if isinstance(error, InputError):
        return BAD_INPUT, f"tagtopics: error: {clean_line(str(error))}"
    if hasattr(error, "format_message"):  # raised by typer: a wrong option, a missing argument
        what = clean_line(error.format_message()).rstrip(".")
        what = re.sub(r"^Invalid value for '([^']+)'[^:]*: Input should be ", r"\1 must be ", what)
        command = getattr(getattr(error, "ctx", None), "command_path", "tagtopics")
        return BAD_INPUT, f"tagtopics: error: {what}; see {command} --help"
    if isinstance(error, MemoryError) or re.search(_NO_MEMORY, str(error)):
        return BAD_INPUT, "tagtopics: error: not enough memory; try fewer topics or a smaller vocabulary"
    if isinstance(error, OSError):
        place = f"{error.filename}: " if error.filename else ""
        return BAD_INPUT, f"tagtopics: error: {clean_line(f'{place}{error.strerror or error}')}"
    what = clean_line(f"{type(error).__name__}: {error}")[:300]
    return INTERNAL_ERROR, f"tagtopics: internal error: {what}; please report it with the output of --debug"
