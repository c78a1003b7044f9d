"""`TopicData`: the typed and versioned record of a model that reports and servers show; it is plain JSON."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from tagtopics._typing import CSR, Bool, Float32, Float64, Int32, Int64
from tagtopics.corpus.recipe import TextRecipe, recipe_to_json
from tagtopics.explore.record.spans import SpanFinder
from tagtopics.models.naming import distinguishing_topics, typical_tags
from tagtopics.models.topic_words import list_words

ANY_WORDS = TextRecipe(min_length=1, stop_words=None, min_df=1)  # for texts whose own recipe is unknown
VERSION = 7  # of the layout of the record


@dataclass(frozen=True, eq=False, kw_only=True)
class TagTable:
    """The T tags."""

    names: tuple[str, ...]  # a tag of a kind is spelt `kind:name`
    n_docs: Int64  # (T,) number of training documents that carry each tag
    profiles: Float32  # (T, K) mean of the credited topics of each tag's documents, rows add up to one
    word_offsets: Int64  # (T + 1,) where the words of each tag begin in `word_index` and `word_credit`
    word_index: Int32  # the words credited to the tag that distinguish it, most distinctive first
    word_credit: Float32  # number of tokens of each credited to the tag
    tokens: Float64  # (T,) number of all tokens credited to each tag
    labels: tuple[str | None, ...] | None = None  # as people read them, if names are identifiers


@dataclass(frozen=True, eq=False, kw_only=True)
class DocumentTable:
    """The D documents. Without the corpus, all fields but names and topics are empty."""

    ids: tuple[str, ...]
    topics: Float32  # (D, K) topic proportions, rows add up to one
    tag_offsets: Int64  # (D + 1,) where each document's tags begin in `tag_index`
    tag_index: Int32
    word_offsets: Int64  # (D + 1,) where each document's distinct words begin in the next two
    word_index: Int32
    word_count: Float32  # how often each word occurs
    credit: Float32  # p(tag | word, document): each document's words x its tags, flat; empty without credits
    texts: tuple[str, ...] | None
    titles: tuple[str | None, ...] | None = None  # as people read them; None where unknown
    dates: tuple[str | None, ...] | None = None  # such as 1999, 1999-12 or 1999-12-31
    urls: tuple[str | None, ...] | None = None

    def by_topic(self) -> Int64:
        """Return all documents, (D,): first the best document of each topic, then the second best, ..."""
        best = np.argmax(self.topics, axis=1)
        weight = self.topics[np.arange(len(self.topics)), best]
        order = np.lexsort((np.arange(len(self.topics)), -weight, best))
        starts = np.searchsorted(best[order], best[order], side="left")
        rank = np.arange(len(order)) - starts
        return np.asarray(order[np.lexsort((best[order], rank))], dtype=np.int64)

    @property
    def has_words(self) -> bool:
        """Whether the record includes the corpus, not only the names and topics of its documents."""
        return len(self.word_index) > 0

    @cached_property
    def credit_offsets(self) -> Int64:
        """(D + 1,) where each document's credits begin; all zero if there are none."""
        if not len(self.credit):
            return np.zeros(len(self.ids) + 1, dtype=np.int64)
        sizes = np.diff(self.word_offsets) * np.diff(self.tag_offsets)
        return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes, dtype=np.int64)])


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A document that is an image, with a heat map for each of its tags, or without any."""

    doc: int  # the row of the document
    jpeg: str  # the image, small, as base64
    rows: int  # of each heat map; 0 without
    columns: int
    heat: str  # credit of each tile, tags x rows x columns, in 255ths, one byte each, as base64

    def for_page(self) -> dict[str, Any]:
        """Return it as the pages read it."""
        return {"j": self.jpeg, "r": self.rows, "c": self.columns, "h": self.heat}


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A difference of two shares of documents that chance does not explain; see `findings.py`."""

    kind: str  # rising or falling topic, two tags together, a tag apart from the others, unclear documents
    topic: int | None  # that more documents are about; None for documents about no topic
    tags: tuple[int, ...]  # for rising and falling: those that some periods lack
    counts: tuple[tuple[int, int, int, int], ...]
    """Documents about the topic, of all in the group, and the same of the other group. Two tags are compared
    with the first and with the second alone; after a rising or falling topic, without the tags above."""
    low: float  # of the difference of the shares, 95 % for all comparisons of the collection together
    high: float
    tests: int  # how many comparisons there were


@dataclass(frozen=True, eq=False, kw_only=True)
class TopicData:
    """Everything that viewers show of a fitted model. Topic k is topic k of the model.

    Attributes:
        title: of the collection.
        model: its class.
        parameters: its parameters, by name.
        facts: figures about the fit by name, such as iterations or perplexity.
        words: the W words.
        word_tokens: (W,) number of tokens of each word; the expected number, a float, without the corpus.
        topic_word: (K, W) p(word | topic), rows add up to one.
        topic_share: (K,) share of all tokens.
        topic_words: (K, 20) numbers of the words of each topic that people read first.
        coherence: (K,) NPMI of each topic's top words; empty if unknown.
        names: a short name for each topic; no two are equal.
        background: (K,) whether each topic is spread over the whole collection, so that it tells
            nothing about a document or tag.
        tags: the tags.
        documents: the documents.
        visual: whether the words are visual words, which nobody can read.
        pictures: of those documents that are images.
        findings: for the first screen of the explorer.
        recipe: how words are found in the texts; None if that is unknown.
        fitted: when the model was fitted, UTC, as ISO 8601; None if that is unknown.
        about: the collection, such as its source, licence and contact, in Markdown.
        version: of this layout.
    """

    title: str
    model: str
    parameters: dict[str, Any]
    facts: dict[str, float]
    words: tuple[str, ...]
    word_tokens: Float64
    topic_word: Float32
    topic_share: Float64
    topic_words: Int32
    coherence: Float64
    tags: TagTable
    documents: DocumentTable
    names: tuple[str, ...]
    background: Bool
    visual: bool = False
    pictures: tuple[Picture, ...] = ()
    findings: tuple[Finding, ...] = ()
    recipe: TextRecipe | None = None
    fitted: str | None = None
    about: str = ""
    version: int = VERSION

    @cached_property
    def picture_of(self) -> dict[int, Picture]:
        """The pictures, by document."""
        return {picture.doc: picture for picture in self.pictures}

    @property
    def tag_matrix(self) -> CSR:
        """CSR (D, T) of ones: which tags each document has."""
        table = self.documents
        ones = np.ones(len(table.tag_index), dtype=np.int64)
        shape = (len(table.ids), len(self.tags.names))
        return sp.csr_array((ones, table.tag_index, table.tag_offsets), shape=shape)

    @property
    def word_counts(self) -> CSR:
        """CSR (D, W): how often each document has each word."""
        table = self.documents
        arrays = table.word_count.astype(np.float64), table.word_index, table.word_offsets
        return sp.csr_array(arrays, shape=(len(table.ids), len(self.words)))

    @cached_property
    def spans(self) -> SpanFinder:
        """Finds the words in texts; without a recipe, as words usually are found."""
        return SpanFinder(self.words, self.recipe or ANY_WORDS)

    @cached_property
    def word_topic(self) -> Float32:
        """(W, K) p(word | topic), word by word."""
        return np.ascontiguousarray(self.topic_word.T)

    def typical_tags(self, n: int) -> list[list[int]]:
        """Return the n most typical tags of each topic, by their numbers, best first; fewer if few are."""
        sums = self.tags.profiles.astype(np.float64) * self.tags.n_docs[:, np.newaxis]
        return typical_tags(sums, self.topic_share, n)

    def regions(self) -> Int64:
        """Return (D,): the topic that distinguishes each document most; background topics do not count."""
        return distinguishing_topics(self.documents.topics, self.topic_share, self.background)

    def listed_words(self, n: int) -> Int64:
        """Return (K, n): the numbers of the words of each topic, as people read them."""
        return list_words(self.topic_word, self.topic_share, self.topic_words, n)

    @property
    def n_topics(self) -> int:
        """The number of topics, K."""
        return int(self.topic_word.shape[0])

    def to_json(self) -> dict[str, Any]:
        """Return the record as objects, lists, strings and numbers, ready for JSON."""
        return {part.name: _plain(getattr(self, part.name)) for part in fields(self)}


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, TagTable | DocumentTable | Picture | Finding):
        return {part.name: _plain(getattr(value, part.name)) for part in fields(value)}
    if isinstance(value, TextRecipe):
        return recipe_to_json(value)
    return [_plain(part) for part in value] if isinstance(value, tuple) else value
