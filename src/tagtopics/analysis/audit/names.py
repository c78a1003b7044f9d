"""The names of tags: their words in the text, and pairs that may be spellings of one name."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

import numpy as np
import scipy.sparse as sp
from rapidfuzz.distance import OSA

from tagtopics._typing import CSR
from tagtopics.corpus.core import Corpus
from tagtopics.corpus.tags import bare_name, kind_of
from tagtopics.subjects.stems import stem_word

_WORD = re.compile(r"[^\W_]+")
_MOST_ALIKE = 50  # tags with the same key that are compared; a key that more tags share means little
_SHORTEST_TYPO, _LONG = 6, 10  # characters of a name in which one wrong is a typing error, and surely one

EVIDENCE = {"equal": 1000.0, "order": 300.0, "initials": 20.0, "typo": 20.0, "short typo": 4.0, "part": 3.0}
"""How much more often names are alike in each way if two tags are the same: set by hand (decision 271)."""


def fold_word(word: str) -> str:
    """Return a word without case, accents and an English plural ending."""
    return stem_word(unicodedata.normalize("NFKC", word).casefold(), "en")


def name_parts(tag: str) -> tuple[str, ...]:
    """Return the folded words of a tag's name, in order."""
    return tuple(fold_word(word) for word in _WORD.findall(bare_name(tag)))


def name_words(corpus: Corpus) -> CSR:
    """Return CSR (T, W): for each word of the vocabulary, its share in the words of the name of a tag.

    Single letters and names without a word of the vocabulary count nothing.
    """
    columns: dict[str, list[int]] = defaultdict(list)
    for w, word in enumerate(corpus.vocabulary):
        columns[fold_word(word)].append(w)
    entries: list[tuple[float, int, int]] = []
    for t, tag in enumerate(corpus.tag_names):
        parts = [part for part in dict.fromkeys(name_parts(tag)) if len(part) > 1]
        entries += [(1 / len(parts), t, w) for part in parts for w in columns.get(part, ())]
    shares, rows, words = np.array(entries).reshape(-1, 3).T
    shape = (corpus.n_tags, corpus.n_words)
    return sp.csr_array((shares, (rows.astype(int), words.astype(int))), shape=shape)


def spelling_pairs(tag_names: Sequence[str]) -> dict[tuple[int, int], str]:
    """Return pairs of tags with similar names, and how they are alike: a key of `EVIDENCE`.

    Tags of different kinds are never paired. The work is proportional to the number of tags.
    """
    parts = [name_parts(name) for name in tag_names]
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for t, words in enumerate(parts):
        for key in dict.fromkeys(_keys(words)):
            groups[kind_of(tag_names[t]), key].append(t)
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
    if len(one) == len(other) and _is_abbreviation(Counter(one), Counter(other)):
        return "initials"
    if [c for c in first if c.isdigit()] != [c for c in second if c.isdigit()]:
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


def _is_abbreviation(one: Counter[str], other: Counter[str]) -> bool:
    """Tell whether two names differ in order and in words that are the initials of others only."""
    left, right = list((one - other).elements()), list((other - one).elements())
    initials = [sorted(word[0] for word in words if len(word) > 1) for words in (left, right)]
    common = any(len(word) > 1 for word in one & other)
    return common and initials == [_letters(right), _letters(left)]


def _letters(words: Iterable[str]) -> list[str]:
    return sorted(word for word in words if len(word) == 1)
