"""The last step of reading: from what was found to a `Corpus`, and what the user should know about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from tagtopics.corpus.core import Corpus, canonical_counts
from tagtopics.corpus.counted import Counted, fit_tags, fit_words
from tagtopics.corpus.recipe import TextRecipe
from tagtopics.corpus.tagging import TagLists, Where, document_number
from tagtopics.corpus.text import Tokenizer, apply, learn
from tagtopics.errors import InputError

INT32_MAX = int(np.iinfo(np.int32).max)


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What the caller of `read_corpus` asked for.

    Attributes:
        recipe: how text becomes words.
        tokenizer: text to words, in place of the recipe's.
        vocabulary: the words that count, where they are known already.
        tag_names: the tags that count, where they are known already.
    """

    recipe: TextRecipe
    tokenizer: Tokenizer | None = None
    vocabulary: Sequence[str] | None = None
    tag_names: Sequence[str] | None = None


@dataclass(frozen=True)
class Reading:
    """A corpus, and those of its notices that deserve a warning."""

    corpus: Corpus
    odd: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Documents:
    """Documents that came one by one.

    Attributes:
        source: names the source in errors.
        texts: the text of each document; None where words came counted.
        bags: the words of each document with their counts; None where there are texts.
        tags: the tags of each document, None where none were given.
        ids: a name for each document.
        labels: a class for each document.
        split: "train" or "test" for each document.
        where: names a row in errors.
    """

    source: str
    texts: Sequence[str] | None = None
    bags: Sequence[Mapping[str, Any]] | None = None
    tags: TagLists | None = None
    ids: Sequence[str] | None = None
    labels: Sequence[str | None] | None = None
    split: Sequence[str] | None = None
    where: Where = document_number


def from_documents(documents: Documents, terms: Terms) -> Reading:
    """Make a corpus of documents that came one by one."""
    if documents.texts is None:
        return from_counts(_count_bags(documents), terms)
    if not len(documents.texts):
        raise InputError(f"{documents.source}: no documents")
    texts = tuple(documents.texts)
    n_unknown = 0
    if terms.vocabulary is None:
        counts, vocabulary = learn(texts, terms.recipe, terms.tokenizer)
    else:
        vocabulary = tuple(terms.vocabulary)
        counts, n_unknown = apply(texts, vocabulary, terms.recipe, terms.tokenizer)
    own = terms.tokenizer is not None
    counted = _counted(documents, counts, vocabulary)
    counted = replace(counted, texts=texts, recipe=None if own else terms.recipe)
    plain = (
        ["words come from a tokenizer of your own, which cannot be saved: give new texts as counts"]
        if own
        else []
    )
    return _reading(counted, counts, vocabulary, terms.tag_names, n_unknown, plain)


def from_counts(counted: Counted, terms: Terms) -> Reading:
    """Make a corpus of counts."""
    counts, vocabulary, n_unknown = fit_words(counted, terms.vocabulary)
    return _reading(counted, counts, vocabulary, terms.tag_names, n_unknown, [])


def _reading(
    counted: Counted,
    counts: sp.csr_array,
    vocabulary: tuple[str, ...],
    tag_names: Sequence[str] | None,
    n_unknown_words: int,
    plain: list[str],
) -> Reading:
    if 0 in counts.shape:
        raise InputError(f"{counted.source}: no {'words' if counts.shape[0] else 'documents'}")
    tags, names, n_unknown_tags, n_repeated = fit_tags(counted, tag_names)
    corpus = Corpus(
        counts=counts,
        tags=tags,
        vocabulary=vocabulary,
        tag_names=names,
        ids=_tuple(counted.ids) or tuple(str(row) for row in range(counts.shape[0])),
        labels=_tuple(counted.labels),
        links=counted.links,
        texts=_tuple(counted.texts),
        split=_tuple(counted.split),
        recipe=counted.recipe,
    )
    odd = _odd(corpus, n_unknown_words, n_unknown_tags, n_repeated)
    plain = plain + _plain(corpus)
    bare = _untagged(corpus)
    (odd if corpus.tags.nnz else plain).extend(bare)
    return Reading(replace(corpus, notices=(*odd, *plain)), tuple(odd))


def _odd(corpus: Corpus, n_unknown_words: int, n_unknown_tags: int, n_repeated: int) -> list[str]:
    """Say what the user may not expect."""
    odd = []
    empty = np.flatnonzero(np.diff(corpus.counts.indptr) == 0)
    if len(empty):
        odd.append(f"{_n(len(empty), 'document')} with no word kept, the first is {_name(corpus, empty[0])}")
    if n_unknown_words:
        odd.append(f"{_n(n_unknown_words, 'token')} of words outside the vocabulary left out")
    if n_unknown_tags:
        odd.append(f"{_n(n_unknown_tags, 'tagging')} with unknown tags left out")
    if n_repeated:
        odd.append(f"{_n(n_repeated, 'repeated tag')} within a document counted once")
    n_double = corpus.n_docs - len(set(corpus.ids))
    if n_double:
        odd.append(
            f"{_n(n_double, 'document')} with the id of an earlier one, the first is {_repeat(corpus.ids)!r}"
        )
    return odd


def _plain(corpus: Corpus) -> list[str]:
    """Say what is merely good to know."""
    plain = []
    n_single = int((np.bincount(corpus.tags.indices, minlength=corpus.n_tags) == 1).sum())
    if n_single:
        plain.append(f"{n_single:,} of {_n(corpus.n_tags, 'tag')} on a single document")
    n_blank = sum(label is None for label in corpus.labels or ())
    if n_blank:
        plain.append(f"{_n(n_blank, 'document')} with a blank label")
    return plain


def _untagged(corpus: Corpus) -> list[str]:
    bare = np.flatnonzero(np.diff(corpus.tags.indptr) == 0)
    if not len(bare):
        return []
    return [f"{_n(len(bare), 'document')} with no tag kept, the first is {_name(corpus, bare[0])}"]


def _count_bags(documents: Documents) -> Counted:
    """Return the counts of documents that came as words with counts."""
    bags = documents.bags or ()
    if not len(bags):
        raise InputError(f"{documents.source}: no documents")
    vocabulary = tuple(sorted({word for bag in bags for word in bag}))
    column = {word: w for w, word in enumerate(vocabulary)}
    indices, values, indptr = [], [], [0]
    for row, bag in enumerate(bags):
        for word, count in bag.items():
            if count is not None:
                indices.append(column[word])
                values.append(_count(count, word, documents.where(row)))
        indptr.append(len(indices))
    parts = (np.array(values, dtype=np.int64), np.array(indices, dtype=np.int64), indptr)
    counts = sp.csr_array(parts, shape=(len(bags), len(vocabulary)))
    return _counted(documents, canonical_counts(counts), vocabulary)


def _count(value: Any, word: str, where: str) -> int:
    whole = isinstance(value, int | np.integer) or (isinstance(value, float) and value.is_integer())
    if isinstance(value, bool) or not whole or not 0 <= value <= INT32_MAX:
        raise InputError(
            f"{where}: the count of {word[:40]!r} is {repr(value)[:40]}; counts are 0, 1, 2, ..."
        )
    return int(value)


def _counted(documents: Documents, counts: sp.csr_array, vocabulary: tuple[str, ...]) -> Counted:
    return Counted(
        source=documents.source,
        counts=counts,
        vocabulary=vocabulary,
        tags=documents.tags,
        ids=documents.ids,
        labels=documents.labels,
        split=documents.split,
    )


def _tuple(values: Sequence[Any] | None) -> tuple[Any, ...] | None:
    return None if values is None else tuple(values)


def _n(n: int, what: str) -> str:
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def _name(corpus: Corpus, row: int) -> str:
    return repr(corpus.ids[row][:60])


def _repeat(ids: Sequence[str]) -> str:
    seen: set[str] = set()
    return next(name for name in ids if name in seen or seen.add(name))[:60]  # type: ignore[func-returns-value]
