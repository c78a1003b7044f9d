"""Languages: their stop words, and a guess which one a collection is in.

The lists of stop words come from the package `stopwordsiso`, the extra `languages`; the English one from
scikit-learn. The guess needs neither: it counts a few frequent words of each language.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from tagtopics.errors import MissingExtraError

LANGUAGES = {
    "afrikaans": "af", "arabic": "ar", "armenian": "hy", "basque": "eu", "bengali": "bn", "bulgarian": "bg",
    "catalan": "ca", "chinese": "zh", "croatian": "hr", "czech": "cs", "danish": "da", "dutch": "nl",
    "english": "en", "estonian": "et", "finnish": "fi", "french": "fr", "galician": "gl", "german": "de",
    "greek": "el", "hebrew": "he", "hindi": "hi", "hungarian": "hu", "indonesian": "id", "irish": "ga",
    "italian": "it", "japanese": "ja", "korean": "ko", "latin": "la", "latvian": "lv", "lithuanian": "lt",
    "malay": "ms", "marathi": "mr", "norwegian": "no", "persian": "fa", "polish": "pl", "portuguese": "pt",
    "romanian": "ro", "russian": "ru", "slovak": "sk", "slovenian": "sl", "spanish": "es", "swahili": "sw",
    "swedish": "sv", "thai": "th", "turkish": "tr", "ukrainian": "uk", "urdu": "ur", "vietnamese": "vi",
}  # fmt: skip
"""The languages with stop words, and their ISO 639-1 codes."""

_FREQUENT = {
    "english": "the of and to in is that for with are",
    "german": "der die und das ist nicht mit den von ein",
    "french": "le les des est dans une pour que du et",
    "spanish": "el los las del que una por con es y",
    "italian": "il di che della per una sono gli nel è",
    "portuguese": "o os que uma para com não do da em",
    "dutch": "de het een van dat niet met voor zijn en",
    "swedish": "och att det som är för på inte med av",
    "danish": "og det er af til ikke som med på den",
    "norwegian": "og det er av til ikke som med på jeg",
    "finnish": "ja on ei että se oli mutta kun joka ovat",
    "polish": "w i na nie się że do jest z od",
    "czech": "je se na že v s o to jsou není",
    "slovak": "je sa na že v s o to sú nie",
    "hungarian": "a az és hogy nem is egy van ez meg",
    "romanian": "și în de care este cu nu o din pentru",
    "turkish": "ve bir bu da de için ile olarak çok gibi",
    "croatian": "je i u na se da su za od nije",
    "russian": "и в не на что с по это как из",
    "ukrainian": "і в не на що з до це як та",
    "bulgarian": "и на да се е за от не със това",
    "greek": "και το να του της για με είναι που τη",
    "arabic": "في من على أن إلى عن هذا التي الذي ما",
    "persian": "و در به از که این را با است برای",
    "hebrew": "של את על לא הוא זה עם כי היא גם",
    "hindi": "के की है में से को का और पर यह",
    "indonesian": "yang dan di untuk dengan tidak ini dari dalam pada",
    "vietnamese": "và của là có cho không được trong một với",
}
"""Ten of the most frequent words of each language that the guess knows."""

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
        return _english()
    try:
        import stopwordsiso
    except ImportError:
        raise MissingExtraError(f"the list of {language} stop words", "languages") from None
    return frozenset(
        unicodedata.normalize("NFC", word.lower()) for word in stopwordsiso.stopwords(LANGUAGES[language])
    )


def _english() -> frozenset[str]:
    """Return the stop words of scikit-learn."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return frozenset(ENGLISH_STOP_WORDS)


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


def guess_language(texts: Sequence[str]) -> str | None:
    """Return the language whose frequent words are the largest share of the words of texts.

    None if there are few words, or if no language has a share that is clearly above those of unrelated ones.
    """
    words = _words_of(texts)
    shares = _shares(words)
    best = max(shares, key=lambda name: shares[name])
    return best if len(words) >= _LEAST_WORDS and shares[best] >= _LEAST_SHARE else None


def language_code(texts: Sequence[str]) -> str:
    """Return the ISO 639-1 code of the most likely language of texts, however few; English if unclear."""
    shares = _shares(_words_of(texts))
    return LANGUAGES[max(shares, key=lambda name: (shares[name], name == "english"))]


def language_notices(texts: Sequence[str], recipe: Any) -> tuple[list[str], list[str]]:
    """Return lines if a recipe does not fit the language of texts, and those of them to warn of."""
    if recipe.token_pattern is None and recipe.tokenizer is None:
        language = spaceless_language(texts)
        if language is not None:
            line = (
                f"the texts look {language.title()}, which has no spaces between words: sentences become "
                f"words; use tokenizer={language!r} (--tokenizer {language})"
            )
            return [line], [line]
    if not isinstance(recipe.stop_words, str):
        return [], []
    language = guess_language(texts)
    if language in (None, recipe.stop_words) or _is_close(texts, str(language), recipe.stop_words):
        return [], []
    line = (
        f"the texts look {str(language).title()}, but the stop words are {recipe.stop_words.title()}; "
        f"use stop_words={language!r} (--stop-words {language})"
    )
    return [line], []


def _is_close(texts: Sequence[str], best: str, used: str) -> bool:
    """Tell whether the language of the stop words fits texts nearly as well as the best one."""
    shares = _shares(_words_of(texts))
    return used not in shares or shares[best] < _MARGIN * shares[used]


def _words_of(texts: Sequence[str]) -> list[str]:
    """Return the words of a sample of texts, in lower case."""
    return _WORD.findall(unicodedata.normalize("NFC", _sample(texts).lower()))


def _shares(words: Sequence[str]) -> dict[str, float]:
    """Return the share of words that are frequent ones of each language."""
    occurrences = Counter(words)
    return {
        name: sum(occurrences[word] for word in set(frequent.split())) / max(len(words), 1)
        for name, frequent in _FREQUENT.items()
    }


def _sample(texts: Sequence[str]) -> str:
    """Return the beginnings of texts, of all if there are few, about 200,000 characters in total."""
    each = max(_SAMPLE // max(len(texts), 1), 200)
    step = max(len(texts) * min(each, 200) // _SAMPLE, 1)
    return " ".join(text[:each] for text in texts[::step])
