"""Positions of words in texts, against `SpanFinder`."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagtopics.corpus.recipe import TextRecipe
from tagtopics.corpus.spans import SpanFinder
from tagtopics.views.spans import TextSpans, normalised_text

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
