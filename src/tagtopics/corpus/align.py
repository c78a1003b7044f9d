"""Collections that grow: columns by name, new ones behind those there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from tagtopics.corpus.core import Corpus
from tagtopics.corpus.recipe import TextRecipe


def extended(names: Sequence[str], more: Sequence[str]) -> tuple[str, ...]:
    """Return names, and behind them those of `more` that are new, in their order."""
    if tuple(names) == tuple(more):
        return tuple(names)
    return tuple(dict.fromkeys((*names, *more)))


def moved(matrix: Any, have: Sequence[str], want: Sequence[str]) -> sp.csr_array:
    """Return a CSR matrix whose columns are `have` in the columns `want`, which hold all of them."""
    if tuple(have) == tuple(want):
        return sp.csr_array(matrix)
    column = {name: i for i, name in enumerate(want)}
    to = np.array([column[name] for name in have], dtype=np.int32)
    parts = (matrix.data.copy(), to[matrix.indices], matrix.indptr.copy())
    csr = sp.csr_array(parts, shape=(matrix.shape[0], len(want)))
    csr.sort_indices()
    return csr


def join_corpora(first: Corpus, second: Corpus) -> Corpus:
    """Return the documents of two corpora as one; words and tags are matched by name.

    Texts are kept where both have them, labels where either has, an official split never; links stay within
    each. The recipe and the way images are seen are those of the first.
    """
    words = extended(first.vocabulary, second.vocabulary)
    tags = extended(first.tag_names, second.tag_names)
    counts = [moved(corpus.counts, corpus.vocabulary, words) for corpus in (first, second)]
    tagged = [moved(corpus.tags, corpus.tag_names, tags) for corpus in (first, second)]
    return Corpus(
        counts=sp.csr_array(sp.vstack(counts)),
        tags=sp.csr_array(sp.vstack(tagged)),
        vocabulary=words,
        tag_names=tags,
        ids=first.ids + second.ids,
        labels=_labels(first, second),
        links=_links(first, second),
        texts=None if first.texts is None or second.texts is None else first.texts + second.texts,
        recipe=first.recipe,
        visual=first.visual,
    )


def admit_words(corpus: Corpus, known: Sequence[str], recipe: TextRecipe) -> Corpus:
    """Return a corpus of text with the words that are known, and those new ones that a recipe lets in.

    The recipe's `min_df` and `max_df` are asked of the corpus itself; `max_words` bounds known and new words
    together, the most frequent new ones first.
    """
    D, old = corpus.n_docs, set(known)
    docs = np.bincount(corpus.counts.indices, minlength=corpus.n_words)
    least = recipe.min_df if isinstance(recipe.min_df, int) else recipe.min_df * D
    most = recipe.max_df if isinstance(recipe.max_df, int) else recipe.max_df * D
    is_known = np.array([word in old for word in corpus.vocabulary], dtype=bool)
    new = np.flatnonzero(~is_known & (docs >= least) & (docs <= most))
    if recipe.max_words is not None:
        tokens = np.asarray(corpus.counts.sum(0)).ravel()
        new = np.sort(new[np.argsort(-tokens[new], kind="stable")][: max(recipe.max_words - len(old), 0)])
    kept = np.sort(np.concatenate([np.flatnonzero(is_known), new]))
    counts = sp.csr_array(corpus.counts[:, kept])
    return replace(corpus, counts=counts, vocabulary=tuple(corpus.vocabulary[w] for w in kept), recipe=recipe)


def _labels(first: Corpus, second: Corpus) -> tuple[str | None, ...] | None:
    if first.labels is None and second.labels is None:
        return None
    return (first.labels or (None,) * first.n_docs) + (second.labels or (None,) * second.n_docs)


def _links(first: Corpus, second: Corpus) -> sp.csr_array | None:
    if first.links is None and second.links is None:
        return None
    parts = [
        sp.csr_array((corpus.n_docs,) * 2, dtype=np.int8) if corpus.links is None else corpus.links
        for corpus in (first, second)
    ]
    return sp.csr_array(sp.block_diag(parts, format="csr"))
