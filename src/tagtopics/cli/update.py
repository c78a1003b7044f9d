"""`tagtopics update`: update a model with new documents, including their new words and tags."""

from __future__ import annotations

import time
from typing import Annotated, Any

from tagtopics.cli.estimators import model_bytes, name_of_model, progress_bar
from tagtopics.cli.options import ColumnOptions, InputArgument, ModelArgument, OutputOptions, option
from tagtopics.cli.output import fact_table, note, show
from tagtopics.cli.sources import load_with_documents, read_more
from tagtopics.files import check_space

_SHOWN = 10  # new tags and words that are printed

OutOption = Annotated[
    str | None, option("Folder of the updated model.", "--out", "-o", default="MODEL", metavar="MODEL")
]
ForgettingOption = Annotated[
    float | None,
    option("Halve the weight of old documents after N new ones.", "--forgetting", default="never"),
]


def command(
    model: ModelArgument,
    input: InputArgument,
    columns: ColumnOptions,
    output: OutputOptions,
    out: OutOption = None,
    forgetting: ForgettingOption = None,
) -> None:
    """Update a model with new documents; their words and tags may be new."""
    from tagtopics.models.online import update_model
    from tagtopics.models.persistence import check_model_target, refuse_changes, save_model

    check = refuse_changes(model if out is None else out)
    loaded, old = load_with_documents(model)
    target = check_model_target(model if out is None else out)
    began = time.perf_counter()
    corpus = read_more(input, columns, loaded, output)
    known = () if old is None else (old,)
    check_space(target, sum(model_bytes(loaded, each, bool(known)) for each in (corpus, *known)))
    read = time.perf_counter()
    numbered = corpus.ids == tuple(map(str, range(corpus.n_docs)))
    if not numbered and (repeated := len(set(corpus.ids) & set(loaded.doc_ids_))):
        note(f"{repeated:,} document(s) have the id of a document that the model has already learned")
    n_words, tags = len(loaded.vocabulary_), {*loaded.tag_names_, *(() if old is None else old.tag_names)}
    documents = update_model(
        loaded, old, corpus, forgetting=forgetting, callbacks=progress_bar(output, "Updating")
    )
    seconds = {"read": read - began, "update": time.perf_counter() - read}
    if documents is None and corpus.tags.nnz:
        note(
            "the model was saved without its documents, so it can no longer recommend tags; "
            "fit a new model for that"
        )
    save_model(loaded, target, documents, check=check)
    payload: dict[str, Any] = {
        "model": name_of_model(loaded),
        "path": str(target),
        "n_new_docs": corpus.n_docs,
        "n_docs": len(loaded.doc_ids_),
        "n_words": len(loaded.vocabulary_),
        "n_tags": len(loaded.tag_names_),
        "new_words": list(loaded.vocabulary_[n_words:]),
        "new_tags": [tag for tag in corpus.tag_names if tag not in tags],
        "seconds": seconds,
    }
    show(output.json, payload, lambda console: console.print(fact_table(_facts(payload))))


def _facts(updated: dict[str, Any]) -> dict[str, str]:
    seconds = updated["seconds"]
    return {
        "documents": f"{updated['n_new_docs']:,} new, {updated['n_docs']:,} in total",
        "new words": _count_and_names(updated["new_words"]),
        "new tags": _count_and_names(updated["new_tags"]),
        "seconds": f"{seconds['read']:.1f} to read, {seconds['update']:.1f} to learn",
        "saved to": updated["path"],
    }


def _count_and_names(names: list[str]) -> str:
    shown = [*names[:_SHOWN], *(["..."] if len(names) > _SHOWN else [])]
    return f"{len(names):,}" + (f": {', '.join(shown)}" if shown else "")
