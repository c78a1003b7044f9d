"""`tagtopics tags`: what a tag, or several tags together, stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from tagtopics.cli.options import ModelArgument, Shown
from tagtopics.cli.output import show
from tagtopics.cli.reading import load_tagged
from tagtopics.cli.tables import profile_table
from tagtopics.views.rankings import profile_row

if TYPE_CHECKING:
    from rich.console import Console

    from tagtopics.models.ttm import TTM

TagArguments = Annotated[
    list[str] | None, typer.Argument(metavar="[TAG]...", help="Tags to look at, alone and together.")
]
TopOption = Annotated[int, typer.Option("--top", "-n", metavar="N", min=1, help="Words of each tag.")]
LimitOption = Annotated[
    int, typer.Option(metavar="N", min=0, help="Tags of the list; 0 for all. JSON always has all.")
]


def command(
    model: ModelArgument, shown: Shown, tag: TagArguments = None, top: TopOption = 10, limit: LimitOption = 30
) -> None:
    """List the tags of a model; or show what given tags stand for, alone and together."""
    loaded = load_tagged(model)
    if tag:
        _profiles(loaded, list(dict.fromkeys(tag)), top, shown)
    else:
        _list(loaded, top, limit, shown)


def _profiles(model: TTM, tags: list[str], top: int, shown: Shown) -> None:
    alone = [profile_row(model, [tag], top) for tag in tags]
    together = profile_row(model, tags, top) if len(tags) > 1 else None
    payload: dict[str, Any] = {"tags": alone, "together": together}

    def draw(console: Console) -> None:
        console.print(profile_table(alone, "Alone" if together else "Tag"))
        if together:
            console.print(profile_table([together], "Together: the topics that all of them share"))

    show(shown.json, payload, draw)


def _list(model: TTM, top: int, limit: int, shown: Shown) -> None:
    order = sorted(range(len(model.tag_names_)), key=lambda t: (-int(model.tag_docs_[t]), t))
    wanted = order if shown.json or limit == 0 else order[:limit]
    rows = [profile_row(model, [model.tag_names_[t]], top) for t in wanted]

    def draw(console: Console) -> None:
        console.print(profile_table(rows, f"{len(order):,} tags"))
        if len(rows) < len(order):
            console.print(f"  ... and {len(order) - len(rows):,} more: --limit 0", style="dim")

    show(shown.json, {"tags": rows}, draw)
