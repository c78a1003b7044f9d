"""Where the words of a vocabulary are in a text."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

from tagtopics.corpus.recipe import TextRecipe
from tagtopics.corpus.text import fold_case, token_finder, token_keeper, word_pattern


def normalised_text(text: str, recipe: TextRecipe) -> str:
    """Return a text in which the places of tokens are those in the text that they are found in."""
    if text.isascii():
        return text
    text = unicodedata.normalize("NFC", text)
    folded = fold_case(text) if recipe.lowercase else text
    return text if len(folded) == len(text) else folded


class SpanFinder:
    """Finds the words of a vocabulary in texts, as the recipe counts them that it was learnt with."""

    def __init__(self, vocabulary: Sequence[str], recipe: TextRecipe) -> None:
        self._column = {word: w for w, word in enumerate(vocabulary)}
        self._recipe = recipe
        self._pattern = word_pattern(recipe)
        self._tokens, self._keep = token_finder(recipe), token_keeper(recipe)

    def find(self, text: str) -> tuple[str, list[tuple[int, int, int]]]:
        """Return the text, normalised as the positions need it, and its disjoint spans, left to right.

        A span is start and stop, in code points from the beginning of the text, and the column of its word.
        If n-grams are words, the longest one at each position is returned.
        """
        # (1) The text as the tokens are found in it, and the counted tokens with their places.
        text = normalised_text(text, self._recipe)
        folded = fold_case(text) if self._recipe.lowercase else text
        found = ((start, stop, folded[start:stop]) for start, stop in self._places(folded))
        tokens = [token for token in found if self._keep(token[2])]
        # (2) The longest term of the vocabulary at each place.
        spans, i, longest = list[tuple[int, int, int]](), 0, self._recipe.ngram_range[1]
        while i < len(tokens):
            run = [word for _, _, word in tokens[i : i + longest]]
            sizes = (n for n in range(len(run), 0, -1) if " ".join(run[:n]) in self._column)
            n = next(sizes, 0)
            if n:
                spans.append((tokens[i][0], tokens[i + n - 1][1], self._column[" ".join(run[:n])]))
            i += max(n, 1)
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
