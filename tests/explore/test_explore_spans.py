"""Texts of the record, against those that `SpanFinder` returns."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagtopics.corpus.recipe import TextRecipe
from tagtopics.explore.record.spans import SpanFinder, normalised_text

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
def test_positions_count_in_the_same_text(recipe: TextRecipe, pieces: list[str]) -> None:
    text = "".join(pieces)
    normal, spans = SpanFinder(WORDS, recipe).find(text)
    assert normalised_text(text, recipe) == normal
    assert SpanFinder(WORDS, recipe).find(normal) == (normal, spans)
