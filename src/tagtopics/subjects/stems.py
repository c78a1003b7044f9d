"""Words without their inflection, so that a name is found in a text in any number and case.

The rules of `corpus/languages.toml` strip endings of nouns and adjectives and nothing else: `policies` and
`policy` are one stem, `policing` is another. They are small tables, not linguistics; see decision 232.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache

from tagtopics.corpus.recipe import LANGUAGE_TABLE

RULES: Mapping[str, Sequence[tuple[str, str, int]]] = {
    known["code"]: known.get("endings", ()) for known in LANGUAGE_TABLE.values()
}
"""By ISO 639-1 code: ending, what replaces it, and the least number of characters before it.

The first that applies is used, to words without accents.
"""

COMPOUNDING = frozenset(known["code"] for known in LANGUAGE_TABLE.values() if "compounds" in known)
"""Languages that write compounds as one word."""

_ACCENTS = str.maketrans({"ß": "ss", "ø": "o", "æ": "ae", "œ": "oe", "ł": "l", "đ": "d"})


@lru_cache(maxsize=1 << 16)
def stem_word(word: str, language: str) -> str:
    """Return the stem of a word in lower case.

    Args:
        word: in lower case.
        language: an ISO 639-1 code; the words of languages without endings are only folded.
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
