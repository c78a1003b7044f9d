"""`tagtopics update`: let a model learn from new documents, with the words and tags they bring."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tagtopics.cli.modelling import check_out, name_of_model, watchers
from tagtopics.cli.options import ColumnOptions, InputArgument, ModelArgument, Shown
from tagtopics.cli.output import join, make_table, note, plain, show
from tagtopics.cli.reading import load, read_more
from tagtopics.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from tagtopics.corpus import Corpus
    from tagtopics.models.base import TopicModel
    from tagtopics.models.online import Updated

_SOME = 10
"""New tags and words that are shown."""

OutOption = Annotated[
    str | None,
    typer.Option("--out", "-o", metavar="MODEL", help="Folder of the updated model.", show_default="MODEL"),
]
BatchOption = Annotated[
    int | None,
    typer.Option("--batch", metavar="N", help="Documents to learn from at a time.", show_default="4000"),
]
ForgettingOption = Annotated[
    float | None,
    typer.Option(
        "--forgetting",
        metavar="N",
        help="After N documents an old one counts for half.",
        show_default="never",
    ),
]


def command(
    model: ModelArgument,
    input: InputArgument,
    columns: ColumnOptions,
    shown: Shown,
    out: OutOption = None,
    batch: BatchOption = None,
    forgetting: ForgettingOption = None,
) -> None:
    """Let a model go on learning from new documents; their words and tags may be new."""
    from tagtopics.models.online import BATCH_SIZE, update_model
    from tagtopics.models.persistence import load_corpus

    _check(batch, forgetting)
    loaded = load(model)
    target = check_out(model if out is None else out)
    began = time.perf_counter()
    corpus = read_more(input, columns, loaded, shown)
    read = time.perf_counter()
    _note_repeats(corpus, loaded)
    updated = update_model(
        loaded,
        load_corpus(model),
        corpus,
        batch_size=BATCH_SIZE if batch is None else batch,
        forgetting=forgetting,
        callbacks=watchers(shown, "Updating"),
    )
    seconds = {"read": read - began, "update": time.perf_counter() - read}
    if updated.corpus is None and corpus.tags.nnz:
        note(
            "the model was saved without its documents, so it can no longer recommend tags: fit anew for that"
        )
    loaded.save(target, corpus=updated.corpus)
    payload = _payload(loaded, corpus, updated, target, seconds)
    show(shown.json, payload, lambda console: _draw(console, payload))


def _check(batch: int | None, forgetting: float | None) -> None:
    if batch is not None and batch < 1:
        raise InputError(f"--batch must be a whole number, 1 or more, not {batch}")
    if forgetting is not None and not 0 < forgetting < float("inf"):
        raise InputError(f"--forgetting must be a number of documents above 0, not {forgetting:g}")


def _note_repeats(corpus: Corpus, model: TopicModel) -> None:
    """Say so where documents seem to be learned twice; numbers in place of names tell nothing."""
    if corpus.ids == tuple(str(row) for row in range(corpus.n_docs)):
        return
    if repeated := len(set(corpus.ids) & set(model.doc_ids_)):
        note(f"{repeated:,} document(s) have the id of one that the model has learned from already")


def _payload(
    model: TopicModel, corpus: Corpus, updated: Updated, target: Path, seconds: dict[str, float]
) -> dict[str, Any]:
    return {
        "model": name_of_model(model),
        "path": str(target),
        "n_new_docs": corpus.n_docs,
        "n_docs": len(model.doc_ids_),
        "n_words": len(model.vocabulary_),
        "n_tags": len(model.tag_names_),
        "new_words": list(updated.new_words),
        "new_tags": list(updated.new_tags),
        "perplexity": {"before": updated.perplexity_before, "after": updated.perplexity_after},
        "seconds": seconds,
    }


def _draw(console: Console, updated: dict[str, Any]) -> None:
    table = make_table(None, ["", ""])
    table.show_header = False
    table.add_row("documents", f"{updated['n_new_docs']:,} new, {updated['n_docs']:,} in all")
    for name in ("words", "tags"):
        new = updated[f"new_{name}"]
        table.add_row(f"new {name}", plain(f"{len(new):,}") + join(_some(new), ", "))
    table.add_row("perplexity", _change(**updated["perplexity"]))
    seconds = updated["seconds"]
    table.add_row("seconds", f"{seconds['read']:.1f} to read, {seconds['update']:.1f} to learn")
    table.add_row("saved", plain(updated["path"]))
    console.print(table)


def _some(names: list[str]) -> list[str]:
    if not names:
        return []
    names = names[:_SOME] + (["..."] if len(names) > _SOME else [])
    return [f": {names[0]}", *names[1:]]


def _change(before: float, after: float) -> str:
    if math.isnan(before):
        return "no word of the new documents was known before"
    return f"{before:.1f} of the new documents before, {after:.1f} now that they are learned"
