"""Which words and tags characterise a topic: the one definition for pages, maps and tests."""

from __future__ import annotations

import numpy as np

from tagtopics._typing import Int64
from tagtopics.explore.record.topic_data import TopicData
from tagtopics.jit.top import largest, largest_in_rows

RELEVANCE = 0.6
"""Weight of p(word | topic) in the order of a topic's words; Sievert and Shirley (2014) found it the best."""


def relevant_words(data: TopicData, n: int, weight: float = RELEVANCE, among: Int64 | None = None) -> Int64:
    """Return (K, n): the most relevant words of each topic, best first; fewer columns if words are few.

    The relevance is weight log p(w | k) + (1 - weight) log(p(w | k) / p(w)). Words that occur once are left
    out, unless all do.

    Args:
        data: the record.
        n: how many.
        weight: from 0, specific to the topic, to 1, frequent in it.
        among: the words to choose from; all by default.
    """
    tokens = data.word_tokens
    words = np.arange(len(tokens)) if among is None else among
    words = words[tokens[words] >= min(2.0, float(tokens.max(initial=0.0)))]
    log_share = np.log(np.maximum(tokens[words] / max(float(tokens.sum()), 1e-300), 1e-12))
    log_phi = np.log(np.maximum(data.topic_word[:, words], 1e-12))
    return np.asarray(words[largest_in_rows(log_phi - (1 - weight) * log_share, min(n, len(words)))])


def typical_tags(data: TopicData, n: int) -> list[list[int]]:
    """Return for each topic up to n tags that have more of it than the collection, most typical first.

    The score of a tag is its number of documents times its part in the divergence from the collection,
    p(k | t) log(p(k | t) / p(k)).
    """
    own = data.tags.profiles.astype(np.float64)
    scores = own * np.log(np.maximum(own / np.maximum(data.topic_share, 1e-9), 1e-9))
    scores *= data.tags.n_docs[:, np.newaxis]
    return [[t for t in largest(column, n).tolist() if column[t] > 0] for column in scores.T.copy()]
