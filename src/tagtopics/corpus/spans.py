"""Where the words of a vocabulary are in a text."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tagtopics.corpus.phrases import longest_at
from tagtopics.corpus.recipe import TextRecipe
from tagtopics.corpus.text import fold_case, token_finder, token_keeper, word_pattern


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
        self._pattern = word_pattern(recipe)
        self._tokens, self._keep = token_finder(recipe), token_keeper(recipe)
        self._phrases = frozenset(recipe.phrases if isinstance(recipe.phrases, tuple) else ())
        self._most = max((phrase.count(" ") + 1 for phrase in self._phrases), default=1)

    def find(self, text: str) -> tuple[str, list[Span]]:
        """Return the text, normalised as the positions need it, and its disjoint spans, left to right.

        If n-grams are words, the longest one at each position is returned.
        """
        # (1) The text as the tokens are found in it, and its tokens.
        text = unicodedata.normalize("NFC", text)
        folded = fold_case(text) if self._recipe.lowercase else text
        if len(folded) != len(text):
            text = folded
        searched = folded if self._recipe.lemmas is None else text
        places = list(self._places(searched))
        words = [self._keep(searched[a:b]) for a, b in places]
        # (2) Start, stop and counted word of each token or phrase that is kept.
        tokens, i = [], 0
        while i < len(words):
            n = longest_at(words, i, self._most, self._phrases)
            if words[i] is not None:
                tokens.append((places[i][0], places[i + n - 1][1], " ".join(map(str, words[i : i + n]))))
            i += n
        # (3) The longest term of the vocabulary at each place.
        counted, spans, i = [word for _, _, word in tokens], list[Span](), 0
        while i < len(tokens):
            n = longest_at(counted, i, self._recipe.ngram_range[1], self._column)
            word = self._column.get(" ".join(counted[i : i + n]))
            if word is not None:
                spans.append(Span(tokens[i][0], tokens[i + n - 1][1], word))
            i += n
        return text, spans

    def _places(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the places of the tokens; those of a tokenizer are looked for one after the other."""
        if self._recipe.tokenizer is None:
            yield from (match.span() for match in self._pattern.finditer(text))
            return
        at = 0
        for token in self._tokens(text):
            start = text.find(token, at)
            if start >= 0:
                at = start + len(token)
                yield start, at
