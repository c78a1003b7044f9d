"""Bodies of documents: text, words, their topics and credits, decoded by the page on demand."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np

from tagtopics._typing import Bool, Float32, Float64, Int64
from tagtopics.explore.record.topic_data import TopicData
from tagtopics.explore.report.page import letters, round_numbers
from tagtopics.explore.report.prepare import divide, entries_of, known_words

CHUNK = 40  # bodies compressed together: enough to compress well, few enough to decode quickly
MOST_TEXT = 40_000  # maximum code points of a text in a body; longer texts are cut, and the page says so
PLAIN_WORD = re.compile("[0-9A-Za-z_\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f]+")
"""Where the page looks for words by itself; data.js has the same class of characters."""


class Bodies:
    """Makes the bodies of documents, ready for JSON.

    A body has `k`, the topic of each word; `c`, credits in whole percent, words x tags; `f`, the share of
    the document's tokens that is credited to each tag; `p`, the photo with its heat maps; `t`, the text.
    Numbers of `k` and `c` are letters, from `#` on, so that they take one byte. `w` and `n` are the words
    (numbers in the index) and their counts, and `s` the spans of words in the text: for each the gap before
    it, its length, and the position of its word in `w`. They are left out where the page finds the same
    words by itself: by looking up every `PLAIN_WORD` of the text. Nobody can read visual words, so that the
    body of a photo has only `p`.
    """

    def __init__(self, data: TopicData) -> None:
        self._data = data
        self._chosen, self._number = known_words(data)

    @cached_property
    def _lookup(self) -> dict[str, int]:
        return {self._data.words[w]: i for i, w in enumerate(self._chosen.tolist())}

    def bodies(self, docs: Iterable[int]) -> list[dict[str, Any]]:
        """Return the bodies of documents; what is the same computation for all of them is done at once."""
        if self._data.visual:
            pictures = (self._data.picture_of.get(int(doc)) for doc in docs)
            return [{"k": ""} | ({"p": one.for_page()} if one else {}) for one in pictures]
        rows = np.array(list(docs), dtype=np.int64)
        parts = zip(rows.tolist(), *self._words(rows), strict=True)
        return [self._body(*part) for part in parts]

    def _body(self, doc: int, listed: dict[str, list[Any]], body: dict[str, Any]) -> dict[str, Any]:
        """Add the text of a document to its body, or the words that are listed if it has none."""
        data = self._data
        if data.documents.texts is None:
            body |= listed
        else:
            whole = data.documents.texts[doc]
            body["t"] = whole[:MOST_TEXT]
            if len(whole) > MOST_TEXT:
                body["cut"] = 1
            if not self._finds(body["t"], listed):
                place = {int(self._chosen[w]): i for i, w in enumerate(listed["w"])}
                found = [(a, b, place[w]) for a, b, w in data.spans.find(whole)[1] if w in place]
                body |= listed | {"s": _gaps(body["t"], found)}
        return body

    def _words(self, rows: Int64) -> tuple[list[dict[str, list[Any]]], list[dict[str, Any]]]:
        """Return `w` and `n` of documents, and what a body has of topics and credits: `k`, `f` and `c`."""
        data, table = self._data, self._data.documents
        entries, sizes = entries_of(table.word_offsets, rows)
        words, counts = table.word_index[entries], table.word_count[entries]
        inside = self._number[words] >= 0
        known, counts = words[inside], counts[inside]
        row = np.repeat(np.arange(len(rows)), sizes)[inside]
        kept = np.bincount(row, minlength=len(rows))
        topics = letters((data.word_topic[known] * table.topics[rows[row]]).argmax(1))
        numbers, shown = (
            divide(part, kept) for part in (self._number[known].tolist(), round_numbers(counts, 6))
        )
        listed = [{"w": w, "n": n} for w, n in zip(numbers, shown, strict=True)]
        credited = self._credits(rows, inside, sizes, table.word_count[entries])
        parts = zip(divide(topics, kept), credited, strict=True)
        return listed, [{"k": k} | more for k, more in parts]

    def _credits(self, rows: Int64, inside: Bool, n_words: Int64, counts: Float32) -> list[dict[str, Any]]:
        """Return `f` and `c` of documents.

        Args:
            rows: the documents.
            inside: whether each of their words is in the index.
            n_words: how many words each of them has.
            counts: how often each of their words occurs.
        """
        table = self._data.documents
        if not len(table.credit):
            return [{} for _ in rows]
        n_tags = table.tag_offsets[rows + 1] - table.tag_offsets[rows]
        entries, _ = entries_of(table.credit_offsets, rows)
        kept = np.repeat(inside, np.repeat(n_tags, n_words))
        credit = table.credit[entries].astype(np.float64)
        percent = letters(np.rint(100 * credit[kept]))
        doc = np.repeat(np.arange(len(rows)), n_words)[inside]
        sizes = np.bincount(doc, minlength=len(rows)) * n_tags
        shares = divide(round_numbers(tag_parts(credit, counts, n_words, n_tags)), n_tags)
        return [
            ({"f": f} if f else {}) | ({"c": c} if len(f) > 1 else {})
            for f, c in zip(shares, divide(percent, sizes), strict=True)
        ]

    def _finds(self, text: str, listed: dict[str, list[Any]]) -> bool:
        """Tell whether the page finds these words by itself, each as often as it was counted."""
        if max(text, default="") > "\uffff":
            return False
        found = Counter(map(self._lookup.get, map(str.lower, PLAIN_WORD.findall(text))))
        found.pop(None, None)
        return dict(found) == dict(zip(listed["w"], listed["n"], strict=True))


def tag_parts(credit: Float64, counts: Float32, n_words: Int64, n_tags: Int64) -> Float64:
    """Return (S,), tag after tag: the share of its document's tokens that is credited to each tag.

    Args:
        credit: of the words of documents, words x tags of each, flat.
        counts: how often each of these words occurs.
        n_words: of each document.
        n_tags: of each document.
    """
    per_word = np.repeat(n_tags, n_words)  # claims of each word
    first = np.cumsum(per_word) - per_word
    slot = np.arange(len(credit)) - np.repeat(
        first - np.repeat(np.cumsum(n_tags) - n_tags, n_words), per_word
    )
    tokens = np.bincount(slot, credit * np.repeat(counts, per_word), int(n_tags.sum()))
    doc = np.repeat(np.arange(len(n_words)), n_words)
    totals = np.maximum(np.bincount(doc, counts, len(n_words)), 1e-300)
    return np.asarray(tokens / np.repeat(totals, n_tags))


def _gaps(text: str, spans: list[tuple[int, int, int]]) -> list[int]:
    """Return the spans that end in a text, flat: of each the gap before it, its length and its word."""
    found = np.array([span for span in spans if span[1] <= len(text)], dtype=np.int64).reshape(-1, 3)
    start, stop = (_utf16(text)[ends] for ends in found.T[:2])
    gap = start - np.concatenate([[0], stop])[: len(start)]
    return list(np.stack([gap, stop - start, found[:, 2]], axis=1).ravel().tolist())


def _utf16(text: str) -> Int64:
    """Return (n + 1,): the offset in UTF-16 units, as JavaScript counts, of every code point of a text."""
    if text.isascii() or max(text) <= "\uffff":
        return np.arange(len(text) + 1)
    wide = np.fromiter((ord(character) > 0xFFFF for character in text), dtype=np.int64, count=len(text))
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(1 + wide)])
