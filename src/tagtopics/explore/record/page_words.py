r"""How a page finds the words of a text: the pattern of a recipe as a regular expression of JavaScript.

The languages of regular expressions differ: `\w` is ASCII in JavaScript and Unicode in Python. So the
pattern is written from its parsed form, with sets of Unicode properties that mean the same.
"""

from __future__ import annotations

import importlib
from typing import Any

from tagtopics.corpus.recipe import TextRecipe
from tagtopics.corpus.text import stop_words

_SETS = {
    "DIGIT": r"\p{Nd}",
    "SPACE": r"\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000",
    "WORD": r"\p{L}\p{N}_",
}
"""What `\\d`, `\\s` and `\\w` match in Python."""

_BOUNDARY = r"(?:(?<=[{0}])(?![{0}])|(?<![{0}])(?=[{0}]))".format(_SETS["WORD"])


def page_obstacle(recipe: TextRecipe | None) -> str | None:
    """Return why a page cannot find words as a recipe does, for its readers; None if it can."""
    if recipe is None:
        return "counts"
    if recipe.tokenizer is not None:
        return "tokenizer"
    return None if recipe.lemmas is None else "lemmas"


def word_settings(recipe: TextRecipe) -> dict[str, Any]:
    """Return how a page finds words as a recipe does, which `page_obstacle` says it can."""
    pattern = recipe.token_pattern
    return {
        "lowercase": recipe.lowercase,
        "pattern": None if pattern is None else {"source": page_pattern(pattern)},  # flags `dgu`
        "shortest": recipe.min_length,
        "ngrams": list(recipe.ngram_range),
        "stop": sorted(stop_words(recipe)),
    }


def page_pattern(pattern: str) -> str:
    """Return a pattern that `corpus/patterns.py` accepts as a regular expression of JavaScript."""
    return _sequence(importlib.import_module("re._parser").parse(pattern))


def _sequence(nodes: Any) -> str:
    return "".join(_part(str(kind), value) for kind, value in nodes)


def _part(kind: str, value: Any) -> str:
    """Return a part of a parsed pattern; there are no others in those that are accepted."""
    if kind == "LITERAL":
        return _escaped(value)
    if kind == "NOT_LITERAL":
        return f"[^{_escaped(value)}]"
    if kind == "IN":
        parts = [f"[{_set(str(what), of)}]" for what, of in value if str(what) != "NEGATE"]
        negated = str(value[0][0]) == "NEGATE"
        return f"(?:(?!{'|'.join(parts)})[^])" if negated else f"(?:{'|'.join(parts)})"
    if kind == "AT":
        return _BOUNDARY
    if kind == "SUBPATTERN":
        return f"(?:{_sequence(value[-1])})"
    if kind == "BRANCH":
        return f"(?:{'|'.join(map(_sequence, value[1]))})"
    least, most, nodes = value  # of a repetition
    return f"(?:{_sequence(nodes)}){{{least},{'' if str(most) == 'MAXREPEAT' else most}}}"


def _set(kind: str, value: Any) -> str:
    """Return the inside of a set of characters."""
    if kind == "LITERAL":
        return _escaped(value)
    if kind == "RANGE":
        return f"{_escaped(value[0])}-{_escaped(value[1])}"
    name = str(value).removeprefix("CATEGORY_")
    return ("^" if name.startswith("NOT_") else "") + _SETS[name.removeprefix("NOT_")]


def _escaped(point: int) -> str:
    return f"\\u{{{point:x}}}"
