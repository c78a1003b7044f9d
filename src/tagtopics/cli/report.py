"""`tagtopics report`: a model as one HTML file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tagtopics.cli.options import ModelArgument, OutputOptions
from tagtopics.cli.output import fact_table, note, show
from tagtopics.cli.sources import is_path, load, load_named

if TYPE_CHECKING:
    from tagtopics.corpus import Corpus
    from tagtopics.models.base import TopicModel
    from tagtopics.views.topic_data import TopicData

ReportOption = Annotated[str, typer.Option("--out", "-o", metavar="FILE", help="HTML file to write.")]
OverwriteOption = Annotated[
    bool, typer.Option("--overwrite", help="Replace FILE even if it is not a tagtopics report.")
]
CorpusOption = Annotated[
    str | None,
    typer.Option(
        metavar="CORPUS",
        help="The documents the model was fitted to: a matrix folder or a data set name.",
        show_default="the corpus saved with the model",
    ),
]
TitleOption = Annotated[
    str | None, typer.Option(metavar="TEXT", help="Title of the collection.", show_default="model name")
]
SizeOption = Annotated[
    float, typer.Option("--max-mb", metavar="N", help="Maximum file size in MB; texts are left out first.")
]
ImagesOption = Annotated[
    str | None, typer.Option(metavar="FOLDER", help="Folder of the photos the model was fitted to, to show.")
]


def command(
    model: ModelArgument,
    output: OutputOptions,
    out: ReportOption = "report.html",
    overwrite: OverwriteOption = False,
    corpus: CorpusOption = None,
    title: TitleOption = None,
    max_mb: SizeOption = 15.0,
    images: ImagesOption = None,
) -> None:
    """Write topics, tags, tag groups and documents to one HTML file that opens without a network."""
    from tagtopics.explore.html_report import check_report_target, write_report
    from tagtopics.views.heat_maps import with_pictures

    check_report_target(out, overwrite=overwrite)
    loaded, data = load_with_data(model, corpus, title, output)
    if images is not None:
        data = with_pictures(data, loaded, images)
    size = write_report(data, out, max_mb, overwrite=overwrite)
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
        note(f"{left:,} of {size.n_docs:,} texts were left out to stay below {max_mb:g} MB; raise --max-mb")
    facts = {
        "report": out,
        "size": f"{size.n_bytes / 1e6:.1f} MB",
        "documents": f"{size.n_listed:,} listed, {size.n_bodies:,} with their words",
    }
    show(output.json, payload, lambda console: console.print(fact_table(facts)))


def load_with_data(
    path: str, corpus: str | None, title: str | None, output: OutputOptions
) -> tuple[TopicModel, TopicData]:
    """Load a model, and return it with the record that viewers show.

    Args:
        path: the model folder.
        corpus: a matrix folder or data set name; None for the corpus saved with the model.
        title: of the collection; None for the name of the folder.
        output: what the command prints.
    """
    from pathlib import Path

    from tagtopics.corpus import read_corpus
    from tagtopics.models.persistence import load_with_corpus
    from tagtopics.views.to_topic_data import topic_data

    documents: Corpus | None
    if corpus is None:
        model, documents = load_with_corpus(path)
        if documents is None:
            note(f"{path} was saved without its corpus, so texts and credits are missing; give --corpus")
    else:
        model = load(path)
        documents = read_corpus(corpus) if is_path(corpus) else load_named(corpus, output)
    return model, topic_data(model, documents, title or Path(path).resolve().stem)
