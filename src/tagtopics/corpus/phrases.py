"""Phrases: neighbouring words that occur together far more often than by chance count as one word.

A pair is a phrase if it occurs at least `_LEAST` times and its normalised pointwise mutual information

    npmi(a, b) = log(p(a b) / (p(a) p(b))) / -log p(a b),

from -1 to 1, is at least `_NPMI`. A second pass joins phrases to longer ones. Stop words, and words that are
too short, separate neighbours. Decision 262. The phrases in names of topics have another rule:
`models.naming.find_topic_phrases`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import pairwise

_LEAST, _NPMI, _PASSES = 10, 0.5, 2
LONGEST = 2**_PASSES  # words of a phrase
Words = Sequence[str | None]  # of a text in order; None where a word is left out


def learn_phrases(documents: Iterable[Words]) -> tuple[str, ...]:
    """Return the phrases of documents that are to be counted as words, sorted, with blanks inside."""
    phrases: set[str] = set()
    texts = [list(words) for words in documents]
    for _ in range(_PASSES):
        merge = merger(phrases)
        found = _associated_pairs([merge(words) for words in texts])
        if found <= phrases:
            break
        phrases |= found
    return tuple(sorted(phrases))


def merger(phrases: Collection[str]) -> Callable[[Words], list[str | None]]:
    """Return the function that joins the phrases in a list of words: from the left, the longest first."""
    known = frozenset(phrases)
    first = {phrase.split(" ", 1)[0] for phrase in known}
    longest = max((phrase.count(" ") + 1 for phrase in known), default=1)

    def merge(words: Words) -> list[str | None]:
        merged: list[str | None] = []
        i = 0
        while i < len(words):
            n = longest_at(words, i, longest, known) if words[i] in first else 1
            merged.append(words[i] if n == 1 else " ".join(map(str, words[i : i + n])))
            i += n
        return merged

    return merge


def longest_at(words: Words, i: int, longest: int, known: Collection[str]) -> int:
    """Return the number of words of the longest phrase that begins at a place, 1 if there is none."""
    for n in range(min(longest, len(words) - i), 1, -1):
        part = words[i : i + n]
        if None not in part and " ".join(map(str, part)) in known:
            return n
    return 1


def _associated_pairs(texts: Sequence[Words]) -> set[str]:
    """Return the pairs of neighbours that make a phrase."""
    single: Counter[str] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
    for words in texts:
        single.update(word for word in words if word is not None)
        pairs.update((a, b) for a, b in pairwise(words) if a is not None and b is not None)
    n_words, n_pairs = single.total(), pairs.total()
    return {
        f"{a} {b}"
        for (a, b), n in pairs.items()
        if n >= _LEAST
        and a != b
        and (f"{a} {b}").count(" ") < LONGEST
        and npmi(n / n_pairs, single[a] / n_words, single[b] / n_words) >= _NPMI
    }


def npmi(together: float, first: float, second: float) -> float:
    """Return the normalised pointwise mutual information of two words, from their probabilities."""
    if together >= 1:
        return 1.0
    return math.log(together / (first * second)) / -math.log(together)
