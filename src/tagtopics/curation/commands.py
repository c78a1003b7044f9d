"""`tagtopics curate`: edit the topics of a model, undo edits, and fit again with the journal as prior."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from tagtopics.cli.estimators import name_of_model, progress_bar
from tagtopics.cli.options import ModelArgument, OutputOptions, argument, option
from tagtopics.cli.output import make_table, named_topic_table, note, plain, show
from tagtopics.cli.sources import load_with_documents
from tagtopics.curation.journals import guides, read_journal
from tagtopics.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from tagtopics.corpus import Corpus
    from tagtopics.models.online import OnlineModel

ACTIONS = ("rename", "pin", "merge", "split", "delete", "ban", "seed", "undo", "replay", "log")

ActionArgument = Annotated[str, argument(f"What to do: {', '.join(ACTIONS)}.", "ACTION")]
WhatArguments = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[WHAT]...",
        help="Topics (pin merge split delete), a topic and its name (rename), words (ban), a name and words "
        "(seed), a journal or a curated model (replay; MODEL itself by default).",
    ),
]
OutOption = Annotated[
    str | None, option("Folder of the edited model.", "--out", "-o", default="MODEL", metavar="MODEL")
]
SeedOption = Annotated[int | None, option("Random seed of replay.", "--seed", default="that of MODEL")]


def command(
    model: ModelArgument,
    action: ActionArgument,
    output: OutputOptions,
    what: WhatArguments = None,
    out: OutOption = None,
    seed: SeedOption = None,
) -> None:
    """Edit the topics of a model: rename, merge, split, pin, delete, ban or seed words; undo; fit again."""
    from tagtopics.curation.edits import curate, undo
    from tagtopics.models.online import OnlineModel
    from tagtopics.models.persistence import check_model_target, save_model
    from tagtopics.models.saved_files import refuse_changes

    given = list(what or [])
    if action not in ACTIONS:
        raise InputError(f"curate: unknown action {action[:40]!r}; use one of {', '.join(ACTIONS)}")
    check = refuse_changes(model if out is None else out)
    loaded, corpus = load_with_documents(model)
    if action == "log":
        _no_more(action, given)
        return _log(loaded, output)
    if not isinstance(loaded, OnlineModel):
        raise InputError(
            f"{model}: topics of {type(loaded).__name__} cannot be edited; those of LDA and TTM can"
        )
    target = check_model_target(model if out is None else out)
    if action == "undo":
        _no_more(action, given)
        edited = undo(loaded, corpus=corpus)
    elif action == "replay":
        edited = _replayed(loaded, corpus, given, seed, output)
    else:
        edited = curate(loaded, action, corpus=corpus, **_parts(action, given))
    if loaded.recommender_ is not None and edited.recommender_ is None:
        note(
            "the model was saved without its documents, so it can no longer recommend tags; undo restores it"
        )
    save_model(edited, target, corpus, check=check)
    _show(edited, action, str(target), output)


def _parts(action: str, given: list[str]) -> dict[str, Any]:
    """Return what the arguments of an action mean."""
    if action == "ban":
        return {"words": given}
    if action == "seed":
        return {"name": given[0] if given else None, "words": given[1:]}
    if action == "rename":
        if len(given) != 2:
            raise InputError("rename: give a topic and its name, such as: rename 3 'machine translation'")
        return {"topics": _topics(action, given[:1]), "name": given[1]}
    return {"topics": _topics(action, given)}


def _topics(action: str, given: list[str]) -> list[int]:
    for value in given:
        if not (value.isascii() and value.isdigit() and len(value) < 10):
            raise InputError(f"{action}: {value[:40]!r} is not the number of a topic")
    return [int(value) for value in given]


def _no_more(action: str, given: list[str]) -> None:
    if given:
        raise InputError(f"{action}: takes nothing more, not {given[0][:40]!r}")


def _replayed(
    model: OnlineModel, corpus: Corpus | None, given: list[str], seed: int | None, output: OutputOptions
) -> OnlineModel:
    """Return a model fitted again to the saved documents, with a journal as prior."""
    import copy

    from tagtopics.curation.guided import fit_curated

    if corpus is None:
        raise InputError("replay: the model was saved without its documents; fit it again with tagtopics fit")
    if len(given) > 1:
        raise InputError("replay: give one journal, or none for that of the model")
    journal = read_journal(given[0]) if given else model.curation_
    if not guides(journal):
        raise InputError("replay: the journal has no topics to guide the fit and no banned words")
    fresh = copy.copy(model)
    if seed is not None:
        fresh.random_state = seed
    numbers = [topic.topic for topic in journal.topics if topic.topic is not None]
    fresh.n_topics = len(numbers) or model.n_topics
    return fit_curated(fresh, corpus, journal, callbacks=progress_bar(output, "Fitting"))


def _log(model: Any, output: OutputOptions) -> None:
    journal = model.curation_

    def draw(console: Console) -> None:
        table = make_table("Edits", [">", "edit", "can be undone"])
        for i, edit in enumerate((*journal.earlier, *journal.edits)):
            table.add_row(str(i + 1), plain(edit), "no" if i < len(journal.earlier) else "yes")
        console.print(table)

    show(output.json, journal.to_json(), draw)


def _show(model: OnlineModel, action: str, path: str, output: OutputOptions) -> None:
    from tagtopics.models.rankings import topic_rows

    payload: dict[str, Any] = {
        "model": name_of_model(model),
        "path": path,
        "action": action,
        "n_topics": int(model.n_topics),
        "n_edits": len(model.curation_.edits),
        "topics": topic_rows(model, 10),
    }
    title = f"{payload['n_topics']} topics of {path}"
    show(output.json, payload, lambda console: console.print(named_topic_table(payload["topics"], title)))
