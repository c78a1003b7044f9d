"""`tagtopics evaluate`: measure a model on documents that it has not seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from tagtopics.cli.estimators import build_model, name_of_model
from tagtopics.cli.options import (
    ColumnOptions,
    CorpusArgument,
    ModelOptions,
    OutputOptions,
    TextOptions,
    option,
)
from tagtopics.cli.output import make_table, show
from tagtopics.cli.sources import read_training
from tagtopics.errors import InputError
from tagtopics.subjects.commands import TagNamesOption, named_documents

if TYPE_CHECKING:
    from rich.console import Console


TaskOption = Annotated[str, option("perplexity, links, classification or recommendation.", metavar="NAME")]
TestTagsOption = Annotated[
    str,
    option("What the model knows of the tags of test documents: hidden or known; for perplexity also "
           "inferred from the words seen.", "--test-tags", metavar="HOW"),
]  # fmt: skip


def command(
    corpus: CorpusArgument,
    model: ModelOptions,
    columns: ColumnOptions,
    text: TextOptions,
    output: OutputOptions,
    task: TaskOption = "perplexity",
    test_tags: TestTagsOption = "hidden",
    tag_names: TagNamesOption = None,
) -> None:
    """Fit on training documents and score on test documents: the official split, else a random 80/20."""
    from tagtopics.evaluation import find_task

    score = find_task(task)
    estimator = build_model(model)
    known = ("hidden", "known", "inferred") if task == "perplexity" else ("hidden", "known")
    if test_tags not in known:
        raise InputError(
            f"--test-tags must be {' or '.join(known)}, not {test_tags[:40]!r}, for --task {task}"
        )
    inferred = {"tags_inferred": True} if test_tags == "inferred" else {}
    documents = read_training(corpus, columns, text, output)
    if tag_names is not None:
        documents = named_documents(documents, tag_names)
    result = score(documents, estimator, seed=model.seed, tags_known=test_tags == "known", **inferred)
    payload: dict[str, Any] = {
        "task": task,
        "model": name_of_model(estimator),
        "n_topics": int(estimator.components_.shape[0]),
        "seed": model.seed,
        "test_tags": test_tags,
        **result,
    }
    show(output.json, payload, lambda console: _draw(console, payload))


def _draw(console: Console, payload: dict[str, Any]) -> None:
    title = f"{payload['task']}: {payload['model']}, {payload['n_topics']} topics, seed {payload['seed']}"
    title += "" if payload["test_tags"] == "hidden" else f", tags {payload['test_tags']}"
    rows = [(name.replace("_", " "), _number(value)) for name, value in payload["metrics"].items()]
    rows += [(f"seconds to {name}", f"{value:.2f}") for name, value in payload["seconds"].items()]
    console.print(make_table(title, ["measure", ">value"], rows=rows))
    for what, worst in payload.get("mistakes", {}).items():
        shown = [(row["name"], str(row["documents"])) for row in worst]
        if shown:
            console.print(make_table(f"most often {what}", ["tag", ">documents"], rows=shown))


def _number(value: float) -> str:
    """Return a measure as text: counts as they are, large numbers with one digit, others with four."""
    return f"{value:,.{1 if value >= 10 else 4}f}" if isinstance(value, float) else str(value)
