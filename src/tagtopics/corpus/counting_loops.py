"""Compiled loops that count the terms of texts; `tagtopics.corpus.text.analyzer` is their readable twin.

The words of all documents are copied to `letters`, with a space after each, so that a term, a word or an
n-gram, is a slice of it. The distinct terms are in a hash table, and compared byte by byte: equal hashes are
not enough.

- `slots` (a power of two,): the number of a term plus 1, with bits of its hash above; 0 where free.
- `starts` and `stops` (room,): where each term is in `letters`.

The hashes depend on a secret odd number, so that no text can be made whose terms all fall into the same
slots. The innermost loops index with unsigned numbers: signed ones would be tested for being negative.
"""

from __future__ import annotations

import numpy as np

from tagtopics.jit.compiling import integer_inner, integer_kernel

# Bits of the class of a character: starts or continues a word, continues one, joins two, is a letter.
WORD, MARK, JOINER, LETTER = 1, 2, 4, 8


@integer_kernel
def count_terms(text, offsets, classes, recipe, letters, words, table, out):
    """Count the terms of D documents.

    Args:
        text: the documents in UTF-8, one after the other, their case folded.
        offsets: (D + 1,) where each of them starts.
        classes: (0x110000,) the class of each code point.
        recipe: the least number of characters of a word, the smallest and the largest n of n-grams, the
            number of stop words, and the secret number of the hashes.
        letters: the stop words, each followed by a space, and room for the words of all documents.
        words: (most words of a document,) room for where each of them starts in `letters`.
        table: `slots`, which are empty, `starts` and `stops`, which have the stop words.
        out: four arrays to fill: numbers of the distinct terms of each document and their counts, in order of
            first occurrence; (D,) where each document ends in them; for each term where it was put last.

    Returns:
        The number of terms in the table; the stop words are the first ones.
    """
    shortest, smallest, largest, n_stop, secret = recipe
    slots, starts, stops = table
    terms, counts, ends, latest = out
    used = free = 0
    for w in range(n_stop):
        _find(slots, starts, stops, w, letters, starts[w], stops[w], secret, True)
        free = stops[w] + 1
    n_terms = n_stop
    for d in range(len(offsets) - 1):
        begin, n = used, 0
        at, last = offsets[d], offsets[d + 1]
        while at < last:
            # (1) Copy the next word behind the others. If it is left out, the one after it takes its place.
            start, at, kept = _next_word(text, at, last, classes, shortest)
            if not kept:
                continue
            stop = free
            for j in range(start, at):
                letters[np.uint64(stop)] = text[np.uint64(j)]
                stop += 1
            w = _find(slots, starts, stops, n_terms, letters, free, stop, secret, smallest == 1)
            if 0 <= w < n_stop:
                continue
            n_terms = max(n_terms, w + 1)
            letters[stop] = 32
            words[n] = free
            n += 1
            free = stop + 1
            # (2) Count the terms that end with it.
            for i in range(n - smallest, max(n - largest, 0) - 1, -1):
                if i < n - 1:
                    w = _find(slots, starts, stops, n_terms, letters, words[i], stop, secret, True)
                    n_terms = max(n_terms, w + 1)
                place = latest[w]
                if begin <= place < used and terms[place] == w:
                    counts[place] += 1
                else:
                    latest[w], terms[used], counts[used] = used, w, 1
                    used += 1
        ends[d] = used
    return n_terms


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
def _find(slots, starts, stops, n_terms, letters, a, b, secret, add):
    """Return the number of the term `letters[a:b]`; if there is none, add it, or return -1."""
    code = b - a
    for j in range(a, b):
        code = (code ^ np.int64(letters[np.uint64(j)])) * secret
    at = (code ^ (code >> 29)) & (len(slots) - 1)
    while slots[np.uint64(at)]:
        if slots[np.uint64(at)] >> 32 == code >> 32:
            w = (slots[np.uint64(at)] & 0xFFFFFFFF) - 1
            start = starts[w]
            j = 0
            while j < b - a and letters[np.uint64(start + j)] == letters[np.uint64(a + j)]:
                j += 1
            if j == b - a and stops[w] - start == j:
                return w
        at = (at + 1) & (len(slots) - 1)
    if not add:
        return -1
    slots[np.uint64(at)] = (code >> 32 << 32) | (n_terms + 1)
    starts[n_terms], stops[n_terms] = a, b
    return n_terms
