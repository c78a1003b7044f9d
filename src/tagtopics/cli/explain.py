"""`tagtopics explain`: which words of a document each of its tags accounts for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from tagtopics.cli.credits import credited_documents, draw_document
from tagtopics.cli.options import ColumnOptions, InputArgument, ModelArgument, Shown
from tagtopics.cli.output import show
from tagtopics.cli.photographs import explain_folder, explain_photograph, is_photograph, names_of
from tagtopics.cli.reading import load_tagged, read_documents
from tagtopics.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from tagtopics.corpus import Corpus

TopOption = Annotated[
    int | None,
    typer.Option("--top", "-n", metavar="N", min=1, show_default="10; all in JSON",
                 help="Most frequent words of each document, and words of each tag."),
]  # fmt: skip
DocOption = Annotated[
    str | None, typer.Option(metavar="ID|N", help="Only this document: its id, or its number from 0.")
]

MapsOption = Annotated[
    str | None,
    typer.Option("--out", "-o", metavar="FOLDER",
                 help="Of images: write heat maps here, one for each tag. Name the tags of a single image: "
                 "--tags sky,water; else they are recommended."),
]  # fmt: skip

_SHOWN = 5
"""Documents shown to people unless one is asked for."""


def command(
    model: ModelArgument,
    input: InputArgument,
    columns: ColumnOptions,
    shown: Shown,
    top: TopOption = None,
    doc: DocOption = None,
    out: MapsOption = None,
) -> None:
    """Tell how much of each word, or of each part of an image, each of its tags accounts for."""
    loaded = load_tagged(model)
    if is_photograph(input):
        return explain_photograph(loaded, input, names_of(columns.tags), out, shown)
    corpus = read_documents(input, columns, loaded, shown)
    if corpus.tags.nnz == 0:
        raise InputError(f"{input}: no document has a tag that the model knows; name their column: --tags")
    n_docs = corpus.n_docs
    if doc is not None:
        corpus = corpus.select([_row(corpus, doc)])
    elif not shown.json:
        corpus = corpus.select(range(min(_SHOWN, n_docs)))
    if out is not None:
        return explain_folder(loaded, input, corpus, out, shown)
    documents = credited_documents(loaded, corpus)

    def draw(console: Console) -> None:
        for d, document in enumerate(documents):
            text = corpus.texts[d] if corpus.texts is not None else None
            draw_document(console, document, text, loaded.recipe_, top or 10)
        if doc is None and n_docs > len(documents):
            console.print(f"... and {n_docs - len(documents):,} documents more: --doc or --json", style="dim")

    show(shown.json, {"documents": [_first_words(document, top) for document in documents]}, draw)


def _row(corpus: Corpus, doc: str) -> int:
    """Return the row of a document by its id, else by its number."""
    if doc in corpus.ids:
        return corpus.ids.index(doc)
    if doc.isdecimal() and int(doc) < corpus.n_docs:
        return int(doc)
    raise InputError(f"--doc {doc}: no document has this id, and numbers go from 0 to {corpus.n_docs - 1}")


def _first_words(document: dict[str, Any], top: int | None) -> dict[str, Any]:
    return {**document, "words": document["words"][:top]}
