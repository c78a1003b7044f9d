"""`TopicData`: the typed and versioned record of a model that reports and servers show; it is plain JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np

from tagtopics._typing import Bool, Float32, Float64, Int32, Int64
from tagtopics.bp.graph import joint_profile
from tagtopics.corpus.recipe import TextRecipe, recipe_from_json, recipe_to_json
from tagtopics.errors import InputError
from tagtopics.explore.record.spans import ANY_WORDS, TextSpans

VERSION = 4
"""Version of the record; records of a newer version are refused."""


@dataclass(frozen=True, eq=False, kw_only=True)
class TagTable:
    """The T tags."""

    names: tuple[str, ...]  # a tag of a kind is spelt `kind:name`
    n_docs: Int64  # (T,) number of training documents that carry each tag
    profiles: Float32  # (T, K) mean of the credited topics of each tag's documents, rows add up to one
    word_offsets: Int64  # (T + 1,) where the words of each tag begin in `word_index` and `word_credit`
    word_index: Int32  # the words credited to the tag that distinguish it, most distinctive first
    word_credit: Float32  # number of tokens of each credited to the tag
    labels: tuple[str | None, ...] | None = None  # as people read them, if names are identifiers

    def joint(self, tags: Sequence[int]) -> Float64:
        """Return (K,): the topics that tags, given by their numbers, have in common."""
        return joint_profile(self.profiles[list(tags)])


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
    """A document that is an image, with a heat map for each of its tags."""

    doc: int  # the row of the document
    jpeg: str  # the image, small, as base64
    rows: int  # of each heat map
    columns: int
    heat: str  # credit of each tile, tags x rows x columns, in 255ths, one byte each, as base64


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
        coherence: (K,) NPMI of each topic's top words; empty if unknown.
        names: a short name for each topic; no two are equal.
        background: (K,) whether each topic is spread over the whole collection, so that it tells
            nothing about a document or tag.
        tags: the tags.
        documents: the documents.
        pictures: of those documents that are images.
        recipe: how words are found in the texts; None if that is unknown.
        fitted: when the model was fitted, UTC, as ISO 8601; None if that is unknown.
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
    coherence: Float64
    tags: TagTable
    documents: DocumentTable
    names: tuple[str, ...]
    background: Bool
    pictures: tuple[Picture, ...] = ()
    recipe: TextRecipe | None = None
    fitted: str | None = None
    version: int = field(default=VERSION)

    def __post_init__(self) -> None:
        K, W = self.topic_word.shape
        T, D = len(self.tags.names), len(self.documents.ids)
        _check(self.topic_share.shape == (K,), "topic_share must have one entry a topic")
        _check(self.fitted is None or isinstance(self.fitted, str), "fitted must be a date, or None")
        _check(self.coherence.shape in ((K,), (0,)), "coherence must have one entry a topic, or none")
        _check(
            len(self.names) == len(set(self.names)) == K, "names must have one entry a topic, all different"
        )
        _check(self.background.shape == (K,), "background must have one entry a topic")
        _check(len(self.words) == W and self.word_tokens.shape == (W,), "words must match topic_word")
        _check(self.tags.profiles.shape == (T, K), "tag profiles must be tags x topics")
        _check(self.tags.labels is None or len(self.tags.labels) == T, "labels must have one entry a tag")
        _check(self.documents.topics.shape == (D, K), "document topics must be documents x topics")
        for name in ("texts", "titles", "dates", "urls"):
            part = getattr(self.documents, name)
            _check(part is None or len(part) == D, f"{name} must have one entry a document")
        for name, offsets, flat, rows, most in self._ragged():
            _check(_fits(offsets, flat, rows), f"{name}: offsets do not fit the values")
            _check(not len(flat) or (flat.min() >= 0 and flat.max() < most), f"{name}: index out of range")
        _check(all(0 <= picture.doc < D for picture in self.pictures), "a picture has no document")
        size = int(self.documents.credit_offsets[-1])
        _check(len(self.documents.credit) == size, "credit must be words x tags of each document")

    @cached_property
    def picture_of(self) -> dict[int, Picture]:
        """The pictures, by document."""
        return {picture.doc: picture for picture in self.pictures}

    @cached_property
    def spans(self) -> TextSpans:
        """Finds the words in texts; without a recipe, as words usually are found."""
        return TextSpans(self.words, self.recipe or ANY_WORDS)

    @property
    def recipe_settings(self) -> dict[str, Any] | None:
        """The settings of the recipe, by name; None without a recipe."""
        return None if self.recipe is None else recipe_to_json(self.recipe)

    @cached_property
    def word_topic(self) -> Float32:
        """(W, K) p(word | topic), word by word."""
        return np.ascontiguousarray(self.topic_word.T)

    @property
    def n_topics(self) -> int:
        """The number of topics, K."""
        return int(self.topic_word.shape[0])

    def to_json(self) -> dict[str, Any]:
        """Return the record as objects, lists, strings and numbers, ready for JSON."""
        return {part.name: _plain(getattr(self, part.name)) for part in fields(self)}

    @classmethod
    def from_json(cls, value: Any) -> TopicData:
        """Return the record that `to_json` wrote; raise `InputError` for anything else."""
        if not isinstance(value, Mapping):
            raise InputError(f"topic data: expected a JSON object, got {type(value).__name__}")
        if value.get("version") != VERSION:
            raise InputError(f"topic data: version {value.get('version')!r} is unknown; this is {VERSION}")
        try:
            own = dict(value)
            own["recipe"] = None if own.get("recipe") is None else recipe_from_json(own["recipe"])
            own["tags"] = TagTable(**_arrays(TagTable, own["tags"]))
            own["documents"] = DocumentTable(**_arrays(DocumentTable, own["documents"]))
            own["pictures"] = tuple(Picture(**picture) for picture in own["pictures"])
            return cls(**_arrays(cls, own))
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"topic data: damaged ({type(error).__name__}: {error})") from None

    def _ragged(self) -> tuple[tuple[str, Int64, Any, int, int], ...]:
        """Name, offsets, indices, number of rows and bound of every ragged index."""
        W, T, D = len(self.words), len(self.tags.names), len(self.documents.ids)
        tags, docs = self.tags, self.documents
        return (
            ("words of tags", tags.word_offsets, tags.word_index, T, W),
            ("tags of documents", docs.tag_offsets, docs.tag_index, D, T),
            ("words of documents", docs.word_offsets, docs.word_index, D, W),
        )


_DTYPES: dict[str, Any] = {
    "Bool": np.bool_,
    "Float32": np.float32,
    "Float64": np.float64,
    "Int32": np.int32,
    "Int64": np.int64,
}


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, TagTable | DocumentTable):
        return {part.name: _plain(getattr(value, part.name)) for part in fields(value)}
    if isinstance(value, Picture):
        return asdict(value)
    if isinstance(value, TextRecipe):
        return recipe_to_json(value)
    return [_plain(part) for part in value] if isinstance(value, tuple) else value


def _arrays(record: type[Any], value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a record with lists turned into the arrays and tuples that it holds."""
    known = {part.name: str(part.type) for part in fields(record)}
    if unknown := set(value) - set(known):
        raise InputError(f"topic data: unknown field {min(unknown)!r}")
    turned = {}
    for name, part in value.items():
        dtype = _DTYPES.get(known[name])
        if dtype is not None:
            turned[name] = _matrix(name, part, dtype, value)
        else:
            turned[name] = (
                tuple(None if x is None else str(x) for x in part) if isinstance(part, list) else part
            )
    return turned


def _matrix(name: str, part: Any, dtype: Any, record: Mapping[str, Any]) -> Any:
    array = np.array(part, dtype=dtype)
    if name in {"profiles", "topics"} and array.ndim != 2:
        rows = len(record["names" if name == "profiles" else "ids"])
        array = array.reshape(rows, -1) if rows else array.reshape(0, 0)
    return array


def _fits(offsets: Int64, flat: Any, rows: int) -> bool:
    starts_right = offsets.shape == (rows + 1,) and offsets[0] == 0 and offsets[-1] == len(flat)
    return bool(starts_right and (np.diff(offsets) >= 0).all())


def _check(holds: Any, message: str) -> None:
    if not holds:
        raise InputError(f"topic data: {message}")
