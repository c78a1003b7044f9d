"""Bodies of documents: text, words, their topics and credits, decoded by the page on demand."""

from __future__ import annotations

import re
from collections import Counter
from functools import cached_property
from typing import Any

import numpy as np

from tagtopics._typing import Float64, Int64
from tagtopics.explore.page import rounded
from tagtopics.explore.prepare import known_words
from tagtopics.views.topic_data import TopicData

CHUNK = 40
"""Bodies compressed together: enough to compress well, few enough to decode quickly."""

MOST_TEXT = 40_000
"""Maximum code points of a text in a body; longer texts are cut, and the page says so."""

PLAIN_WORD = re.compile("[0-9A-Za-z_\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f]+")
"""Where the page looks for words by itself; data.js has the same class of characters."""

_FIRST_LETTER = 35


class Bodies:
    """Makes the bodies of documents, ready for JSON.

    A body has `k`, the topic of each word; `c`, credits in whole percent, words x tags; `f`, the share of
    the document's tokens that is credited to each tag; `p`, the photo with its heat maps; `t`, the text.
    Numbers of `k` and `c` are letters, from `#` on, so that they take one byte. `w` and `n` are the words
    (numbers in the index) and their counts, and `s` the spans of words in the text: for each the gap before
    it, its length, and the position of its word in `w`. They are left out where the page finds the same
    words by itself: by looking up every `PLAIN_WORD` of the text.
    """

    def __init__(self, data: TopicData) -> None:
        self._data = data
        self._chosen, self._number = known_words(data)

    @cached_property
    def _lookup(self) -> dict[str, int]:
        return {self._data.words[w]: i for i, w in enumerate(self._chosen.tolist())}

    def body(self, doc: int) -> dict[str, Any]:
        """Return the body of one document."""
        data, table = self._data, self._data.documents
        entries = slice(*table.word_offsets[doc : doc + 2])
        words, counts = table.word_index[entries], table.word_count[entries]
        known = np.flatnonzero(self._number[words] >= 0)
        posterior = data.word_topic[words[known]] * table.topics[doc]
        listed = {"w": self._number[words[known]].tolist(), "n": rounded(counts[known], 6)}
        body: dict[str, Any] = {"k": letters(posterior.argmax(1))}
        credit = credits_of(data, doc)
        if credit is not None:
            body["f"] = rounded(tag_parts(credit, counts))
            if credit.shape[1] > 1:
                body["c"] = letters(np.rint(100 * credit[known].astype(np.float64)).ravel())
        if table.texts is not None and self._counts_agree(table.texts[doc], listed):
            body["t"] = table.texts[doc]
        elif table.texts is not None:
            place = np.full(len(self._number), -1)
            place[words[known]] = np.arange(len(known))
            text, spans = _text(data, doc, place)
            body |= text
            if not self._finds(body["t"], spans, listed):
                body |= listed | {"s": spans.ravel().tolist()}
        else:
            body |= listed
        if picture := data.picture_of.get(doc):
            body["p"] = {"j": picture.jpeg, "r": picture.rows, "c": picture.columns, "h": picture.heat}
        return body

    def _counts_agree(self, text: str, listed: dict[str, list[Any]]) -> bool:
        """Tell whether a text is so plain that the page finds the same words, and it finds these counts.

        This is what `_finds` tells, without looking for the spans.
        """
        if not self._data.spans.plain or not text.isascii() or len(text) > MOST_TEXT:
            return False
        found = Counter(map(self._lookup.get, PLAIN_WORD.findall(text.lower())))
        found.pop(None, None)
        return found == dict(zip(listed["w"], listed["n"], strict=True))

    def _finds(self, text: str, spans: Int64, listed: dict[str, list[Any]]) -> bool:
        """Tell whether the page finds these spans, words and counts by itself."""
        if max(text, default="") > "\uffff":
            return False
        places = {w: i for i, w in enumerate(listed["w"])}
        found, at, counts = [], 0, [0.0] * len(places)
        for match in PLAIN_WORD.finditer(text):
            word = self._lookup.get(match.group().lower())
            if word is None:
                continue
            if word not in places:
                return False
            found.append((match.start() - at, match.end() - match.start(), places[word]))
            counts[places[word]] += 1
            at = match.end()
        return counts == listed["n"] and found == list(map(tuple, spans.tolist()))


def credits_of(data: TopicData, doc: int) -> Any:
    """Return p(tag | word, document), words x tags, of one document; None without credits."""
    table = data.documents
    n_tags = int(np.diff(table.tag_offsets[doc : doc + 2])[0])
    if not len(table.credit) or not n_tags:
        return None
    return table.credit[slice(*table.credit_offsets[doc : doc + 2])].reshape(-1, n_tags)


def tag_parts(credit: Any, counts: Any) -> Float64:
    """Return the share of a document's tokens that is credited to each of its tags."""
    tokens = credit.astype(np.float64) * np.asarray(counts, dtype=np.float64)[:, None]
    return np.asarray(tokens.sum(0) / max(float(counts.sum()), 1e-300))


def letters(values: Any) -> str:
    """Return whole numbers as characters, `#` for 0."""
    return (np.asarray(values).astype("<u4") + np.uint32(_FIRST_LETTER)).tobytes().decode("utf-32-le")


def _text(data: TopicData, doc: int, place: Int64) -> tuple[dict[str, Any], Int64]:
    """Return a text and the spans (n, 3) of its words, whose positions in the body `place` (W,) gives."""
    whole = (data.documents.texts or ())[doc]
    text, cut = whole[:MOST_TEXT], len(whole) > MOST_TEXT
    found = data.spans.find(whole)
    start, stop, word = np.array(found, dtype=np.int64).reshape(-1, 3).T
    word = place[word]
    kept = (word >= 0) & (stop <= len(text))
    start, stop = (_utf16(text)[ends[kept]] for ends in (start, stop))
    gap = start - np.concatenate([[0], stop])[: len(start)]
    return {"t": text} | ({"cut": 1} if cut else {}), np.stack([gap, stop - start, word[kept]], axis=1)


def _utf16(text: str) -> Int64:
    """Return (n + 1,): the offset in UTF-16 units, as JavaScript counts, of every code point of a text."""
    if text.isascii() or max(text) <= "\uffff":
        return np.arange(len(text) + 1)
    wide = np.fromiter((ord(character) > 0xFFFF for character in text), dtype=np.int64, count=len(text))
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(1 + wide)])
