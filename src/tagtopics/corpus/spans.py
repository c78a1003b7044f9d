"""Where the words of a vocabulary are in a text."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from tagtopics.corpus.patterns import WordPattern, compile_pattern
from tagtopics.corpus.phrases import longest_at
from tagtopics.corpus.recipe import TextRecipe
from tagtopics.corpus.text import (
    analyzer,
    default_pattern,
    fold_case,
    has_steps,
    token_finder,
    token_keeper,
)


class Span(NamedTuple):
    """One word of the vocabulary in a text."""

    start: int  # in code points from the beginning of the text
    stop: int
    word: int  # its column


class SpanFinder:
    """Finds the words of a vocabulary in texts, as the recipe counts them that it was learnt with."""

    def __init__(self, vocabulary: Sequence[str], recipe: TextRecipe) -> None:
        self._column = {word: w for w, word in enumerate(vocabulary)}
        self._recipe = recipe
        pattern = recipe.token_pattern
        self._pattern = WordPattern(default_pattern(), False) if pattern is None else compile_pattern(pattern)
        self._steps = has_steps(recipe)
        if self._steps:
            self._tokens, self._keep = token_finder(recipe), token_keeper(recipe)
            self._phrases = frozenset(recipe.phrases if isinstance(recipe.phrases, tuple) else ())
        self._words_of = analyzer(replace(recipe, ngram_range=(1, 1)), None)
        self._kept: dict[str, bool] = {}  # of words of the vocabulary only: texts of strangers are endless

    def find(self, text: str) -> tuple[str, list[Span]]:
        """Return the text, normalised as the positions need it, and its disjoint spans, left to right.

        If n-grams are words, the longest one at each position is returned.
        """
        text = unicodedata.normalize("NFC", text)
        folded = fold_case(text) if self._recipe.lowercase else text
        if len(folded) != len(text):
            text = folded
        if self._steps:
            return text, self._longest(self._merge_phrases(folded if self._recipe.lemmas is None else text))
        tokens = [(a, b) for a, b in self._pattern.spans(folded) if self._is_word(folded[a:b])]
        return text, self._longest([(a, b, folded[a:b]) for a, b in tokens])

    def _merge_phrases(self, folded: str) -> list[tuple[int, int, str]]:
        """Return start, stop and counted word of each token or phrase that is kept."""
        places = list(self._places(folded))
        words = [self._keep(folded[a:b]) for a, b in places]
        most = max((phrase.count(" ") + 1 for phrase in self._phrases), default=1)
        merged, i = [], 0
        while i < len(words):
            n = longest_at(words, i, most, self._phrases)
            if words[i] is not None:
                merged.append((places[i][0], places[i + n - 1][1], " ".join(map(str, words[i : i + n]))))
            i += n
        return merged

    def _places(self, folded: str) -> Iterator[tuple[int, int]]:
        """Yield the places of the tokens; those of a tokenizer are looked for one after the other."""
        if self._recipe.tokenizer is None:
            yield from self._pattern.spans(folded)
            return
        at = 0
        for token in self._tokens(folded):
            start = folded.find(token, at)
            if start >= 0:
                at = start + len(token)
                yield start, at

    def _longest(self, tokens: list[tuple[int, int, str]]) -> list[Span]:
        smallest, largest = self._recipe.ngram_range
        spans: list[Span] = []
        i = 0
        while i < len(tokens):
            step = 1
            for n in range(min(largest, len(tokens) - i), smallest - 1, -1):
                term = " ".join(word for _, _, word in tokens[i : i + n])
                if term in self._column:
                    spans.append(Span(tokens[i][0], tokens[i + n - 1][1], self._column[term]))
                    step = n
                    break
            i += step
        return spans

    def _is_word(self, token: str) -> bool:
        """Tell whether the recipe keeps a token: it is long enough, has a letter, and is no stop word.

        Without n-grams, tokens outside the vocabulary make no difference and are not kept.
        """
        if token in self._kept:
            return self._kept[token]
        known = token in self._column
        if not known and self._recipe.ngram_range == (1, 1):
            return False
        kept = bool(token) and self._words_of(token) == [token]
        if known:
            self._kept[token] = kept
        return kept
