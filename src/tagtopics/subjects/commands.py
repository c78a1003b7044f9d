"""The option `--tag-names`: names of the tags of documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from tagtopics.cli.options import option
from tagtopics.cli.output import note

if TYPE_CHECKING:
    from tagtopics.corpus import Corpus

TagNamesOption = Annotated[
    str | None,
    option("Names of tags to look for in texts: a table of tag and name (.tsv) or SKOS (.rdf .ttl).",
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
