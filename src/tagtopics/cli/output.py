"""All output: tables on standard output, or one JSON document; notes and errors on standard error."""

from __future__ import annotations

import json
import math
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

pending_notes: list[str] = []
"""Notes for the user, printed on standard error when the command is done."""

PIPE_WIDTH = 100
"""Width of output that does not go to a terminal, in columns."""

_LONG = re.compile(r"(\S{199})\S{2,}")
_CONTROL = {"Cc", "Cs", "Zl", "Zp"}
_DIRECTION = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


class PipeClosedError(Exception):
    """The reader of standard output has closed it. Not an `OSError`: typer would handle that itself."""


def show(as_json: bool, payload: Mapping[str, Any], draw: Callable[[Console], None]) -> None:
    """Print the payload as JSON, or call `draw` with a console."""
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
    """Add a note for the user."""
    pending_notes.append(line)


def write_notes() -> None:
    """Write the notes so far to standard error, each once."""
    for line in dict.fromkeys(pending_notes):
        write_error(f"note: {line}")
    pending_notes.clear()


def write_error(line: str) -> None:
    """Write a line to standard error."""
    try:
        sys.stderr.write(clean_line(line) + "\n")
        sys.stderr.flush()
    except BrokenPipeError:
        pass


def clean(value: str) -> str:
    """Return text with control and direction characters escaped, so that it cannot control a terminal."""
    if value.isascii() and value.isprintable():
        return value
    controls = {c for c in set(value) if c in _DIRECTION or unicodedata.category(c) in _CONTROL}
    return "".join(c.encode("unicode_escape").decode() if c in controls else c for c in value)


def clean_line(value: str) -> str:
    """Return text as one line without control characters."""
    return clean(" ".join(value.split()))


def plain(value: object, style: str = "") -> Text:
    """Return user text, never parsed as markup; words of more than 200 characters are cut.

    The time that a table takes is quadratic in its longest word.
    """
    from rich.text import Text

    return Text(_LONG.sub(r"\1…", clean(str(value))), style=style)


def make_table(
    title: str | None, columns: Sequence[str], caption: str = "", rows: Iterable[Iterable[object]] = ()
) -> Table:
    """Return a table. `>name` aligns a column to the right; text in rows is never parsed as markup."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title=plain(title, "bold") if title else None,
        caption=plain(caption, "dim") if caption else None,
        box=box.SIMPLE_HEAD,
        title_justify="left",
        caption_justify="left",
        min_width=min(max(len(title or ""), len(caption)), PIPE_WIDTH),
    )
    for column in columns:
        name, right = column.removeprefix(">"), column.startswith(">")
        table.add_column(name, justify="right" if right else "left", no_wrap=right, overflow="fold")
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else plain(cell) for cell in row))
    return table


def fact_table(facts: Mapping[str, object]) -> Table:
    """Return a table of names and values, without a header."""
    table = make_table(None, ["", ""], rows=facts.items())
    table.show_header = False
    return table


def topic_table(rows: Sequence[dict[str, Any]], title: str, *, named: bool = False) -> Table:
    """Return a table of topics: share, name if wanted, words, most typical tags if there are any.

    Topics of photographs have names instead of words.
    """
    tagged, coded = any(row["tags"] for row in rows), any(row["coded"] for row in rows)
    named, cells = named or coded, []
    for row in rows:
        tags = [entry["name"] for entry in row["tags"]]
        texts = [*[row["name"]] * named, *[_words_of(row)] * (not coded)]
        texts[0] += " (background)" if row["background"] else ""
        texts += [("; " if any("," in tag for tag in tags) else ", ").join(tags)] * tagged
        cells.append([str(row["topic"]), per_cent(row["share"]), *texts])
    columns = [
        ">topic",
        ">share",
        *["name"] * named,
        *["words"] * (not coded),
        *["most typical tags"] * tagged,
    ]
    return make_table(title, columns, rows=cells)


def profile_table(rows: Sequence[dict[str, Any]], title: str) -> Table:
    """Return a table of tag profiles: documents (of single tags), words (but of photographs), topics."""
    counted, coded = all(len(row["n_docs"]) == 1 for row in rows), any(row["coded"] for row in rows)
    cells = []
    for row in rows:
        topics = [f"{entry['topic']} ({100 * entry['probability']:.0f} %)" for entry in row["topics"]]
        docs = [str(row["n_docs"][0])] * counted
        cells.append([" + ".join(row["names"]), *docs, *[_words_of(row)] * (not coded), ", ".join(topics)])
    columns = ["tags", *[">documents"] * counted, *["words"] * (not coded), "topics"]
    return make_table(title, columns, rows=cells)


def per_cent(share: float) -> str:
    """Return a share as a percentage."""
    return f"{100 * share:.1f} %"


def size_text(sizes: Mapping[str, Any]) -> str:
    """Return the sizes of a corpus in one line."""
    names = {"n_docs": "documents", "n_words": "words", "n_tags": "tags", "n_tokens": "tokens"}
    return ", ".join(f"{sizes[key]:,} {name}" for key, name in names.items())


def _words_of(row: dict[str, Any]) -> str:
    """Return the words of a row; commas divide them if some are phrases."""
    words = [entry["word"] for entry in row["words"]]
    return (", " if any(" " in word for word in words) else " ").join(words)


def _console(stream: Any) -> Console:
    from rich.console import Console

    class Pipe(Console):
        def on_broken_pipe(self) -> None:
            raise PipeClosedError

    return Pipe(file=stream, highlight=False, emoji=False, width=None if stream.isatty() else PIPE_WIDTH)


def _without_nan(value: Any) -> Any:
    """Return a payload that JSON can hold: NaN and infinities become null, NumPy numbers plain ones."""
    if isinstance(value, Mapping):
        return {str(name): _without_nan(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(item) for item in value]
    if value is None or isinstance(value, str | bool | int):
        return value
    if hasattr(value, "item"):
        return _without_nan(value.item())
    return value if math.isfinite(value) else None
