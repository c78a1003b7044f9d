"""Generated corpora: small ones with a planted truth, and ones of any size for benchmarks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from tagtopics.corpus.core import Corpus, canonical_tags, tag_matrix
from tagtopics.errors import InputError

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
_Ranks = npt.NDArray[np.int32]

_TABLE_BITS = 20

JOINT_TOPIC = 0.6
"""Share of the tokens that come from the joint topic in a document with a whole group of tags."""

GROUP_DOCS = 0.3
"""Share of documents with a whole group; as many have two of its tags and another tag."""

WORD_CONCENTRATION = 0.05
"""Dirichlet concentration of topics over words; low, so that a topic has few words."""


class TagGroup(NamedTuple):
    """Three tags (columns of the tag matrix) and the topic of documents with all three."""

    tags: tuple[int, int, int]
    topic: int


@dataclass(frozen=True, eq=False, kw_only=True)
class SyntheticCorpus:
    """A corpus and the ground truth it was drawn from.

    E edges are the non-zeros of `corpus.counts`, S slots the non-zeros of `corpus.tags`, in CSR order.

    Attributes:
        corpus: D documents over W words and T tags; the label of a document is its most frequent topic.
        topics: (K, W) word distribution of each topic.
        tag_topics: (T, K) topic distribution of each single tag; zero for the joint topics.
        credit: tokens of each edge by the slot that made them; ragged, edge after edge, and within an edge
            the slots of its document in the order of the tag matrix.
        credit_offsets: (E + 1,) edge e has `credit[credit_offsets[e]:credit_offsets[e + 1]]`, one number
            for each tag of its document, and they sum to the count of the edge.
        edge_topics: (E, K) tokens of each edge by topic: the true messages times the counts.
        slot_topics: (S, K) tokens of each slot by topic: the true slot means times the slots' tokens.
        groups: the planted groups of three tags.
    """

    corpus: Corpus
    topics: Floats
    tag_topics: Floats
    credit: Integers
    credit_offsets: Integers
    edge_topics: Integers
    slot_topics: Integers
    groups: tuple[TagGroup, ...]

    def tag_profiles(self) -> Floats:
        """Return the mean over its documents of each tag's slot means under perfect attribution.

        Slots without a token have no mean and are left out.

        Returns:
            (T, K) distributions; a row of zeros for a tag without a token.
        """
        tokens = self.slot_topics.sum(axis=1, keepdims=True)
        means = self.slot_topics / np.maximum(tokens, 1)
        used = (tokens[:, 0] > 0).astype(np.float64)
        slots = np.arange(len(means))
        members = sp.csr_array((used, (self.corpus.tags.indices, slots)), (self.corpus.n_tags, len(means)))
        profiles: Floats = (members @ means) / np.maximum(members.sum(axis=1), 1)[:, None]
        return profiles


def make_tagged_corpus(
    n_docs: int = 1000,
    n_words: int = 600,
    n_topics: int = 12,
    n_tags: int = 20,
    tags_per_doc: int = 3,
    doc_length: int = 80,
    n_groups: int = 2,
    own_topic: float = 0.9,
    seed: int = 0,
) -> SyntheticCorpus:
    """Draw a tagged corpus with a known ground truth.

    Each tag has one main topic and a little of the other ordinary topics. Each token of a document picks one
    of the document's tags, which is the true credit, then a topic of that tag, then a word. In addition,
    `n_groups` triples of tags are planted: in a document with all three, 60 % of the tokens come from a joint
    topic that occurs nowhere else, neither for pairs nor for single tags. The joint topic is a minor part of
    each of the three tags and the only part they share, so the product of their mean profiles peaks there,
    while each profile alone peaks at the main topic of the tag.

    Args:
        n_docs: documents, D.
        n_words: words, W.
        n_topics: topics, K; the last `n_groups` are the joint topics.
        n_tags: tags, T; the first 3 x `n_groups` form the groups.
        tags_per_doc: most tags of an ordinary document, which has between one and this many.
        doc_length: mean number of tokens per document (Poisson, at least one).
        n_groups: planted groups of three tags.
        own_topic: share of a tag's tokens from its main topic; the others come from the ordinary topics.
        seed: seed of the random numbers; equal seeds give equal corpora.

    Returns:
        The corpus with its ground truth.
    """
    _check_sizes(n_docs, n_words, n_topics, n_tags, tags_per_doc, doc_length, n_groups)
    if not 0 < own_topic <= 1:
        raise InputError(f"synthetic: own_topic is a share above 0 and up to 1, not {own_topic}")
    rng = np.random.default_rng(seed)
    groups = tuple(TagGroup((3 * g, 3 * g + 1, 3 * g + 2), n_topics - n_groups + g) for g in range(n_groups))
    topics = rng.dirichlet(np.full(n_words, WORD_CONCENTRATION), size=n_topics)
    tag_topics = _draw_tag_topics(n_tags, n_topics - n_groups, n_topics, own_topic, rng)
    doc_tags, joint = _draw_doc_tags(n_docs, n_tags, tags_per_doc, groups, rng)
    names = _numbered("tag", n_tags)
    tags = tag_matrix([[names[t] for t in row] for row in doc_tags], names)
    tokens = _draw_tokens(tags, joint, topics, tag_topics, doc_length, rng)
    return _assemble(tokens, tags, topics, tag_topics, groups)


class _Tokens(NamedTuple):
    """One entry per token: its document, the slot of its tag, its topic and its word."""

    docs: Integers
    slots: Integers
    topics: Integers
    words: Integers


def _check_sizes(
    n_docs: int, n_words: int, n_topics: int, n_tags: int, tags_per_doc: int, doc_length: int, n_groups: int
) -> None:
    """Raise an `InputError` that names the first size that is not possible."""
    ordinary = 3 if n_groups else 2
    bounds = {
        "n_docs": (n_docs, 1),
        "n_words": (n_words, 2),
        "n_groups": (n_groups, 0),
        "n_topics": (n_topics, ordinary + n_groups),
        "n_tags": (n_tags, max(3 * n_groups + bool(n_groups), 1)),
        "tags_per_doc": (tags_per_doc, 1),
        "doc_length": (doc_length, 1),
    }
    for name, (value, least) in bounds.items():
        if value < least:
            raise InputError(f"make_tagged_corpus: {name}={value} is too small; give at least {least}")
    if tags_per_doc > n_tags:
        raise InputError(f"make_tagged_corpus: tags_per_doc={tags_per_doc} is more than n_tags={n_tags}")


def _draw_tag_topics(
    n_tags: int, ordinary: int, n_topics: int, own_topic: float, rng: np.random.Generator
) -> Floats:
    """Draw the (T, K) topic distributions of the tags: peaked at tag modulo ordinary topics."""
    profiles = np.zeros((n_tags, n_topics))
    profiles[:, :ordinary] = (1 - own_topic) * rng.dirichlet(np.full(ordinary, 5.0), size=n_tags)
    profiles[np.arange(n_tags), np.arange(n_tags) % ordinary] += own_topic
    return profiles


def _draw_doc_tags(
    n_docs: int, n_tags: int, tags_per_doc: int, groups: tuple[TagGroup, ...], rng: np.random.Generator
) -> tuple[list[list[int]], Integers]:
    """Draw the tags of each document, and its joint topic (-1 without a whole group)."""
    kinds = rng.random(n_docs)
    joint = np.full(n_docs, -1, dtype=np.int64)
    doc_tags: list[list[int]] = []
    for doc, kind in enumerate(kinds):
        if groups and kind < 2 * GROUP_DOCS:
            group = groups[int(rng.integers(len(groups)))]
            if kind < GROUP_DOCS:
                doc_tags.append(list(group.tags))
                joint[doc] = group.topic
            else:
                doc_tags.append(_pair_and_other(group, n_tags, rng))
        else:
            doc_tags.append(_ordinary_tags(n_tags, tags_per_doc, groups, rng))
    return doc_tags, joint


def _pair_and_other(group: TagGroup, n_tags: int, rng: np.random.Generator) -> list[int]:
    """Return two tags of a group and one other tag."""
    pair = rng.choice(group.tags, size=2, replace=False)
    other = rng.choice(np.setdiff1d(np.arange(n_tags), group.tags))
    return [*pair.tolist(), int(other)]


def _ordinary_tags(
    n_tags: int, tags_per_doc: int, groups: tuple[TagGroup, ...], rng: np.random.Generator
) -> list[int]:
    """Return one to `tags_per_doc` random tags; a whole group loses one tag."""
    size = int(rng.integers(1, tags_per_doc + 1))
    chosen: list[int] = rng.choice(n_tags, size=size, replace=False).tolist()
    for group in groups:
        if set(group.tags) <= set(chosen):
            chosen.remove(int(rng.choice(group.tags)))
    return chosen


def _draw_tokens(
    tags: sp.csr_array,
    joint: Integers,
    topics: Floats,
    tag_topics: Floats,
    doc_length: int,
    rng: np.random.Generator,
) -> _Tokens:
    """Draw all tokens at once: document, then slot, then topic, then word."""
    lengths = np.maximum(rng.poisson(doc_length, size=tags.shape[0]), 1)
    docs = np.repeat(np.arange(tags.shape[0]), lengths)
    n_slots = np.diff(tags.indptr)[docs]
    slots = tags.indptr[docs] + (rng.random(len(docs)) * n_slots).astype(np.int64)
    token_topics = _draw_rows(tag_topics, tags.indices[slots], rng)
    from_group = (joint[docs] >= 0) & (rng.random(len(docs)) < JOINT_TOPIC)
    token_topics[from_group] = joint[docs[from_group]]
    words = _draw_rows(topics, token_topics, rng)
    return _Tokens(docs, slots.astype(np.int64), token_topics, words)


def _draw_rows(distributions: Floats, rows: npt.NDArray[np.integer], rng: np.random.Generator) -> Integers:
    """Draw one column from the row `rows[i]` of `distributions` for each i."""
    cumulative = np.cumsum(distributions, axis=1)
    points = rng.random(len(rows)) * cumulative[rows, -1]
    drawn = np.empty(len(rows), dtype=np.int64)
    for row in np.unique(rows):
        mine = rows == row
        drawn[mine] = np.searchsorted(cumulative[row], points[mine], side="right")
    return drawn


def _assemble(
    tokens: _Tokens, tags: sp.csr_array, topics: Floats, tag_topics: Floats, groups: tuple[TagGroup, ...]
) -> SyntheticCorpus:
    """Count the tokens into edges, credit and slots."""
    n_docs, (n_topics, n_words) = tags.shape[0], topics.shape
    cells, edges, counts = np.unique(
        tokens.docs * n_words + tokens.words, return_inverse=True, return_counts=True
    )
    edge_docs = cells // n_words
    indptr = np.searchsorted(edge_docs, np.arange(n_docs + 1)).astype(np.int32)
    matrix = sp.csr_array(
        (counts.astype(np.int32), (cells % n_words).astype(np.int32), indptr), shape=(n_docs, n_words)
    )
    offsets = np.concatenate([[0], np.cumsum(np.diff(tags.indptr)[edge_docs], dtype=np.int64)])
    places = offsets[edges] + tokens.slots - tags.indptr[tokens.docs]
    corpus = Corpus(
        counts=matrix,
        tags=tags,
        vocabulary=_numbered("word", n_words),
        tag_names=_numbered("tag", tags.shape[1]),
        ids=_numbered("doc", n_docs),
        labels=_main_topics(tokens, n_docs, n_topics),
    )
    return SyntheticCorpus(
        corpus=corpus,
        topics=topics,
        tag_topics=tag_topics,
        credit=np.bincount(places, minlength=int(offsets[-1])),
        credit_offsets=offsets,
        edge_topics=_tally(edges, tokens.topics, (len(cells), n_topics)),
        slot_topics=_tally(tokens.slots, tokens.topics, (tags.nnz, n_topics)),
        groups=groups,
    )


def _main_topics(tokens: _Tokens, n_docs: int, n_topics: int) -> tuple[str, ...]:
    names = _numbered("topic", n_topics)
    return tuple(names[k] for k in _tally(tokens.docs, tokens.topics, (n_docs, n_topics)).argmax(axis=1))


def _tally(rows: Integers, columns: Integers, shape: tuple[int, int]) -> Integers:
    """Count how often each (row, column) occurs, as a dense matrix."""
    return np.bincount(rows * shape[1] + columns, minlength=shape[0] * shape[1]).reshape(shape)


def _numbered(stem: str, n: int) -> tuple[str, ...]:
    """Return names `stem0`, `stem1`, ... with an equal number of digits."""
    digits = len(str(n - 1))
    return tuple(f"{stem}{i:0{digits}d}" for i in range(n))


def make_large_corpus(
    n_docs: int,
    words_per_doc: int = 100,
    n_words: int = 20_000,
    n_tags: int = 1_000,
    tags_per_doc: int = 3,
    seed: int = 0,
    n_topics: int = 100,
    chunk_size: int = 10_000,
) -> Iterator[tuple[sp.csr_array, sp.csr_array]]:
    """Draw a large tagged corpus in chunks of documents.

    Words and tags are Zipfian. Half of the tokens come from a common distribution; each of the others picks a
    tag of its document, and the topic of the tag is the same Zipf distribution shifted within the vocabulary.
    A chunk depends only on the seed and on its number.

    Args:
        n_docs: documents in all chunks.
        words_per_doc: tokens per document.
        n_words: words, W.
        n_tags: tags, T.
        tags_per_doc: tags drawn per document; repeated ones count once.
        seed: seed of the random numbers.
        n_topics: topics; tag t has topic t modulo `n_topics`.
        chunk_size: documents per chunk; the last may have fewer.

    Yields:
        Counts (chunk, W) of int32 and tags (chunk, T) of int8, both canonical CSR arrays.
    """
    sizes = (n_docs, words_per_doc, n_words, n_tags, tags_per_doc, n_topics, chunk_size)
    if min(sizes) < 1:
        raise InputError("make_large_corpus: every size must be at least 1")
    word_table, tag_table = _zipf_table(n_words), _zipf_table(n_tags)
    for number, start in enumerate(range(0, n_docs, chunk_size)):
        rng = np.random.default_rng([seed, number])
        rows = min(chunk_size, n_docs - start)
        doc_tags = _draw(tag_table, (rows, tags_per_doc), rng)
        words = _draw(word_table, (rows, words_per_doc), rng).astype(np.int64)
        words += _topic_starts(doc_tags, words_per_doc, n_topics, n_words, rng)
        yield (
            _count_rows(words % n_words, n_words),
            canonical_tags(_count_rows(doc_tags.astype(np.int64), n_tags)),
        )


def _zipf_table(n: int) -> _Ranks:
    """Return ranks below n in Zipfian proportions (1 / rank), as a table to draw from."""
    cumulative = np.cumsum(1.0 / np.arange(1, n + 1))
    points = (np.arange(2**_TABLE_BITS) + 0.5) / 2**_TABLE_BITS * cumulative[-1]
    ranks: _Ranks = np.searchsorted(cumulative, points).astype(np.int32)
    return ranks


def _draw(table: _Ranks, shape: tuple[int, int], rng: np.random.Generator) -> _Ranks:
    drawn: _Ranks = table[rng.integers(0, len(table), size=shape, dtype=np.int32)]
    return drawn


def _topic_starts(
    doc_tags: _Ranks, words_per_doc: int, n_topics: int, n_words: int, rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Return the shift of each token in the vocabulary: 0 for half of them, else that of its tag's topic."""
    rows, n_slots = doc_tags.shape
    slots = rng.integers(0, 2 * n_slots, size=(rows, words_per_doc), dtype=np.int32)
    topics = np.take_along_axis(doc_tags, slots % n_slots, axis=1) % n_topics
    starts = (topics.astype(np.int64) + 1) * n_words // (n_topics + 1)
    return np.where(slots < n_slots, starts, 0)


def _count_rows(columns: npt.NDArray[np.int64], n_columns: int) -> sp.csr_array:
    """Count the column numbers in each row into a sorted CSR array (rows, n_columns)."""
    rows = len(columns)
    cells, counts = np.unique(columns + np.arange(rows)[:, None] * n_columns, return_counts=True)
    indptr = np.searchsorted(cells, np.arange(rows + 1) * n_columns).astype(np.int32)
    indices = (cells % n_columns).astype(np.int32)
    return sp.csr_array((counts.astype(np.int32), indices, indptr), shape=(rows, n_columns))
