"""`tagtopics topics`: the topics of a model."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from tagtopics.cli.estimators import name_of_model
from tagtopics.cli.options import ModelArgument, OutputOptions
from tagtopics.cli.output import show, topic_table
from tagtopics.cli.sources import load

TopOption = Annotated[int, typer.Option("--top", "-n", metavar="N", min=1, help="Words per topic.")]


def command(model: ModelArgument, output: OutputOptions, top: TopOption = 10) -> None:
    """Show the topics of a model: share, top words, most typical tags."""
    from tagtopics.views.rankings import topic_rows

    loaded = load(model)
    n_topics = int(loaded.components_.shape[0])
    payload: dict[str, Any] = {
        "model": name_of_model(loaded),
        "n_topics": n_topics,
        "topics": topic_rows(loaded, top),
    }
    title = f"{n_topics} topics of {model}"
    show(output.json, payload, lambda console: console.print(topic_table(payload["topics"], title)))
