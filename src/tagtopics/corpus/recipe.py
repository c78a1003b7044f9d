"""How text becomes counts: a small value that is saved with every model, so that new text can follow."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class TextRecipe:
    """Settings of the step from text to words; `tagtopics.corpus.text` carries them out.

    Attributes:
        lowercase: fold case.
        token_pattern: regular expression of one word; None for the Unicode-safe default.
        min_length: shortest word kept, in characters.
        ngram_range: smallest and largest number of words that make one term.
        stop_words: words left out; "english" for a built-in list.
        min_df: least number (int) or share (float) of documents a word must occur in.
        max_df: most of the same.
        max_words: keep only that many of the most frequent words.
    """

    lowercase: bool = True
    token_pattern: str | None = None
    min_length: int = 2
    ngram_range: tuple[int, int] = (1, 1)
    stop_words: tuple[str, ...] | str | None = "english"
    min_df: int | float = 1
    max_df: int | float = 1.0
    max_words: int | None = None
