"""Words without their inflection, so that a name is found in a text in any number and case.

The rules strip endings of nouns and adjectives and nothing else: `policies` and `policy` are one stem,
`policing` is another. They are small tables, not linguistics; see decision 232.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from tagtopics.corpus.text import default_pattern, fold_case

_Rules = tuple[tuple[str, str, int], ...]
"""Ending, what replaces it, and the least number of characters before it; the first that applies is used."""

RULES: Mapping[str, _Rules] = {
    "en": (
        ("yses", "ysis", 2), ("ies", "y", 2), ("sses", "ss", 2), ("ches", "ch", 2), ("shes", "sh", 2),
        ("xes", "x", 2), ("ss", "ss", 0), ("us", "us", 0), ("is", "is", 0), ("s", "", 3),
    ),
    "de": (
        ("innen", "in", 3), ("ungen", "ung", 2), ("heiten", "heit", 2), ("keiten", "keit", 2), ("ern", "", 4),
        ("em", "", 4), ("en", "", 4), ("er", "", 4), ("es", "", 4), ("e", "", 4), ("n", "", 4),
        ("ss", "ss", 0), ("s", "", 4),
    ),
    "fr": (
        ("eaux", "eau", 1), ("aux", "al", 2), ("elles", "el", 2), ("elle", "el", 2), ("es", "", 3),
        ("e", "", 3), ("s", "", 3), ("x", "", 3),
    ),
    "es": (
        ("iones", "ion", 2), ("ces", "z", 2), ("os", "", 3), ("as", "", 3), ("es", "", 3), ("o", "", 3),
        ("a", "", 3), ("e", "", 3),
    ),
    "it": (
        ("chi", "c", 2), ("che", "c", 2), ("ghi", "g", 2), ("ghe", "g", 2), ("ie", "", 3), ("io", "", 3),
        ("ia", "", 3), ("i", "", 3), ("e", "", 3), ("a", "", 3), ("o", "", 3),
    ),
    "pt": (
        ("coes", "cao", 1), ("oes", "ao", 2), ("ais", "al", 2), ("eis", "el", 2), ("ns", "m", 2),
        ("ao", "ao", 0), ("os", "", 3), ("as", "", 3), ("es", "", 3), ("o", "", 3), ("a", "", 3),
        ("e", "", 3),
    ),
    "nl": (("heden", "heid", 2), ("en", "", 4), ("e", "", 4), ("s", "", 4)),
    "sv": (
        ("orna", "", 3), ("arna", "", 3), ("erna", "", 3), ("ande", "ande", 0), ("or", "", 3), ("ar", "", 3),
        ("er", "", 3), ("en", "", 3), ("et", "", 3), ("na", "", 3), ("a", "", 3), ("e", "", 3), ("n", "", 3),
        ("t", "", 4), ("s", "", 3),
    ),
}  # fmt: skip
"""Rules of each language, for words without accents."""

_COMMON: Mapping[str, str] = {
    "en": "the of and in to is for with on that by this from are as an",
    "de": "der die das und von in den mit zu ein eine ist im für auf des",
    "fr": "le la les de des et en un une du dans est pour que sur par",
    "es": "el la los las de y en del que una por con para es se un",
    "it": "il la di e che in un una del della per con le gli dei è",
    "pt": "o a os as de e em do da que uma para com não um por",
    "nl": "de het een van en in is op te met voor dat aan zijn door ook",
    "sv": "och att i en det som på är av för den med till ett om de",
}
"""Words by which a language is recognised."""

COMPOUNDING = frozenset({"de", "nl", "sv"})
"""Languages that write compounds as one word."""

_SAMPLE = 200_000
"""Words that are looked at to tell the language."""

_ACCENTS = str.maketrans({"ß": "ss", "ø": "o", "æ": "ae", "œ": "oe", "ł": "l", "đ": "d"})


class Stemmer:
    """Returns the stems of words of one language; what was computed is remembered.

    Args:
        language: a key of `RULES`; the words of any other language are only folded.
    """

    def __init__(self, language: str) -> None:
        self.language = language
        self._rules = RULES.get(language, ())
        self._stems: dict[str, str] = {}

    def __call__(self, word: str) -> str:
        """Return the stem of a word in lower case."""
        found = self._stems.get(word)
        if found is None:
            found = self._stems[word] = self._stem(word)
        return found

    def _stem(self, word: str) -> str:
        word = without_accents(word)
        for ending, replacement, least in self._rules:
            if word.endswith(ending) and len(word) - len(ending) >= least:
                return word[: len(word) - len(ending)] + replacement
        return word


def without_accents(word: str) -> str:
    """Return a word in lower case without accents: `café` is `cafe`; other scripts keep their marks."""
    if word.isascii():
        return word
    decomposed = unicodedata.normalize("NFD", word.translate(_ACCENTS))
    latin = "".join(c for c in decomposed if not "\u0300" <= c <= "\u036f")
    return unicodedata.normalize("NFC", latin)


def language_of(texts: Iterable[str]) -> str:
    """Return the language of texts, a key of `RULES`, by their most common words; English if unclear."""
    words = (word for text in texts for word in default_pattern().findall(fold_case(text)))
    counts = Counter(islice(words, _SAMPLE))
    found = {language: _share(counts, common.split()) for language, common in _COMMON.items()}
    return max(found, key=lambda language: (found[language], language == "en"))


def _share(counts: Counter[str], common: Sequence[str]) -> float:
    return sum(counts[word] for word in common) / max(counts.total(), 1)
