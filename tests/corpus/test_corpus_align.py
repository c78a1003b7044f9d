"""Corpora that grow: columns by name, nothing lost."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import tagtopics as tt
from tagtopics.corpus.align import admit_words, align_columns, extend_names, join_corpora

bags = st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 9), min_size=1)
rows = st.lists(st.tuples(bags, st.sets(st.sampled_from("xyz"), min_size=1)), min_size=1, max_size=5)


def corpus_of(documents: list[tuple[dict[str, int], set[str]]], prefix: str) -> tt.Corpus:
    words = sorted({word for bag, _ in documents for word in bag})
    return tt.read_corpus(
        np.array([[bag.get(word, 0) for word in words] for bag, _ in documents]),
        vocabulary=words,
        tags=[sorted(tags) for _, tags in documents],
        id=[f"{prefix}{d}" for d in range(len(documents))],
    )


def read_back(corpus: tt.Corpus) -> list[tuple[dict[str, int], set[str]]]:
    found = []
    for d in range(corpus.n_docs):
        row = corpus.counts[[d]]
        bag = {corpus.vocabulary[w]: int(n) for w, n in zip(row.indices, row.data, strict=True)}
        found.append((bag, set(corpus.tags_of(d))))
    return found


@given(rows, rows)
def test_joined_documents_are_what_they_were(
    first: list[tuple[dict[str, int], set[str]]], second: list[tuple[dict[str, int], set[str]]]
) -> None:
    one, two = corpus_of(first, "a"), corpus_of(second, "b")
    joined = join_corpora(one, two)
    assert read_back(joined) == first + second
    assert joined.ids == one.ids + two.ids
    assert joined.vocabulary[: one.n_words] == one.vocabulary
    assert joined.counts.has_canonical_format
    assert joined.counts.dtype == np.int32


def test_labels_links_and_texts() -> None:
    texts = tt.read_corpus(["bread oven", "wine glass"], tags=[["a"], ["b"]], label=["x", "y"])
    links = sp.csr_array(np.array([[0, 1], [0, 0]], dtype=np.int8))
    linked = replace(texts, links=links, split=("train", "test"))
    joined = join_corpora(linked, replace(texts, labels=None))
    assert joined.labels == ("x", "y", None, None)
    assert joined.links is not None
    np.testing.assert_array_equal(joined.links.toarray(), np.pad([[0, 1], [0, 0]], (0, 2)))
    assert joined.texts == texts.texts + texts.texts  # type: ignore[operator]
    assert joined.split is None
    assert join_corpora(texts, replace(texts, texts=None)).texts is None
    assert join_corpora(texts, texts).links is None


def test_columns_by_name() -> None:
    assert extend_names(("b", "a"), ("c", "a", "d")) == ("b", "a", "c", "d")
    matrix = sp.csr_array(np.array([[1, 2], [0, 3]]))
    aligned, n_lost = align_columns(matrix, ("p", "q"), ("q", "r", "p"))
    np.testing.assert_array_equal(aligned.toarray(), [[2, 0, 1], [3, 0, 0]])
    assert n_lost == 0
    aligned, n_lost = align_columns(matrix, ("p", "q"), ("r", "p"))
    np.testing.assert_array_equal(aligned.toarray(), [[0, 1], [0, 0]])
    assert n_lost == 5
    same, _ = align_columns(matrix, ("p", "p"), ("p",))
    np.testing.assert_array_equal(same.toarray(), [[3], [3]])
    with pytest.raises(tt.InputError, match="given twice"):
        align_columns(matrix, ("p", "q"), ("p", "p"))


@pytest.mark.parametrize(
    ("recipe", "words"),
    [
        (tt.TextRecipe(), {"bread", "lava", "rock", "ash"}),
        (tt.TextRecipe(min_df=2), {"bread", "lava", "rock"}),
        (tt.TextRecipe(min_df=0.7), {"bread", "rock"}),
        (tt.TextRecipe(max_df=2), {"bread", "lava", "ash"}),
        (tt.TextRecipe(max_words=3), {"bread", "rock"}),
        (tt.TextRecipe(max_words=1), {"bread"}),
    ],
    ids=["all", "min_df", "share", "max_df", "one more", "no more"],
)
def test_new_words_must_pass_the_recipe(recipe: tt.TextRecipe, words: set[str]) -> None:
    corpus = tt.read_corpus(["bread lava rock", "lava rock ash", "rock rock"], tags=[["a"]] * 3)
    admitted = admit_words(corpus, ["bread", "oven"], recipe)
    assert set(admitted.vocabulary) == words
    assert admitted.recipe == recipe
    assert admitted.counts.shape == (3, len(words))
