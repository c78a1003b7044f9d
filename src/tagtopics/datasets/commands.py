"""`tagtopics datasets`: list the data sets, or write one to disk."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tagtopics.cli.options import OutputOptions, dataset_names, option
from tagtopics.cli.output import fact_table, make_table, note, plain, show
from tagtopics.cli.sources import load_named

if TYPE_CHECKING:
    from rich.console import Console

NameArgument = Annotated[
    str | None,
    typer.Argument(metavar="[NAME]", help="Data set to load or write.", autocompletion=dataset_names),
]
OutOption = Annotated[str | None, option("Write it here, as a matrix folder.", "--out", "-o", metavar="DIR")]


def command(output: OutputOptions, name: NameArgument = None, out: OutOption = None) -> None:
    """List the data sets; or load one, downloading it if needed, and write it as a matrix folder."""
    if name is not None:
        _one(name, out, output)
    elif out is not None:
        raise typer.BadParameter("which data set? Give its name before --out")
    else:
        _all(output)


def _all(output: OutputOptions) -> None:
    from tagtopics.datasets import list_datasets

    rows = [asdict(row) for row in list_datasets()]
    show(output.json, {"datasets": rows}, lambda console: _draw_all(console, rows))


def _draw_all(console: Console, rows: list[dict[str, Any]]) -> None:
    table = make_table(None, ["name", ">documents", ">tags", ">words", "origin", "description"])
    for row in rows:
        sizes = ["" if row[size] is None else f"{row[size]:,}" for size in ("n_docs", "n_tags", "n_words")]
        table.add_row(plain(row["name"], "bold"), *sizes, row["origin"], plain(row["description"]))
    console.print(table)


def _one(name: str, out: str | None, output: OutputOptions) -> None:
    corpus = load_named(name, output)
    for line in corpus.notices:
        note(line)
    if out is not None:
        from tagtopics.corpus import write_matrix_folder

        write_matrix_folder(corpus, out)
    from tagtopics.corpus.metadata import METADATA

    has = [
        part
        for part in ("labels", "links", "texts", "split", *METADATA.values())
        if getattr(corpus, part) is not None
    ]
    payload = {"name": name, "path": out, **corpus.statistics, "has": has}
    facts = {
        key.replace("n_", "").replace("_", " "): _text(value)
        for key, value in payload.items()
        if value not in (None, [])
    }
    show(output.json, payload, lambda console: console.print(fact_table(facts)))


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(value)
    if isinstance(value, float):
        return f"{value:,.1f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
