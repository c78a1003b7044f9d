"""`tagtopics topics` and `tagtopics tags`: the topics of a model, and the profiles of its tags."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tagtopics.cli.estimators import name_of_model
from tagtopics.cli.options import ModelArgument, OutputOptions, option, top_option
from tagtopics.cli.output import profile_table, show, topic_table
from tagtopics.cli.sources import load, load_tagged

if TYPE_CHECKING:
    from rich.console import Console


def topics_command(
    model: ModelArgument, output: OutputOptions, top: Annotated[int, top_option("Words per topic.")] = 10
) -> None:
    """Show the topics of a model: share, name, top words, most typical tags."""
    from tagtopics.models.results import topic_rows

    loaded = load(model)
    rows = topic_rows(loaded, top)
    payload = {"model": name_of_model(loaded), "n_topics": len(rows), "topics": rows}
    title = f"{len(rows)} topics of {model}"
    show(output.json, payload, lambda console: console.print(topic_table(rows, title, named=True)))


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
    from tagtopics.models.results import profile_row

    loaded = load_tagged(model)
    if tag:
        names = list(dict.fromkeys(tag))
    else:
        docs = loaded.tag_docs_.tolist()
        names = [loaded.tag_names_[t] for t in sorted(range(len(docs)), key=lambda t: (-docs[t], t))]
    shown = names if tag or output.json or limit == 0 else names[:limit]
    labels = dict(zip(loaded.tag_names_, loaded.tag_labels(), strict=True))
    rows = [profile_row(loaded, [name], top, names=labels) for name in shown]
    together = profile_row(loaded, names, top, names=labels) if tag and len(names) > 1 else None
    title = f"{len(names):,} tags" if not tag else "Alone" if together else "Tag"

    def draw(console: Console) -> None:
        console.print(profile_table(rows, title))
        if together:
            console.print(profile_table([together], "Together: the topics that all of them share"))
        if len(rows) < len(names):
            console.print(f"  ... and {len(names) - len(rows):,} more: --limit 0", style="dim")

    show(output.json, {"tags": rows, **({"together": together} if tag else {})}, draw)
