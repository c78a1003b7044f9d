"""Credit attribution: the compiled loops equal the NumPy reference to the last bit; the tables add up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from tagtopics.credit import attribution, reference
from tagtopics.credit.attribution import CreditTable


def documents(seed: int, n_docs: int, n_words: int, n_tags: int) -> tuple[Any, Any, Any, Any]:
    """Return counts, tags, profiles and topics; some documents without words, some without tags."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(0.6, (n_docs, n_words)) * (rng.random((n_docs, 1)) < 0.9)
    tags = (rng.random((n_docs, n_tags)) < 0.4).astype(np.int8)
    profiles = rng.dirichlet(np.ones(3), n_tags)
    profiles[:, 1:][rng.random((n_tags, 2)) < 0.2] = 0.0  # the first topic stays, as in every profile
    phi = rng.dirichlet(np.ones(n_words), 3).T.astype(np.float32)
    return sp.csr_array(counts), sp.csr_array(tags), profiles, np.ascontiguousarray(phi)


@given(st.integers(0, 2**32 - 1), st.integers(0, 12), st.integers(1, 9), st.integers(0, 6))
@settings(max_examples=60, deadline=None)
def test_loops_equal_the_reference(seed: int, n_docs: int, n_words: int, n_tags: int) -> None:
    counts, tags, profiles, phi = documents(seed, n_docs, n_words, n_tags)
    learned = [part.learn_tag_words(counts, tags, profiles, phi) for part in (attribution, reference)]
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(learned[0], name), getattr(learned[1], name))
    new_counts, new_tags, _, _ = documents(seed + 1, 5, n_words, n_tags)
    found, expected = (
        part.credit_words(new_counts, new_tags, profiles, phi, learned[0])
        for part in (attribution, reference)
    )
    np.testing.assert_array_equal(found[1], expected[1])
    np.testing.assert_array_equal(found[0].word, expected[0].word)


def test_all_tokens_of_tagged_documents_are_credited() -> None:
    counts, tags, profiles, phi = documents(3, 40, 12, 5)
    tagged = np.diff(tags.indptr) > 0
    learned = attribution.learn_tag_words(counts, tags, profiles, phi)
    np.testing.assert_allclose(learned.sum(0), counts[np.flatnonzero(tagged)].sum(0), rtol=1e-5)
    claims, shares = attribution.credit_words(counts, tags, profiles, phi, learned)
    np.testing.assert_allclose(np.bincount(claims.edge, shares)[np.unique(claims.edge)], 1, rtol=1e-12)


def test_a_table_finds_the_best_tag_of_each_word() -> None:
    table = CreditTable(
        doc=np.array([0, 0, 0, 0, 1, 1]),
        word=np.array(["a", "a", "b", "b", "a", "a"], dtype=object),
        count=np.ones(6),
        tag=np.array(["x", "y", "x", "y", "x", "y"], dtype=object),
        credit=np.array([0.9, 0.1, 0.2, 0.8, 0.5, 0.5]),
    )
    best = table.best()
    assert best.tag.tolist() == ["x", "y", "x"]
    assert table.of_document(1).credit.sum() == pytest.approx(1)
    assert len(table.to_dict()["word"]) == len(table) == 6
