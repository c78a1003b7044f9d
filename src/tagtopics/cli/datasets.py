"""`tagtopics datasets`: which corpora have a name, and how to get one."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tagtopics.cli.options import Shown, dataset_names
from tagtopics.cli.output import make_table, note, plain, show
from tagtopics.cli.reading import load_named

if TYPE_CHECKING:
    from rich.console import Console

NameArgument = Annotated[
    str | None,
    typer.Argument(metavar="[NAME]", help="A data set to load or write.", autocompletion=dataset_names),
]
OutOption = Annotated[
    str | None, typer.Option("--out", "-o", metavar="DIR", help="Write it here, as a matrix folder.")
]


def command(shown: Shown, name: NameArgument = None, out: OutOption = None) -> None:
    """List the data sets; or load one, fetched if need be, and write it as a matrix folder."""
    if name is not None:
        _one(name, out, shown)
    elif out is not None:
        raise typer.BadParameter("which data set? Name one before --out")
    else:
        _all(shown)


def _all(shown: Shown) -> None:
    from tagtopics.datasets import list_datasets

    rows = [asdict(row) for row in list_datasets()]
    show(shown.json, {"datasets": rows}, lambda console: _draw_all(console, rows))


def _draw_all(console: Console, rows: list[dict[str, Any]]) -> None:
    table = make_table(None, ["name", ">documents", ">tags", ">words", "origin", "description"])
    for row in rows:
        sizes = ["" if row[size] is None else f"{row[size]:,}" for size in ("n_docs", "n_tags", "n_words")]
        table.add_row(plain(row["name"], "bold"), *sizes, row["origin"], plain(row["description"]))
    console.print(table)


def _one(name: str, out: str | None, shown: Shown) -> None:
    corpus = load_named(name, shown)
    for line in corpus.notices:
        note(line)
    if out is not None:
        from tagtopics.corpus import write_matrix_folder

        write_matrix_folder(corpus, out)
    has = [part for part in ("labels", "links", "texts", "split") if getattr(corpus, part) is not None]
    payload = {"name": name, "path": out, **corpus.statistics, "has": has}
    show(shown.json, payload, lambda console: _draw_one(console, payload))


def _draw_one(console: Console, payload: dict[str, Any]) -> None:
    table = make_table(None, ["", ""])
    table.show_header = False
    for key, value in payload.items():
        if value is None:
            continue
        text = (
            f"{value:,.1f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else value
        )
        table.add_row(
            key.replace("n_", "").replace("_", " "), plain(", ".join(text) if key == "has" else text)
        )
    console.print(table)
