"""Generated corpora with a planted truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from tagtopics._typing import CSR, Float64, Int64
from tagtopics.corpus.core import Corpus, tag_matrix
from tagtopics.errors import InputError

_JOINT_TOPIC = 0.6  # share of the tokens from the joint topic in a document with a whole group of tags
_GROUP_DOCS = 0.3  # share of documents with a whole group; as many have two of its tags and another tag
_WORD_CONCENTRATION = 0.05  # of topics over words: low, so that a topic has few words


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
    topics: Float64
    tag_topics: Float64
    credit: Int64
    credit_offsets: Int64
    edge_topics: Int64
    slot_topics: Int64
    groups: tuple[TagGroup, ...]


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
    bounds = {
        "n_docs": (n_docs, 1),
        "n_words": (n_words, 2),
        "n_groups": (n_groups, 0),
        "n_topics": (n_topics, 3 + n_groups if n_groups else 2),
        "n_tags": (n_tags, max(3 * n_groups + bool(n_groups), tags_per_doc, 1)),
        "tags_per_doc": (tags_per_doc, 1),
        "doc_length": (doc_length, 1),
    }
    for name, (value, least) in bounds.items():
        if value < least:
            raise InputError(f"make_tagged_corpus: {name}={value} is too small; give at least {least}")
    if not 0 < own_topic <= 1:
        raise InputError(f"synthetic: own_topic is a share above 0 and up to 1, not {own_topic}")
    rng = np.random.default_rng(seed)
    groups = tuple(TagGroup((3 * g, 3 * g + 1, 3 * g + 2), n_topics - n_groups + g) for g in range(n_groups))
    topics = rng.dirichlet(np.full(n_words, _WORD_CONCENTRATION), size=n_topics)
    ordinary = n_topics - n_groups
    tag_topics = np.zeros((n_tags, n_topics))
    tag_topics[:, :ordinary] = (1 - own_topic) * rng.dirichlet(np.full(ordinary, 5.0), size=n_tags)
    tag_topics[np.arange(n_tags), np.arange(n_tags) % ordinary] += own_topic
    doc_tags, joint = _draw_doc_tags(n_docs, n_tags, tags_per_doc, groups, rng)
    names = _numbered("tag", n_tags)
    tags = tag_matrix([[names[t] for t in row] for row in doc_tags], names)
    tokens = _draw_tokens(tags, joint, topics, tag_topics, doc_length, rng)
    return _assemble(tokens, tags, topics, tag_topics, groups)


class _Tokens(NamedTuple):
    """One entry per token: its document, the slot of its tag, its topic and its word."""

    docs: Int64
    slots: Int64
    topics: Int64
    words: Int64


def _draw_doc_tags(
    n_docs: int, n_tags: int, tags_per_doc: int, groups: tuple[TagGroup, ...], rng: np.random.Generator
) -> tuple[list[list[int]], Int64]:
    """Draw the tags of each document, and its joint topic (-1 without a whole group)."""
    joint = np.full(n_docs, -1, dtype=np.int64)
    doc_tags: list[list[int]] = []
    for doc, kind in enumerate(rng.random(n_docs)):
        if groups and kind < 2 * _GROUP_DOCS:
            group = groups[int(rng.integers(len(groups)))]
            chosen = list(group.tags)
            if kind < _GROUP_DOCS:
                joint[doc] = group.topic
            else:  # two of its tags, and another one
                chosen = rng.choice(group.tags, size=2, replace=False).tolist()
                chosen.append(int(rng.choice(np.setdiff1d(np.arange(n_tags), group.tags))))
        else:  # any tags, but no whole group
            size = int(rng.integers(1, tags_per_doc + 1))
            chosen = rng.choice(n_tags, size=size, replace=False).tolist()
            for group in groups:
                if set(group.tags) <= set(chosen):
                    chosen.remove(int(rng.choice(group.tags)))
        doc_tags.append(chosen)
    return doc_tags, joint


def _draw_tokens(
    tags: CSR,
    joint: Int64,
    topics: Float64,
    tag_topics: Float64,
    doc_length: int,
    rng: np.random.Generator,
) -> _Tokens:
    """Draw all tokens at once: document, then slot, then topic, then word."""
    lengths = np.maximum(rng.poisson(doc_length, size=tags.shape[0]), 1)
    docs = np.repeat(np.arange(tags.shape[0]), lengths)
    n_slots = np.diff(tags.indptr)[docs]
    slots = tags.indptr[docs] + (rng.random(len(docs)) * n_slots).astype(np.int64)
    token_topics = _draw_rows(tag_topics, tags.indices[slots], rng)
    from_group = (joint[docs] >= 0) & (rng.random(len(docs)) < _JOINT_TOPIC)
    token_topics[from_group] = joint[docs[from_group]]
    words = _draw_rows(topics, token_topics, rng)
    return _Tokens(docs, slots.astype(np.int64), token_topics, words)


def _draw_rows(distributions: Float64, rows: npt.NDArray[np.integer], rng: np.random.Generator) -> Int64:
    """Draw one column from the row `rows[i]` of `distributions` for each i."""
    cumulative = np.cumsum(distributions, axis=1)
    points = rng.random(len(rows)) * cumulative[rows, -1]
    drawn = np.empty(len(rows), dtype=np.int64)
    for row in np.unique(rows):
        mine = rows == row
        drawn[mine] = np.searchsorted(cumulative[row], points[mine], side="right")
    return drawn


def _assemble(
    tokens: _Tokens, tags: CSR, topics: Float64, tag_topics: Float64, groups: tuple[TagGroup, ...]
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
    topic_names = _numbered("topic", n_topics)
    doc_topics = _tally(tokens.docs, tokens.topics, (n_docs, n_topics))
    corpus = Corpus(
        counts=matrix,
        tags=tags,
        vocabulary=_numbered("word", n_words),
        tag_names=_numbered("tag", tags.shape[1]),
        ids=_numbered("doc", n_docs),
        labels=tuple(topic_names[k] for k in doc_topics.argmax(axis=1)),
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


def _tally(rows: Int64, columns: Int64, shape: tuple[int, int]) -> Int64:
    """Count how often each (row, column) occurs, as a dense matrix."""
    return np.bincount(rows * shape[1] + columns, minlength=shape[0] * shape[1]).reshape(shape)


def _numbered(stem: str, n: int) -> tuple[str, ...]:
    """Return names `stem0`, `stem1`, ... with an equal number of digits."""
    digits = len(str(n - 1))
    return tuple(f"{stem}{i:0{digits}d}" for i in range(n))
