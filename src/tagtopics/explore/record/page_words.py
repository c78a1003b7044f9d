r"""How a page finds the words of a text: the pattern of a recipe as a regular expression of JavaScript.

The languages of regular expressions differ: `\w` is ASCII in JavaScript and Unicode in Python. So the
pattern is written from its parsed form, with sets of Unicode properties that mean the same.
"""

from __future__ import annotations

import importlib
import re
from typing import Any

from tagtopics.corpus.recipe import TextRecipe
from tagtopics.corpus.text import stop_words

_SETS = {
    "DIGIT": r"\p{Nd}",
    "SPACE": r"\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000",
    "WORD": r"\p{L}\p{N}_",
}
"""What `\\d`, `\\s` and `\\w` match in Python."""

_EDGES = {
    "AT_BEGINNING": r"(?<![^])",
    "AT_BEGINNING_STRING": r"(?<![^])",
    "AT_END": r"(?=\n?(?![^]))",
    "AT_END_STRING": r"(?![^])",
    "AT_BOUNDARY": r"(?:(?<=[{0}])(?![{0}])|(?<![{0}])(?=[{0}]))".format(_SETS["WORD"]),
    "AT_NON_BOUNDARY": r"(?:(?<=[{0}])(?=[{0}])|(?<![{0}])(?![{0}]))".format(_SETS["WORD"]),
}


class _UntranslatableError(Exception):
    """A part that JavaScript has no counterpart for."""


def page_obstacle(recipe: TextRecipe | None) -> str | None:
    """Return why a page cannot find words as a recipe does, for its readers; None if it can."""
    if recipe is None:
        return "counts"
    if recipe.tokenizer is not None:
        return "tokenizer"
    if recipe.lemmas is not None:
        return "lemmas"
    if recipe.token_pattern is not None and page_pattern(recipe.token_pattern) is None:
        return "pattern"
    return None


def word_settings(recipe: TextRecipe) -> dict[str, Any]:
    """Return how a page finds words as a recipe does, which `page_obstacle` says it can."""
    return {
        "lowercase": recipe.lowercase,
        "pattern": None if recipe.token_pattern is None else page_pattern(recipe.token_pattern),
        "shortest": recipe.min_length,
        "ngrams": list(recipe.ngram_range),
        "stop": sorted(stop_words(recipe)),
    }


def page_pattern(pattern: str) -> str | None:
    """Return a pattern for JavaScript (flags `dgu`); None if there is none. Texts are searched whole."""
    parsed = importlib.import_module("re._parser").parse(pattern)
    if parsed.state.flags & ~(re.UNICODE | re.VERBOSE):
        return None
    try:
        return _sequence(parsed)
    except _UntranslatableError:
        return None


def _sequence(nodes: Any) -> str:
    return "".join(_part(str(kind), value) for kind, value in nodes)


def _part(kind: str, value: Any) -> str:
    if kind in ("LITERAL", "NOT_LITERAL", "ANY", "IN"):
        return _character(kind, value)
    if kind == "AT" and str(value) in _EDGES:
        return _EDGES[str(value)]
    if kind == "SUBPATTERN":
        group, _, _, nodes = value
        return f"{'(?:' if group is None else '('}{_sequence(nodes)})"
    if kind == "BRANCH":
        return f"(?:{'|'.join(_sequence(nodes) for nodes in value[1])})"
    if kind in ("MAX_REPEAT", "MIN_REPEAT"):
        least, most, nodes = value
        above = "" if str(most) == "MAXREPEAT" else most
        return f"(?:{_sequence(nodes)}){{{least},{above}}}{'?' if kind == 'MIN_REPEAT' else ''}"
    if kind in ("ASSERT", "ASSERT_NOT"):
        direction, nodes = value
        return f"(?{'<' if direction < 0 else ''}{'=' if kind == 'ASSERT' else '!'}{_sequence(nodes)})"
    raise _UntranslatableError(kind)


def _character(kind: str, value: Any) -> str:
    """Return a part of one character."""
    if kind == "LITERAL":
        return _escaped(value)
    if kind == "NOT_LITERAL":
        return f"[^{_escaped(value)}]"
    if kind == "ANY":
        return r"[^\n]"
    items = [(str(what), of) for what, of in value]
    parts = [f"[{_set(what, of)}]" for what, of in items if what != "NEGATE"]
    if items[0][0] == "NEGATE":
        return f"(?:(?!{'|'.join(parts)})[^])"
    return f"(?:{'|'.join(parts)})"


def _set(kind: str, value: Any) -> str:
    """Return the inside of a set of characters."""
    if kind == "LITERAL":
        return _escaped(value)
    if kind == "RANGE":
        return f"{_escaped(value[0])}-{_escaped(value[1])}"
    if kind == "CATEGORY":
        name = str(value).removeprefix("CATEGORY_")
        if name.removeprefix("NOT_") in _SETS:
            return f"{'^' if name.startswith('NOT_') else ''}{_SETS[name.removeprefix('NOT_')]}"
    raise _UntranslatableError(kind)


def _escaped(point: int) -> str:
    return f"\\u{{{point:x}}}"
