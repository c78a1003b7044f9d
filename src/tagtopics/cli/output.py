"""The only place that writes: tables for people, one JSON document for programs, notes on standard error."""

from __future__ import annotations

import json
import math
import sys
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

held_notes: list[str] = []
"""What the user should know; shown on standard error once the command is done."""

PIPE_WIDTH = 100
"""Columns of output that goes to no terminal."""

_HIDDEN = {"Cc", "Cs", "Zl", "Zp"}
_TURNING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


class PipeClosedError(Exception):
    """Whoever read our output has gone. No `OSError`, which typer would take for its own."""


def show(as_json: bool, payload: Mapping[str, Any], draw: Callable[[Console], None]) -> None:
    """Write an answer: the payload as JSON, or what `draw` puts on a console."""
    if as_json:
        text = json.dumps(_without_nan(payload), allow_nan=False, indent=1)
        try:
            sys.stdout.write(text + "\n")
            sys.stdout.flush()
        except BrokenPipeError:
            raise PipeClosedError from None
    else:
        draw(console())


def console() -> Console:
    """Return a console on standard output."""
    return _console(sys.stdout)


def error_console() -> Console:
    """Return a console on standard error."""
    return _console(sys.stderr)


def note(line: str) -> None:
    """Keep a line that the user should see."""
    held_notes.append(line)


def write_error(line: str) -> None:
    """Write a line to standard error."""
    try:
        sys.stderr.write(clean_line(line) + "\n")
        sys.stderr.flush()
    except BrokenPipeError:
        pass


def clean(value: str, keep: str = "") -> str:
    """Return text that cannot steer a terminal: control and direction characters are spelt out."""
    if value.isascii() and value.isprintable():
        return value
    return "".join(c if c in keep or not _steers(c) else c.encode("unicode_escape").decode() for c in value)


def clean_line(value: str) -> str:
    """Return text as one clean line."""
    return clean(" ".join(value.split()))


def plain(value: object, style: str = "", keep: str = "") -> Text:
    """Return text of the user's as it is: never read as markup."""
    from rich.text import Text

    return Text(clean(str(value), keep), style=style)


def make_table(title: str | None, columns: Sequence[str], caption: str | None = None) -> Table:
    """Return an empty table. A column `>name` is for numbers, to the right; `name...` is cut, not wrapped."""
    from rich import box
    from rich.table import Table

    table = Table(
        title=plain(title, "bold") if title else None,
        caption=plain(caption, "dim") if caption else None,
        box=box.SIMPLE_HEAD,
        title_justify="left",
        caption_justify="left",
        min_width=min(max(len(title or ""), len(caption or "")), PIPE_WIDTH),
    )
    for column in columns:
        name = column.removeprefix(">").removesuffix("...")
        cut = column.endswith("...")
        right = column.startswith(">")
        table.add_column(
            name,
            justify="right" if right else "left",
            no_wrap=cut or right,
            overflow="ellipsis" if cut else "fold",
        )
    return table


def per_cent(share: float) -> str:
    """Return a share the way people read it."""
    return f"{100 * share:.1f} %"


def join(names: Sequence[str], separator: str = " ") -> Text:
    """Return names in a row, as they are."""
    return plain(separator.join(names))


def _console(stream: Any) -> Console:
    from rich.console import Console

    class Pipe(Console):
        def on_broken_pipe(self) -> None:
            raise PipeClosedError

    if stream.isatty():
        return Pipe(file=stream, highlight=False, emoji=False)
    return Pipe(file=stream, highlight=False, emoji=False, width=PIPE_WIDTH)


def _steers(character: str) -> bool:
    return character in _TURNING or unicodedata.category(character) in _HIDDEN


def _without_nan(value: Any) -> Any:
    """Return a payload of what JSON knows: NaN and infinities become null, numbers of NumPy plain ones."""
    if isinstance(value, Mapping):
        return {str(name): _without_nan(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(item) for item in value]
    if value is None or isinstance(value, str | bool | int):
        return value
    if hasattr(value, "item"):
        return _without_nan(value.item())
    return value if math.isfinite(value) else None
