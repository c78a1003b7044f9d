"""Text to counts: what is a word, and what a recipe does."""

from __future__ import annotations

import json
import unicodedata
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagtopics.corpus.recipe import TextRecipe, recipe_from_json, recipe_to_json
from tagtopics.corpus.text import Learned, TermCounter, analyzer, clean_name, learn
from tagtopics.corpus.tokenizers import register_tokenizer
from tagtopics.errors import InputError

PLAIN = TextRecipe(stop_words=None)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Topic models, 2nd edition: 1999", ["topic", "models", "2nd", "edition"]),
        ("12 __ _ 3.14 x", []),
        ("snake_case __init__", ["snake_case", "__init__"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("தமிழ் மொழி", ["தமிழ்", "மொழி"]),
        ("می‌خواهم کتاب", ["می‌خواهم", "کتاب"]),
        ("שָׁלוֹם", [unicodedata.normalize("NFC", "שָׁלוֹם")]),
        ("Straße İstanbul ΛΟΓΟΣ", ["straße", "istanbul", "λογος"]),
        ("cafe\u0301", ["café"]),
        ("\u0301 \u0301abc \u200dde\u200d", ["abc", "de"]),
        ("I ❤️ NY 1️⃣", ["ny"]),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert analyzer(PLAIN)(text) == words


def test_case_length_and_stop_words() -> None:
    assert analyzer(TextRecipe())("The CAT is a Cat") == ["cat", "cat"]
    assert analyzer(TextRecipe(lowercase=False))("The Cat") == ["The", "Cat"]
    assert analyzer(TextRecipe(stop_words=None, min_length=3))("a bc def") == ["def"]
    assert analyzer(TextRecipe(stop_words=("E\u0301A",)))("Éa öb") == ["öb"]
    assert analyzer(TextRecipe(token_pattern=r"c\S+"))("c++ c#") == ["c++", "c#"]


def test_learn_counts_words_in_sorted_columns() -> None:
    counts, vocabulary, *_ = learn(["b a b", "c"], TextRecipe(stop_words=None, min_length=1))
    assert vocabulary == ("a", "b", "c")
    assert counts.toarray().tolist() == [[1, 2, 0], [0, 0, 1]]
    assert counts.dtype == "int32"


def test_ngrams_thresholds_and_size() -> None:
    texts = ["red fox", "red dog", "red fox den"]
    recipe = TextRecipe(stop_words=None, ngram_range=(1, 2))
    assert "red fox" in learn(texts, recipe)[1]
    assert learn(texts, replace(recipe, ngram_range=(2, 2), min_df=2))[1] == ("red fox",)
    assert "red" not in learn(texts, replace(recipe, max_df=0.9))[1]
    assert learn(texts, replace(recipe, max_words=1))[1] == ("red",)


def rare_texts(n_docs: int) -> list[str]:
    """Return texts with a word of their own each, a word that two texts share, and one that all share."""
    return [f"common pair{row // 2}x own{row}x" for row in range(n_docs)]


@pytest.mark.parametrize(
    ("n_docs", "least", "n_words"), [(3, 1, 6), (99, 1, 150), (100, 2, 51), (1000, 3, 1)]
)
def test_rare_words_are_left_out_by_default(n_docs: int, least: int, n_words: int) -> None:
    texts = rare_texts(n_docs)
    learned = learn(texts, TextRecipe())
    _, vocabulary, recipe, notices = learned
    assert len(vocabulary) == n_words
    assert recipe == TextRecipe(min_df=least)
    assert parts_of(learn(texts, recipe)) == parts_of(learned)
    assert learn(texts, TextRecipe(min_df=1))[3] == []
    if least == 1:
        assert notices == []
    else:
        (line,) = notices
        share = {2: "100 of 151 words are in fewer than 2 documents and left out, 33.3% of all tokens"}
        share[3] = "1,500 of 1,501 words are in fewer than 3 documents and left out, 66.7% of all tokens"
        assert line == f"{share[least]}; keep them with min_df=1 (--min-df 1)"


def parts_of(learned: Learned) -> tuple[Any, ...]:
    return learned[1], learned[0].toarray().tolist()


def test_rare_words_are_kept_if_there_are_no_others() -> None:
    _, vocabulary, recipe, notices = learn([f"own{row}x" for row in range(200)], TextRecipe())
    assert len(vocabulary) == 200
    assert recipe.min_df == 1
    assert notices == []


def test_apply_counts_what_it_leaves_out() -> None:
    counts, n_unknown = TermCounter(["dog", "cat"], TextRecipe()).count(["cat dog cat", "bird", ""])
    assert counts.toarray().tolist() == [[1, 2], [0, 0], [0, 0]]
    assert n_unknown == 1
    with pytest.raises(InputError, match="vocabulary: a word occurs twice"):
        TermCounter(["cat", "cat"], TextRecipe())


def test_custom_tokenizer() -> None:
    register_tokenizer("hyphens", lambda text: [*text.split("-"), " \n"])
    recipe = TextRecipe(tokenizer="hyphens", lowercase=False, stop_words=None, min_length=1)
    counts, vocabulary, *_ = learn(["The-a", "the"], recipe)
    assert vocabulary == ("The", "a", "the")
    assert counts.sum() == 3
    assert TermCounter(vocabulary, recipe).count(["The-x"])[1] == 1
    register_tokenizer("wrong", lambda text: [1])  # type: ignore[list-item]
    with pytest.raises(InputError, match="tokenizer: must return strings, returned a int"):
        learn(["x"], TextRecipe(tokenizer="wrong"))


@pytest.mark.parametrize(
    ("texts", "recipe", "message"),
    [
        (["the of", "12 3"], TextRecipe(), "text: no words found; all documents are empty or hold only stop"),
        (["cat", "dog"], TextRecipe(min_df=2), r"text: no word occurs in enough .*min_df=2.*lower min_df"),
        (
            ["cat", "dog"],
            TextRecipe(min_df=2, max_df=1),
            r"no word occurs in enough and in few enough of the 2 documents \(min_df=2, max_df=1\)",
        ),
    ],
)
def test_no_words_is_one_clear_line(texts: list[str], recipe: TextRecipe, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        learn(texts, recipe)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ([], "expected a JSON object, got list"),
        ({"colour": 1}, "unknown setting 'colour'"),
        ({"lowercase": 1}, "lowercase must be a valid boolean, not 1"),
        ({"token_pattern": "("}, "token_pattern: not a regular expression"),
        ({"token_pattern": "(a)(b)"}, "token_pattern: may take too long"),
        ({"token_pattern": 3}, "token_pattern must be a valid string"),
        ({"min_length": 0}, "min_length must be greater than or equal to 1, not 0"),
        ({"min_length": True}, "min_length must be a valid integer"),
        ({"ngram_range": [2, 1]}, "ngram_range must ascend"),
        ({"ngram_range": [1]}, "ngram_range"),
        (
            {"stop_words": "klingon"},
            "stop_words must be 'english' or another language",
        ),
        ({"stop_words": [1]}, "stop_words"),
        ({"min_df": -1}, "min_df must be a whole number from 1, or a share"),
        ({"min_df": 0}, "min_df must be a whole number from 1, or a share"),
        ({"max_df": 1.5}, "max_df must be a whole number from 1, or a share"),
        ({"max_df": float("nan")}, "max_df must be"),
        ({"max_words": "many"}, "max_words must be a valid integer"),
    ],
)
def test_hostile_recipes_are_refused(settings: Any, message: str) -> None:
    with pytest.raises(InputError, match=f"text recipe: .*{message}"):
        recipe_from_json(settings)


@given(
    st.builds(
        TextRecipe,
        lowercase=st.booleans(),
        min_length=st.integers(1, 5),
        ngram_range=st.sampled_from([(1, 1), (1, 3)]),
        stop_words=st.one_of(st.none(), st.just("english"), st.lists(st.text()).map(tuple)),
        min_df=st.one_of(st.integers(1, 9), st.floats(0, 1)),
        max_words=st.one_of(st.none(), st.integers(1, 9)),
    )
)
def test_recipe_survives_json(recipe: TextRecipe) -> None:
    assert recipe_from_json(json.loads(json.dumps(recipe_to_json(recipe)))) == recipe


@given(st.text())
def test_words_are_words(text: str) -> None:
    for word in analyzer(PLAIN)(text):
        assert len(word) >= 2
        assert any(character.isalpha() for character in word)
        assert not any(character.isspace() for character in word)
        assert unicodedata.is_normalized("NFC", word)
        assert analyzer(PLAIN)(word) == [word]


@given(st.lists(st.text(), min_size=1, max_size=5))
def test_apply_repeats_learn(texts: list[str]) -> None:
    try:
        counts, vocabulary, *_ = learn(texts, PLAIN)
    except InputError:
        return
    again, n_unknown = TermCounter(vocabulary, PLAIN).count(texts)
    assert n_unknown == 0
    assert (again != counts).nnz == 0


@given(st.text(st.characters()))
def test_names_are_one_line_of_utf8(name: str) -> None:
    clean = clean_name(name)
    assert clean.encode().decode() == clean
    assert clean.splitlines() in ([], [clean])
    assert clean_name(clean) == clean
