"""The bound on the time of a regular expression, for generated patterns, against a matcher that counts."""

from __future__ import annotations

import importlib
import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tagtopics.corpus.patterns import compile_pattern, search_cost

CHARACTERS = ["a", "b", "-", "[ab]", "[^b]", "[a-]", r"\w", r"\W", ".", "a", "b"]
EDGES = [r"\b", r"\B", "^", "$", "(?=a)", "(?!b)", "(?<=a)", "(?<!-)", "(?=ab)", "(?!a-)"]
COUNTS = ["?", "*", "+", "{2}", "{1,3}", "{0,2}", "{3,}", "??", "*?", "+?", "?+", "*+"]
LATE = [
    r"a+($)",
    r"\w+?(?:-|$)",
    "a{100}",
    "(?:ab){50}b",
    "(?:[ab]{1,9}-){1,50}x",
    "x?a*(?:!|$)",
    r"\b(a+)\b",
]
TEXTS = ["a" * 120, "ab" * 60, "a-" * 60, "-" * 90 + "a", "aab-" * 30, "a" * 99 + "!", "ba" * 49 + " ", ""]


def generate_patterns(n: int, seed: int) -> Iterator[str]:
    """Yield patterns of characters, edges, alternatives and repeats, about a third of which are accepted."""
    chance = random.Random(seed)

    def part(depth: int) -> str:
        kind = chance.random()
        if depth == 0 or kind < 0.45:
            return chance.choice(CHARACTERS)
        if kind < 0.6:
            return chance.choice(EDGES)
        if kind < 0.8:
            return f"(?:{'|'.join(sequence(depth - 1) for _ in range(chance.randint(1, 3)))})"
        return f"(?:{sequence(depth - 1)}){chance.choice(COUNTS)}"

    def sequence(depth: int) -> str:
        return "".join(part(depth) for _ in range(chance.choice([0, 1, 1, 2, 2, 3])))

    for _ in range(n):
        yield sequence(3)


def accepted(patterns: Iterator[str]) -> list[str]:
    found = []
    for pattern in patterns:
        try:
            compile_pattern(pattern)
        except ValueError:
            continue
        found.append(pattern)
    return found


class Matcher:
    """Matches a pattern as `re` does, one way after the other, and counts comparisons.

    Args:
        pattern: of the parts that `corpus/patterns.py` accepts.
        text: where to match.
        most: comparisons, after which it gives up.
    """

    def __init__(self, pattern: str, text: str, most: float) -> None:
        self._parser = importlib.import_module("re._parser")
        self._nodes = list(self._parser.parse(pattern))
        self._text, self._most = text, most
        self._tests: dict[str, re.Pattern[str]] = {}
        self.n = 0

    def match(self, start: int) -> int | None:
        """Return the end of the match that begins at a place."""
        self.n = 0
        return self._all(self._nodes, start, lambda stop: stop)

    def _all(self, nodes: list[Any], i: int, then: Callable[[int], int | None]) -> int | None:
        if not nodes:
            return then(i)
        (opcode, value), rest = nodes[0], nodes[1:]
        kind = str(opcode)

        def after(j: int) -> int | None:
            return self._all(rest, j, then)

        if kind == "SUBPATTERN":
            return self._all(list(value[3]), i, after)
        if kind == "BRANCH":
            ends = (self._all(list(alternative), i, after) for alternative in value[1])
            return next((end for end in ends if end is not None), None)
        if kind == "POSSESSIVE_REPEAT":
            end = self._repeat((*value[:2], list(value[2])), i, lambda j: j, lazy=False)
            return None if end is None else after(end)
        if kind.endswith("_REPEAT"):
            return self._repeat((*value[:2], list(value[2])), i, after, lazy=kind == "MIN_REPEAT")
        end = self._test(nodes[0], i)
        return None if end is None else after(end)

    def _repeat(
        self, value: tuple[int, int, list[Any]], i: int, after: Callable[[int], int | None], lazy: bool
    ) -> int | None:
        least, most, body = value

        def again(j: int) -> int | None:
            return self._repeat((max(least - 1, 0), most - 1, body), j, after, lazy)

        ways: list[Callable[[], int | None]] = [lambda: self._all(body, i, again)] if most else []
        if not least:
            ways.insert(0 if lazy else len(ways), lambda: after(i))
        return next((end for end in (way() for way in ways) if end is not None), None)

    def _test(self, node: Any, i: int) -> int | None:
        """Return the end of one character, edge or look-around."""
        parts = node[1] if str(node[0]) == "IN" else node[1][1] if "ASSERT" in str(node[0]) else [node]
        self.n += len(parts)
        assert self.n <= self._most, f"more than {self._most:,.0f} comparisons"
        key = str(node)
        if key not in self._tests:
            compiler = importlib.import_module("re._compiler")
            self._tests[key] = compiler.compile(self._parser.SubPattern(self._parser.State(), [node]), 0)
        match = self._tests[key].match(self._text, i)
        return None if match is None else match.end()


@pytest.fixture
def deep_stack() -> Iterator[None]:
    """Let functions call each other for every character of a text."""
    usual = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    yield
    sys.setrecursionlimit(usual)


@pytest.mark.usefixtures("deep_stack")
def test_no_start_takes_more_comparisons_than_the_bound() -> None:
    patterns = LATE + list(dict.fromkeys(accepted(generate_patterns(3_000, seed=1))))
    n_matches = n_late = 0
    for pattern in patterns:
        choices, late = search_cost(pattern)
        for text in TEXTS:
            for start in {0, min(1, len(text)), len(text) // 2}:
                matcher = Matcher(pattern, text, len(pattern) * choices * (len(text) + 1))
                stop = matcher.match(start)
                read = late if stop is None else stop - start + late
                assert matcher.n <= len(pattern) * choices * (read + 1), (pattern, text)
                expected = re.compile(pattern).match(text, start)
                assert stop == (None if expected is None else expected.end()), (pattern, text)
                n_matches += expected is not None
                n_late += matcher.n > len(pattern) * choices
    assert len(patterns) > 500
    assert n_matches > 2_000
    assert n_late > 100


@pytest.mark.parametrize("pattern", [r"(?:a(?=a)?)+b", r"(?:a|ab|a)*b$", r"(?:a(?:\B)?)+b"])
def test_the_matcher_of_this_test_finds_what_takes_long(pattern: str) -> None:
    """Else the test above could pass whatever is accepted."""
    with pytest.raises(AssertionError, match="more than 10,000 comparisons"):
        Matcher(pattern, "a" * 30, 10_000).match(0)


CHILD = """
import sys
sys.path.insert(0, sys.argv[1])
from test_corpus_pattern_cost import TEXTS, accepted, compile_pattern, generate_patterns
patterns = accepted(generate_patterns(3_000, seed=2))
for pattern in patterns:
    for text in TEXTS:
        compile_pattern(pattern).words(text * 20)
print(len(patterns))
"""


def test_python_ends_on_accepted_patterns() -> None:
    """The child needs seconds; one exponential pattern would take more than a year."""
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(Path(__file__).parent)],
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )
    assert int(done.stdout) > 500
