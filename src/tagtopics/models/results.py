"""What queries return: small immutable records and tables, and rows for tables and JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from tagtopics._html import html_table
from tagtopics._typing import Float32, Float64
from tagtopics.jit.top import largest
from tagtopics.models import naming

if TYPE_CHECKING:
    from tagtopics.models.base import TopicModel
    from tagtopics.models.ttm import TTM


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


def largest_weights(names: Sequence[str], weights: Float32 | Float64, n: int) -> list[tuple[str, float]]:
    """Return the n names with the largest weights, largest first, ties in column order."""
    return [(names[i], float(weights[i])) for i in largest(weights, n)]


def topic_rows(model: TopicModel, n_words: int, n_tags: int = 3) -> list[dict[str, Any]]:
    """Return a row for each topic: its name, its share of all tokens, its top words, its most typical tags.

    Background topics have no typical tags. The words of photographs are codes, which mean nothing to readers.
    """
    shares, tags = model.topic_shares(), typical_tags(model, n_tags)
    names, background = model.topic_names(), model.background_topics()
    return [
        {
            "topic": k,
            "name": names[k],
            "background": bool(background[k]),
            "share": float(shares[k]),
            "words": [{"word": word, "probability": p} for word, p in words],
            "coded": model.visual_ is not None,
            "tags": [] if background[k] else tags[k],
        }
        for k, words in enumerate(model.top_words(n_words))
    ]


def typical_tags(model: TopicModel, n: int) -> list[list[dict[str, Any]]]:
    """Return for each topic its n most typical tags, with their names and p(topic | tag)."""
    if not hasattr(model, "tag_sums_"):
        return [[] for _ in model.components_]
    labels, means = model.tag_labels(), model.tag_means()
    found = naming.typical_tags(model.tag_sums_, model.topic_shares(), n)
    return [
        [{"tag": model.tag_names_[t], "name": labels[t], "share": float(means[t, k])} for t in tags]
        for k, tags in enumerate(found)
    ]


def profile_row(
    model: TTM,
    tags: Sequence[str],
    n_words: int,
    n_topics: int = 3,
    names: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Any]:
    """Return the words and topics of a tag, or of several tags together; background topics are left out.

    Tags have the `names` of `model.tag_labels`, where there are any.
    """
    profile = model.tag_profile(*tags, n_words=n_words)
    background = model.background_topics()
    best = [k for k in np.argsort(-profile.topics, kind="stable") if not background[k]][:n_topics]
    return {
        "tags": list(profile.tags),
        "names": [names.get(tag, tag) for tag in profile.tags],
        "n_docs": list(profile.n_docs),
        "words": [{"word": word, "probability": p} for word, p in profile.words],
        "coded": model.visual_ is not None,
        "topics": [{"topic": int(k), "probability": float(profile.topics[k])} for k in best],
    }
