"""The settings of reading that a model keeps: how text becomes words, and which columns hold what.

Languages are settings, too. The lists of stop words come from the package `stopwordsiso`, the extra
`languages`; the English one from scikit-learn. The guess which language texts are in needs neither: it counts
a few frequent words of each.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from importlib.resources import files
from typing import Annotated, Any, get_type_hints

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, create_model

from tagtopics.corpus.patterns import compile_pattern
from tagtopics.errors import InputError, MissingExtraError, Unusual, one_line

LANGUAGE_TABLE: Mapping[str, Mapping[str, Any]] = tomllib.loads(
    files("tagtopics.corpus").joinpath("languages.toml").read_text(encoding="utf-8")
)
LANGUAGES = {name: str(known["code"]) for name, known in LANGUAGE_TABLE.items()}
"""The languages with stop words, and their ISO 639-1 codes."""


def _rule(holds: Callable[[Any], bool], message: str) -> AfterValidator:
    def check(value: Any) -> Any:
        if not holds(value):
            raise ValueError(message)
        return value

    return AfterValidator(check)


Pattern = Annotated[str, AfterValidator(lambda pattern: compile_pattern(pattern).pattern)]
Count = Annotated[int, Field(ge=1)]
_Length = Annotated[int, Field(ge=1, le=10)]
Range = Annotated[tuple[_Length, _Length], _rule(lambda ends: ends[0] <= ends[1], "must ascend")]
Frequency = Annotated[
    int | float,
    _rule(
        lambda value: value >= 1 if isinstance(value, int) else 0 <= value <= 1,
        "must be a whole number from 1, or a share from 0.0 to 1.0",
    ),
]
StopWords = Annotated[
    tuple[str, ...] | str | None,
    _rule(
        lambda words: not isinstance(words, str) or words in LANGUAGES,
        "must be 'english' or another language, a tuple of words, or None",
    ),
]


@dataclass(frozen=True, kw_only=True)
class TextRecipe:
    """The settings with which text becomes words; see `tagtopics.corpus.text`.

    Attributes:
        lowercase: fold case.
        token_pattern: regular expression of one word, such as `[a-z]+`; None for the Unicode-safe default.
            One that may take long on some texts, such as `(a+)+`, is refused.
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
    """

    lowercase: bool = True
    token_pattern: Pattern | None = None
    min_length: Count = 2
    ngram_range: Range = (1, 1)
    stop_words: StopWords = "english"
    min_df: Frequency | None = None
    max_df: Frequency = 1.0
    max_words: Count | None = None
    strip_html: bool = True
    tokenizer: str | None = None

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


_HINTS = get_type_hints(TextRecipe, include_extras=True)
_FIELDS: dict[str, Any] = {f.name: (_HINTS[f.name], f.default) for f in fields(TextRecipe)}
_SETTINGS = create_model("TextRecipe", __config__=ConfigDict(strict=True, extra="forbid"), **_FIELDS)


def _validate(settings: Mapping[str, Any]) -> None:
    try:
        _SETTINGS.model_validate(dict(settings))
    except ValidationError as error:
        raise InputError(f"text recipe: {one_line(error)}") from None


class Columns(BaseModel):
    """The columns that a corpus was read from; `read_corpus(..., columns=model.columns_)` uses them again.

    Attributes:
        text: the column of the text, or several.
        tags: the column of the tags; several if tags have kinds; None without tags.
        id: the column of the documents' names, None if there was none.
        label: the column of the classes, likewise.
        title: the column of the titles, likewise.
        date: the column of the dates, likewise.
        url: the column of the addresses, likewise.
        separators: what divides tags, by column of tags: any of these strings. A column without an entry has
            one tag per cell, or lists.
    """

    model_config = ConfigDict(frozen=True)

    text: str | tuple[str, ...] | None = None
    tags: str | tuple[str, ...] | None = None
    id: str | None = None
    label: str | None = None
    title: str | None = None
    date: str | None = None
    url: str | None = None
    separators: dict[str, tuple[str, ...]] = Field(default_factory=dict)

    def separators_of(self, column: str) -> tuple[str, ...] | None:
        """Return what divides the tags of a column; a new name stands for the only column there was."""
        if column not in self.separators and len(self.separators) == 1:
            return next(iter(self.separators.values()))
        return self.separators.get(column)

    def without_tags(self) -> Columns:
        """Return the columns for a question that needs no tags: that they are missing is no notice."""
        return self.model_copy(update={"tags": None, "separators": {}})

    def used(self) -> frozenset[str]:
        """Return the columns that hold something else than tags; dates may well be tags, too."""
        text = (self.text,) if isinstance(self.text, str) else self.text or ()
        return frozenset(name for name in (*text, self.id, self.label, self.title, self.url) if name)


# ---------------------------------------------------------------------------------------------- languages

_FREQUENT = {
    name: frozenset(known["frequent"].split())
    for name, known in LANGUAGE_TABLE.items()
    if "frequent" in known
}
_SPACELESS = (
    ("japanese", re.compile(r"[\u3041-\u30ff]")),
    ("chinese", re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")),
    ("thai", re.compile(r"[\u0e01-\u0e5b]")),
)
_SEGMENTED_SHARE, _KANA_SHARE = 0.3, 0.1
_SAMPLE, _LEAST_WORDS, _LEAST_SHARE, _MARGIN = 200_000, 50, 0.06, 1.5
_WORD = re.compile(r"[^\W\d_]+(?:[\u0300-\u036f\u0900-\u0963]+[^\W\d_]*)*")


@lru_cache(maxsize=4)
def words_of_language(language: str) -> frozenset[str]:
    """Return the stop words of a language of `LANGUAGES`, in lower case, NFC."""
    if language == "english":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return frozenset(ENGLISH_STOP_WORDS)
    try:
        import stopwordsiso
    except ImportError:
        raise MissingExtraError(f"the list of {language} stop words", "languages") from None
    words = stopwordsiso.stopwords(LANGUAGES[language])
    return frozenset(unicodedata.normalize("NFC", word.lower()) for word in words)


def spaceless_language(texts: Sequence[str]) -> str | None:
    """Return "chinese", "japanese" or "thai" if texts are written so, without spaces between words."""
    sample = _sample(texts)
    n_letters = 0 if sample.isascii() else sum(map(str.isalpha, sample))
    if not n_letters:
        return None
    shares = {name: len(pattern.findall(sample)) / n_letters for name, pattern in _SPACELESS}
    if shares["japanese"] + shares["chinese"] >= _SEGMENTED_SHARE:
        return "japanese" if shares["japanese"] >= _KANA_SHARE else "chinese"
    return "thai" if shares["thai"] >= _SEGMENTED_SHARE else None


def guess_language(texts: Sequence[str], known: str | None = None) -> str | None:
    """Return the language whose frequent words are the largest share of the words of texts.

    None if there are few words, or if no language has a share that is clearly above those of unrelated ones.
    The `known` language is returned unless another one clearly fits better.
    """
    shares, n_words = _shares(texts)
    best = max(shares, key=lambda name: shares[name])
    if n_words < _LEAST_WORDS or shares[best] < _LEAST_SHARE:
        return None
    close = known is not None and (known not in shares or shares[best] < _MARGIN * shares[known])
    return known if close else best


def language_code(texts: Sequence[str]) -> str:
    """Return the ISO 639-1 code of the most likely language of texts, however few; English if unclear."""
    shares, _ = _shares(texts)
    return LANGUAGES[max(shares, key=lambda name: (shares[name], name == "english"))]


def language_notices(texts: Sequence[str], recipe: TextRecipe) -> list[str]:
    """Return a line if a recipe does not fit the language of texts."""
    if recipe.token_pattern is None and recipe.tokenizer is None:
        language = spaceless_language(texts)
        if language is not None:
            look = f"the texts look {language.title()}, which has no spaces between words"
            use = f"use tokenizer={language!r} (--tokenizer {language})"
            return [Unusual(f"{look}: sentences become words; {use}")]
    if not isinstance(recipe.stop_words, str):
        return []
    language = guess_language(texts, recipe.stop_words)
    if language in (None, recipe.stop_words):
        return []
    return [
        f"the texts look {str(language).title()}, but the stop words are {recipe.stop_words.title()}; "
        f"use stop_words={language!r} (--stop-words {language})"
    ]


def _shares(texts: Sequence[str]) -> tuple[dict[str, float], int]:
    """Return the share of frequent words of each language among the words of a sample, and their number."""
    words = Counter(_WORD.findall(unicodedata.normalize("NFC", _sample(texts).lower())))
    n_words = words.total()
    return {
        name: sum(words[word] for word in frequent) / max(n_words, 1) for name, frequent in _FREQUENT.items()
    }, n_words


def _sample(texts: Sequence[str]) -> str:
    """Return the beginnings of texts, of all if there are few, about 200,000 characters in total."""
    each = max(_SAMPLE // max(len(texts), 1), 200)
    step = max(len(texts) * min(each, 200) // _SAMPLE, 1)
    return " ".join(text[:each] for text in texts[::step])
