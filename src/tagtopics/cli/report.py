"""`tagtopics report`: a model as one HTML file, to open, to send, to keep."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tagtopics.cli.options import ModelArgument, Shown
from tagtopics.cli.output import make_table, note, plain, show
from tagtopics.cli.reading import load, load_named

if TYPE_CHECKING:
    from rich.console import Console

    from tagtopics.views.topic_data import TopicData

ReportOption = Annotated[str, typer.Option("--out", "-o", metavar="FILE", help="The HTML file.")]
CorpusOption = Annotated[
    str | None,
    typer.Option(
        metavar="CORPUS",
        help="The documents it was fitted to: a matrix folder or a data set.",
        show_default="the one kept with the model",
    ),
]
TitleOption = Annotated[
    str | None, typer.Option(metavar="TEXT", help="What to call the collection.", show_default="its name")
]
SizeOption = Annotated[
    float, typer.Option("--max-mb", metavar="N", help="Largest size of the file in MB; texts give way.")
]

ImagesOption = Annotated[
    str | None,
    typer.Option(metavar="FOLDER", help="Folder of the photographs that the model was fitted to: show them."),
]


def command(
    model: ModelArgument,
    shown: Shown,
    out: ReportOption = "report.html",
    corpus: CorpusOption = None,
    title: TitleOption = None,
    max_mb: SizeOption = 15.0,
    images: ImagesOption = None,
) -> None:
    """Write a report: topics, tags, groups of tags and documents on pages that open without a network."""
    from tagtopics.explore.report import write_report
    from tagtopics.views.pictures import with_pictures

    data = shown_data(model, corpus, title, shown)
    if images is not None:
        data = with_pictures(data, load(model), images)
    size = write_report(data, out, max_mb)
    payload = {
        "path": out,
        "bytes": size.n_bytes,
        "n_docs": size.n_docs,
        "n_listed": size.n_listed,
        "n_texts": size.n_bodies,
        "n_topics": data.n_topics,
        "n_tags": len(data.tags.names),
    }
    if data.documents.has_words and size.n_bodies < size.n_docs:
        left = size.n_docs - size.n_bodies
        note(f"{left:,} of {size.n_docs:,} texts did not fit into {max_mb:g} MB; --max-mb allows more")
    show(shown.json, payload, lambda console: _draw(console, payload))


def shown_data(path: str, corpus: str | None, title: str | None, shown: Shown) -> TopicData:
    """Return what a viewer shows of a saved model: with the corpus named, else with the one kept with it."""
    from tagtopics.corpus import read_corpus
    from tagtopics.models.persistence import load_corpus
    from tagtopics.views.to_topic_data import topic_data

    model = load(path)
    if corpus is None:
        documents = load_corpus(path)
        if documents is None:
            note(f"{path} was saved without its corpus: no texts, no credits; --corpus names it")
    else:
        documents = read_corpus(corpus) if Path(corpus).exists() else load_named(corpus, shown)
    return topic_data(model, documents, title or Path(path).resolve().stem)


def _draw(console: Console, written: dict[str, Any]) -> None:
    table = make_table(None, ["", ""])
    table.show_header = False
    table.add_row("report", plain(written["path"]))
    table.add_row("size", f"{written['bytes'] / 1e6:.1f} MB")
    table.add_row("documents", f"{written['n_listed']:,} listed, {written['n_texts']:,} with their words")
    console.print(table)
