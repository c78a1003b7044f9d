"""Where the words of a vocabulary are in texts."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache

from tagtopics.corpus.counting import CompiledCounter
from tagtopics.corpus.patterns import WordPattern, compile_pattern
from tagtopics.corpus.recipe import TextRecipe
from tagtopics.corpus.spans import SpanFinder
from tagtopics.corpus.text import analyzer, default_pattern, fold_case, has_steps

ANY_WORDS = TextRecipe(min_length=1, stop_words=None, min_df=1)
"""Finds words in texts whose own recipe is unknown."""


def normalised_text(text: str, recipe: TextRecipe) -> str:
    """Return a text in the form that the positions of its words count in."""
    if text.isascii():
        return text
    text = unicodedata.normalize("NFC", text)
    folded = fold_case(text) if recipe.lowercase else text
    return text if len(folded) == len(text) else folded


def counter_of(words: Sequence[str]) -> CompiledCounter:
    """Return what counts these words in many texts, wherever they occur, in lower case."""
    return CompiledCounter(ANY_WORDS, words)


def finds_the_same(pattern: re.Pattern[str], text: str) -> bool:
    """Tell whether a pattern finds the same words in a text as the default one of recipes, in lower case.

    Args:
        pattern: one or more characters of a class, which has all of ASCII that words have.
        text: normalised.
    """
    return text.isascii() or all(_is_the_same(pattern, character) for character in set(text))


@cache
def _is_the_same(pattern: re.Pattern[str], character: str) -> bool:
    """Tell whether a character belongs to words for both patterns or for none, and has one in lower case."""
    if character in "\u0130\u200c\u200d" or character > "\uffff":
        return False
    return (pattern.fullmatch(character) is None) == (default_pattern().fullmatch("a" + character) is None)


class TextSpans:
    """Finds the words of a vocabulary in texts, as `SpanFinder` does, but faster where no n-grams are words.

    Args:
        vocabulary: the words, in column order.
        recipe: of the texts that they were learned from.

    Attributes:
        plain: whether `find` finds in ASCII text every run of letters, digits and `_` that is a word, in
            lower case, and nothing else.
    """

    def __init__(self, vocabulary: Sequence[str], recipe: TextRecipe) -> None:
        self._lowercase, pattern = recipe.lowercase, recipe.token_pattern
        self._pattern = WordPattern(default_pattern(), False) if pattern is None else compile_pattern(pattern)
        simple = recipe.ngram_range == (1, 1) and not has_steps(recipe)
        self._finder = None if simple else SpanFinder(vocabulary, recipe)
        words_of, words = analyzer(recipe, None), list(vocabulary)
        if simple and pattern is None and words_of("\n".join(words)) == words:  # much faster than one by one
            self._column = {word: w for w, word in enumerate(words)}
        else:
            self._column = {word: w for w, word in enumerate(words) if words_of(word) == [word]}
        complete = simple and len(self._column) == len(vocabulary)
        self.plain = complete and pattern is None and recipe.lowercase

    def find(self, text: str) -> list[tuple[int, int, int]]:
        """Return start, stop (code points) and column of each word of a normalised text, left to right."""
        if self._finder is not None:
            return [(*span,) for span in self._finder.find(text)[1]]
        folded, column = fold_case(text) if self._lowercase else text, self._column
        spans = self._pattern.spans(folded)
        return [(a, b, column[word]) for a, b in spans if (word := folded[a:b]) in column]
