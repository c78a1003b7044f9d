"""Compiled counting of terms against the plain way, which is its specification."""

from __future__ import annotations

import gzip
import json
import re
import sys
import unicodedata
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tagtopics.corpus import counting as terms
from tagtopics.corpus import text
from tagtopics.corpus.counting import CompiledCounter, character_classes
from tagtopics.corpus.counting_loops import JOINER, LETTER, MARK, WORD
from tagtopics.corpus.recipe import TextRecipe
from tagtopics.jit.threads import thread_limit

HARD = (
    "aAzZ_09 .-\n\0\u0130ıIΣσςßẞéÉe\u0301\u0345\u200c\u200d\u200d"
    "नि\u094dמ\u05b8\u1100\u1161\u11a8ﬁ①²Ⅷ𝐀😀\u3000\ud800"
)
RECIPES = st.builds(
    TextRecipe,
    lowercase=st.booleans(),
    min_length=st.integers(1, 4),
    ngram_range=st.sampled_from([(1, 1), (1, 2), (2, 2), (2, 3)]),
    stop_words=st.sampled_from([None, "english", ("É", "a", "a a", "a\n", "", "aa")]),
)
TEXTS = st.lists(st.one_of(st.text(st.sampled_from(HARD), max_size=40), st.text(max_size=20)), max_size=6)


def parts(matrix: sp.csr_array) -> list[Any]:
    """Return everything that makes two matrices the same to the bit."""
    arrays = (matrix.data, matrix.indices, matrix.indptr)
    return [matrix.shape, *(array.dtype for array in arrays), *(array.tolist() for array in arrays)]


def both_ways(monkeypatch: pytest.MonkeyPatch, call: Any) -> list[Any]:
    """Return what a call returns with compiled code, and without it."""
    results = []
    for least in (0, sys.maxsize):
        monkeypatch.setattr(text, "_COMPILED_FROM", least)
        results.append(call())
    return results


@settings(deadline=None)
@given(TEXTS, RECIPES)
@example(["a\u200d\u0301b", "a\u200db\u200d", "\u200da", "a\u0301\u200d\u200db"], TextRecipe(stop_words=None))
@example([], TextRecipe())
@example(["", ""], TextRecipe())
def test_equal_to_the_plain_way(texts: list[str], recipe: TextRecipe) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        (counts, words), (plain_counts, plain_words) = both_ways(
            monkeypatch, lambda: text.count_all(texts, recipe)
        )
        assert list(words) == list(plain_words)
        assert parts(counts) == parts(plain_counts)
        known = [*plain_words[::2], "the", "not there"]
        known = list(dict.fromkeys(known))
        (counts, unknown), (plain_counts, plain_unknown) = both_ways(
            monkeypatch, lambda: text.TermCounter(known, recipe).count(texts)
        )
        assert unknown == plain_unknown
        assert parts(counts) == parts(plain_counts)


@pytest.mark.compiled
def test_chunks_and_threads_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    texts = [" ".join(f"w{n}é" for n in rng.zipf(1.3, size=50) % 5000) for _ in range(400)]
    recipe = TextRecipe(ngram_range=(1, 2))
    monkeypatch.setattr(terms, "_CHUNK", 2000)
    found = []
    for threads in (1, 2, 5):
        with thread_limit(threads):
            found.append(CompiledCounter(recipe).count(texts))
    for counts, words, _ in found:
        assert words == found[0][1]
        assert parts(counts) == parts(found[0][0])
    plain_counts, plain_words = text.count_all(texts, recipe)
    assert found[0][1] == plain_words
    assert parts(found[0][0]) == parts(plain_counts)


def test_equal_hashes_are_not_equal_terms(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a factor of 2^32 + 1, many short words have the same hash or the same slot."""
    monkeypatch.setattr(terms, "_SECRET", 2**32 + 1)
    texts = [" ".join(f"{a}{b}{c}" for a in "abcdefgh" for b in "stuvwxyz" for c in "aeiou")]
    recipe = TextRecipe(stop_words=None)
    assert CompiledCounter(recipe).count(texts)[1] == text.count_all(texts, recipe)[1]


def test_classes_of_all_characters() -> None:
    classes = character_classes()
    assert len(classes) == sys.maxunicode + 1
    word = re.compile(r"\w")
    for c, kind in enumerate(classes.tolist()):
        character = chr(c)
        is_mark = unicodedata.category(character)[0] == "M"
        expected = WORD * bool(word.match(character)) | LETTER * character.isalpha() | MARK * is_mark
        assert kind == (expected or JOINER * (character in "\u200c\u200d")), hex(c)


@pytest.mark.compiled
@pytest.mark.real_data
@pytest.mark.parametrize(
    ("name", "column"),
    [("anthology/papers", "abstract"), ("reuters/texts", "text"), ("tibcore/documents", "abstract")],
)
def test_real_texts(data_directory: Path, monkeypatch: pytest.MonkeyPatch, name: str, column: str) -> None:
    path = data_directory / f"{name}.jsonl.gz"
    if not path.exists():
        pytest.skip(f"{path} not found")
    with gzip.open(path) as file:
        texts = [json.loads(line)[column] or "" for line in islice(file, 3000)]
    for recipe in (TextRecipe(min_df=2), TextRecipe(lowercase=False, stop_words=None, min_length=1)):
        compiled, plain = both_ways(monkeypatch, partial(text.learn, texts, recipe))
        assert compiled[1] == plain[1]
        assert parts(compiled[0]) == parts(plain[0])
