"""`tagtopics choose` and `tagtopics compare`: how many topics, and what two models have in common."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tagtopics.cli.options import (
    ColumnOptions,
    CorpusArgument,
    OutputOptions,
    TextOptions,
    argument,
    option,
    top_option,
)
from tagtopics.cli.output import error_console, join, make_table, note, per_cent, show
from tagtopics.cli.sources import load, load_with_documents, read_training
from tagtopics.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from tagtopics.analysis.choose.choose import TopicChoice
    from tagtopics.analysis.choose.compare import Comparison
    from tagtopics.analysis.records import OnProgress
    from tagtopics.corpus import Corpus
    from tagtopics.models.base import TopicModel


def whole_numbers(value: str) -> tuple[int, ...]:
    """Parse whole numbers with commas between them."""
    try:
        return tuple(int(part) for part in value.split(","))
    except ValueError:
        raise typer.BadParameter(f"{value[:40]!r} is not a list of whole numbers such as 10,20,50") from None


SeedOption = Annotated[int, option("Random seed; equal seeds give equal results.", "--seed")]
ThreadsOption = Annotated[
    int | None, option("Number of threads; does not change the result.", "--threads", default="all cores")
]


@dataclass(frozen=True)
class ChooseOptions:
    """The grid of fits."""

    topics: Annotated[
        Any,
        option("Numbers of topics to try.", "--topics", default="10,20,50,100", metavar="N,N",
               parser=whole_numbers),
    ] = None  # fmt: skip
    restarts: Annotated[int, option("Fits for each number, on other documents and seeds.", min=2)] = 10
    seed: SeedOption = 0
    threads: ThreadsOption = None


def choose_command(
    corpus: CorpusArgument,
    grid: ChooseOptions,
    columns: ColumnOptions,
    text: TextOptions,
    output: OutputOptions,
    top: Annotated[int, top_option("Words per topic.")] = 8,
) -> None:
    """Recommend a number of topics: held-out score, and topics that repeated fits find again."""
    from tagtopics.analysis.choose.choose import GRID, choose_topics

    documents = read_training(corpus, columns, text, output)
    with progress(output, "Fitting") as on_progress:
        choice = choose_topics(
            documents,
            GRID if grid.topics is None else grid.topics,
            restarts=grid.restarts,
            seed=grid.seed,
            n_words=top,
            n_jobs=grid.threads,
            on_progress=on_progress,
        )
    for line in choice.notes:
        note(line)
    show(output.json, choice.to_dict(), lambda console: _draw_choice(console, choice))


def _draw_choice(console: Console, choice: TopicChoice) -> None:
    low, high = choice.interval
    console.print(f"recommended: {choice.recommended} topics (90 % interval {low} to {high})\n")
    caption = f"{choice.restarts} restarts; score: mean log probability of a held-out token"
    table = make_table(None, [">topics", ">score", ">error", ">found again", ""], caption)
    marks = {choice.best_score: "best score", choice.recommended: "recommended"}
    for row in choice.rows:
        numbers = f"{row.score:.4f}", f"{row.error:.4f}", f"{100 * row.stability:.0f} %"
        table.add_row(str(row.n_topics), *numbers, marks.get(row.n_topics, ""))
    console.print(table)
    table = make_table(f"{choice.recommended} topics", [">topic", ">share", ">found in", "words"])
    for topic in choice.topics:
        found = f"{topic.found} of {topic.restarts}"
        table.add_row(str(topic.topic), per_cent(topic.share), found, join(topic.words))
    console.print(table)


def compare_command(
    first: Annotated[str, argument("A model folder.", "MODEL")],
    second: Annotated[str, argument("Another model folder.", "OTHER")],
    output: OutputOptions,
    top: Annotated[int, top_option("Words per topic that are compared.")] = 10,
    threshold: Annotated[
        float, option("Minimum cosine similarity of a match.", "--threshold", metavar="X", min=0, max=1)
    ] = 0.8,
) -> None:
    """Match the topics of two models: similarity, words gained and lost, topics without a match."""
    from tagtopics.analysis.choose.compare import compare

    found = compare(load(first), load(second), n_words=top, threshold=threshold)
    payload = {"models": [first, second], **found.to_dict()}
    show(output.json, payload, lambda console: _draw_comparison(console, found, first, second))


def _draw_comparison(console: Console, found: Comparison, first: str, second: str) -> None:
    columns = [">first", ">second", ">similarity", ">shares", "words in both", "gained", "lost"]
    caption = f"mean similarity {found.similarity:.2f}"
    table = make_table(f"{len(found.pairs)} topics in both models", columns, caption)
    for pair in found.pairs:
        shares = f"{100 * pair.share_first:.1f} → {100 * pair.share_second:.1f} %"
        words = map(join, (pair.words, pair.gained, pair.lost))
        table.add_row(str(pair.first), str(pair.second), f"{pair.similarity:.2f}", shares, *words)
    console.print(table)
    for name, lone in ((first, found.only_first), (second, found.only_second)):
        if lone:
            table = make_table(f"only in {name}", [">topic", ">share", ">nearest", ">similarity", "words"])
            for row in lone:
                numbers = str(row.nearest), f"{row.similarity:.2f}"
                table.add_row(str(row.topic), per_cent(row.share), *numbers, join(row.words))
            console.print(table)


# ------------------------------------------------------------------------------------- for other analyses


def load_or_read(
    source: str, columns: ColumnOptions, text: TextOptions, output: OutputOptions
) -> tuple[TopicModel | None, Corpus]:
    """Return a saved model and its documents, or None and the corpus to fit a model to."""
    if not (Path(source) / "model.json").is_file():
        return None, read_training(source, columns, text, output)
    model, documents = load_with_documents(source)
    if documents is None:
        raise InputError(f"{source}: was saved without its documents; fit again with --keep-corpus")
    return model, documents


@contextmanager
def progress(output: OutputOptions, title: str) -> Iterator[OnProgress]:
    """Yield a function that takes the share of the work done and shows it, on a terminal only."""
    if output.quiet or not sys.stderr.isatty():
        yield lambda share: None
        return
    from rich.progress import Progress

    with Progress(console=error_console(), transient=True) as bar:
        task = bar.add_task(title, total=1.0)
        yield lambda share: bar.update(task, completed=share)
