"""How text becomes counts: a small value that is saved with every model, so that new text can follow."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from tagtopics.errors import InputError


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

    def __post_init__(self) -> None:
        _require(isinstance(self.lowercase, bool), "lowercase", "true or false", self.lowercase)
        _check_pattern(self.token_pattern)
        _require(_is_count(self.min_length), "min_length", "a whole number from 1", self.min_length)
        _require(
            _is_range(self.ngram_range), "ngram_range", "two whole numbers, 1 <= a <= b", self.ngram_range
        )
        _require(
            _is_stop_list(self.stop_words),
            "stop_words",
            "'english', a tuple of words, or None",
            self.stop_words,
        )
        for name in ("min_df", "max_df"):
            value = getattr(self, name)
            _require(_is_df(value), name, "a whole number from 1, or a share from 0.0 to 1.0", value)
        _require(
            self.max_words is None or _is_count(self.max_words),
            "max_words",
            "a whole number from 1, or None",
            self.max_words,
        )


def recipe_to_json(recipe: TextRecipe) -> dict[str, Any]:
    """Return a recipe as a dictionary of what JSON knows."""
    return {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(recipe).items()}


def recipe_from_json(value: Any) -> TextRecipe:
    """Return the recipe that `recipe_to_json` wrote; anything else is an `InputError`."""
    if not isinstance(value, Mapping):
        raise InputError(f"text recipe: expected a JSON object, got {type(value).__name__}")
    known = {field.name for field in fields(TextRecipe)}
    unknown = sorted(str(name) for name in value if name not in known)
    if unknown:
        raise InputError(
            f"text recipe: unknown setting {unknown[0][:60]!r}; known are {', '.join(sorted(known))}"
        )
    settings: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in value.items()}
    return TextRecipe(**settings)


def _check_pattern(pattern: str | None) -> None:
    if pattern is None:
        return
    _require(isinstance(pattern, str), "token_pattern", "a regular expression or None", pattern)
    try:
        groups = re.compile(pattern).groups
    except (re.error, RecursionError, OverflowError) as error:
        raise InputError(f"text recipe: token_pattern is no regular expression: {error}") from None
    _require(groups <= 1, "token_pattern", "an expression with one group at most", pattern)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _is_range(value: Any) -> bool:
    if not (isinstance(value, tuple) and len(value) == 2 and all(map(_is_count, value))):
        return False
    return bool(value[0] <= value[1])


def _is_stop_list(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(isinstance(word, str) for word in value)
    return value is None or value == "english"


def _is_df(value: Any) -> bool:
    return _is_count(value) or (isinstance(value, float) and 0.0 <= value <= 1.0)


def _require(holds: bool, name: str, expected: str, value: Any) -> None:
    if not holds:
        raise InputError(f"text recipe: {name} must be {expected}, not {repr(value)[:60]}")
