r"""Regular expressions of words whose time is linear in the length of the text.

Python's `re` tries the ways to match one after the other and cannot be interrupted, and a pattern may come
from a model of somebody else. So a pattern is a word or several alternatives, and a word is

    some single characters, a run of one set of characters, and runs after characters that join them

as in `#?\w+`, `\b[a-z]{3,}\b` or `\w+(?:[-']\w+)*`. Only the first part may fail: nothing that must match
comes after a run. The exception is `\b`, with another one before the word: then a start inside a run would
have been an end of it. Decision 294.
"""

from __future__ import annotations

import re
from functools import lru_cache

MOST_CHARACTERS = 200  # of a pattern
_MOST_OPTIONAL = 6  # question marks, each of which may double the ways to match

_ESCAPE = r"\\(?:[wWdDsSntr]|u[0-9a-fA-F]{4}|[^a-zA-Z0-9])"
_LITERAL = r"[^\\\[\](){}|.^$*+?]"
_SET = rf"(?:{_ESCAPE}|{_LITERAL}|\[(?!\^\])(?:{_ESCAPE}|[^\[\]\\])+\])"
_JOINING = rf"{_LITERAL}|\[-?[^\[\]\\^-]*-?\]"  # a set without ranges
_COUNT = r"(?:\+|\{\d{1,2}(?:,\d{0,2})?\})"
_WORD = re.compile(
    rf"(?P<begin>\\b)?(?:{_SET}\??)*?(?P<run>{_SET}){_COUNT}?"
    rf"(?:(?P<end>\\b)|\(\?:(?P<joining>{_JOINING})(?P<more>{_SET}){_COUNT}\)[*?])?"
)
_BAR = re.compile(r"\|(?![^\[]*\])")  # outside of sets


@lru_cache(maxsize=64)
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Return a pattern that takes linear time; a `ValueError` says why another one is refused."""
    if len(pattern) > MOST_CHARACTERS:
        raise ValueError(f"longer than {MOST_CHARACTERS:,} characters")
    try:
        compiled = re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"not a regular expression ({error})") from None
    words = _BAR.split(pattern.removeprefix("(?u)"))
    if pattern.count("?") > _MOST_OPTIONAL or not all(map(_is_linear, words)):
        raise ValueError(
            r"may take too long on some texts; use a run of characters such as [a-z]+, \S+, \b\w\w+\b or "
            r"\w+(?:[-']\w+)*, or a tokenizer of your own (register_tokenizer)"
        )
    return compiled


def _is_linear(word: str) -> bool:
    """Tell whether the pattern of a word is one of those that the module describes."""
    found = _WORD.fullmatch(word)
    if found is None or (found["end"] and not found["begin"]):
        return False
    joining = (found["joining"] or "").strip("[]")
    return not any(re.fullmatch(run, mark) for mark in joining for run in (found["run"], found["more"]))
