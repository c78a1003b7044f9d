"""Journals of edits and seeded topics on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tagtopics.cli.options import option
from tagtopics.cli.output import note
from tagtopics.cli.sources import load
from tagtopics.errors import InputError

if TYPE_CHECKING:
    from tagtopics.corpus import Corpus
    from tagtopics.models.journal import Curation
    from tagtopics.models.online import OnlineModel

CurationOption = Annotated[
    str | None,
    option("Edits to start from: a model edited with `curate`, or a file from `curate MODEL log --json`.",
           "--curation", default="none", metavar="JOURNAL"),
]  # fmt: skip
GuidedOption = Annotated[
    list[str] | None,
    typer.Option("--guided", metavar="'NAME: WORD ...'", show_default="none",
                 help="Also find a topic around these words; repeat for several."),
]  # fmt: skip


def read_journal(path: str) -> Curation:
    """Return the journal of a model folder, or of a file that `curate MODEL log --json` wrote."""
    from tagtopics.corpus.formats.text_files import read_json
    from tagtopics.models.journal import Curation

    if Path(path).is_dir():
        return load(path).curation_
    return Curation.from_json(read_json(Path(path)))


def journal_of(curation: str | None, guided: Sequence[str] | None) -> Curation | None:
    """Return the journal that the options of `fit` describe; None if there are none."""
    from tagtopics.models.journal import Curation

    journal = Curation() if curation is None else read_journal(curation)
    if curation is not None and not guides(journal):
        raise InputError(f"{curation}: has no edits, seeded topics or banned words; see tagtopics curate")
    if not guided:
        return None if curation is None else journal
    seeds = dict(_guided(text) for text in guided)
    taken = {topic.name for topic in journal.topics}
    if len(seeds) < len(guided) or taken & set(seeds):
        raise InputError("--guided: two topics have the same name")
    more = Curation.of_seeds(seeds)
    return journal.model_copy(update={"topics": (*journal.topics, *more.topics)})


def guides(journal: Curation) -> bool:
    """Tell whether a journal changes the next fit."""
    return bool(journal.banned) or any(topic.curated for topic in journal.topics)


def _guided(text: str) -> tuple[str, list[str]]:
    name, colon, words = text.partition(":")
    found = words.replace(",", " ").split()
    if not (colon and name.strip() and found):
        raise InputError(
            f"--guided {text[:40]!r}: write a name, a colon and words, such as 'ships: sea harbour'"
        )
    return name.strip(), found


def fit_with_journal(
    estimator: Any, documents: Corpus, journal: Curation, given_topics: int | None, callbacks: list[Any]
) -> OnlineModel:
    """Return a model fitted with a journal as prior, without a recommender.

    Seeded topics are added to `given_topics`; without it, the model has as many topics as the journal.
    """
    from tagtopics.curation.guided import fit_curated_topics

    recorded = [topic.topic for topic in journal.topics if topic.topic is not None]
    if given_topics is None and recorded:
        estimator.n_topics = len(recorded)
    known = set(documents.vocabulary)
    for topic in journal.topics:
        missing = [word for word in topic.words if word not in known]
        if topic.topic is None and missing and len(missing) < len(topic.words):
            note(f"topic {topic.name!r}: the collection has no word {', '.join(missing[:5])}")
    return fit_curated_topics(estimator, documents, journal, callbacks)
