"""The settings with which text becomes words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Annotated, Any, get_type_hints

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, create_model

from tagtopics.corpus.languages import LANGUAGES
from tagtopics.corpus.patterns import compile_pattern
from tagtopics.errors import InputError, one_line


def _check_pattern(pattern: str) -> str:
    compile_pattern(pattern)
    return pattern


def _check_range(values: tuple[int, int]) -> tuple[int, int]:
    if values[0] > values[1]:
        raise ValueError("must ascend")
    return values


def _check_frequency(value: int | float) -> int | float:
    if not (value >= 1 if isinstance(value, int) else 0 <= value <= 1):
        raise ValueError("must be a whole number from 1, or a share from 0.0 to 1.0")
    return value


def _check_stop_words(words: tuple[str, ...] | str | None) -> tuple[str, ...] | str | None:
    if isinstance(words, str) and words not in LANGUAGES:
        raise ValueError("must be 'english' or another language, a tuple of words, or None")
    return words


def _check_language(name: str) -> str:
    if name not in LANGUAGES:
        raise ValueError(f"must be one of {', '.join(LANGUAGES)}")
    return name


Count = Annotated[int, Field(ge=1)]
_Length = Annotated[int, Field(ge=1, le=10)]
Frequency = Annotated[int | float, AfterValidator(_check_frequency)]


@dataclass(frozen=True, kw_only=True)
class TextRecipe:
    """The settings with which text becomes words; see `tagtopics.corpus.text`.

    Attributes:
        lowercase: fold case.
        token_pattern: regular expression of one word; None for the Unicode-safe default. One that would take
            too long on some texts, such as `(a+)+`, is refused.
        min_length: shortest word kept, in characters.
        ngram_range: smallest and largest number of words that make one term, at most 10.
        stop_words: words to leave out; "english" for a built-in list, or another language (extra
            `languages`).
        min_df: least number (int) or share (float) of documents that a word must occur in. None for 3 if
            there are 1,000 documents or more, 2 if there are 100 or more, else 1; the recipe of a corpus
            says which.
        max_df: most documents, likewise.
        max_words: keep only this many of the most frequent words.
        strip_html: remove HTML elements and entities from texts before words are found.
        tokenizer: name of a tokenizer that splits text instead of the pattern: "chinese", "japanese",
            "thai" (extras of the same names), or one of `register_tokenizer`.
        lemmas: language, such as "german", whose words are counted in their dictionary form (extra
            `languages`).
        phrases: count phrases, such as "neural network", as one word: True to find them in the corpus, whose
            recipe then has a tuple of them.
    """

    lowercase: bool = True
    token_pattern: Annotated[str, AfterValidator(_check_pattern)] | None = None
    min_length: Count = 2
    ngram_range: Annotated[tuple[_Length, _Length], AfterValidator(_check_range)] = (1, 1)
    stop_words: Annotated[tuple[str, ...] | str | None, AfterValidator(_check_stop_words)] = "english"
    min_df: Frequency | None = None
    max_df: Frequency = 1.0
    max_words: Count | None = None
    strip_html: bool = True
    tokenizer: str | None = None
    lemmas: Annotated[str, AfterValidator(_check_language)] | None = None
    phrases: bool | tuple[str, ...] = False

    def __post_init__(self) -> None:
        _validate(vars(self))


def recipe_to_json(recipe: TextRecipe) -> dict[str, Any]:
    """Return a recipe as a dictionary for JSON."""
    return {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(recipe).items()}


def recipe_from_json(value: Any) -> TextRecipe:
    """Return the recipe that `recipe_to_json` wrote; anything else is an `InputError`."""
    if not isinstance(value, Mapping):
        raise InputError(f"text recipe: expected a JSON object, got {type(value).__name__}")
    settings: dict[str, Any] = {
        str(name): tuple(v) if isinstance(v, list) else v for name, v in value.items()
    }
    _validate(settings)
    return TextRecipe(**settings)


def _settings_model() -> type[BaseModel]:
    hints = get_type_hints(TextRecipe, include_extras=True)
    settings: dict[str, Any] = {f.name: (hints[f.name], f.default) for f in fields(TextRecipe)}
    return create_model("TextRecipe", __config__=ConfigDict(strict=True, extra="forbid"), **settings)


_SETTINGS = _settings_model()


def _validate(settings: Mapping[str, Any]) -> None:
    try:
        _SETTINGS.model_validate(dict(settings))
    except ValidationError as error:
        raise InputError(f"text recipe: {one_line(error)}") from None
