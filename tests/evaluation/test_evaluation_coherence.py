"""NPMI coherence against a slow twin that reads like the definition."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp

from tagtopics.bp.holdout import topic_coherence
from tagtopics.corpus import Corpus, canonical_counts


def make_corpus(counts: list[list[int]]) -> Corpus:
    matrix = canonical_counts(np.array(counts))
    return Corpus(
        counts=matrix,
        tags=sp.csr_array((matrix.shape[0], 0), dtype=np.int8),
        vocabulary=tuple("abcdefgh"[: matrix.shape[1]]),
        tag_names=(),
        ids=tuple(str(row) for row in range(matrix.shape[0])),
    )


def slow_coherence(corpus: Corpus, words: list[str]) -> float:
    documents = [
        {word for w, word in enumerate(corpus.vocabulary) if corpus.counts[d, w] > 0}
        for d in range(corpus.n_docs)
    ]

    def share(*wanted: str) -> float:
        return sum(set(wanted) <= document for document in documents) / len(documents)

    def npmi(v: str, w: str) -> float:
        if share(v, w) == 0:
            return -1.0
        if share(v, w) == 1:
            return 1.0
        return math.log(share(v, w) / (share(v) * share(w))) / -math.log(share(v, w))

    values = [npmi(v, w) for v, w in combinations(words, 2)]
    return sum(values) / len(values)


@pytest.mark.parametrize("seed", range(5))
def test_equals_the_definition(seed: int) -> None:
    generator = np.random.default_rng(seed)
    corpus = make_corpus(generator.integers(0, 2, (12, 8)).tolist())
    topics = [list(generator.permutation(list("abcdefgh"))[:4]) for _ in range(6)]
    expected = [slow_coherence(corpus, topic) for topic in topics]
    np.testing.assert_allclose(topic_coherence(corpus, topics), expected, atol=1e-12)


def test_words_that_always_and_never_meet() -> None:
    corpus = make_corpus([[1, 1, 0, 2], [3, 1, 0, 1], [0, 0, 1, 1], [0, 0, 2, 5]])
    values = topic_coherence(corpus, [["a", "b"], ["a", "c"], ["a", "d"], ["d", "d"]])
    np.testing.assert_allclose(values[:3], [1.0, -1.0, 0.0], atol=1e-12)
    assert math.isnan(values[3])


def test_words_the_corpus_lacks_meet_nothing() -> None:
    corpus = make_corpus([[1, 1], [1, 0]])
    assert topic_coherence(corpus, [["a", "nowhere"]]).tolist() == [-1.0]


def test_every_document_holds_both() -> None:
    assert topic_coherence(make_corpus([[1, 1], [2, 1]]), [["a", "b"]]).tolist() == [1.0]


def test_no_topics() -> None:
    assert topic_coherence(make_corpus([[1, 1]]), []).shape == (0,)
