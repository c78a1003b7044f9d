"""`tagtopics evaluate`: measure a model on documents that it has not seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

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
    str | None,
    option("What the model knows of the tags of test documents: hidden or known. For perplexity also "
           "inferred, or several: hidden,known.", "--test-tags", default="hidden", metavar="HOW,HOW"),
]  # fmt: skip


def _percentages(value: str) -> tuple[float, ...]:
    """Parse numbers with commas between them."""
    try:
        return tuple(int(part) if part.strip().isdecimal() else float(part) for part in value.split(","))
    except ValueError:
        raise typer.BadParameter(f"{value[:40]!r} is not a list of numbers such as 5,20,80") from None


SeenOption = Annotated[
    Any,
    option("Also perplexity by the percentage of words seen, 0 to 80: 5,20,80.", metavar="N,N",
           default="no curve", parser=_percentages),
]  # fmt: skip


def command(
    corpus: CorpusArgument,
    model: ModelOptions,
    columns: ColumnOptions,
    text: TextOptions,
    output: OutputOptions,
    task: TaskOption = "perplexity",
    test_tags: TestTagsOption = None,
    seen: SeenOption = None,
    tag_names: TagNamesOption = None,
) -> None:
    """Fit on training documents and score on test documents: the official split, else a random 80/20."""
    from tagtopics.evaluation import find_task

    score = find_task(task)
    estimator = build_model(model)
    tags = tuple(dict.fromkeys(test_tags.split(","))) if test_tags else ()
    known, curve = tags == ("known",), dict[str, Any]()
    if task == "perplexity":
        curve = {"seen": seen or (), "tags": tags} if seen or tags else {}
    elif seen or tags not in ((), ("hidden",), ("known",)):
        raise InputError(f"--task {task} takes no --seen, and --test-tags hidden or known")
    documents = read_training(corpus, columns, text, output)
    if tag_names is not None:
        documents = named_documents(documents, tag_names)
    result = score(documents, estimator, seed=model.seed, tags_known=known, **curve)
    payload: dict[str, Any] = {
        "task": task,
        "model": name_of_model(estimator),
        "n_topics": int(estimator.components_.shape[0]),
        "seed": model.seed,
        "test_tags": (tags or ("hidden",))[0],
        "metrics": result["metrics"],
        "seconds": result["seconds"],
        **({"curve": result["curve"]} if curve else {}),
        **{name: result[name] for name in ("mistakes",) if name in result},
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
    if "curve" in payload:
        found = {(row["seen"], row["tags"]): row["perplexity"] for row in payload["curve"]}
        shares, tags = (list(dict.fromkeys(column)) for column in zip(*found, strict=True))
        columns = [">seen", *(f">tags {name}" for name in tags)]
        curve = [(f"{share:g} %", *(f"{found[share, name]:,.1f}" for name in tags)) for share in shares]
        console.print(make_table("perplexity by share of words seen", columns, rows=curve))


def _number(value: float) -> str:
    """Return a measure as text: counts as they are, large numbers with one digit, others with four."""
    return f"{value:,.{1 if value >= 10 else 4}f}" if isinstance(value, float) else str(value)
