"""What tags say about the topics of a document: kinds, the parts of a prior, and the strengths of parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from tagtopics.bp.graph import build_graph
from tagtopics.bp.pilot import choose_held_out
from tagtopics.tag_prior import strengths
from tagtopics.tag_prior.learn import (
    default_settings,
    settings_from_numbers,
    settings_to_numbers,
)
from tagtopics.tag_prior.prior import Profiles, Strengths, claims_of, combined, kinds_of
from tagtopics.tag_prior.strengths import Rows, maximise

WHOLE, HALF = 3e6, 3.0
"""Documents of a tag that counts in full, and of one that counts half."""


@pytest.mark.parametrize(
    ("names", "kinds", "of_tags"),
    [
        ((), ("",), []),
        (("a", "b"), ("",), [0, 0]),
        (("author:a", "author:b", "venue:x", "venue:y"), ("author", "venue"), [0, 0, 1, 1]),
        (("author:a", "author:b", "plain"), ("",), [0, 0, 0]),
        (("author:a", "author:b"), ("",), [0, 0]),
        (("a:1", "b:1", "c:1"), ("",), [0, 0, 0]),
        (tuple(f"k{i % 9}:{i}" for i in range(40)), ("",), [0] * 40),
    ],
    ids=["none", "plain", "two kinds", "one without", "one kind", "a kind for each", "too many kinds"],
)
def test_kinds_of_tags(names: tuple[str, ...], kinds: tuple[str, ...], of_tags: list[int]) -> None:
    found, numbers = kinds_of(names)
    assert found == kinds
    assert numbers.tolist() == of_tags


def test_kinds_that_strengths_were_learned_for() -> None:
    names = ("venue:x", "author:a", "plain", "year:1")
    assert kinds_of(names, ("author", "venue"))[1].tolist() == [1, 0, 0, 0]
    assert kinds_of(names, ("",))[1].tolist() == [0, 0, 0, 0]


def profiles(tag_docs: list[float], kinds: list[int]) -> Profiles:
    means = np.array([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]])[: len(tag_docs)]
    return Profiles(
        np.array([0.6, 0.4]), means, np.array(tag_docs), np.array(kinds), max(kinds, default=0) + 1
    )


def test_parts_are_those_of_the_definition() -> None:
    """A rare tag counts half, and the other half is given to no one; a tag of no document is ignored."""
    found = profiles([WHOLE, HALF, 0.0], [0, 0, 0]).parts(sp.csr_array([[1, 0, 0], [0, 1, 0], [0, 0, 1]]))
    flat, base, mean, joint = found
    np.testing.assert_allclose(flat, 0.5)
    np.testing.assert_allclose(base, [[0.6, 0.4]] * 3)
    np.testing.assert_allclose(mean, [[0.9, 0.1], [0.1, 0.4], [0.0, 0.0]], atol=1e-5)
    np.testing.assert_allclose(joint, [[0.9, 0.1], [0.2, 0.3], [0.0, 0.0]], atol=1e-5)


def test_the_joint_part_of_two_tags_is_sharper_than_their_mean() -> None:
    both = profiles([WHOLE, WHOLE], [0, 0])
    alike = Profiles(both.base, np.array([[0.9, 0.1], [0.9, 0.1]]), both.tag_docs, both.kinds, 1)
    *_, mean, joint = alike.parts(sp.csr_array([[1, 1]]))
    np.testing.assert_allclose(mean, [[0.9, 0.1]], atol=1e-5)
    ratios = np.array([0.9 / 0.6, 0.1 / 0.4]) ** (2 / np.sqrt(2)) * [0.6, 0.4]
    np.testing.assert_allclose(joint, [ratios / ratios.sum()], atol=1e-5)


def test_parts_of_kinds_and_of_inferred_tags() -> None:
    found = profiles([WHOLE, WHOLE], [0, 1])
    parts = found.parts(sp.csr_array([[1.0, 0.25]]))
    np.testing.assert_allclose(parts[2:4, 0], [[0.9, 0.1], [0.05, 0.2]], atol=1e-5)
    np.testing.assert_allclose(found.slot_weights(sp.csr_array([[1.0, 0.25]])), [1.0, 0.25])
    same = profiles([WHOLE, WHOLE, 0.0], [0, 0, 0]).slot_weights(sp.csr_array([[1, 1, 1], [1, 1, 0]]))
    np.testing.assert_allclose(same, [1 / 3, 1 / 3, 0, 0.5, 0.5])


def test_parts_add_up_to_the_prior() -> None:
    parts = profiles([5.0, 2.0, 9.0], [0, 1, 1]).parts(sp.random_array((20, 3), density=0.5, rng=0) > 0)
    given = Strengths(0.5, 1.0, (2.0, 3.0), 4.0, (9.0, 9.0))
    prior = combined(parts, given)
    np.testing.assert_allclose(prior.sum(1), parts.sum(2).T @ given.topics, rtol=1e-5)
    assert (parts.sum(2) <= 1 + 1e-9).all()
    assert (prior > 0).all()


def test_claims_are_words_by_tags() -> None:
    counts, tags = sp.csr_array([[1, 2], [0, 0], [3, 0]]), sp.csr_array([[1, 1], [1, 0], [0, 1]])
    edge, slot = claims_of(counts.indptr, tags.indptr)
    assert edge.tolist() == [0, 0, 1, 1, 2]
    assert slot.tolist() == [0, 1, 0, 1, 3]


def hand_made_rows() -> Rows:
    """One document: four tokens of topic 0 seen; 13 tokens of word 0 and 7 of word 1 to predict."""
    hidden, tags = sp.csr_array([[13.0, 7.0]]), sp.csr_array((1, 0))
    phi = np.array([[0.8, 0.2], [0.2, 0.8]])
    parts = np.array([[[0.5, 0.5]]])
    return Rows(
        build_graph(sp.csr_array([[4, 0]]), tags),
        np.array([4.0]),
        hidden,
        np.zeros(2, np.int64),
        np.empty(0, np.int64),
        np.empty(0, np.float32),
        parts,
        parts[0] @ phi.T,
        np.zeros(1, np.int64),
        tags,
        np.array([0.8]),
    )


def test_strengths_are_where_the_held_out_likelihood_peaks(monkeypatch: pytest.MonkeyPatch) -> None:
    """By hand: p(word 1) = (4 0.2 + 0.5 A) / (4 + A), which is 7 / 20 for A = 4."""
    seen = np.array([4 * 0.8, 4 * 0.2])
    monkeypatch.setattr(strengths, "_predict", lambda *arguments: seen)
    monkeypatch.setattr(strengths, "_STEPS", 500)
    phi = np.array([[0.8, 0.2], [0.2, 0.8]], np.float32)
    fit = maximise(hand_made_rows(), None, phi, np.ones(1), rounds=1)
    assert fit.values == pytest.approx([4.0], rel=1e-3)
    expected = 13 * np.log(0.65) + 7 * np.log(0.35)
    assert fit.likelihoods == pytest.approx([expected], rel=1e-5)


def test_documents_set_aside_are_at_most_a_fifth_and_a_thousand() -> None:
    for n_docs, n_aside in ((50, 10), (1000, 200), (20_000, 1000)):
        rest, held_out = choose_held_out(n_docs, seed=3)
        assert len(held_out) == n_aside
        assert sorted([*rest, *held_out]) == list(range(n_docs))
        np.testing.assert_array_equal(held_out, choose_held_out(n_docs, seed=3)[1])


def test_settings_by_name_are_the_settings() -> None:
    given: Any = default_settings(np.full(4, 0.1, np.float32), 2, 5.0)
    given = given._replace(known=Strengths(0.1, 0.2, (0.3, 0.4), 0.5, (0.6, 0.7)))
    numbers = settings_to_numbers(given, ("author", "venue"))
    assert numbers["known.mean.venue"] == 0.4
    assert settings_from_numbers(numbers) == (("author", "venue"), given)
