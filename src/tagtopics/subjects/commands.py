"""The option `--tag-names`: names of tags, for documents and for models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from tagtopics.cli.options import OutputOptions, option
from tagtopics.cli.output import note
from tagtopics.cli.sources import load_with_documents
from tagtopics.errors import InputError

if TYPE_CHECKING:
    from tagtopics.corpus import Corpus
    from tagtopics.models.base import TopicModel

TagNamesOption = Annotated[
    str | None,
    option("Names of tags to look for in texts: a table of tag and name (.tsv) or SKOS (.rdf .ttl .jsonld).",
           "--tag-names", default="none", metavar="FILE", panel="Reading the input"),
]  # fmt: skip


def named_documents(corpus: Corpus, path: str) -> Corpus:
    """Return documents whose tags have the names of a file, and note what the reader reports."""
    from tagtopics.subjects.thesaurus import with_thesaurus

    named = with_thesaurus(corpus, path)
    for line in named.thesaurus.notices:
        note(line)
    known = sum(tag in named.thesaurus.row for tag in named.tag_names)
    if known < named.n_tags:
        note(f"{named.n_tags - known:,} of {named.n_tags:,} tags have no name in {path}")
    return named


def load_with_tag_names(place: str, path: str, output: OutputOptions) -> TopicModel:
    """Load a model with the names of a file; one without any trains the name matcher on its documents."""
    from tagtopics.subjects.tag_names import fit_tag_names
    from tagtopics.subjects.thesaurus import in_tags, read_thesaurus

    model, kept = load_with_documents(place)
    if model.recommender_ is None:
        raise InputError(f"{place}: the model has no recommender; fit it with --recommender")
    thesaurus = in_tags(read_thesaurus(path), model.recommender_.tag_names)
    for line in thesaurus.notices:
        note(line)
    if model.names_ is not None:
        model.names_ = model.names_.with_thesaurus(thesaurus)
        return model
    if kept is None or kept.texts is None:
        raise InputError(
            f"{place}: fitted without tag names and saved without its texts; use fit --tag-names {path}"
        )
    if not output.quiet:
        note(f"training the name matcher on the documents of {place}; fit --tag-names saves it")
    model.names_ = fit_tag_names(model.recommender_, thesaurus, kept.texts)
    return model
