"""Images on the command line: the vocabulary that `fit` learns, and the heat maps of `explain`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tagtopics.cli.options import OutputOptions, option
from tagtopics.cli.output import make_table, per_cent, plain, show
from tagtopics.cli.sources import is_path

if TYPE_CHECKING:
    from rich.console import Console

ImageTagOption = Annotated[
    list[str] | None,
    option("If INPUT is one image: a tag of it; repeat for several.", "--image-tag",
           default="recommended tags", metavar="TAG"),
]  # fmt: skip
MapsOption = Annotated[
    str | None, option("For images: write one heat map per tag here.", "--out", "-o", metavar="FOLDER")
]


def visual_vocabulary(source: str, seed: int, output: OutputOptions) -> Any:
    """Return the vocabulary to learn from a folder of images; None if the source is something else."""
    from tagtopics.images.decode import holds_images

    if not (is_path(source) and holds_images(Path(source))):
        return None
    from tagtopics.images.vocabulary import VisualVocabulary

    return VisualVocabulary(random_state=seed, verbose=sys.stderr.isatty() and not output.quiet)


def is_image_file(source: str) -> bool:
    """Tell whether a source is a single image, not a folder of them."""
    from tagtopics.images.decode import is_image

    return source != "-" and Path(source).is_file() and is_image(Path(source))


def map_tags(
    model: Any, path: str, name: str, tags: Sequence[str], out: str | None, overwrite: bool
) -> dict[str, Any]:
    """Return the share of an image for each tag; write the heat maps if a folder is given."""
    from tagtopics.explore.record.heat_maps import recommended_tags, tag_maps, write_maps

    recommended = not tags
    maps = tag_maps(model, path, tags or recommended_tags(model, path))
    shares = maps.credit.mean((1, 2)).tolist()
    if path != name:  # images of a folder may have equal names in different folders below it
        maps = replace(maps, name=name.replace("/", "-"))
    files = [] if out is None else [str(file) for file in write_maps(maps, out, overwrite=overwrite)]
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


def show_maps(rows: list[dict[str, Any]], output: OutputOptions) -> None:
    """Print the shares of images that `map_tags` returned."""

    def draw(console: Console) -> None:
        for row in rows:
            title = f"{row['id']}: recommended tags" if row["recommended"] else str(row["id"])
            console.print(plain(title, "bold"))
            tags = sorted(row["tags"], key=lambda tag: -tag["share"])
            cells = [(tag["tag"], per_cent(tag["share"]), tag["map"] or "--out FOLDER") for tag in tags]
            console.print(make_table(None, ["tag", ">share of the image", "heat map"], rows=cells))

    show(output.json, {"documents": rows}, draw)
