"""Two models side by side: which topics are the same, and what changed in them."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from tagtopics._typing import Float64
from tagtopics.analysis.choose.matching import FOUND, best_pairs, similarities
from tagtopics.corpus.align import extended
from tagtopics.errors import InputError
from tagtopics.models.base import TopicModel


class TopicPair(NamedTuple):
    """A topic of each model, matched with each other."""

    first: int
    second: int
    similarity: float  # cosine of p(word | topic)
    share_first: float  # of all tokens of the first model
    share_second: float
    words: tuple[str, ...]  # top words in both
    gained: tuple[str, ...]  # top words of the second topic that are no top words of the first
    lost: tuple[str, ...]  # top words of the first topic that are no top words of the second


class LoneTopic(NamedTuple):
    """A topic without a match in the other model."""

    topic: int
    share: float
    nearest: int  # the most similar topic of the other model
    similarity: float  # to the nearest
    words: tuple[str, ...]


@dataclass(frozen=True)
class Comparison:
    """What two models have in common.

    Attributes:
        pairs: matched topics, most similar first.
        only_first: topics of the first model without a match.
        only_second: topics of the second model without a match.
        similarity: mean cosine similarity over the topics of the smaller model, best one-to-one match.
        threshold: least similarity of a match.
        words_first: words that only the first model has.
        words_second: words that only the second model has.
    """

    pairs: tuple[TopicPair, ...]
    only_first: tuple[LoneTopic, ...]
    only_second: tuple[LoneTopic, ...]
    similarity: float
    threshold: float
    words_first: int
    words_second: int

    def to_dict(self) -> dict[str, Any]:
        """Return everything for JSON."""
        return {
            "similarity": self.similarity,
            "threshold": self.threshold,
            "words_first": self.words_first,
            "words_second": self.words_second,
            "pairs": [_plain(pair) for pair in self.pairs],
            "only_first": [_plain(topic) for topic in self.only_first],
            "only_second": [_plain(topic) for topic in self.only_second],
        }

    def __str__(self) -> str:
        head = (
            f"{len(self.pairs)} topics matched, {len(self.only_first)} only in the first, "
            f"{len(self.only_second)} only in the second; mean similarity {self.similarity:.2f}"
        )
        lines = [f"{p.first:>4} = {p.second:<4} {p.similarity:.2f}  {_changes(p)}" for p in self.pairs]
        return "\n".join([head, *lines])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{p.first}</td><td>{p.second}</td><td>{p.similarity:.2f}</td>"
            f"<td style='text-align:left'>{escape(_changes(p))}</td></tr>"
            for p in self.pairs
        )
        head = "<tr><th>first</th><th>second</th><th>similarity</th><th>words</th></tr>"
        return f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>"


def compare(
    model_a: TopicModel, model_b: TopicModel, *, n_words: int = 10, threshold: float = FOUND
) -> Comparison:
    """Match the topics of two fitted models and return what they share.

    Words are matched by name; a word that a model does not have has probability zero there.

    Args:
        model_a: the first model.
        model_b: the second model; the number of topics may differ.
        n_words: top words that are compared.
        threshold: least cosine similarity of a match, from 0 to 1.
    """
    for model in (model_a, model_b):
        check_is_fitted(model)
    if n_words < 1:
        raise InputError(f"compare: n_words must be 1 or more, not {n_words}")
    if not 0 <= threshold <= 1:
        raise InputError(f"compare: threshold must be from 0 to 1, not {threshold:g}")
    words = extended(model_a.vocabulary_, model_b.vocabulary_)
    first, second = _in_words(model_a, words), _in_words(model_b, words)
    table = similarities(first, second)
    matching = best_pairs(table)
    same = matching.similarity >= threshold
    tops = [[tuple(w for w, _ in top) for top in m.top_words(n_words)] for m in (model_a, model_b)]
    shares = model_a.topic_shares(), model_b.topic_shares()
    order = np.lexsort((matching.rows, -matching.similarity))
    pairs = tuple(
        _pair(int(matching.rows[i]), int(matching.columns[i]), float(matching.similarity[i]), tops, shares)
        for i in order
        if same[i]
    )
    return Comparison(
        pairs=pairs,
        only_first=_lone(set(matching.rows[same].tolist()), table, shares[0], tops[0]),
        only_second=_lone(set(matching.columns[same].tolist()), table.T, shares[1], tops[1]),
        similarity=float(matching.similarity.mean()),
        threshold=threshold,
        words_first=len(words) - len(model_b.vocabulary_),
        words_second=len(words) - len(model_a.vocabulary_),
    )


def _pair(first: int, second: int, similarity: float, tops: Any, shares: Any) -> TopicPair:
    a, b = tops[0][first], tops[1][second]
    return TopicPair(
        first=first,
        second=second,
        similarity=similarity,
        share_first=float(shares[0][first]),
        share_second=float(shares[1][second]),
        words=tuple(word for word in a if word in b),
        gained=tuple(word for word in b if word not in a),
        lost=tuple(word for word in a if word not in b),
    )


def _lone(matched: set[int], table: Float64, shares: Float64, tops: Any) -> tuple[LoneTopic, ...]:
    """Return the topics, rows of a table of similarities, that are not matched; largest first."""
    order = [int(k) for k in np.argsort(-shares, kind="stable") if int(k) not in matched]
    return tuple(
        LoneTopic(k, float(shares[k]), int(table[k].argmax()), float(table[k].max()), tops[k]) for k in order
    )


def _in_words(model: Any, words: tuple[str, ...]) -> Float64:
    """Return p(word | topic) of a model, (K, W), with a column for each of the words."""
    place = {word: w for w, word in enumerate(words)}
    wide = np.zeros((len(model.components_), len(words)))
    wide[:, [place[word] for word in model.vocabulary_]] = model.components_
    return wide


def _plain(record: Any) -> dict[str, Any]:
    return {name: list(v) if isinstance(v, tuple) else v for name, v in record._asdict().items()}


def _changes(pair: TopicPair) -> str:
    marked = [*pair.words, *(f"+{w}" for w in pair.gained), *(f"-{w}" for w in pair.lost)]
    return " ".join(marked)
