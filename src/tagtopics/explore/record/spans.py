"""Texts in the form that the positions of their words count in."""

from __future__ import annotations

import unicodedata

from tagtopics.corpus.recipe import TextRecipe
from tagtopics.corpus.text import fold_case

ANY_WORDS = TextRecipe(min_length=1, stop_words=None, min_df=1)  # for texts whose own recipe is unknown


def normalised_text(text: str, recipe: TextRecipe) -> str:
    """Return a text as `SpanFinder` returns it."""
    if text.isascii():
        return text
    text = unicodedata.normalize("NFC", text)
    folded = fold_case(text) if recipe.lowercase else text
    return text if len(folded) == len(text) else folded
