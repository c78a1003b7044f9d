"""The planted truth: it adds up, and it has the property that higher-order models are to find."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.synthetic import SyntheticCorpus, make_tagged_corpus
from tagtopics.errors import InputError


@pytest.fixture(scope="module")
def made() -> SyntheticCorpus:
    return make_tagged_corpus()


def documents_with(made: SyntheticCorpus, tags: tuple[int, ...]) -> np.ndarray:
    return np.asarray(made.corpus.tags.toarray()[:, list(tags)].all(axis=1))


def tally(rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """How often each (row, column) occurs."""
    counts = np.zeros(shape, dtype=np.int64)
    np.add.at(counts, (rows, columns), 1)
    return counts


def doc_topics(made: SyntheticCorpus) -> np.ndarray:
    """(D, K) true topics of the tokens of each document."""
    return tally(made.tokens.docs, made.tokens.topics, (made.corpus.n_docs, len(made.topics)))


def slot_topics(made: SyntheticCorpus) -> np.ndarray:
    """(S, K) true topics of the tokens of each document and tag."""
    return tally(made.tokens.slots, made.tokens.topics, (made.corpus.tags.nnz, len(made.topics)))


def tag_profiles(made: SyntheticCorpus) -> np.ndarray:
    """(T, K) mean over its documents of the true topics of each tag; slots without a token are left out."""
    found = slot_topics(made)
    used = found.sum(axis=1) > 0
    means = found[used] / found[used].sum(axis=1, keepdims=True)
    tags = made.corpus.tags.indices[used]
    profiles = np.zeros(made.tag_topics.shape)
    np.add.at(profiles, tags, means)
    return profiles / np.bincount(tags, minlength=len(profiles))[:, None]


@settings(max_examples=25, deadline=None)
@given(
    n_docs=st.integers(1, 40),
    n_words=st.integers(2, 50),
    ordinary=st.integers(3, 6),
    n_groups=st.integers(0, 2),
    spare_tags=st.integers(1, 5),
    tags_per_doc=st.integers(1, 4),
    doc_length=st.integers(1, 30),
    seed=st.integers(0, 2**32),
)
def test_the_truth_adds_up(
    n_docs: int,
    n_words: int,
    ordinary: int,
    n_groups: int,
    spare_tags: int,
    tags_per_doc: int,
    doc_length: int,
    seed: int,
) -> None:
    n_tags = 3 * n_groups + spare_tags
    made = make_tagged_corpus(
        n_docs=n_docs,
        n_words=n_words,
        n_topics=ordinary + n_groups,
        n_tags=n_tags,
        tags_per_doc=min(tags_per_doc, n_tags),
        doc_length=doc_length,
        n_groups=n_groups,
        seed=seed,
    )
    counts, tags = made.corpus.counts, made.corpus.tags
    words = tally(made.tokens.docs, made.tokens.words, counts.shape)
    np.testing.assert_array_equal(counts.toarray(), words)
    slot_docs = np.repeat(np.arange(n_docs), np.diff(tags.indptr))
    np.testing.assert_array_equal(slot_docs[made.tokens.slots], made.tokens.docs)
    np.testing.assert_allclose(made.topics.sum(axis=1), 1)
    np.testing.assert_allclose(made.tag_topics.sum(axis=1), 1)
    assert np.diff(tags.indptr).min() >= 1
    assert np.diff(counts.indptr).min() >= 1


def test_matrices_are_canonical(made: SyntheticCorpus) -> None:
    for matrix, dtype in ((made.corpus.counts, np.int32), (made.corpus.tags, np.int8)):
        assert matrix.dtype == dtype
        assert matrix.has_canonical_format
        assert matrix.data.min() >= 1
    assert made.corpus.labels is not None
    assert set(made.corpus.labels) <= {f"topic{k:02d}" for k in range(12)}


def test_equal_seeds_give_equal_corpora() -> None:
    first, again, other = (make_tagged_corpus(n_docs=50, seed=seed) for seed in (3, 3, 4))
    assert (first.corpus.counts != again.corpus.counts).nnz == 0
    np.testing.assert_array_equal(first.tokens, again.tokens)
    assert (first.corpus.counts != other.corpus.counts).nnz > 0


def test_tokens_follow_the_tags_and_the_topics(made: SyntheticCorpus) -> None:
    """Where no group is whole, what was drawn is near the distributions it was drawn from."""
    joint = [group.topic for group in made.groups]
    whole = doc_topics(made)[:, joint].sum(axis=1) > 0
    free = ~np.repeat(whole, np.diff(made.corpus.tags.indptr))
    tags = made.corpus.tags.indices[free]
    drawn = np.zeros_like(made.tag_topics)
    np.add.at(drawn, tags, slot_topics(made)[free])
    assert np.abs(drawn / drawn.sum(axis=1, keepdims=True) - made.tag_topics).max() < 0.06
    words = tally(made.tokens.topics, made.tokens.words, made.topics.shape)
    assert np.abs(words / words.sum(axis=1, keepdims=True) - made.topics).max() < 0.05


def test_the_joint_topic_occurs_with_the_whole_group_only(made: SyntheticCorpus) -> None:
    shares = doc_topics(made) / doc_topics(made).sum(axis=1, keepdims=True)
    for group in made.groups:
        whole = documents_with(made, group.tags)
        assert whole.sum() > 50
        assert shares[whole, group.topic].mean() == pytest.approx(0.6, abs=0.03)
        assert (shares[~whole, group.topic] == 0).all()
        for pair in itertools.combinations(group.tags, 2):
            assert (documents_with(made, pair) & ~whole).sum() > 20
        for tag in group.tags:
            others = [t for t in group.tags if t != tag]
            alone = documents_with(made, (tag,)) & ~documents_with(made, (others[0],))
            assert (alone & ~documents_with(made, (others[1],))).sum() > 5


@pytest.mark.parametrize("seed", range(5))
def test_only_the_product_of_all_three_points_at_the_joint_topic(seed: int) -> None:
    """Each tag alone, and with another tag in place of the third, peaks elsewhere."""
    made = make_tagged_corpus(seed=seed)
    profiles = tag_profiles(made)
    np.testing.assert_allclose(profiles.sum(axis=1), 1)
    for group in made.groups:
        of_group = profiles[list(group.tags)]
        own = made.tag_topics[list(group.tags)].argmax(axis=1)
        np.testing.assert_array_equal(of_group.argmax(axis=1), own)
        assert len(set(own)) == 3
        product = of_group.prod(axis=0)
        assert product.argmax() == group.topic
        assert product[group.topic] > 0.9 * product.sum()
        outsider = profiles[[group.tags[0], group.tags[1], len(profiles) - 1]].prod(axis=0)
        assert outsider.argmax() != group.topic


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"n_docs": 0}, "n_docs=0"),
        ({"n_topics": 4}, "n_topics=4"),
        ({"n_tags": 6}, "n_tags=6"),
        ({"tags_per_doc": 21}, "n_tags=20 is too small; give at least 21"),
        ({"doc_length": 0}, "doc_length=0"),
    ],
)
def test_impossible_sizes_are_named(sizes: dict[str, int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make_tagged_corpus(**sizes)
