"""The last step of reading: from what was found to a `Corpus`, and what the user should know about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from tagtopics.corpus.core import Corpus, canonical_counts
from tagtopics.corpus.counted import Counted, fit_tags, fit_words
from tagtopics.corpus.recipe import TextRecipe
from tagtopics.corpus.tags import TagLists, Where, document_number
from tagtopics.corpus.text import Tokenizer, apply, learn
from tagtopics.errors import InputError

OWN_TOKENIZER = "words come from a tokenizer of your own, which cannot be saved: give new texts as counts"
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


@dataclass(frozen=True)
class Oddities:
    """What the user may not expect of some documents; those of the parts of a corpus add up.

    Attributes:
        wordless: documents with no word kept.
        first_wordless: the id of the first of them.
        untagged: documents with no tag kept.
        first_untagged: the id of the first of them.
        unknown_words: tokens of words outside a given vocabulary.
        unknown_tags: taggings with tags outside the given ones.
        repeated: how often a document named a tag that it already had.
    """

    wordless: int = 0
    first_wordless: str | None = None
    untagged: int = 0
    first_untagged: str | None = None
    unknown_words: int = 0
    unknown_tags: int = 0
    repeated: int = 0

    @classmethod
    def of(
        cls,
        counts: sp.csr_array,
        tags: sp.csr_array,
        ids: Sequence[str],
        unknown_words: int,
        unknown_tags: int,
        repeated: int,
    ) -> Oddities:
        """Return the oddities of documents that were fitted to their columns."""
        empty, bare = (np.flatnonzero(np.diff(matrix.indptr) == 0) for matrix in (counts, tags))
        first_empty, first_bare = (ids[rows[0]] if len(rows) else None for rows in (empty, bare))
        return cls(len(empty), first_empty, len(bare), first_bare, unknown_words, unknown_tags, repeated)

    def __add__(self, later: Oddities) -> Oddities:
        def total(mine: Any, others: Any) -> Any:
            return mine + others if isinstance(mine, int) else others if mine is None else mine

        return Oddities(*(total(getattr(self, f.name), getattr(later, f.name)) for f in fields(self)))

    def lines(self) -> list[str]:
        """Return a line for each thing that there is, but for missing tags."""
        lines = []
        if self.wordless:
            lines.append(
                _with_first(f"{_n(self.wordless, 'document')} with no word kept", self.first_wordless)
            )
        if self.unknown_words:
            lines.append(f"{_n(self.unknown_words, 'token')} of words outside the vocabulary left out")
        if self.unknown_tags:
            lines.append(f"{_n(self.unknown_tags, 'tagging')} with unknown tags left out")
        if self.repeated:
            lines.append(f"{_n(self.repeated, 'repeated tag')} within a document counted once")
        return lines

    def untagged_lines(self) -> list[str]:
        """Return a line if there are documents without tags."""
        what = f"{_n(self.untagged, 'document')} with no tag kept"
        return [_with_first(what, self.first_untagged)] if self.untagged else []


def from_documents(documents: Documents, terms: Terms) -> Reading:
    """Make a corpus of documents that came one by one."""
    if documents.texts is None:
        return from_counts(count_bags(documents), terms)
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
    return _reading(counted, counts, vocabulary, terms.tag_names, n_unknown, [OWN_TOKENIZER] if own else [])


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
    oddities = Oddities.of(
        corpus.counts, corpus.tags, corpus.ids, n_unknown_words, n_unknown_tags, n_repeated
    )
    odd = oddities.lines() + _doubles(corpus.ids)
    plain = plain + single_tags(np.bincount(corpus.tags.indices, minlength=corpus.n_tags)) + _blanks(corpus)
    (odd if corpus.tags.nnz else plain).extend(oddities.untagged_lines())
    return Reading(replace(corpus, notices=(*odd, *plain)), tuple(odd))


def single_tags(n_docs_with: npt.NDArray[np.integer]) -> list[str]:
    """Say how many of T tags, of which (T,) documents are counted, are on one document alone."""
    n_single = int((n_docs_with == 1).sum())
    return [f"{n_single:,} of {_n(len(n_docs_with), 'tag')} on a single document"] if n_single else []


def _blanks(corpus: Corpus) -> list[str]:
    n_blank = sum(label is None for label in corpus.labels or ())
    return [f"{_n(n_blank, 'document')} with a blank label"] if n_blank else []


def _doubles(ids: Sequence[str]) -> list[str]:
    n_double = len(ids) - len(set(ids))
    if not n_double:
        return []
    return [f"{_n(n_double, 'document')} with the id of an earlier one, the first is {_repeat(ids)!r}"]


def count_bags(documents: Documents) -> Counted:
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


def _with_first(what: str, name: str | None) -> str:
    return f"{what}, the first is {(name or '')[:60]!r}"


def _repeat(ids: Sequence[str]) -> str:
    seen: set[str] = set()
    return next(name for name in ids if name in seen or seen.add(name))[:60]  # type: ignore[func-returns-value]
