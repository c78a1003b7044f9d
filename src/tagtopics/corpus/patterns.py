"""Regular expressions of words, with a bound on their time.

Python's `re` tries the ways to match one after the other and cannot be interrupted, and a pattern may come
from a model of somebody else. So a pattern must be decided by the next character: of the ways to go on at a
repeat, an optional part or an alternative, at most one may begin with that character. Then one way through
the pattern reads on, all others end where they are, and from one start the matcher makes at most as many
comparisons per character as the pattern has characters. Ways that begin alike multiply this; inside a repeat
there are none. A start that fails late costs all characters that it read, so the text of a pattern with many
comparisons is searched in pieces of `PIECE` characters, cut at white space. Decision 294.
"""

from __future__ import annotations

import importlib
import math
import re
from collections.abc import Hashable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

MOST_CHARACTERS = 1000  # of a pattern
MOST_COMPARISONS = 100_000  # per character of a text
PIECE = 1000  # characters that are searched at a time, if one may take as many comparisons
_MOST_SETS = 100  # different sets of characters: finding the members of one takes milliseconds
_N_CHARACTERS = 0x110000
_END = 1 << _N_CHARACTERS  # the end of the pattern, as if it were a character: ways that only end are alike

_REASON = (
    "would take too long on some texts: a part that repeats, or one of several alternatives, must not be "
    r"followed by what begins with the same character, as in (a+)+ or \w*\w; if none is, shorten the pattern"
)


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
    choices, late = search_cost(pattern)
    comparisons = len(pattern) * choices * (1 + min(late, PIECE))
    if comparisons > MOST_COMPARISONS:
        raise ValueError(_REASON)
    return WordPattern(re.compile(pattern), comparisons > PIECE)


def search_cost(pattern: str) -> tuple[float, float]:
    """Return choices, the ways to match that begin alike, and late, the most characters read in vain.

    From one start, the matcher makes at most `len(pattern) * choices` comparisons for each character that it
    reads; these are the characters of the match, if there is one, `late` more, and the next one. A
    `ValueError` says why a pattern is refused.
    """
    if len(pattern) > MOST_CHARACTERS:
        raise ValueError(f"longer than {MOST_CHARACTERS:,} characters")
    try:
        groups = re.compile(pattern).groups
        parsed = importlib.import_module("re._parser").parse(pattern)
        whole = _Walk(parsed.state.flags).sequence(parsed, _END, False)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"not a regular expression ({error})") from None
    if groups > 1:
        raise ValueError("must have one group at most")
    return whole.choices, whole.late


class _Part(NamedTuple):
    """What the matcher does in a part of a pattern, and after it."""

    first: int  # the characters that may be read first, as bits of a number
    choices: float  # the ways to match that begin alike, multiplied
    late: float  # the most characters that are read before something may fail
    fails: bool  # whether the part may fail


class _Walk:
    """Walks through a parsed pattern from right to left."""

    def __init__(self, flags: int) -> None:
        self._flags = flags
        self._sets: set[Hashable] = set()
        self._firsts: dict[int, int] = {}

    def sequence(self, nodes: Any, follow: int, required: bool) -> _Part:
        """Describe parts in a row; `follow` may come after them, and is `required` if it may fail."""
        choices, late, fails = 1.0, 0.0, False
        for kind, value in reversed(list(nodes)):
            part = self._part(str(kind), value, follow, required or fails)
            follow, choices, late = part.first, choices * part.choices, late + part.late
            fails = fails or part.fails
        return _Part(follow, choices, late, fails)

    def _part(self, kind: str, value: Any, follow: int, required: bool) -> _Part:
        if kind in ("LITERAL", "NOT_LITERAL", "ANY", "IN"):
            return _Part(self._characters(kind, value), 1.0, float(required), True)
        if kind == "ATOMIC_GROUP" or (kind == "SUBPATTERN" and not (value[1] or value[2])):
            return self.sequence(value if kind == "ATOMIC_GROUP" else value[3], follow, required)
        if kind == "BRANCH":
            return self._branch(value[1], follow, required)
        if kind in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            return self._repeat(value, follow, required)
        if kind in ("ASSERT", "ASSERT_NOT", "AT"):
            looked = () if kind == "AT" else value[1]
            if any(str(node[0]) not in ("LITERAL", "NOT_LITERAL", "ANY", "IN", "AT") for node in looked):
                raise ValueError("a look at what is before or after must be for single characters")
            return _Part(follow, 1.0, 0.0, True)
        raise ValueError(f"uses a feature that is not supported here ({kind.lower()}); leave it out")

    def _branch(self, alternatives: Any, follow: int, required: bool) -> _Part:
        parts = [self.sequence(nodes, follow, required) for nodes in alternatives]
        first = alike = 0
        for part in parts:
            first, alike = first | part.first, alike | (first & part.first)
        choices = [part.choices for part in parts]
        return _Part(
            first,
            sum(choices) if alike else max(choices),
            max(part.late for part in parts),
            all(part.fails for part in parts),
        )

    def _repeat(self, value: tuple[int, int, Any], follow: int, required: bool) -> _Part:
        least, most, body = value
        shortest, longest = body.getwidth()
        if not shortest:
            raise ValueError(
                "would take too long on some texts: a part that repeats or is optional must not match the "
                r"empty text, as in (a*)* or (\b)?; leave out the inner or the outer repeat"
            )
        again = 0
        if most > 1:
            if id(body) not in self._firsts:  # else a part in n repeats would be walked through 2^n times
                self._firsts[id(body)] = self.sequence(body, 0, False).first
            again = self._firsts[id(body)]
        inside = self.sequence(body, follow | again, required or least > 1)
        choices = inside.choices if inside.choices == 1 or most == 1 else math.inf
        if least < most and inside.first & follow:
            choices *= most - least + 1
        late = float(most * longest if required else max(least - 1, 0) * longest + inside.late)
        return _Part(inside.first if least else inside.first | follow, choices, late, least > 0)

    def _characters(self, kind: str, value: Any) -> int:
        if kind == "LITERAL" and not self._flags & re.IGNORECASE:
            return 1 << int(value)
        self._sets.add(wanted := (kind, tuple(value) if kind == "IN" else value))
        if len(self._sets) > _MOST_SETS:
            raise ValueError(f"has more than {_MOST_SETS} different sets of characters; use fewer")
        members = _members(*wanted, self._flags)
        if not members:
            raise ValueError("has a set that no character is in; leave it out")
        return members


@lru_cache(maxsize=32)
def _members(kind: str, value: Any, flags: int) -> int:
    """Return the characters that a part of one character matches, as the matcher itself finds them."""
    parser, compiler = (importlib.import_module(f"re.{name}") for name in ("_parser", "_compiler"))
    one = parser.SubPattern(parser.State(), [(getattr(parser, kind), value)])
    run = parser.SubPattern(parser.State(), [(parser.MAX_REPEAT, (1, parser.MAXREPEAT, one))])
    every = np.arange(_N_CHARACTERS, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")
    found = compiler.compile(run, flags).finditer(every)
    return sum((1 << match.end()) - (1 << match.start()) for match in found)
