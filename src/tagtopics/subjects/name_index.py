"""Finding the names of tags in texts: a trie of stems, walked once from every word of a text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from tagtopics._typing import Int64
from tagtopics.corpus.stems import COMPOUNDING, stem_word
from tagtopics.corpus.text import default_pattern, fold_case
from tagtopics.subjects.thesaurus import Thesaurus

PREFERRED, ALTERNATIVE, SHORTENED = 0, 1, 2
"""How a name stands for its tag: as its name, an alternative, or without what is in brackets."""

_BRACKETS = re.compile(r"\s*[(<\[][^()<>\[\]]*[)>\]]\s*")
_MOST_WORDS = 12
"""Words of the longest name that is looked for."""

_ACRONYM = 5
"""Names of capitals up to this length are found in capitals only."""

_MOST_SHARED = 256
"""Tags that a name stands for; further ones of the same name are not found by it."""

_LINKS = ("", "s", "es", "n", "en")
_SHORTEST_PART = 4
"""Links between the parts of a compound, and the shortest part."""


class Words(NamedTuple):
    """The words of a text."""

    stems: list[int]  # -1 for a stem that no name has
    spans: list[tuple[int, int]]  # start and stop in the text, in NFC
    joined: list[bool]  # whether only a hyphen is between the word and the next one
    parts: list[int]  # stems of the parts of compounds


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
        self._n_nodes = 1
        self._names: list[tuple[int, ...]] = []
        for tag, (name, others) in enumerate(zip(thesaurus.names, thesaurus.alternatives, strict=True)):
            for variant, kind in _variants(name, others):
                self._add(variant, tag, kind)
            self._names.append(tuple(dict.fromkeys(self._stems_of(_without_brackets(name)))))

    @property
    def n_stems(self) -> int:
        """The number of different stems of all names."""
        return len(self._stems)

    def name_words(self) -> sp.csr_array:
        """Return CSR (V, S): which stems the name of each tag has; 1 where it has one."""
        sizes = np.fromiter(map(len, self._names), dtype=np.int64, count=len(self._names))
        indices = np.fromiter((s for stems in self._names for s in stems), dtype=np.int32, count=sizes.sum())
        indptr = np.concatenate([[0], np.cumsum(sizes)])
        ones = np.ones(len(indices), dtype=np.float32)
        return sp.csr_array((ones, indices, indptr), shape=(len(self._names), max(self.n_stems, 1)))

    def words(self, text: str) -> Words:
        """Return the words of a text; each is looked up once."""
        text = unicodedata.normalize("NFC", text)
        folded = fold_case(text)
        stems: list[int] = []
        spans: list[tuple[int, int]] = []
        joined: list[bool] = []
        parts: list[int] = []
        for match in default_pattern().finditer(folded):
            stem = self._stem(match.group())
            found = self._stems.get(stem, -1)
            stems.append(found)
            if found < 0 and self._splits:
                parts.extend(self._parts(stem))
            if spans:
                joined.append(match.start() - spans[-1][1] == 1 and folded[spans[-1][1]] in "-\u2010\u2011")
            spans.append(match.span())
        return Words(stems, spans, [*joined, False], parts)

    def find(self, texts: Sequence[str]) -> tuple[Matches, sp.csr_array, Int64]:
        """Return the names in D texts, CSR (D, S) which stems occur, and (D,) the words of each text."""
        rows: list[tuple[int, ...]] = []
        seen: list[list[int]] = []
        n_words = np.zeros(len(texts), dtype=np.int64)
        for doc, text in enumerate(texts):
            words = self.words(text)
            n_words[doc] = len(words.stems)
            seen.append(sorted({stem for stem in (*words.stems, *words.parts) if stem >= 0}))
            rows.extend((doc, *found) for found in self._walk(words, text))
        table = np.array(rows, dtype=np.int64).reshape(-1, 8)
        indptr = np.concatenate([[0], np.cumsum([len(stems) for stems in seen])]).astype(np.int64)
        indices = np.array([stem for stems in seen for stem in stems], dtype=np.int32)
        shape = (len(texts), max(self.n_stems, 1))
        occurs = sp.csr_array((np.ones(len(indices), dtype=np.float32), indices, indptr), shape=shape)
        return Matches(*table.T), occurs, n_words

    def _add(self, name: str, tag: int, kind: int) -> None:
        """Add a name to the trie; one with a hyphen also as one word."""
        tokens = default_pattern().findall(fold_case(unicodedata.normalize("NFC", name)))
        if not 0 < len(tokens) <= _MOST_WORDS:
            return
        acronym = name.isupper() and len(name) <= _ACRONYM
        self._add_stems([self._stem(token) for token in tokens], tag, kind, acronym)
        if len(tokens) > 1 and "-" in name and " " not in name:
            self._add_stems([self._stem("".join(tokens))], tag, kind, False)

    def _add_stems(self, stems: Iterable[str], tag: int, kind: int, acronym: bool) -> None:
        node = 0
        for stem in stems:
            edge = node, self._stems.setdefault(stem, len(self._stems))
            if edge not in self._edges:
                self._edges[edge] = self._n_nodes
                self._n_nodes += 1
            node = self._edges[edge]
        ends = self._ends.setdefault(node, [])
        if len(ends) < _MOST_SHARED and not (ends and ends[-1][0] == tag):  # tags come in order
            ends.append((tag, kind, acronym))

    def _stems_of(self, name: str) -> list[int]:
        tokens = default_pattern().findall(fold_case(unicodedata.normalize("NFC", name)))
        return [self._stems.setdefault(self._stem(token), len(self._stems)) for token in tokens]

    def _walk(self, words: Words, text: str) -> Iterator[tuple[int, int, int, int, int, int, int]]:
        """Yield tag, kind, first word, number of words, tags of this name, start and stop of each name."""
        stems, spans, joined, _ = words
        for first in range(len(stems)):
            node, last = 0, first
            while last < len(stems):
                node = self._edges.get((node, stems[last]), -1)
                if node < 0:
                    break
                last += 1
                if node in self._ends:
                    yield from self._matches_at(node, first, last, spans, text)
            if joined[first]:
                whole = self._stems.get(self._stem(_surface(text, spans[first][0], spans[first + 1][1])), -1)
                node = self._edges.get((0, whole), -1)
                if node in self._ends:
                    yield from self._matches_at(node, first, first + 2, spans, text)

    def _matches_at(
        self, node: int, first: int, last: int, spans: list[tuple[int, int]], text: str
    ) -> Iterator[tuple[int, int, int, int, int, int, int]]:
        start, stop = spans[first][0], spans[last - 1][1]
        ends = self._ends[node]
        for tag, kind, acronym in ends:
            if not acronym or text[start:stop].isupper():
                yield tag, kind, first, last - first, len(ends), start, stop

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


def _surface(text: str, start: int, stop: int) -> str:
    return "".join(c for c in fold_case(text[start:stop]) if c not in "-\u2010\u2011")


def _without_brackets(name: str) -> str:
    return _BRACKETS.sub(" ", name).strip() or name


def _variants(name: str, others: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Yield the forms in which names are looked for, the preferred name first."""
    for text, kind in [(name, PREFERRED), *((other, ALTERNATIVE) for other in others)]:
        yield text, kind
        yield from ((_invert(text), kind),) if text.count(", ") == 1 else ()
    for text in (name, *others):
        if (short := _without_brackets(text)) != text:
            yield short, SHORTENED
            yield from ((_invert(short), SHORTENED),) if short.count(", ") == 1 else ()


def _invert(name: str) -> str:
    """Return `Doe, Jane` as `Jane Doe`."""
    last, first = name.split(", ")
    return f"{first} {last}"
