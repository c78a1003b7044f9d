"""Images on the command line: how they become words, and heat maps of their tags."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tagtopics.cli.options import Shown
from tagtopics.cli.output import make_table, per_cent, plain, show

if TYPE_CHECKING:
    from rich.console import Console

    from tagtopics.corpus import Corpus

_IMAGES = "From images to words"


@dataclass(frozen=True)
class ImageOptions:
    """How images become words."""

    on_error: Annotated[
        str,
        typer.Option(
            metavar="skip|raise",
            help="What to do about an image that cannot be read.",
            rich_help_panel=_IMAGES,
        ),
    ] = "skip"
    codebook: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Words for patterns, and as many for colours.",
            show_default="64",
            rich_help_panel=_IMAGES,
        ),
    ] = None
    working_pixels: Annotated[
        int | None,
        typer.Option(metavar="N", help="Scale images to this area.", show_default="24576, as 192 x 128",
                     rich_help_panel=_IMAGES),
    ] = None  # fmt: skip


def visual_vocabulary(source: str, images: ImageOptions, seed: int, shown: Shown) -> Any:
    """Return the vocabulary that is to learn from a folder of images; None where the source is none."""
    from tagtopics.corpus.images.decode import WORKING_PIXELS, holds_images

    if not (source and Path(source).exists() and holds_images(Path(source))):
        return None
    from tagtopics.corpus.images.settings import check_settings
    from tagtopics.corpus.images.vocabulary import VisualVocabulary

    visual = VisualVocabulary(
        codebook_sizes=None if images.codebook is None else (images.codebook, images.codebook),
        working_pixels=WORKING_PIXELS if images.working_pixels is None else images.working_pixels,
        on_error=images.on_error,
        random_state=seed,
        verbose=sys.stderr.isatty() and not shown.quiet,
    )
    check_settings(visual)
    return visual


def is_photograph(source: str) -> bool:
    """Tell whether a source is one image, not a folder of them."""
    from tagtopics.corpus.images.decode import is_image

    return source != "-" and Path(source).is_file() and is_image(Path(source))


def names_of(tags: Sequence[str] | None) -> list[str]:
    """Return tags that were named on the command line: repeated, or divided by commas."""
    return [name.strip() for part in tags or () for name in part.split(",") if name.strip()]


def explain_photograph(model: Any, source: str, tags: Sequence[str], out: str | None, shown: Shown) -> None:
    """Show how much of an image each tag accounts for, and write the heat maps."""
    row = _mapped(model, source, source, tags, out)
    show(shown.json, {"documents": [row]}, lambda console: _draw(console, [row]))


def explain_folder(model: Any, source: str, corpus: Corpus, out: str, shown: Shown) -> None:
    """Write the heat maps of all images of a folder, of the tags they have."""
    rows = [
        _mapped(model, str(Path(source) / name), name, corpus.tags_of(d), out)
        for d, name in enumerate(corpus.ids)
    ]
    show(shown.json, {"documents": rows}, lambda console: _draw(console, rows))


def _mapped(model: Any, path: str, name: str, tags: Sequence[str], out: str | None) -> dict[str, Any]:
    from tagtopics.views.heat_maps import recommended_tags, tag_maps, write_maps

    recommended = not tags
    maps = tag_maps(model, path, tags or recommended_tags(model, path))
    shares = maps.credit.mean((1, 2)).tolist()
    files = [str(path) for path in write_maps(maps, out)] if out is not None else []
    shown: list[str | None] = [*files[:-1]] or [None] * len(maps.tags)
    return {
        "id": name,
        "recommended": recommended,
        "tags": [
            {"tag": tag, "share": share, "map": file}
            for tag, share, file in zip(maps.tags, shares, shown, strict=True)
        ],
        "arrays": files[-1] if files else None,
    }


def _draw(console: Console, rows: list[dict[str, Any]]) -> None:
    for row in rows:
        title = f"{row['id']}: recommended tags" if row["recommended"] else str(row["id"])
        console.print(plain(title, "bold"))
        table = make_table(None, ["tag", ">share of the image", "heat map"])
        for tag in sorted(row["tags"], key=lambda tag: -tag["share"]):
            table.add_row(plain(tag["tag"]), per_cent(tag["share"]), plain(tag["map"] or "--out FOLDER"))
        console.print(table)
