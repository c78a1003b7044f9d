"""`tagtopics explain`: which words of a document each of its tags accounts for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tagtopics.cli.credits import credited_documents, draw_document
from tagtopics.cli.options import ColumnOptions, InputArgument, ModelArgument, OutputOptions
from tagtopics.cli.output import make_table, per_cent, plain, show
from tagtopics.cli.sources import is_image_file, load_tagged, read_documents
from tagtopics.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from tagtopics.corpus import Corpus

TopOption = Annotated[
    int | None,
    typer.Option(
        "--top",
        "-n",
        metavar="N",
        min=1,
        show_default="10; all in JSON",
        help="Number of words per document and per tag.",
    ),
]
DocOption = Annotated[
    str | None, typer.Option(metavar="ID|N", help="Only this document: its id, or its number from 0.")
]
ImageTagOption = Annotated[
    list[str] | None,
    typer.Option(
        "--image-tag",
        metavar="TAG",
        help="If INPUT is one image: a tag of it; repeat for several.",
        show_default="recommended tags",
    ),
]
MapsOption = Annotated[
    str | None,
    typer.Option("--out", "-o", metavar="FOLDER", help="For images: write one heat map per tag here."),
]

_SHOWN = 5
"""Documents printed if none is chosen."""


def command(
    model: ModelArgument,
    input: InputArgument,
    columns: ColumnOptions,
    output: OutputOptions,
    top: TopOption = None,
    doc: DocOption = None,
    image_tag: ImageTagOption = None,
    out: MapsOption = None,
) -> None:
    """Show how much of each word, or of each part of an image, each tag accounts for."""
    loaded = load_tagged(model)
    if is_image_file(input):
        if columns.tags:
            raise InputError("--tags names a column of a table; give the tags of an image with --image-tag")
        return _show_maps([_mapped(loaded, input, input, image_tag or (), out)], output)
    if image_tag:
        raise InputError(f"--image-tag: {input} is not an image; name the tag column with --tags")
    corpus = read_documents(input, columns, loaded, output)
    if corpus.tags.nnz == 0:
        raise InputError(f"{input}: no document has a tag that the model knows; name the tag column: --tags")
    n_docs = corpus.n_docs
    if doc is not None:
        corpus = corpus.select([_row(corpus, doc)])
    elif not output.json:
        corpus = corpus.select(range(min(_SHOWN, n_docs)))
    if out is not None:
        return _show_maps(_mapped_folder(loaded, input, corpus, out), output)
    documents = credited_documents(loaded, corpus)

    def draw(console: Console) -> None:
        for d, document in enumerate(documents):
            text = corpus.texts[d] if corpus.texts is not None else None
            draw_document(console, document, text, loaded.recipe_, top or 10)
        if doc is None and n_docs > len(documents):
            console.print(f"... and {n_docs - len(documents):,} more documents: --doc or --json", style="dim")

    show(output.json, {"documents": [_first_words(document, top) for document in documents]}, draw)


def _row(corpus: Corpus, doc: str) -> int:
    """Return the row of a document by its id, else by its number."""
    if doc in corpus.ids:
        return corpus.ids.index(doc)
    if doc.isdecimal() and int(doc) < corpus.n_docs:
        return int(doc)
    raise InputError(f"--doc {doc}: no such id; numbers go from 0 to {corpus.n_docs - 1}")


def _first_words(document: dict[str, Any], top: int | None) -> dict[str, Any]:
    return {**document, "words": document["words"][:top]}


# ------------------------------------------------------------------------------------------- images


def _mapped_folder(model: Any, source: str, corpus: Corpus, out: str) -> list[dict[str, Any]]:
    return [
        _mapped(model, str(Path(source) / name), name, corpus.tags_of(d), out)
        for d, name in enumerate(corpus.ids)
    ]


def _mapped(model: Any, path: str, name: str, tags: Sequence[str], out: str | None) -> dict[str, Any]:
    """Return the share of an image for each tag; write the heat maps if a folder is given."""
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


def _show_maps(rows: list[dict[str, Any]], output: OutputOptions) -> None:
    show(output.json, {"documents": rows}, lambda console: _draw_maps(console, rows))


def _draw_maps(console: Console, rows: list[dict[str, Any]]) -> None:
    for row in rows:
        title = f"{row['id']}: recommended tags" if row["recommended"] else str(row["id"])
        console.print(plain(title, "bold"))
        table = make_table(None, ["tag", ">share of the image", "heat map"])
        for tag in sorted(row["tags"], key=lambda tag: -tag["share"]):
            table.add_row(plain(tag["tag"]), per_cent(tag["share"]), plain(tag["map"] or "--out FOLDER"))
        console.print(table)
