"""Regular expressions of words, with a bound on their time.

Python's `re` tries the ways to match one after the other, so `(a+)+$` takes time exponential in the length of
a text. A pattern may come from a model of somebody else; therefore it must be decided by the next character:
what may follow a part that repeats, is optional or is an alternative does not begin with a character that
the part itself may begin with. Then a match takes time linear in its length. A few exceptions
(`MOST_CHOICES`) are allowed, which multiply the time. If the pattern can still fail after a long part, each
position of a text may cost as much as the rest of the text, so it is searched in pieces of `PIECE`
characters, cut at white space. Decision 096.
"""

from __future__ import annotations

import importlib
import math
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

MOST_CHARACTERS = 1000
"""The longest pattern."""

MOST_CHOICES = 8
"""The most ways to match that may begin with equal characters, multiplied."""

PIECE = 1000
"""The longest piece of a text that is searched at a time, if a match may fail late."""

_REASON = (
    "would take too long on some texts: a part that repeats, or one of several alternatives, must not be "
    r"followed by what begins with the same character, as in (a+)+ or \w*\w"
)
_Set = npt.NDArray[np.bool_]  # which characters of `_Check.alphabet`


class WordPattern(NamedTuple):
    """A compiled pattern of one word."""

    pattern: re.Pattern[str]
    in_pieces: bool

    def words(self, text: str) -> list[str]:
        """Return the words of a text: the matches of the group, if there is one."""
        return [word for piece in self._pieces(text) for word in self.pattern.findall(text, *piece)]

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return where the words of a text begin and end."""
        group = self.pattern.groups
        return [
            match.span(group) for piece in self._pieces(text) for match in self.pattern.finditer(text, *piece)
        ]

    def _pieces(self, text: str) -> Iterator[tuple[int, int]]:
        start, size = 0, PIECE if self.in_pieces else len(text) or 1
        while start < len(text):
            stop = start + size
            if stop < len(text):
                stop = 1 + max(text.rfind(space, start, stop) for space in " \n\t") or stop
            yield start, stop
            start = stop


@lru_cache(maxsize=64)
def compile_pattern(pattern: str) -> WordPattern:
    """Return a pattern whose time is bounded; a `ValueError` says why another one is refused."""
    if len(pattern) > MOST_CHARACTERS:
        raise ValueError(f"longer than {MOST_CHARACTERS:,} characters")
    try:
        compiled = re.compile(pattern)
        parsed = importlib.import_module("re._parser").parse(pattern)
        check = _Check(parsed)
        choices = check.sequence(parsed, check.none(), False)[1]
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"not a regular expression ({error})") from None
    if compiled.groups > 1:
        raise ValueError("must have one group at most")
    if choices > MOST_CHOICES:
        raise ValueError(_REASON)
    return WordPattern(compiled, check.fails_late)


class _Check:
    """Walks through a parsed pattern from right to left.

    Attributes:
        fails_late: whether a match may fail after a part of any length.
        alphabet: the characters that sets are compared on: those of the basic plane, and all at which a set
            of the pattern begins or ends. Two sets that share a character share one of these.
    """

    def __init__(self, parsed: Any) -> None:
        self.fails_late = False
        self._flags = parsed.state.flags
        named = {int(digits) for digits in re.findall(r"\d+", str(parsed))}
        edges = {p + step for p in named for step in (-1, 0, 1) if 0 <= p + step < 0x110000}
        cases = {ord(c) for point in edges for c in chr(point).lower() + chr(point).upper()}
        self.alphabet = np.array(sorted({*range(0x10000), *edges, *cases}), dtype="<u4")
        self._sets: dict[str, _Set] = {}

    def none(self) -> _Set:
        """Return the empty set of characters."""
        return np.zeros(len(self.alphabet), dtype=bool)

    def sequence(self, nodes: Any, follow: _Set, required: bool) -> tuple[_Set, float]:
        """Return the characters that may come first, and the number of choices.

        Args:
            nodes: parts of the pattern, one after the other.
            follow: the characters that may come after them.
            required: whether what comes after them may fail.
        """
        choices = 1.0
        for node in reversed(list(nodes)):
            follow, more, needed = self._part(str(node[0]), node[1], follow, required)
            choices, required = min(choices * more, math.inf), required or needed
        return follow, choices

    def _part(self, kind: str, value: Any, follow: _Set, required: bool) -> tuple[_Set, float, bool]:
        """Return the first characters of a part, its choices, and whether it may fail."""
        if kind in ("LITERAL", "NOT_LITERAL", "ANY", "IN"):
            return self._characters(kind, value), 1.0, True
        if kind == "AT":
            return follow, 1.0, True
        if kind == "SUBPATTERN" and not (value[1] or value[2]):
            return *self.sequence(value[3], follow, required), value[3].getwidth()[0] > 0
        if kind == "ATOMIC_GROUP":
            return *self.sequence(value, follow, required), value.getwidth()[0] > 0
        if kind == "BRANCH":
            return self._branch(value[1], follow, required)
        if kind in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            return self._repeat(value, follow, required)
        if kind in ("ASSERT", "ASSERT_NOT"):
            if any(str(node[0]) not in ("LITERAL", "NOT_LITERAL", "ANY", "IN", "AT") for node in value[1]):
                raise ValueError("a look at what is before or after must be for single characters")
            return follow, 1.0, True
        raise ValueError(f"uses a feature that is not supported here ({kind.lower()})")

    def _branch(self, parts: Any, follow: _Set, required: bool) -> tuple[_Set, float, bool]:
        firsts, choices = zip(*(self.sequence(part, follow, required) for part in parts), strict=True)
        overlap = np.add.reduce([first.astype(np.int64) for first in firsts]).max() > 1
        needed = all(part.getwidth()[0] > 0 for part in parts)
        return np.logical_or.reduce(firsts), sum(choices) if overlap else max(choices), needed

    def _repeat(self, value: tuple[int, int, Any], follow: _Set, required: bool) -> tuple[_Set, float, bool]:
        least, most, body = value
        if most > 1 and body.getwidth()[0] == 0:
            return follow, math.inf, False
        first, _ = self.sequence(body, self.none(), False)
        after = first | follow if most > 1 else follow
        _, inner = self.sequence(body, after, required or least > 1)
        choices = 1.0 if inner == 1 else math.inf if most > MOST_CHOICES else inner**most
        if least < most and (first & follow).any():
            choices *= most - least + 1
        self.fails_late |= required and most > PIECE
        return (first if least else first | follow), choices, least > 0

    def _characters(self, kind: str, value: Any) -> _Set:
        """Return the characters that a part of one character matches."""
        key = f"{kind} {value}"
        if key not in self._sets:
            parser, compiler = (importlib.import_module(f"re.{name}") for name in ("_parser", "_compiler"))
            one = parser.SubPattern(parser.State(), [(getattr(parser, kind), value)])
            characters = self.alphabet.tobytes().decode("utf-32-le", "surrogatepass")
            found = compiler.compile(one, self._flags).findall(characters)
            points = np.frombuffer("".join(found).encode("utf-32-le", "surrogatepass"), dtype="<u4")
            self._sets[key] = np.isin(self.alphabet, points)
        return self._sets[key]
