"""`tagtopics recommend`: the tags that new documents need, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from tagtopics.cli.options import ColumnOptions, InputArgument, ModelArgument, Shown
from tagtopics.cli.output import make_table, plain, show
from tagtopics.cli.reading import load, read_documents

if TYPE_CHECKING:
    from rich.console import Console

    from tagtopics.recommend.recommender import Recommendation

TopOption = Annotated[int, typer.Option("--top", "-n", metavar="N", min=1, help="Tags of each document.")]
WhyOption = Annotated[
    int, typer.Option("--why", metavar="N", min=0, help="Words that speak for each tag, at the most.")
]


def command(
    model: ModelArgument,
    input: InputArgument,
    columns: ColumnOptions,
    shown: Shown,
    top: TopOption = 5,
    why: WhyOption = 3,
) -> None:
    """Recommend tags to documents, most probable first, with the words that speak for each."""
    loaded = load(model)
    corpus = read_documents(input, columns, loaded, shown)
    answers = loaded.recommend_with_reasons(corpus, top, why)
    documents: list[dict[str, Any]] = [
        {
            "id": name,
            "tags": [_as_json(found) for found in answer],
        }
        for name, answer in zip(corpus.ids, answers, strict=True)
    ]
    show(shown.json, {"documents": documents}, lambda console: _draw(console, documents))


def _as_json(found: Recommendation) -> dict[str, Any]:
    words = [word for word, _ in found.words]
    return {"tag": found.tag, "probability": found.probability, "words": words}


def _draw(console: Console, documents: list[dict[str, Any]]) -> None:
    table = make_table(None, ["document", "tag", ">probability", "because of"])
    for document in documents:
        for rank, found in enumerate(document["tags"]):
            first = plain(document["id"], "bold") if rank == 0 else ""
            words = plain(" ".join(found["words"]))
            table.add_row(first, plain(found["tag"]), f"{found['probability']:.2f}", words)
        table.add_section()
    console.print(table)
