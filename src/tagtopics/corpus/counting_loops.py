"""Compiled loops that count the terms of texts; `tagtopics.corpus.text.analyzer` is their readable twin.

Terms are kept in a hash table of four arrays, and compared byte by byte: equal hashes are not enough.

- `slots` (a power of two,): the number of a term plus 1, with bits of its hash above; 0 where free.
- `starts` (room + 1,): where each term starts in `stored`.
- `stored`: the terms in UTF-8, each followed by a line feed.
- `size` (2,): the number of terms, and an odd number that decides the hashes. It is secret, so that no text
  can be made whose terms all fall into the same slots.

The innermost loops index with unsigned numbers: signed ones would be tested for being negative each time.
"""

from __future__ import annotations

import numpy as np

from tagtopics.jit.compiling import integer_inner, integer_kernel

WORD, MARK, JOINER, LETTER = 1, 2, 4, 8
"""Bits of the class of a character: starts or continues a word, continues one, joins two, is a letter."""


@integer_kernel
def place_terms(slots, starts, stored, size):
    """Put the terms of a table into its slots, which are empty."""
    for w in range(size[0]):
        code = _hash(stored, starts[w], starts[w + 1] - 1, size[1])
        at = (code ^ (code >> 29)) & (len(slots) - 1)
        while slots[np.uint64(at)]:
            at = (at + 1) & (len(slots) - 1)
        slots[np.uint64(at)] = (code >> 32 << 32) | (w + 1)


@integer_kernel
def count_terms(first, text, offsets, classes, recipe, table, letters, words, out):
    """Count the terms of D documents, from `first` on, until the table has no room for those of a document.

    Args:
        first: the document to continue with; `out` has the counts of those before it.
        text: the documents in UTF-8, one after the other, their case folded.
        offsets: (D + 1,) where each of them starts.
        classes: (0x110000,) the class of each code point.
        recipe: the least number of characters of a word, the smallest and the largest n of n-grams, the
            number of stop words, and whether no term may be added.
        table: the four arrays of the table. The stop words come first; new terms are added at the end.
        letters: room for the words of one document, with a space after each: n-grams are slices of it.
        words: (most words of a document,) room for where each of them starts in `letters`.
        out: four arrays to fill: numbers of the distinct terms of each document and their counts, in order of
            first occurrence; (D,) where each document ends in them; for each term where it was put last.

    Returns:
        The next document, and the number of terms of documents since `first` that the table lacks.
    """
    shortest, smallest, largest, n_stop, fixed = recipe
    slots, starts, stored, size = table
    terms, counts, ends, latest = out
    used = ends[first - 1] if first else 0
    unknown = 0
    for d in range(first, len(offsets) - 1):
        begin, missing, n, free = used, 0, 0, 0
        at, last = offsets[d], offsets[d + 1]
        while at < last:
            start, at, kept = _next_word(text, at, last, classes, shortest)
            if not kept:
                continue
            w = _find(slots, starts, stored, size, text, start, at, fixed)
            if w == -2:
                return d, unknown
            if 0 <= w < n_stop:
                continue
            if largest > 1:
                words[n] = free
                for j in range(start, at):
                    letters[free] = text[j]
                    free += 1
                letters[free] = 32
                free += 1
            n += 1
            for i in range(n - smallest, max(n - largest, 0) - 1, -1):
                if i < n - 1:
                    w = _find(slots, starts, stored, size, letters, words[i], free - 1, fixed)
                if w == -2:
                    return d, unknown
                if w == -1:
                    missing += 1
                    continue
                place = latest[w]
                if begin <= place < used and terms[place] == w:
                    counts[place] += 1
                else:
                    latest[w], terms[used], counts[used] = used, w, 1
                    used += 1
        ends[d] = used
        unknown += missing
    return len(offsets) - 1, unknown


@integer_inner
def _next_word(text, at, last, classes, shortest):
    """Return where the first word from byte `at` on starts and ends, and whether it is kept.

    It is kept if it has a letter and at least `shortest` characters.
    """
    while at < last:
        c, width = _code_point(text, at)
        if classes[np.uint64(c)] & WORD:
            break
        at += width
    start, kinds, more = at, 0, 0  # more: the bytes of characters beyond the first one of each
    while at < last:
        c, width = _code_point(text, at)
        kind = classes[np.uint64(c)]
        if kind & (WORD | MARK):
            at += width
            more += width - 1
            kinds |= kind
            continue
        if not kind & JOINER:
            break
        ahead, skipped = at, 0
        while kind & JOINER:
            ahead += width
            skipped += width - 1
            if ahead == last:
                break
            c, width = _code_point(text, ahead)
            kind = classes[np.uint64(c)]
        if not kind & WORD:
            break
        at = ahead
        more += skipped
    return start, at, at - start - more >= shortest and kinds & LETTER != 0


@integer_inner
def _code_point(text, i):
    """Return the code point that starts at byte i of a text, and the number of its bytes."""
    b = np.int64(text[np.uint64(i)])
    if b < 0x80:
        return b, 1
    c, width = b & 0x1F, 2
    if b >= 0xF0:
        c, width = b & 0x07, 4
    elif b >= 0xE0:
        c, width = b & 0x0F, 3
    for j in range(i + 1, i + width):
        c = c << 6 | text[np.uint64(j)] & 0x3F
    return c, width


@integer_inner
def _find(slots, starts, stored, size, letters, a, b, fixed):
    """Return the number of the term `letters[a:b]`; if there is none, -1, or -2 if it cannot be added."""
    code = _hash(letters, a, b, size[1])
    at = (code ^ (code >> 29)) & (len(slots) - 1)
    while slots[np.uint64(at)]:
        if slots[np.uint64(at)] >> 32 == code >> 32:
            w = (slots[np.uint64(at)] & 0xFFFFFFFF) - 1
            start = starts[w]
            j = 0
            while j < b - a and stored[np.uint64(start + j)] == letters[np.uint64(a + j)]:
                j += 1
            if j == b - a and starts[w + 1] - 1 - start == j:
                return w
        at = (at + 1) & (len(slots) - 1)
    if fixed:
        return -1
    w = size[0]
    start = starts[w]
    if 2 * w >= len(slots) or w + 1 == len(starts) or start + b - a >= len(stored):
        return -2
    for j in range(b - a):
        stored[start + j] = letters[a + j]
    stored[start + b - a] = 10
    starts[w + 1] = start + b - a + 1
    slots[np.uint64(at)] = (code >> 32 << 32) | (w + 1)
    size[0] = w + 1
    return w


@integer_inner
def _hash(letters, a, b, multiplier):
    code = b - a
    for j in range(a, b):
        code = (code ^ np.int64(letters[np.uint64(j)])) * multiplier
    return code
