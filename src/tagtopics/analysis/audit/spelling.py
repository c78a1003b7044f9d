"""Tags whose names may be spellings of one name."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from rapidfuzz.distance import OSA

from tagtopics.analysis.audit.names import name_parts
from tagtopics.corpus.tags import kind_of

_MOST_ALIKE = 50
"""Tags with the same key that are compared; a key that more tags share says little."""

_SHORTEST_TYPO, _LONG = 6, 10
"""Characters of a name in which one wrong character is a sign of a typing error, and a strong sign."""

EVIDENCE = {"equal": 1000.0, "order": 300.0, "initials": 20.0, "typo": 20.0, "short typo": 4.0, "part": 3.0}
"""How much more often names are alike in each way if two tags are the same: set by hand (decision 271)."""


def spelling_pairs(tag_names: Sequence[str]) -> dict[tuple[int, int], str]:
    """Return pairs of tags with similar names, and how they are alike: a key of `EVIDENCE`.

    Tags of different kinds are never paired. The work is proportional to the number of tags.
    """
    parts = [name_parts(name) for name in tag_names]
    kinds = [kind_of(name) for name in tag_names]
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for t, words in enumerate(parts):
        for key in dict.fromkeys(_keys(words)):
            groups[kinds[t], key].append(t)
    found = {}
    for group in groups.values():
        if len(group) <= _MOST_ALIKE:
            for pair in combinations(group, 2):
                how = alike(parts[pair[0]], parts[pair[1]]) if pair not in found else None
                if how is not None:
                    found[pair] = how
    return found


def alike(one: Sequence[str], other: Sequence[str]) -> str | None:
    """Return how two names, given as folded words, are alike: a key of `EVIDENCE`, or None."""
    if not one or not other:
        return None
    first, second = "".join(one), "".join(other)
    if first == second:
        return "equal"
    if sorted(one) == sorted(other):
        return "order"
    if len(one) == len(other) and _is_abbreviation(one, other):
        return "initials"
    if _digits(first) != _digits(second):
        return None
    same_letters = _letters(one) == _letters(other)  # initials that differ are no typing errors
    shorter = min(len(first), len(second))
    if same_letters and shorter >= _SHORTEST_TYPO and OSA.distance(first, second, score_cutoff=1) == 1:
        return "typo" if shorter >= _LONG else "short typo"
    few, many = sorted((one, other), key=len)
    return "part" if len(few) > 1 and len(few) < len(many) and not Counter(few) - Counter(many) else None


def _keys(words: Sequence[str]) -> Iterator[str]:
    """Yield the keys of a name: names that are alike share one."""
    joined = "".join(words)
    if not joined:
        return
    yield f"={joined}"
    yield f"~{' '.join(sorted(words))}"
    if 1 < len(words) <= 5:
        for i, word in enumerate(words):
            if len(word) > 1:
                yield f"@{word} {' '.join(sorted(w[0] for j, w in enumerate(words) if j != i))}"
        for pair in combinations(sorted(words), 2):
            yield f"+{' '.join(pair)}"
    if _SHORTEST_TYPO <= len(joined) <= 60:
        yield f"-{joined}"
        for i in range(len(joined)):
            yield f"-{joined[:i]}{joined[i + 1 :]}"


def _is_abbreviation(one: Sequence[str], other: Sequence[str]) -> bool:
    """Tell whether two names differ in order and in words that are the initials of others only."""
    left, right = Counter(one) - Counter(other), Counter(other) - Counter(one)
    common = any(len(word) > 1 for word in Counter(one) & Counter(other))
    short = (
        sorted(w for w in left.elements() if len(w) == 1),
        sorted(w for w in right.elements() if len(w) == 1),
    )
    long = sorted(w for w in left.elements() if len(w) > 1), sorted(w for w in right.elements() if len(w) > 1)
    return common and _initials(long[0]) == short[1] and _initials(long[1]) == short[0]


def _initials(words: Iterable[str]) -> list[str]:
    return sorted(word[0] for word in words)


def _letters(words: Sequence[str]) -> list[str]:
    return sorted(word for word in words if len(word) == 1)


def _digits(name: str) -> str:
    return "".join(c for c in name if c.isdigit())
