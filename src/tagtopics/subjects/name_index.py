"""Finding the names of tags in texts: a trie of stems, walked once from every word of a text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from tagtopics._typing import CSR, Int64
from tagtopics.corpus.text import default_pattern, fold_case
from tagtopics.subjects.stems import COMPOUNDING, stem_word
from tagtopics.subjects.thesaurus import Thesaurus

PREFERRED, ALTERNATIVE, SHORTENED = 0, 1, 2
"""How a name stands for its tag: as its name, an alternative, or without what is in brackets."""

_BRACKETS = re.compile(r"\s*[(<\[][^()<>\[\]]*[)>\]]\s*")
_HYPHENS = ("-", "\u2010", "\u2011")
_MOST_WORDS = 12  # of a name that is looked for
_ACRONYM = 5  # names of capitals up to this length are found in capitals only
_MOST_SHARED = 256  # tags that a name stands for; further ones of the same name are not found by it
_LINKS, _SHORTEST_PART = ("", "s", "es", "n", "en"), 4  # between the parts of a compound


class Matches(NamedTuple):
    """Names found in D texts, in order of the text and the place."""

    doc: Int64  # (M,)
    tag: Int64  # (M,) row of the thesaurus
    kind: Int64  # (M,) PREFERRED, ALTERNATIVE or SHORTENED
    first: Int64  # (M,) place of the first word
    length: Int64  # (M,) words
    shared: Int64  # (M,) tags that have the same name
    start: Int64  # (M,) in characters
    stop: Int64  # (M,)


class NameIndex:
    """The names of a thesaurus, ready to be found in texts.

    Args:
        thesaurus: V tags with names.
        language: of `stem_word`.
    """

    def __init__(self, thesaurus: Thesaurus, language: str) -> None:
        self.thesaurus = thesaurus
        self._stem = partial(stem_word, language=language)
        self._splits = language in COMPOUNDING
        self._stems: dict[str, int] = {}
        self._edges: dict[tuple[int, int], int] = {}
        self._ends: dict[int, list[tuple[int, int, bool]]] = {}
        self._names: list[tuple[int, ...]] = []
        for tag, (name, others) in enumerate(zip(thesaurus.names, thesaurus.alternatives, strict=True)):
            for variant, kind in _variants(name, others):
                self._add(variant, tag, kind)
            self._names.append(tuple(dict.fromkeys(map(self._number, _tokens(_without_brackets(name))))))

    def name_words(self) -> CSR:
        """Return CSR (V, S): which stems the name of each tag has; 1 where it has one."""
        return self._stem_matrix(self._names)

    def find(self, texts: Sequence[str]) -> tuple[Matches, CSR]:
        """Return the names in D texts, and CSR (D, S) which stems occur."""
        rows: list[tuple[int, ...]] = []
        seen: list[list[int]] = []
        for doc, text in enumerate(texts):
            text = unicodedata.normalize("NFC", text)
            folded = fold_case(text)
            spans = [match.span() for match in default_pattern().finditer(folded)]
            words = [self._stem(folded[start:stop]) for start, stop in spans]
            stems = [self._stems.get(word, -1) for word in words]
            unknown = [word for word, stem in zip(words, stems, strict=True) if stem < 0]
            parts = [part for word in unknown for part in self._parts(word)] if self._splits else []
            seen.append(sorted({*stems, *parts} - {-1}))
            rows.extend((doc, *found) for found in self._walk(stems, spans, text, folded))
        return Matches(*np.array(rows, dtype=np.int64).reshape(-1, 8).T), self._stem_matrix(seen)

    def _stem_matrix(self, rows: Sequence[Sequence[int]]) -> CSR:
        """Return a CSR array that is 1 at the stems of each row."""
        indices = np.array([stem for row in rows for stem in row], dtype=np.int32)
        indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
        ones = np.ones(len(indices), dtype=np.float32)
        return sp.csr_array((ones, indices, indptr), shape=(len(rows), max(len(self._stems), 1)))

    def _add(self, name: str, tag: int, kind: int) -> None:
        """Add a name to the trie; one with a hyphen also as one word."""
        tokens = _tokens(name)
        if not 0 < len(tokens) <= _MOST_WORDS:
            return
        self._add_tokens(tokens, tag, kind, acronym=name.isupper() and len(name) <= _ACRONYM)
        if len(tokens) > 1 and "-" in name and " " not in name:
            self._add_tokens(["".join(tokens)], tag, kind, acronym=False)

    def _add_tokens(self, tokens: Iterable[str], tag: int, kind: int, acronym: bool) -> None:
        node = 0
        for token in tokens:
            node = self._edges.setdefault((node, self._number(token)), len(self._edges) + 1)
        ends = self._ends.setdefault(node, [])
        if len(ends) < _MOST_SHARED and not (ends and ends[-1][0] == tag):  # tags come in order
            ends.append((tag, kind, acronym))

    def _number(self, token: str) -> int:
        return self._stems.setdefault(self._stem(token), len(self._stems))

    def _walk(
        self, stems: list[int], spans: list[tuple[int, int]], text: str, folded: str
    ) -> Iterator[tuple[int, ...]]:
        """Yield tag, kind, first word, number of words, tags of this name, start and stop of each name."""
        for first, (start, stop) in enumerate(spans):
            found, node = [], 0
            for last in range(first, len(stems)):
                node = self._edges.get((node, stems[last]), -1)
                if node < 0:
                    break
                found.append((node, last))
            if first + 1 < len(spans) and folded[stop : spans[first + 1][0]] in _HYPHENS:
                whole = fold_case(text[start : spans[first + 1][1]])
                stem = self._stem("".join(c for c in whole if c not in _HYPHENS))
                found.append((self._edges.get((0, self._stems.get(stem, -1)), -1), first + 1))
            for node, last in found:
                ends, end = self._ends.get(node, ()), spans[last][1]
                for tag, kind, acronym in ends:
                    if not acronym or text[start:end].isupper():
                        yield tag, kind, first, last - first + 1, len(ends), start, end

    def _parts(self, word: str) -> list[int]:
        """Return the stems of the two parts of a compound, if both are words of names."""
        for cut in range(_SHORTEST_PART, len(word) - _SHORTEST_PART + 1):
            tail = self._stems.get(word[cut:], -1)
            if tail < 0:
                continue
            for link in _LINKS:
                head = word[: cut - len(link)] if word[:cut].endswith(link) else ""
                found = self._stems.get(self._stem(head), -1) if len(head) >= _SHORTEST_PART else -1
                if found >= 0:
                    return [found, tail]
        return []


def _tokens(name: str) -> list[str]:
    return default_pattern().findall(fold_case(unicodedata.normalize("NFC", name)))


def _without_brackets(name: str) -> str:
    return _BRACKETS.sub(" ", name).strip() or name


def _variants(name: str, others: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Yield the forms in which names are looked for, the preferred name first."""
    texts = [(name, PREFERRED), *((other, ALTERNATIVE) for other in others)]
    texts += [(short, SHORTENED) for text, _ in texts if (short := _without_brackets(text)) != text]
    for text, kind in texts:
        yield text, kind
        if text.count(", ") == 1:  # `Doe, Jane` is also `Jane Doe`
            last, first = text.split(", ")
            yield f"{first} {last}", kind
