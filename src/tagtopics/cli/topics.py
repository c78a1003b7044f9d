"""`tagtopics topics`: what a collection is about."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from tagtopics.cli.modelling import name_of_model
from tagtopics.cli.options import ModelArgument, Shown
from tagtopics.cli.output import show
from tagtopics.cli.reading import load
from tagtopics.cli.tables import topic_table
from tagtopics.views.rankings import topic_rows

TopOption = Annotated[int, typer.Option("--top", "-n", metavar="N", min=1, help="Words of each topic.")]


def command(model: ModelArgument, shown: Shown, top: TopOption = 10) -> None:
    """Show the topics of a model: share, top words, most typical tags."""
    loaded = load(model)
    payload: dict[str, Any] = {
        "model": name_of_model(loaded),
        "n_topics": int(loaded.components_.shape[0]),
        "topics": topic_rows(loaded, top),
    }
    title = f"{loaded.components_.shape[0]} topics of {model}"
    show(shown.json, payload, lambda console: console.print(topic_table(payload["topics"], title)))
