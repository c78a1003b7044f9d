"""`tagtopics recommend`: tags for new documents, with reasons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from tagtopics.cli.options import ColumnOptions, InputArgument, ModelArgument, OutputOptions
from tagtopics.cli.output import make_table, plain, show
from tagtopics.cli.sources import load, read_documents

if TYPE_CHECKING:
    from rich.console import Console

TopOption = Annotated[int, typer.Option("--top", "-n", metavar="N", min=1, help="Tags per document.")]
WhyOption = Annotated[
    int, typer.Option("--why", metavar="N", min=0, help="Maximum number of words given as reasons per tag.")
]


def command(
    model: ModelArgument,
    input: InputArgument,
    columns: ColumnOptions,
    output: OutputOptions,
    top: TopOption = 5,
    why: WhyOption = 3,
) -> None:
    """Recommend tags for documents, most probable first, with the words that suggest each."""
    loaded = load(model)
    corpus = read_documents(input, columns, loaded, output)
    answers = loaded.recommend_with_reasons(corpus, top, why)
    documents: list[dict[str, Any]] = [
        {
            "id": name,
            "tags": [
                {
                    "tag": found.tag,
                    "probability": found.probability,
                    "words": [word for word, _ in found.words],
                }
                for found in answer
            ],
        }
        for name, answer in zip(corpus.ids, answers, strict=True)
    ]
    show(output.json, {"documents": documents}, lambda console: _draw(console, documents))


def _draw(console: Console, documents: list[dict[str, Any]]) -> None:
    table = make_table(None, ["document", "tag", ">probability", "because of"])
    for document in documents:
        for rank, found in enumerate(document["tags"]):
            first = plain(document["id"], "bold") if rank == 0 else ""
            words = plain(" ".join(found["words"]))
            table.add_row(first, plain(found["tag"]), f"{found['probability']:.2f}", words)
        table.add_section()
    console.print(table)
