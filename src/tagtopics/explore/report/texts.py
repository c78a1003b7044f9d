"""Interface texts in other languages. The keys of a catalogue are the English texts (`static/texts.js`)."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from importlib.resources import files
from itertools import count
from typing import Any

from tagtopics.errors import InputError

ENGLISH = "en"
LANGUAGES = (ENGLISH, "de")
"""Languages of the pages; each but English has a file in `languages`."""


@lru_cache(maxsize=4)
def catalogue(language: str) -> dict[str, str]:
    """Return the texts of a language by their English ones; none for English."""
    if language not in LANGUAGES:
        raise InputError(f"--language {language}: not known; use one of {', '.join(LANGUAGES)}")
    if language == ENGLISH:
        return {}
    content = files(__package__).joinpath("languages", f"{language}.json").read_text(encoding="utf-8")
    return dict(json.loads(content))


def language_settings(language: str) -> dict[str, Any]:
    """Return what the script of a page has to know of a language."""
    texts = catalogue(language)
    return {"language": language, "texts": texts} if texts else {}


def translated(language: str, english: str, *values: Any) -> str:
    """Return a text in a language, its gaps filled, as T of `static/texts.js` does."""
    text, turn = catalogue(language).get(english, english.partition("@")[0]), count()
    return re.sub(r"\{(\d*)\}", lambda gap: str(values[int(gap[1]) if gap[1] else next(turn)]), text)
