"""Words without their inflection, so that a name is found in a text in any number and case.

The rules strip endings of nouns and adjectives and nothing else: `policies` and `policy` are one stem,
`policing` is another. They are small tables, not linguistics; see decision 232.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from functools import lru_cache

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
"""Rules of each language, by its ISO 639-1 code, for words without accents."""

COMPOUNDING = frozenset({"de", "nl", "sv"})
"""Languages that write compounds as one word."""

_ACCENTS = str.maketrans({"ß": "ss", "ø": "o", "æ": "ae", "œ": "oe", "ł": "l", "đ": "d"})


@lru_cache(maxsize=1 << 16)
def stem_word(word: str, language: str) -> str:
    """Return the stem of a word in lower case.

    Args:
        word: in lower case.
        language: a key of `RULES`; the words of any other language are only folded.
    """
    word = without_accents(word)
    for ending, replacement, least in RULES.get(language, ()):
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
