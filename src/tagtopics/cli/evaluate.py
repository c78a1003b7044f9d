"""`tagtopics evaluate`: measure a model on documents that it has not seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from tagtopics.cli.estimators import build_model
from tagtopics.cli.options import (
    ColumnOptions,
    CorpusArgument,
    ModelOptions,
    OutputOptions,
    TextOptions,
    flag,
    option,
)
from tagtopics.cli.output import make_table, show
from tagtopics.cli.sources import read_training

if TYPE_CHECKING:
    from rich.console import Console


def _task_names(incomplete: str) -> list[str]:
    from tagtopics.tasks import TASKS

    return [name for name in TASKS if name.startswith(incomplete)]


TaskOption = Annotated[
    str,
    option("perplexity, links, classification, recommendation or credit.", metavar="NAME",
           autocompletion=_task_names),
]  # fmt: skip
KnownOption = Annotated[bool, flag("Let the model use the tags of the test documents.", "--tags-known")]


def command(
    corpus: CorpusArgument,
    model: ModelOptions,
    columns: ColumnOptions,
    text: TextOptions,
    output: OutputOptions,
    task: TaskOption = "perplexity",
    tags_known: KnownOption = False,
) -> None:
    """Fit on training documents and score on test documents: the official split, else a random 80/20."""
    from tagtopics.tasks import find_task

    score = find_task(task)
    estimator = build_model(model)
    documents = read_training(corpus, columns, text, output)
    result = score(documents, estimator, seed=model.seed, tags_known=tags_known)
    payload = {
        "task": task,
        "model": model.model,
        "n_topics": int(estimator.components_.shape[0]),
        "seed": model.seed,
        "metrics": result["metrics"],
        "seconds": result["seconds"],
    }
    show(output.json, payload, lambda console: _draw(console, payload))


def _draw(console: Console, payload: dict[str, Any]) -> None:
    title = f"{payload['task']}: {payload['model']}, {payload['n_topics']} topics, seed {payload['seed']}"
    table = make_table(title, ["measure", ">value"])
    for name, value in payload["metrics"].items():
        digits = 1 if isinstance(value, float) and value >= 10 else 4
        text = f"{value:,.{digits}f}" if isinstance(value, float) else str(value)
        table.add_row(name.replace("_", " "), text)
    for name, value in payload["seconds"].items():
        table.add_row(f"seconds to {name}", f"{value:.2f}")
    console.print(table)
