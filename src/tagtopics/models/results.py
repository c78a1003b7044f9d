"""What queries return: small immutable records and tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from tagtopics._html import html_table
from tagtopics._typing import Float32, Float64
from tagtopics.jit.top import largest


@dataclass(frozen=True)
class TagProfile:
    """The topics and words of a tag, or of several tags together.

    Attributes:
        tags: the tags.
        topics: (K,) a distribution over topics.
        words: the most probable words under it, with their probabilities.
        n_docs: for each tag, how many training documents carry it.
    """

    tags: tuple[str, ...]
    topics: Float64
    words: tuple[tuple[str, float], ...]
    n_docs: tuple[int, ...]

    def _repr_html_(self) -> str:
        best = np.argsort(-self.topics, kind="stable")[:5].tolist()
        tags = " + ".join(f"{tag} ({n:,} documents)" for tag, n in zip(self.tags, self.n_docs, strict=True))
        topics = html_table(["topic", "share"], [(k, f"{float(self.topics[k]):.1%}") for k in best])
        words = html_table(["word", "probability"], [(word, f"{p:.2%}") for word, p in self.words])
        return (
            f"<p>{escape(tags)}</p><div style='display:flex;gap:2em;align-items:start'>{topics}{words}</div>"
        )


@dataclass(frozen=True)
class RelatedDocument:
    """A training document similar to the query."""

    id: str
    row: int
    score: float  # from 0 to 1: a common tag is probable, or words and topics are similar (decision 233)
    title: str | None = None  # None if it is unknown


@dataclass(frozen=True)
class TopicTable:
    """Topics with their shares and words; notebooks render it as a table.

    Attributes:
        topic: the number of each topic in the model, largest share first.
        share: of all tokens.
        words: of each, those that tell it apart and occur together.
        name: of each.
        background: whether each is spread over the whole collection.
    """

    topic: tuple[int, ...]
    share: tuple[float, ...]
    words: tuple[tuple[str, ...], ...]
    name: tuple[str, ...]
    background: tuple[bool, ...]

    def __len__(self) -> int:
        return len(self.topic)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns; `pandas.DataFrame(table.to_dict())` makes a frame of them."""
        return {
            "topic": list(self.topic),
            "share": list(self.share),
            "words": [" ".join(row) for row in self.words],
            "name": list(self.name),
            "background": list(self.background),
        }

    def __str__(self) -> str:
        rows = zip(self.topic, self.share, self.words, self.background, strict=True)
        return "\n".join(
            f"{k:>4} {share:>6.1%}  {' '.join(words)}{' (background)' if background else ''}"
            for k, share, words, background in rows
        )

    def _repr_html_(self) -> str:
        columns = zip(self.topic, self.share, self.name, self.words, self.background, strict=True)
        rows = [
            (k, f"{share:.1%}", f"{name} (background)" if background else name, " ".join(words))
            for k, share, name, words, background in columns
        ]
        return html_table(["topic", "share", "name", "words"], rows)


def top_weighted(names: Sequence[str], weights: Float32 | Float64, n: int) -> list[tuple[str, float]]:
    """Return the n names with the largest weights, largest first, ties in column order."""
    return [(names[i], float(weights[i])) for i in largest(weights, n)]
