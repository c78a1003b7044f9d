"""Bodies of documents: text, words, credits. The page decodes them on demand."""

from __future__ import annotations

from typing import Any

import numpy as np

from tagtopics._typing import Int64
from tagtopics.views.topic_data import TopicData

CHUNK = 40
"""Bodies compressed together: enough to compress well, few enough to decode quickly."""

MOST_TEXT = 40_000
"""Maximum code points of a text in a body; longer texts are cut, and the page says so."""


def body_of(data: TopicData, doc: int, number: Int64) -> dict[str, Any]:
    """Return the body of one document, ready for JSON.

    `w` words (numbers in the index), `n` their counts, `k` the topic of each, `c` credits in 255ths, words x
    tags; `p` the photo with its heat maps; `t` the text, `s` its spans: for each the gap before it, its
    length, and the position of its word in `w`.

    Args:
        data: the record.
        doc: which document.
        number: (W,) the number of each word in the index, or -1.
    """
    table = data.documents
    entries = slice(*table.word_offsets[doc : doc + 2])
    words = table.word_index[entries]
    known = np.flatnonzero(number[words] >= 0)
    posterior = data.topic_word[:, words[known]].T * table.topics[doc]
    n_tags = int(np.diff(table.tag_offsets[doc : doc + 2])[0])
    body: dict[str, Any] = {
        "w": number[words[known]].tolist(),
        "n": [round(float(count), 2) for count in table.word_count[entries][known]],
        "k": posterior.argmax(1).tolist(),
    }
    if len(table.credit) and n_tags:
        shares = table.credit[slice(*table.credit_offsets[doc : doc + 2])].reshape(-1, n_tags)[known]
        body["c"] = np.rint(shares * 255).astype(int).ravel().tolist()
    if table.texts is not None:
        body |= _text(data, doc, {int(w): i for i, w in enumerate(words[known])})
    if picture := data.picture_of.get(doc):
        body["p"] = {"j": picture.jpeg, "r": picture.rows, "c": picture.columns, "h": picture.heat}
    return body


def _text(data: TopicData, doc: int, place: dict[int, int]) -> dict[str, Any]:
    table = data.documents
    text = (table.texts or ())[doc][:MOST_TEXT]
    cut = len((table.texts or ())[doc]) > MOST_TEXT
    units = _utf16(text)
    spans: list[int] = []
    before = 0
    for i in range(*table.span_offsets[doc : doc + 2]):
        start, stop = int(table.span_start[i]), int(table.span_stop[i])
        word = place.get(int(table.span_word[i]))
        if word is None or stop > len(text):
            continue
        spans += (int(units[start]) - before, int(units[stop] - units[start]), word)
        before = int(units[stop])
    return {"t": text, "s": spans} | ({"cut": 1} if cut else {})


def _utf16(text: str) -> Int64:
    """Return (n + 1,): the offset in UTF-16 units, as JavaScript counts, of every code point of a text."""
    if not text or max(text) <= "\uffff":
        return np.arange(len(text) + 1)
    wide = np.fromiter((ord(character) > 0xFFFF for character in text), dtype=np.int64, count=len(text))
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(1 + wide)])
