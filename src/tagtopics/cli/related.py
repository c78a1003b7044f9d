"""`tagtopics related`: training documents that resemble new ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from tagtopics.cli.options import ColumnOptions, InputArgument, ModelArgument, OutputOptions
from tagtopics.cli.output import make_table, plain, show
from tagtopics.cli.sources import load, read_documents

if TYPE_CHECKING:
    from rich.console import Console

TopOption = Annotated[
    int, typer.Option("--top", "-n", metavar="N", min=1, help="Related documents per document.")
]


def command(
    model: ModelArgument,
    input: InputArgument,
    columns: ColumnOptions,
    output: OutputOptions,
    top: TopOption = 5,
) -> None:
    """Show the training documents whose topics are most similar to those of each new document."""
    loaded = load(model)
    corpus = read_documents(input, columns, loaded, output)
    answers = loaded.related(corpus, top, tags=corpus if corpus.tags.nnz else None)
    documents: list[dict[str, Any]] = [
        {
            "id": name,
            "related": [{"id": found.id, "row": found.row, "score": found.score} for found in answer],
        }
        for name, answer in zip(corpus.ids, answers, strict=True)
    ]
    show(output.json, {"documents": documents}, lambda console: _draw(console, documents))


def _draw(console: Console, documents: list[dict[str, Any]]) -> None:
    table = make_table(None, ["document", ">rank", "related", ">similarity"])
    for document in documents:
        for rank, found in enumerate(document["related"], start=1):
            first = plain(document["id"], "bold") if rank == 1 else ""
            table.add_row(first, str(rank), plain(found["id"]), f"{found['score']:.3f}")
        table.add_section()
    console.print(table)
