"""What an audit finds, and the change that each finding proposes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

CHANGES = {
    "doubtful": "remove",
    "missing": "add",
    "duplicate": "merge",
    "dead": "drop",
    "broad": "drop",
    "inseparable": "merge",
}
"""The kinds of findings in the order of reports, and the change that each proposes.

`remove` and `add` are about a tag of one document. `merge` replaces `other` by `tag` on all documents; `drop`
takes a tag off all documents.
"""

KINDS = tuple(CHANGES)
PROBABLE = frozenset({"doubtful", "missing", "duplicate"})
"""The kinds whose score is the probability that the proposed change is right."""


@dataclass(frozen=True)
class Finding:
    """One finding of an audit.

    Attributes:
        kind: one of `KINDS`.
        tag: the tag; of two tags, the one to keep.
        score: from 0 to 1. For `doubtful`, `missing` and `duplicate`, the probability that the change is
            right; for `dead`, the probability that a tag on random documents has words as telling; for
            `broad`, the share of all documents with the tag times the overlap of their topics with those of
            the collection; for `inseparable`, the probability that the next document with one of the two tags
            has both.
        document: the id of the document, None if the finding is about the whole collection.
        row: the row of the document in the corpus, None likewise.
        other: the other tag of two, None if there is one.
        words: for `doubtful`, words typical of the tag that the document lacks; for `missing`, those that it
            has; else words that the documents of the tag, or of both tags, have in common.
        documents: ids of documents to compare with.
    """

    kind: str
    tag: str
    score: float
    document: str | None = None
    row: int | None = None
    other: str | None = None
    words: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()

    @property
    def change(self) -> str:
        """The proposed change: `remove`, `add`, `merge` or `drop`."""
        return CHANGES[self.kind]

    def to_json(self) -> dict[str, Any]:
        """Return the finding as a dictionary for JSON."""
        return {
            "kind": self.kind,
            "document": self.document,
            "row": self.row,
            "tag": self.tag,
            "other": self.other,
            "score": self.score,
            "words": list(self.words),
            "documents": list(self.documents),
            "change": self.change,
        }
