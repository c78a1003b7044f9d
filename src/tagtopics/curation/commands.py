"""`tagtopics curate`, and edits and seeded topics as options of `tagtopics fit`."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tagtopics.cli.estimators import name_of_model, progress_bar
from tagtopics.cli.options import ModelArgument, OutputOptions, argument, option
from tagtopics.cli.output import note, show, topic_table
from tagtopics.cli.sources import load, load_with_documents
from tagtopics.errors import InputError

if TYPE_CHECKING:
    from tagtopics.corpus import Corpus
    from tagtopics.curation.journal import Curation
    from tagtopics.models.online import OnlineModel

ACTIONS = ("rename", "name", "merge", "ban", "seed", "undo", "replay")

ActionArgument = Annotated[str, argument(f"What to do: {', '.join(ACTIONS)}.", "ACTION")]
WhatArguments = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[WHAT]...",
        help="A topic and its name (rename), address and name of a language model (name), topics (merge), "
        "words (ban), a name and words (seed).",
    ),
]
OutOption = Annotated[
    str | None, option("Folder of the edited model.", "--out", "-o", default="MODEL", metavar="MODEL")
]
SeedOption = Annotated[int | None, option("Random seed of replay.", "--seed", default="that of MODEL")]
CurationOption = Annotated[
    str | None,
    option("Edits to start from: a model edited with `curate`.", "--curation", default="none",
           metavar="MODEL"),
]  # fmt: skip
GuidedOption = Annotated[
    list[str] | None,
    option("Also find a topic around these words; repeat for several.",
           "--guided", default="none", metavar="'NAME: WORD ...'"),
]  # fmt: skip


def command(
    model: ModelArgument,
    action: ActionArgument,
    output: OutputOptions,
    what: WhatArguments = None,
    out: OutOption = None,
    seed: SeedOption = None,
) -> None:
    """Edit the topics of a model: rename, merge, ban or seed words; undo; fit again with the edits."""
    from tagtopics.curation.edits import check_editable, curate, undo
    from tagtopics.curation.journal import curation_of
    from tagtopics.models.persistence import check_model_target, refuse_changes, save_model
    from tagtopics.models.results import topic_rows

    given = list(what or [])
    if action not in ACTIONS:
        raise InputError(f"curate: unknown action {action[:40]!r}; use one of {', '.join(ACTIONS)}")
    if action in ("undo", "replay") and given:
        raise InputError(f"{action}: takes nothing more, not {given[0][:40]!r}")
    check = refuse_changes(model if out is None else out)
    loaded, corpus = load_with_documents(model)
    check_editable(loaded)
    target = check_model_target(model if out is None else out)
    if action == "undo":
        edited = undo(loaded, corpus=corpus)
    elif action == "replay":
        edited = _replay(loaded, corpus, seed, output)
    elif action == "name":
        edited = _name(loaded, given)
    else:
        edited = curate(loaded, action, corpus=corpus, **_parts(action, given))
    if loaded.recommender_ is not None and edited.recommender_ is None:
        note(
            "the model was saved without its documents, so it can no longer recommend tags; undo restores it"
        )
    save_model(edited, target, corpus, check=check)
    if action == "merge" and (moved := _new_numbers(given, len(loaded.components_))):
        note(moved)
    rows, before = topic_rows(edited, 10), list(map(_topic_row, topic_rows(loaded, 10)))
    payload = {
        "model": name_of_model(edited),
        "path": str(target),
        "action": action,
        "n_topics": len(rows),
        "n_edits": len(curation_of(edited).edits),
        "topics": rows,
    }
    changed = [row for row in rows if _topic_row(row) not in before]
    title = f"{len(changed)} of {len(rows)} topics of {target} changed"
    unchanged = f"saved {target}: no topic has another name or other words"
    show(
        output.json,
        payload,
        lambda console: console.print(topic_table(changed, title, named=True) if changed else unchanged),
    )


def _new_numbers(merged: list[str], n_topics: int) -> str:
    """Return which topics have other numbers after a merge, such as "topics 11-14 are now 10-13"."""
    gone = sorted(set(map(int, merged)))[1:]
    moved = []
    for less, (last, following) in enumerate(zip(gone, [*gone[1:], n_topics], strict=True), start=1):
        first, end = last + 1, following - 1
        if first < end:
            moved.append(f"topics {first}-{end} are now {first - less}-{end - less}")
        elif first == end:
            moved.append(f"topic {first} is now {first - less}")
    return ", ".join(moved)


def _topic_row(row: dict[str, Any]) -> list[str]:
    """Return the name and the words of a topic, whatever its number is."""
    return [row["name"], *(entry["word"] for entry in row["words"])]


def _name(model: OnlineModel, given: list[str]) -> OnlineModel:
    """Return a model whose topics have names from a language model, each an edit of the journal."""
    from tagtopics.curation.edits import curate
    from tagtopics.curation.endpoint import ask_for_names

    if len(given) != 2:
        raise InputError(
            "name: give the address and the model, such as: name http://localhost:11434/v1 llama3"
        )
    names = ask_for_names(model, *given)
    if not names:
        raise InputError("name: all topics have names; undo takes them back, one by one")
    for topic, name in names.items():
        model = curate(model, "rename", topics=[topic], name=name)
    return model


def _parts(action: str, given: list[str]) -> dict[str, Any]:
    """Return what the arguments of an action mean."""
    if action == "ban":
        return {"words": given}
    if action == "seed":
        return {"name": given[0] if given else None, "words": given[1:]}
    numbers = given[:1] if action == "rename" else given
    for value in numbers:
        if not (value.isascii() and value.isdigit() and len(value) < 10):
            raise InputError(f"{action}: {value[:40]!r} is not the number of a topic")
    if action == "rename" and len(given) != 2:
        raise InputError("rename: give a topic and its name, such as: rename 3 'machine translation'")
    return {"topics": list(map(int, numbers)), "name": given[1] if action == "rename" else None}


def _replay(
    model: OnlineModel, corpus: Corpus | None, seed: int | None, output: OutputOptions
) -> OnlineModel:
    """Return a model fitted again to the saved documents, with its edits as prior."""
    from tagtopics.curation.guided import fit_curated
    from tagtopics.curation.journal import curation_of

    if corpus is None:
        raise InputError("replay: the model was saved without its documents; fit it again with tagtopics fit")
    if not guides(curation_of(model)):
        raise InputError("replay: the journal has no topics to guide the fit and no banned words")
    fresh = copy.copy(model)
    fresh.random_state = model.random_state if seed is None else seed
    return fit_curated(fresh, corpus, curation_of(model), callbacks=progress_bar(output, "Fitting"))


# ------------------------------------------------------------------------------- journals of a fit


def journal_of(curation: str | None, guided: Sequence[str] | None) -> Curation | None:
    """Return the journal that the options of `fit` describe; None if there are none."""
    from tagtopics.curation.journal import Curation, curation_of

    if curation is None and not guided:
        return None
    journal = Curation() if curation is None else curation_of(load(curation))
    if curation is not None and not guides(journal):
        raise InputError(f"{curation}: has no edits, seeded topics or banned words; see tagtopics curate")
    seeds: dict[str, list[str]] = {}
    for text in guided or ():
        name, _, words = text.partition(":")
        name, found = name.strip(), words.replace(",", " ").split()
        if not (name and found):
            example = "write a name, a colon and words, such as 'ships: sea harbour'"
            raise InputError(f"--guided {text[:40]!r}: {example}")
        if name in seeds or name in {topic.name for topic in journal.topics}:
            raise InputError("--guided: two topics have the same name")
        seeds[name] = found
    return journal.model_copy(update={"topics": (*journal.topics, *Curation.of_seeds(seeds).topics)})


def guides(journal: Curation) -> bool:
    """Tell whether a journal changes the next fit."""
    return bool(journal.banned) or any(topic.curated for topic in journal.topics)


def fit_with_journal(
    estimator: Any, documents: Corpus, journal: Curation, given_topics: int | None, callbacks: list[Any]
) -> OnlineModel:
    """Return a model fitted with a journal as prior, without a recommender.

    Seeded topics are added to `given_topics`; without it, the model has as many topics as the journal.
    """
    from tagtopics.curation.guided import fit_curated_topics

    recorded = sum(topic.topic is not None for topic in journal.topics)
    if given_topics is None and recorded:
        estimator.n_topics = recorded
    known = set(documents.vocabulary)
    for topic in journal.topics:
        missing = [word for word in topic.words if word not in known]
        if topic.topic is None and missing and len(missing) < len(topic.words):
            note(f"topic {topic.name!r}: the collection has no word {', '.join(missing[:5])}")
    return fit_curated_topics(estimator, documents, journal, callbacks)
