"""`tagtopics recommend` and `tagtopics related`: tags and similar training documents for new documents."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

from tagtopics.cli.options import (
    AskedArgument,
    ColumnOptions,
    GivenOption,
    ModelArgument,
    OutputOptions,
    flag,
    option,
    top_option,
)
from tagtopics.cli.output import make_table, plain, show
from tagtopics.cli.sources import load, read_asked

if TYPE_CHECKING:
    from rich.console import Console

WhyOption = Annotated[int, option("Maximum number of words given as reasons per tag.", "--why", min=0)]
BalancedOption = Annotated[
    bool, flag("Give rare tags a place in the lists, at a small cost in precision.", "--balanced")
]


def recommend_command(
    model: ModelArgument,
    columns: ColumnOptions,
    output: OutputOptions,
    input: AskedArgument = None,
    given: GivenOption = None,
    top: Annotated[int, top_option("Tags per document.")] = 5,
    why: WhyOption = 3,
    balanced: BalancedOption = False,
) -> None:
    """Recommend tags for documents, most probable first, with the words that suggest each."""
    loaded = load(model)
    corpus = read_asked(input, given, columns, loaded, output)
    answers = [
        [
            {"tag": found.tag, "probability": found.probability, "words": [word for word, _ in found.words]}
            for found in answer
        ]
        for answer in loaded.recommend_with_reasons(corpus, top, why, balanced=balanced)
    ]

    def cells(rank: int, found: dict[str, Any]) -> list[Any]:
        return [plain(found["tag"]), f"{found['probability']:.2f}", plain(" ".join(found["words"]))]

    _show(output, corpus.ids, "tags", answers, ["tag", ">probability", "because of"], cells)


def related_command(
    model: ModelArgument,
    columns: ColumnOptions,
    output: OutputOptions,
    input: AskedArgument = None,
    given: GivenOption = None,
    top: Annotated[int, top_option("Related documents per document.")] = 5,
) -> None:
    """Show the training documents whose topics are most similar to those of each new document."""
    loaded = load(model)
    corpus = read_asked(input, given, columns, loaded, output)
    answers = [
        [{"id": found.id, "row": found.row, "score": found.score} for found in answer]
        for answer in loaded.related(corpus, top, tags=corpus if corpus.tags.nnz else None)
    ]

    def cells(rank: int, found: dict[str, Any]) -> list[Any]:
        return [str(rank), plain(found["id"]), f"{found['score']:.3f}"]

    _show(output, corpus.ids, "related", answers, [">rank", "related", ">similarity"], cells)


def _show(
    output: OutputOptions,
    ids: tuple[str, ...],
    name: str,
    answers: list[list[dict[str, Any]]],
    columns: list[str],
    cells: Callable[[int, dict[str, Any]], list[Any]],
) -> None:
    """Print the answers for each document, as JSON under `name` or as a table with a row for each."""
    documents = [{"id": id, name: answer} for id, answer in zip(ids, answers, strict=True)]

    def draw(console: Console) -> None:
        table = make_table(None, ["document", *columns])
        for id, answer in zip(ids, answers, strict=True):
            if not answer:
                table.add_row(plain(id, "bold"), *([""] * (len(columns) - 1)), "no word that the model knows")
            for rank, found in enumerate(answer, start=1):
                table.add_row(plain(id, "bold") if rank == 1 else "", *cells(rank, found))
            table.add_section()
        console.print(table)

    show(output.json, {"documents": documents}, draw)
