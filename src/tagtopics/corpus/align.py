"""Columns by name: one matrix in the columns of another, and corpora that grow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

import numpy as np
import scipy.sparse as sp

from tagtopics._typing import CSR, Int64
from tagtopics.corpus.core import Corpus
from tagtopics.corpus.recipe import TextRecipe
from tagtopics.corpus.text import frequencies, passes
from tagtopics.errors import InputError


def extend_names(names: Sequence[str], more: Sequence[str]) -> tuple[str, ...]:
    """Return names, followed by those of `more` that are new, in their order."""
    return tuple(dict.fromkeys((*names, *more)))


def places_of(wanted: Sequence[str], names: Sequence[str]) -> Int64:
    """Return the place of each wanted name among names, all of which must be there."""
    place = {name: i for i, name in enumerate(names)}
    return np.array([place[name] for name in wanted], dtype=np.int64)


def align_columns(matrix: CSR, have: Sequence[str], want: Sequence[str]) -> tuple[CSR, int]:
    """Return a matrix (D, N), with N columns named `have`, in M columns with other, distinct names.

    Return CSR (D, M), sorted, and the sum of the entries whose column is not in `want`, which are left out.
    """
    csr = sp.csr_array(matrix)
    if tuple(have) == tuple(want):
        return csr, 0
    column = {name: i for i, name in enumerate(want)}
    if len(column) < len(want):
        raise InputError("names: a word or tag is given twice; every name must have one column")
    columns = np.array([column.get(name, -1) for name in have], dtype=np.int32)[csr.indices]
    kept = columns >= 0
    indptr = np.concatenate([[0], np.cumsum(kept)])[csr.indptr]
    aligned = sp.csr_array((csr.data[kept], columns[kept], indptr), shape=(csr.shape[0], len(want)))
    aligned.sum_duplicates()
    return aligned, int(csr.data[~kept].sum(dtype=np.float64))


def in_columns(corpus: Corpus, words: Sequence[str], tags: Sequence[str]) -> Corpus:
    """Return a corpus with other columns; words and tags are matched by name, others are left out."""
    return replace(
        corpus,
        counts=align_columns(corpus.counts, corpus.vocabulary, words)[0],
        tags=align_columns(corpus.tags, corpus.tag_names, tags)[0],
        vocabulary=tuple(words),
        tag_names=tuple(tags),
    )


def join_corpora(first: Corpus, second: Corpus) -> Corpus:
    """Return the documents of two corpora as one; words and tags are matched by name.

    Texts are kept if both have them; labels, titles, dates and addresses if either has; an official split
    never; links stay within each corpus. The recipe and the visual vocabulary are those of the first.
    """
    words = extend_names(first.vocabulary, second.vocabulary)
    tags = extend_names(first.tag_names, second.tag_names)
    both = [in_columns(corpus, words, tags) for corpus in (first, second)]

    def joined(name: str) -> tuple[str | None, ...] | None:
        parts = [getattr(corpus, name) for corpus in both]
        if parts == [None, None]:
            return None
        return tuple(chain(*(part or (None,) * c.n_docs for part, c in zip(parts, both, strict=True))))

    links = None
    if first.links is not None or second.links is not None:
        none = [sp.csr_array((corpus.n_docs,) * 2, dtype=np.int8) for corpus in both]
        parts = [none[i] if corpus.links is None else corpus.links for i, corpus in enumerate(both)]
        links = sp.csr_array(sp.block_diag(parts, format="csr"))
    return Corpus(
        counts=sp.csr_array(sp.vstack([corpus.counts for corpus in both])),
        tags=sp.csr_array(sp.vstack([corpus.tags for corpus in both])),
        vocabulary=words,
        tag_names=tags,
        ids=first.ids + second.ids,
        links=links,
        texts=None if first.texts is None or second.texts is None else (*first.texts, *second.texts),
        recipe=first.recipe,
        columns=first.columns,
        visual=first.visual,
        **{name: joined(name) for name in ("labels", "titles", "dates", "urls")},  # type: ignore[arg-type]
    )


def admit_words(corpus: Corpus, known: Sequence[str], recipe: TextRecipe) -> Corpus:
    """Return a corpus of text with the words that are known and the new words that a recipe admits.

    `min_df` and `max_df` apply to the corpus itself; `max_words` limits known and new words together, the
    most frequent new words first.
    """
    old = set(known)
    is_known = np.array([word in old for word in corpus.vocabulary], dtype=bool)
    new = np.flatnonzero(~is_known)
    docs, tokens = (found[new] for found in frequencies(corpus.counts))
    limit = None if recipe.max_words is None else max(recipe.max_words - len(old), 0)
    admitted = new[passes(docs, tokens, corpus.n_docs, recipe, limit)]
    kept = np.sort(np.concatenate([np.flatnonzero(is_known), admitted]))
    counts = sp.csr_array(corpus.counts[:, kept])
    return replace(corpus, counts=counts, vocabulary=tuple(corpus.vocabulary[w] for w in kept), recipe=recipe)
