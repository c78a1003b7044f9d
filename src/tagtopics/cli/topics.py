"""`tagtopics topics` and `tagtopics tags`: the topics of a model, and the profiles of its tags."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from tagtopics.cli.estimators import name_of_model
from tagtopics.cli.options import ModelArgument, OutputOptions, option, top_option
from tagtopics.cli.output import named_topic_table, profile_table, show
from tagtopics.cli.sources import load, load_tagged

if TYPE_CHECKING:
    from rich.console import Console

    from tagtopics.models.ttm import TTM


def topics_command(
    model: ModelArgument, output: OutputOptions, top: Annotated[int, top_option("Words per topic.")] = 10
) -> None:
    """Show the topics of a model: share, name, top words, most typical tags."""
    from tagtopics.models.rankings import topic_rows

    loaded = load(model)
    n_topics = int(loaded.components_.shape[0])
    payload: dict[str, Any] = {
        "model": name_of_model(loaded),
        "n_topics": n_topics,
        "topics": topic_rows(loaded, top),
    }
    title = f"{n_topics} topics of {model}"
    show(output.json, payload, lambda console: console.print(named_topic_table(payload["topics"], title)))


TagArguments = Annotated[
    list[str] | None, typer.Argument(metavar="[TAG]...", help="Tags to show, each alone and all together.")
]
LimitOption = Annotated[int, option("Tags in the list; 0 for all. JSON always has all.", min=0)]


def tags_command(
    model: ModelArgument,
    output: OutputOptions,
    tag: TagArguments = None,
    top: Annotated[int, top_option("Words per tag.")] = 10,
    limit: LimitOption = 30,
) -> None:
    """List the tags of a model, or show the words and topics of given tags, alone and together."""
    loaded = load_tagged(model)
    if tag:
        _profiles(loaded, list(dict.fromkeys(tag)), top, output)
    else:
        _list(loaded, top, limit, output)


def _profiles(model: TTM, tags: list[str], top: int, output: OutputOptions) -> None:
    from tagtopics.models.rankings import profile_row

    alone = [profile_row(model, [tag], top) for tag in tags]
    together = profile_row(model, tags, top) if len(tags) > 1 else None
    payload: dict[str, Any] = {"tags": alone, "together": together}

    def draw(console: Console) -> None:
        console.print(profile_table(alone, "Alone" if together else "Tag"))
        if together:
            console.print(profile_table([together], "Together: the topics that all of them share"))

    show(output.json, payload, draw)


def _list(model: TTM, top: int, limit: int, output: OutputOptions) -> None:
    from tagtopics.models.rankings import profile_row

    order = sorted(range(len(model.tag_names_)), key=lambda t: (-int(model.tag_docs_[t]), t))
    chosen = order if output.json or limit == 0 else order[:limit]
    rows = [profile_row(model, [model.tag_names_[t]], top) for t in chosen]

    def draw(console: Console) -> None:
        console.print(profile_table(rows, f"{len(order):,} tags"))
        if len(rows) < len(order):
            console.print(f"  ... and {len(order) - len(rows):,} more: --limit 0", style="dim")

    show(output.json, {"tags": rows}, draw)
