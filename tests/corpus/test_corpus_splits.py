"""Splits of documents and of tokens."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tagtopics.corpus import Corpus, completion, read_corpus, train_test
from tagtopics.corpus.splits import seen_part
from tagtopics.errors import InputError

Dense = np.ndarray[tuple[int, int], np.dtype[np.int32]]


def numbered(n_docs: int) -> Corpus:
    return read_corpus(np.ones((n_docs, 2), dtype=np.int32))


@given(st.integers(2, 60), st.integers(0, 2**32), st.floats(0.01, 0.99))
def test_random_split_parts_the_documents(n_docs: int, seed: int, share: float) -> None:
    corpus = numbered(n_docs)
    train, test = train_test(corpus, seed, share)
    assert sorted([*train, *test]) == list(range(n_docs))
    assert len(test) == min(max(round(share * n_docs), 1), n_docs - 1)
    for part, again in zip((train, test), train_test(corpus, seed, share), strict=True):
        assert (np.diff(part) > 0).all()
        np.testing.assert_array_equal(part, again)


def test_seeds_differ() -> None:
    assert train_test(numbered(100), 0)[1].tolist() != train_test(numbered(100), 1)[1].tolist()


def test_official_split_wins() -> None:
    corpus = replace(numbered(3), split=("test", "train", "test"))
    train, test = train_test(corpus, seed=0)
    assert (train.tolist(), test.tolist()) == ([1], [0, 2])
    assert len(train_test(corpus.select(test), seed=0)[0]) == 1


def test_bad_shares_and_too_few_documents() -> None:
    with pytest.raises(InputError, match="split: test_share must be between 0 and 1, not 1"):
        train_test(numbered(3), 0, 1.0)
    with pytest.raises(InputError, match="split: at least two documents are needed"):
        train_test(numbered(1), 0)
    with pytest.raises(InputError, match="split: share must be between 0 and 1, not 0"):
        completion(numbered(1).counts, 0, 0.0)
    with pytest.raises(InputError, match="split: document 0 has 2,000,000,000 tokens"):
        completion(sp.csr_array([[2_000_000_000]]), 0)


@given(
    arrays(np.int32, st.tuples(st.integers(1, 6), st.integers(1, 6)), elements=st.integers(0, 9)),
    st.integers(0, 2**32),
    st.floats(0.05, 0.95),
)
def test_completion_parts_the_tokens(dense: Dense, seed: int, share: float) -> None:
    counts = sp.csr_array(dense)
    seen, held_out = completion(counts, seed, share)
    assert (seen + held_out != counts).nnz == 0
    for part, again in zip((seen, held_out), completion(counts, seed, share), strict=True):
        assert part.nnz == 0 or part.data.min() > 0
        assert part.has_sorted_indices
        np.testing.assert_array_equal(part.toarray(), again.toarray())
    sizes, n_seen = dense.sum(axis=1), seen.sum(axis=1)
    assert (n_seen[sizes > 0] >= 1).all()
    assert (n_seen[sizes > 1] < sizes[sizes > 1]).all()
    assert (np.abs(n_seen - share * sizes) <= 1).all()


def test_completion_is_fair() -> None:
    seen, _ = completion(sp.csr_array(np.tile([8, 2], (4000, 1))), seed=1, share=0.5)
    mean = seen.sum(axis=0) / 4000
    np.testing.assert_allclose(mean, [4, 1], atol=0.05)
    variance = seen.toarray()[:, 1].var()
    assert abs(variance - 5 * 0.2 * 0.8 * (10 - 5) / (10 - 1)) < 0.04


def test_completion_of_54_million_tokens(data_directory: Path) -> None:
    counts = read_corpus(data_directory / "corel5k-images").counts
    seen, held_out = completion(counts, seed=0)
    assert (seen + held_out != counts).nnz == 0
    np.testing.assert_array_equal(seen.sum(axis=1), np.rint(0.8 * counts.sum(axis=1)))


def test_a_share_seen_leaves_the_held_out_tokens_as_they_are() -> None:
    counts = sp.csr_array(np.random.default_rng(0).poisson(2.0, (12, 30)))
    _, held_out = completion(counts, 5)
    sizes = np.asarray(counts.sum(1))
    for share in (0.0, 0.1, 0.4, 0.8):
        seen, hidden = seen_part(counts, 5, share)
        assert (hidden != held_out).nnz == 0
        assert ((seen + hidden).toarray() <= counts.toarray()).all()
        np.testing.assert_allclose(np.asarray(seen.sum(1)), share * sizes, atol=1)
    with pytest.raises(InputError, match=r"words seen must be from 0 to 0\.8, not 0\.9"):
        seen_part(counts, 5, 0.9)
