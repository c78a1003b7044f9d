"""`tagtopics export`: a model as tables, networks and the input of other programs."""

from __future__ import annotations

from typing import Annotated

from tagtopics.cli.options import ModelArgument, OutputOptions, flag, option
from tagtopics.cli.output import fact_table, note, show
from tagtopics.cli.sources import load_with_documents

OutOption = Annotated[
    str, option("Folder (csv parquet topicwizard mallet) or file to write.", "--out", "-o", metavar="PATH")
]
FormatOption = Annotated[
    str | None,
    option("csv, parquet, graphml, pyldavis, topicwizard or mallet.", "--format", "-f",
           default="graphml if PATH ends so, else csv", metavar="NAME"),
]  # fmt: skip
OverwriteOption = Annotated[bool, flag("Replace an existing file.", "--overwrite")]


def command(
    model: ModelArgument,
    output: OutputOptions,
    out: OutOption = "export",
    format: FormatOption = None,
    overwrite: OverwriteOption = False,
) -> None:
    """Write topics, documents, tags and credits as tables, networks, or for other programs."""
    from tagtopics.explore.record.export import check_export, export

    format = format or ("graphml" if out.lower().endswith(".graphml") else "csv")
    check_export(out, format, overwrite=overwrite, option="--out")
    loaded, corpus = load_with_documents(model)
    if corpus is None:
        note(f"{model} was saved without its documents: no credits, no edges between tags")
    target = export(loaded, out, format, corpus=corpus, overwrite=overwrite)
    files = sorted(path for path in target.iterdir()) if target.is_dir() else [target]
    sizes = {str(path): path.stat().st_size for path in files}
    payload = {"path": str(target), "format": format, "files": sizes}
    facts = {name: f"{size:,} bytes" for name, size in sizes.items()}
    show(output.json, payload, lambda console: console.print(fact_table(facts)))
