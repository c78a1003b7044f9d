"""The names of tags: their words in the text, and the forms under which two names are the same."""

from __future__ import annotations

import re
import unicodedata

import numpy as np
import scipy.sparse as sp

from tagtopics.corpus.core import Corpus
from tagtopics.corpus.stems import stem_word
from tagtopics.corpus.tags import bare_name

_WORD = re.compile(r"[^\W_]+")


def fold_word(word: str) -> str:
    """Return a word without case, accents and an English plural ending."""
    return stem_word(unicodedata.normalize("NFKC", word).casefold(), "en")


def name_parts(tag: str) -> tuple[str, ...]:
    """Return the folded words of a tag's name, in order."""
    return tuple(fold_word(word) for word in _WORD.findall(bare_name(tag)))


def name_words(corpus: Corpus) -> sp.csr_array:
    """Return CSR (T, W): for each word of the vocabulary, its share in the words of the name of a tag.

    Single letters and names without a word of the vocabulary count nothing.
    """
    columns: dict[str, list[int]] = {}
    for w, word in enumerate(corpus.vocabulary):
        columns.setdefault(fold_word(word), []).append(w)
    rows: list[int] = []
    words: list[int] = []
    shares: list[float] = []
    for t, tag in enumerate(corpus.tag_names):
        parts = [part for part in dict.fromkeys(name_parts(tag)) if len(part) > 1]
        for part in parts:
            found = columns.get(part, [])
            rows += [t] * len(found)
            words += found
            shares += [1 / len(parts)] * len(found)
    shape = (corpus.n_tags, corpus.n_words)
    return sp.csr_array((np.array(shares), (np.array(rows, int), np.array(words, int))), shape=shape)
