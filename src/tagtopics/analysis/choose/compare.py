"""Topics of two models matched with each other, and what changed in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.utils.validation import check_is_fitted

from tagtopics._blas import single_thread
from tagtopics._typing import Bool, Float64, Int64
from tagtopics.analysis.records import Record
from tagtopics.corpus.align import extend_names, places_of
from tagtopics.errors import InputError
from tagtopics.models.base import TopicModel

FOUND = 0.8  # cosine similarity from which two matched topics count as the same topic


class Matching(NamedTuple):
    """One-to-one pairs of topics, as many as the smaller model has."""

    rows: Int64  # (N,) topics of the first model, ascending
    columns: Int64  # (N,) the topic of the second model that each is matched with
    similarity: Float64  # (N,) cosine similarity of each pair


def match_topics(first: Any, second: Any) -> Matching:
    """Return the one-to-one pairs of topics (K, W) and (L, W) over the same words that are most similar."""
    with single_thread():
        table = cosine_similarity(first.astype(np.float64), second.astype(np.float64))
    rows, columns = linear_sum_assignment(table, maximize=True)
    return Matching(rows, columns, table[rows, columns])


def found_again(first: Any, second: Any) -> Bool:
    """Return (K,): which topics of the first (K, W) are found in the second (L, W)."""
    pairs = match_topics(first, second)
    found = np.zeros(len(first), dtype=bool)
    found[pairs.rows] = pairs.similarity >= FOUND
    return found


@dataclass(frozen=True)
class TopicPair(Record):
    """A topic of each model, matched with each other."""

    first: int
    second: int
    similarity: float  # cosine of p(word | topic)
    share_first: float  # of all tokens of the first model
    share_second: float
    words: tuple[str, ...]  # top words in both
    gained: tuple[str, ...]  # top words of the second topic that are no top words of the first
    lost: tuple[str, ...]  # top words of the first topic that are no top words of the second


@dataclass(frozen=True)
class Comparison(Record):
    """What two models have in common."""

    similarity: float  # mean cosine similarity over the topics of the smaller model, best one-to-one match
    threshold: float  # least similarity of a match
    words_first: int  # words that only the first model has
    words_second: int
    pairs: tuple[TopicPair, ...]  # most similar first
    only_first: tuple[int, ...]  # topics without a match in the other model
    only_second: tuple[int, ...]

    def __repr__(self) -> str:
        lines = [
            f"{len(self.pairs)} topics matched, {len(self.only_first)} only in the first, "
            f"{len(self.only_second)} only in the second; mean similarity {self.similarity:.2f}"
        ]
        for p in self.pairs:
            words = [*p.words, *(f"+{word}" for word in p.gained), *(f"-{word}" for word in p.lost)]
            lines.append(f"{p.first:>4} = {p.second:<4} {p.similarity:.2f}  {' '.join(words)}")
        return "\n".join(lines)


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
    words = extend_names(model_a.vocabulary_, model_b.vocabulary_)
    pairs = match_topics(_in_words(model_a, words), _in_words(model_b, words))
    tops = [[tuple(w for w, _ in top) for top in m.top_words(n_words)] for m in (model_a, model_b)]
    shares = model_a.topic_shares(), model_b.topic_shares()
    matched = [
        _pair(int(pairs.rows[i]), int(pairs.columns[i]), float(pairs.similarity[i]), tops, shares)
        for i in np.lexsort((pairs.rows, -pairs.similarity))
        if pairs.similarity[i] >= threshold
    ]
    return Comparison(
        similarity=float(pairs.similarity.mean()),
        threshold=threshold,
        words_first=len(words) - len(model_b.vocabulary_),
        words_second=len(words) - len(model_a.vocabulary_),
        pairs=tuple(matched),
        only_first=tuple(sorted(set(range(len(tops[0]))).difference(pair.first for pair in matched))),
        only_second=tuple(sorted(set(range(len(tops[1]))).difference(pair.second for pair in matched))),
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


def _in_words(model: Any, words: tuple[str, ...]) -> Float64:
    """Return p(word | topic) of a model, (K, W), with a column for each of the words."""
    wide = np.zeros((len(model.components_), len(words)))
    wide[:, places_of(model.vocabulary_, words)] = model.components_
    return wide
