"""Top words of topics that several models agree on: which topic of one is which of another."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tagtopics.experiments.records import Record

TopWords = Mapping[str, float]
"""One topic: its top words and their probabilities."""


@dataclass(frozen=True)
class MatchedTopic:
    """One topic as every model has it: for each model its ten top words, and how alike they are.

    Attributes:
        words: model -> ten words.
        similarity: mean cosine of the other models' topics with that of the reference.
    """

    words: Mapping[str, tuple[str, ...]]
    similarity: float


def topics_of(records: Sequence[Record]) -> dict[str, list[TopWords]]:
    """Return the recorded topics of each model; where there are several fits, those of the first."""
    found: dict[str, list[TopWords]] = {}
    for record in records:
        if record.spec.task == "topics" and record.spec.model not in found:
            found[record.spec.model] = [dict(topic) for topic in record.metrics["top_words"]]
    return found


def consistent_topics(topics: Mapping[str, Sequence[TopWords]], reference: str, n: int) -> list[MatchedTopic]:
    """Return the n topics of the reference that the other models agree on most, with their counterparts.

    The counterpart of a topic is the one with the largest cosine of the top words' probabilities.
    """
    others = [model for model in topics if model != reference]
    if reference not in topics or not others:
        return []
    matched = []
    for topic in topics[reference]:
        words = {reference: _ten(topic)}
        likeness = []
        for model in others:
            best = max(topics[model], key=lambda other: _cosine(topic, other))
            likeness.append(_cosine(topic, best))
            words[model] = _ten(best)
        ordered = {model: words[model] for model in topics}
        matched.append(MatchedTopic(ordered, sum(likeness) / len(likeness)))
    return sorted(matched, key=lambda match: -match.similarity)[:n]


def share_with(topics: Sequence[TopWords], word: str) -> float:
    """Return the share of topics that have a word among their ten top words."""
    return sum(word in _ten(topic) for topic in topics) / len(topics)


def _ten(topic: TopWords) -> tuple[str, ...]:
    return tuple(topic)[:10]


def _cosine(a: TopWords, b: TopWords) -> float:
    product = sum(weight * b.get(word, 0.0) for word, weight in a.items())
    return product / max(math.hypot(*a.values()) * math.hypot(*b.values()), 1e-300)
