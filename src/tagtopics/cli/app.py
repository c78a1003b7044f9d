"""The table of commands. To add one: a module with a function `command`, and its name here."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated

import typer

from tagtopics.cli.options import grouped

COMMANDS = (
    "demo",
    "fit",
    "update",
    "topics",
    "tags",
    "explain",
    "recommend",
    "related",
    "evaluate",
    "reproduce",
    "report",
    "serve",
    "shard",
    "datasets",
)
"""The commands, in the order of the help; each is `tagtopics.cli.<name>.command`."""


def build_app() -> typer.Typer:
    """Return the application with all commands."""
    app = typer.Typer(
        name="tagtopics",
        help="Topic models for tagged collections: papers and authors, articles and keywords, photographs.",
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
        pretty_exceptions_enable=False,
    )
    app.callback(invoke_without_command=True)(_root)
    for name in COMMANDS:
        module = import_module(f"tagtopics.cli.{name}")
        app.command(name, no_args_is_help=False)(grouped(module.command))
    return app


def _root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    if version:
        from tagtopics import __version__

        typer.echo(f"tagtopics {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
