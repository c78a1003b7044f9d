"""The positions of words in a text: the same words that were counted."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from tagtopics.corpus.recipe import TextRecipe
from tagtopics.corpus.text import default_pattern, fold_case, words_of


class Span(NamedTuple):
    """One word of the vocabulary in a text."""

    start: int  # in code points from the beginning of the text
    stop: int
    word: int  # its column


class SpanFinder:
    """Finds the words of a vocabulary in texts, as a recipe counts them.

    Args:
        vocabulary: the W words, in column order.
        recipe: the recipe that the vocabulary was learnt with.
    """

    def __init__(self, vocabulary: Sequence[str], recipe: TextRecipe) -> None:
        self._column = {word: w for w, word in enumerate(vocabulary)}
        self._recipe = recipe
        pattern = recipe.token_pattern
        self._pattern = default_pattern() if pattern is None else re.compile(pattern)
        self._kept: dict[str, bool] = {}

    def find(self, text: str) -> tuple[str, list[Span]]:
        """Return the text, normalised as the positions need it, and its disjoint spans, left to right.

        If n-grams are words, the longest one at each position is returned.
        """
        text = unicodedata.normalize("NFC", text)
        folded = fold_case(text) if self._recipe.lowercase else text
        if len(folded) != len(text):
            text = folded
        group = self._pattern.groups
        places = [match.span(group) for match in self._pattern.finditer(folded)]
        tokens = [(a, b) for a, b in places if self._is_word(folded[a:b])]
        return text, self._longest(folded, tokens)

    def _longest(self, folded: str, tokens: list[tuple[int, int]]) -> list[Span]:
        smallest, largest = self._recipe.ngram_range
        spans: list[Span] = []
        i = 0
        while i < len(tokens):
            step = 1
            for n in range(min(largest, len(tokens) - i), smallest - 1, -1):
                term = " ".join(folded[a:b] for a, b in tokens[i : i + n])
                if term in self._column:
                    spans.append(Span(tokens[i][0], tokens[i + n - 1][1], self._column[term]))
                    step = n
                    break
            i += step
        return spans

    def _is_word(self, token: str) -> bool:
        """Tell whether the recipe keeps a token: it is long enough, has a letter, and is no stop word."""
        if token not in self._kept:
            self._kept[token] = bool(token) and words_of(token, self._recipe) == [token]
        return self._kept[token]
