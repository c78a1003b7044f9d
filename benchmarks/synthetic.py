"""Generated corpora with a planted truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from tagtopics._typing import Float64, Int64
from tagtopics.corpus.core import Corpus, canonical_counts, tag_matrix
from tagtopics.errors import InputError

_JOINT_TOPIC = 0.6  # share of the tokens from the joint topic in a document with a whole group of tags
_GROUP_DOCS = 0.3  # share of documents with a whole group; as many have two of its tags and another tag
_WORD_CONCENTRATION = 0.05  # of topics over words: low, so that a topic has few words


class TagGroup(NamedTuple):
    """Three tags (columns of the tag matrix) and the topic of documents with all three."""

    tags: tuple[int, int, int]
    topic: int


class Tokens(NamedTuple):
    """What was drawn for each of N tokens; (N,) each, document by document."""

    docs: Int64
    slots: Int64  # the entry of the tag matrix that the token belongs to, in CSR order
    topics: Int64
    words: Int64


@dataclass(frozen=True, eq=False, kw_only=True)
class SyntheticCorpus:
    """A corpus and the ground truth it was drawn from.

    Attributes:
        corpus: D documents over W words and T tags; the label of a document is its most frequent topic.
        topics: (K, W) word distribution of each topic.
        tag_topics: (T, K) topic distribution of each single tag; zero for the joint topics.
        tokens: document, tag, topic and word of each token.
        groups: the planted groups of three tags.
    """

    corpus: Corpus
    topics: Float64
    tag_topics: Float64
    tokens: Tokens
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
    of the document's tags, then a topic of that tag, then a word. In a document with all three tags of a
    group, 60 % of the tokens come from a joint topic that occurs nowhere else: no tag alone points at it.

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
    rng = np.random.default_rng(seed)
    # (1) The distributions, and the tags of each document with its joint topic, -1 without one.
    groups = tuple(TagGroup((3 * g, 3 * g + 1, 3 * g + 2), n_topics - n_groups + g) for g in range(n_groups))
    topics = rng.dirichlet(np.full(n_words, _WORD_CONCENTRATION), size=n_topics)
    ordinary = n_topics - n_groups
    tag_topics = np.zeros((n_tags, n_topics))
    tag_topics[:, :ordinary] = (1 - own_topic) * rng.dirichlet(np.full(ordinary, 5.0), size=n_tags)
    tag_topics[np.arange(n_tags), np.arange(n_tags) % ordinary] += own_topic
    drawn = [_draw_tags(kind, n_tags, tags_per_doc, groups, rng) for kind in rng.random(n_docs)]
    names, joint = _numbered("tag", n_tags), np.array([topic for _, topic in drawn])
    tags = tag_matrix([[names[t] for t in chosen] for chosen, _ in drawn], names)
    # (2) All tokens at once: document, then slot, then topic, then word.
    docs = np.repeat(np.arange(n_docs), np.maximum(rng.poisson(doc_length, size=n_docs), 1))
    slots = tags.indptr[docs] + (rng.random(len(docs)) * np.diff(tags.indptr)[docs]).astype(np.int64)
    token_topics = _draw_rows(tag_topics, tags.indices[slots], rng)
    from_group = (joint[docs] >= 0) & (rng.random(len(docs)) < _JOINT_TOPIC)
    token_topics[from_group] = joint[docs[from_group]]
    words = _draw_rows(topics, token_topics, rng)
    # (3) The corpus.
    ones, places = np.ones(len(docs), dtype=np.int32), (docs.astype(np.int32), words.astype(np.int32))
    counts = sp.coo_array((ones, places), shape=(n_docs, n_words))
    doc_topics = np.zeros((n_docs, n_topics))
    np.add.at(doc_topics, (docs, token_topics), 1)
    topic_names = _numbered("topic", n_topics)
    corpus = Corpus(
        counts=canonical_counts(counts),
        tags=tags,
        vocabulary=_numbered("word", n_words),
        tag_names=names,
        ids=_numbered("doc", n_docs),
        labels=tuple(topic_names[k] for k in doc_topics.argmax(axis=1)),
    )
    tokens = Tokens(docs, slots, token_topics, words)
    return SyntheticCorpus(corpus=corpus, topics=topics, tag_topics=tag_topics, tokens=tokens, groups=groups)


def _draw_tags(
    kind: float, n_tags: int, most: int, groups: tuple[TagGroup, ...], rng: np.random.Generator
) -> tuple[list[int], int]:
    """Draw the tags of a document, of a kind from 0 to 1, and its joint topic (-1 without a whole group)."""
    if groups and kind < 2 * _GROUP_DOCS:
        group = groups[int(rng.integers(len(groups)))]
        if kind < _GROUP_DOCS:
            return list(group.tags), group.topic
        two = rng.choice(group.tags, size=2, replace=False).tolist()
        return [*two, int(rng.choice(np.setdiff1d(np.arange(n_tags), group.tags)))], -1
    chosen = rng.choice(n_tags, size=int(rng.integers(1, most + 1)), replace=False).tolist()
    for group in groups:  # no whole one
        if set(group.tags) <= set(chosen):
            chosen.remove(int(rng.choice(group.tags)))
    return chosen, -1


def _draw_rows(distributions: Float64, rows: Int64, rng: np.random.Generator) -> Int64:
    """Draw one column from the row `rows[i]` of `distributions` for each i."""
    cumulative = np.cumsum(distributions, axis=1)
    points = rng.random(len(rows)) * cumulative[rows, -1]
    drawn = np.empty(len(rows), dtype=np.int64)
    for row in np.unique(rows):
        mine = rows == row
        drawn[mine] = np.searchsorted(cumulative[row], points[mine], side="right")
    return drawn


def _numbered(stem: str, n: int) -> tuple[str, ...]:
    """Return names `stem0`, `stem1`, ... with an equal number of digits."""
    digits = len(str(n - 1))
    return tuple(f"{stem}{i:0{digits}d}" for i in range(n))
