"""Positions of words in texts, against `SpanFinder`."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagtopics.corpus.recipe import TextRecipe
from tagtopics.corpus.spans import SpanFinder
from tagtopics.explore.record.spans import TextSpans, finds_the_same, normalised_text
from tagtopics.explore.report.bodies import PLAIN_WORD

WORDS = ("topic", "model", "the", "naïve", "i\u0307stanbul", "topic model", "x", "42", "Upper", "straße")
PIECES = (
    *("Topic", "model", "the", " ", ", ", "na\u0131ve", "nai\u0308ve", "\u0130stanbul"),
    *("X", "42", "STRASSE", "Upper", "\U0001f600"),
)


@pytest.mark.parametrize(
    "recipe",
    [
        TextRecipe(),
        TextRecipe(stop_words=None, lowercase=False),
        TextRecipe(ngram_range=(1, 2)),
        TextRecipe(token_pattern=r"[a-z]+", min_length=1),
    ],
)
@settings(deadline=None)
@given(pieces=st.lists(st.sampled_from(PIECES)))
def test_spans_are_those_of_the_finder(recipe: TextRecipe, pieces: list[str]) -> None:
    text = "".join(pieces)
    wanted_text, wanted = SpanFinder(WORDS, recipe).find(text)
    normal = normalised_text(text, recipe)
    assert normal == wanted_text
    assert TextSpans(WORDS, recipe).find(normal) == [tuple(span) for span in wanted]


def test_texts_are_plain_only_if_the_page_finds_the_same_words() -> None:
    spans = TextSpans(("naïve", "straße", "topic", "i", "stanbul"), TextRecipe(stop_words=None, min_length=1))
    assert spans.plain
    pieces = ("Topic", "naïve", "\u2019", "\u2014", "\u00b2", "µ", "β", "\u0130stanbul", "e\u0301", "\u200d")
    for one in pieces:
        for other in pieces:
            text = normalised_text(f"topic {one}{other} Straße", TextRecipe())
            words = {word: w for w, word in enumerate(("naïve", "straße", "topic", "i", "stanbul"))}
            page = [
                (*match.span(), words[match.group().lower()])
                for match in PLAIN_WORD.finditer(text)
                if match.group().lower() in words
            ]
            if finds_the_same(PLAIN_WORD, text):
                assert page == spans.find(text)
    assert finds_the_same(PLAIN_WORD, "a naïve \u201ctopic\u201d \u2014 Straße")
    assert not finds_the_same(PLAIN_WORD, "topic\u00b2")
    assert not finds_the_same(PLAIN_WORD, "\u0130stanbul")


def test_vocabularies_with_words_that_a_recipe_does_not_find_are_not_plain() -> None:
    for words in (("topic", "topic model"), ("topic", "Upper"), ("42", "topic"), ("a", "topic")):
        spans = TextSpans(words, TextRecipe())
        assert not spans.plain
        assert [w for *_, w in spans.find("topic model upper a 42")] == [words.index("topic")]
